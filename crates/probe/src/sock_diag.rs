//! sock_diag(7): asks the kernel for its sockets over netlink(7).
//!
//! No crate is used for it: the two requests are 72 and 40 bytes and have never changed, and the
//! crates for netlink bring an own framework of messages for them.
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read as _};

/// `SOCK_DIAG_BY_FAMILY` (include/uapi/linux/sock_diag.h).
pub(crate) const BY_FAMILY: u16 = 20;
/// `TCPDIAG_GETSOCK` (include/uapi/linux/inet_diag.h): all TCP sockets, of both families at once.
pub(crate) const ALL_TCP: u16 = 18;
/// The length of `struct nlmsghdr` (netlink(7)): length, kind, flags, sequence, port.
const HEADER_BYTES: usize = 16;
/// Largest answer of the kernel (its own dumps have at most 32 KiB).
const ANSWER_BYTES: usize = 64 * 1024;

/// A connection to the kernel for queries about sockets.
#[derive(Debug)]
pub(crate) struct SockDiag {
    socket: Socket,
    answer: Vec<u8>,
}

impl SockDiag {
    /// # Errors
    /// If the kernel has no sock_diag, or this process may not use it.
    pub(crate) fn open() -> io::Result<Self> {
        let socket = Socket::new(
            Domain::from(libc::AF_NETLINK),
            Type::DGRAM,
            Some(Protocol::from(libc::NETLINK_SOCK_DIAG)),
        )?;
        Ok(Self { socket, answer: vec![0; ANSWER_BYTES] })
    }

    /// Sends one request of this kind for a dump, and gives the body of each message of the answer to `each`.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn dump(
        &mut self,
        kind: u16,
        request: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
        let mut message = ((HEADER_BYTES + request.len()) as u32).to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(request);
        self.socket.send(&message)?;
        loop {
            let length = (&self.socket).read(&mut self.answer)?;
            if read_answer(&self.answer[..length], &mut each)? {
                return Ok(());
            }
        }
    }
}

/// Gives the body of each message in a part of a dump to `each`. Returns whether it is the last
/// part.
pub(crate) fn read_answer(mut bytes: &[u8], each: &mut impl FnMut(&[u8])) -> io::Result<bool> {
    while bytes.len() >= HEADER_BYTES {
        let length = number(bytes, 0) as usize;
        let Some(body) = bytes.get(HEADER_BYTES..length) else { break };
        match i32::from(short(bytes, 4)) {
            libc::NLMSG_DONE => return Ok(true),
            libc::NLMSG_ERROR => {
                return Err(io::Error::from_raw_os_error(
                    (number(body, 0) as i32).saturating_neg(),
                ));
            }
            _ => each(body),
        }
        // Messages begin at multiples of four (NLMSG_ALIGN).
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// The attributes that follow the fixed part of a message: kind and value (`struct nlattr`).
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(short(bytes, 0));
        let value = bytes.get(4..length)?;
        let kind = short(bytes, 2);
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// A number in the kernel's byte order; 0 if the message is too short.
pub(crate) fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

/// A number of two bytes in the kernel's byte order; 0 if the message is too short.
pub(crate) fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A message of a dump.
    pub(crate) fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER_BYTES + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn read(bytes: &[u8]) -> io::Result<(Vec<Vec<u8>>, bool)> {
        let mut all = Vec::new();
        let is_last = read_answer(bytes, &mut |body: &[u8]| all.push(body.to_vec()))?;
        Ok((all, is_last))
    }

    #[test]
    fn what_the_kernel_refuses_is_an_error_and_what_is_cut_off_harms_nobody() {
        let refused = message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes());
        assert_eq!(read(&refused).unwrap_err().raw_os_error(), Some(libc::EPERM));
        let mut whole = message(BY_FAMILY, &[7; 72]);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]).unwrap(), (vec![], false));
        }
        whole.extend(message(libc::NLMSG_DONE as u16, &[0; 4]));
        assert_eq!(read(&whole).unwrap(), (vec![vec![7; 72]], true));
        assert_eq!(read(&[0; 64]).unwrap(), (vec![], false), "a message without a length");
    }

    #[test]
    fn attributes_are_read_up_to_the_first_that_is_cut_off() {
        let bytes = [5, 0, 11, 0, 1, 0, 0, 0, 8, 0, 2, 0, 9, 0, 0, 0, 12, 0, 3, 0, 1];
        let all: Vec<(u16, &[u8])> = attributes(&bytes).collect();
        assert_eq!(all, [(11, &[1][..]), (2, &[9, 0, 0, 0][..])]);
        assert_eq!(attributes(&[0; 8]).count(), 0, "an attribute without a length");
    }
}
