//! How many connections wait in the listen queues of a port. The kernel has established them and
//! the client sees them as open, but the server has not accepted them yet.
//!
//! It uses sock_diag(7), which walks only the listening sockets. `/proc/net/tcp` has the same
//! figures, but the kernel walks the table of all connections for it. That takes a millisecond on a
//! machine with much memory.
use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// The state LISTEN (include/net/tcp_states.h), as a set of states.
const LISTENING: u32 = 1 << 10;
/// `SOCK_DIAG_BY_FAMILY` (include/uapi/linux/sock_diag.h).
const BY_FAMILY: u16 = 20;
/// Largest answer of the kernel (its own dumps have at most 32 KiB).
const ANSWER_BYTES: usize = 64 * 1024;

/// `struct inet_diag_sockid` (include/uapi/linux/inet_diag.h).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct SocketId {
    /// Big endian.
    source_port: [u8; 2],
    destination_port: [u8; 2],
    source: [u32; 4],
    destination: [u32; 4],
    interface: u32,
    cookie: [u32; 2],
}

/// `struct nlmsghdr` (netlink(7)).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Header {
    length: u32,
    kind: u16,
    flags: u16,
    sequence: u32,
    port: u32,
}

/// A header with `struct inet_diag_req_v2`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Request {
    header: Header,
    family: u8,
    protocol: u8,
    extensions: u8,
    pad: u8,
    states: u32,
    id: SocketId,
}

/// `struct inet_diag_msg`. Of a listening socket `receive_queue` is the length of its listen queue,
/// `send_queue` the longest that is allowed.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Listener {
    family: u8,
    state: u8,
    timer: u8,
    retransmits: u8,
    id: SocketId,
    expires: u32,
    receive_queue: u32,
    send_queue: u32,
    user: u32,
    inode: u32,
}

/// A way to ask the kernel for listen queues.
#[derive(Debug)]
pub struct ListenQueues {
    socket: OwnedFd,
    answer: Vec<u8>,
}

impl ListenQueues {
    /// # Errors
    /// The kernel has no sock_diag, or this process may not use it.
    pub fn open() -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = unsafe {
            libc::socket(
                libc::AF_NETLINK,
                libc::SOCK_DGRAM | libc::SOCK_CLOEXEC,
                libc::NETLINK_SOCK_DIAG,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Self { socket: unsafe { OwnedFd::from_raw_fd(fd) }, answer: vec![0; ANSWER_BYTES] })
    }

    /// Connections that wait to be accepted on this port of this network namespace, over all
    /// addresses and listening sockets. `None` if nothing listens there or the kernel does not say.
    pub fn waiting(&mut self, port: u16) -> Option<u64> {
        let families = [libc::AF_INET, libc::AF_INET6]
            .map(|family| self.waiting_in(family as u8, port).ok().flatten());
        families.into_iter().flatten().reduce(|a, b| a + b)
    }

    fn waiting_in(&mut self, family: u8, port: u16) -> io::Result<Option<u64>> {
        self.ask(family)?;
        let mut sum = None;
        loop {
            let length = self.receive()?;
            let (found, is_last) = read_answer(&self.answer[..length], port)?;
            sum = match (sum, found) {
                (Some(sum), Some(found)) => Some(sum + found),
                (sum, found) => sum.or(found),
            };
            if is_last {
                return Ok(sum);
            }
        }
    }

    fn ask(&self, family: u8) -> io::Result<()> {
        let header = Header {
            length: size_of::<Request>() as u32,
            kind: BY_FAMILY,
            flags: (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16,
            ..Header::default()
        };
        let request = Request {
            header,
            family,
            protocol: libc::IPPROTO_TCP as u8,
            states: LISTENING,
            ..Request::default()
        };
        // SAFETY: the pointer and its length belong together.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                (&raw const request).cast(),
                size_of::<Request>(),
                0,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn receive(&mut self) -> io::Result<usize> {
        // SAFETY: the kernel writes no more than the buffer has.
        let length = unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                self.answer.as_mut_ptr().cast(),
                self.answer.len(),
                0,
            )
        };
        usize::try_from(length).map_err(|_| io::Error::last_os_error())
    }
}

/// The sum of the listen queues of `port` in a part of a dump (`None`: no such socket in it), and
/// whether it is the last part.
fn read_answer(mut bytes: &[u8], port: u16) -> io::Result<(Option<u64>, bool)> {
    let mut sum = None;
    while let Some(header) = bytes.get(..size_of::<Header>()) {
        let length = number(header, offset_of!(Header, length)) as usize;
        let kind = u16::from_ne_bytes([
            header[offset_of!(Header, kind)],
            header[offset_of!(Header, kind) + 1],
        ]);
        let Some(body) = bytes.get(size_of::<Header>()..length) else { break };
        match i32::from(kind) {
            libc::NLMSG_DONE => return Ok((sum, true)),
            libc::NLMSG_ERROR => {
                return Err(io::Error::from_raw_os_error(-(number(body, 0) as i32)));
            }
            _ if body.len() >= size_of::<Listener>() => {
                let at = offset_of!(Listener, id) + offset_of!(SocketId, source_port);
                if body[at..at + 2] == port.to_be_bytes() {
                    sum = Some(
                        sum.unwrap_or(0)
                            + u64::from(number(body, offset_of!(Listener, receive_queue))),
                    );
                }
            }
            _ => {}
        }
        // Messages begin at multiples of four (NLMSG_ALIGN).
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok((sum, false))
}

/// A number of the kernel's byte order; 0 where the message ends before it.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((size_of::<Header>() + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn listener(port: u16, queue: u32) -> Vec<u8> {
        let mut body = vec![0; size_of::<Listener>()];
        body[4..6].copy_from_slice(&port.to_be_bytes());
        body[56..60].copy_from_slice(&queue.to_ne_bytes());
        message(BY_FAMILY, &body)
    }

    #[test]
    fn queues_of_one_port_are_added_up() {
        let mut bytes = [listener(80, 3), listener(81, 100), listener(80, 4)].concat();
        assert_eq!(read_answer(&bytes, 80).unwrap(), (Some(7), false));
        bytes.extend(message(libc::NLMSG_DONE as u16, &[0; 4]));
        assert_eq!(read_answer(&bytes, 81).unwrap(), (Some(100), true));
        assert_eq!(read_answer(&bytes, 82).unwrap(), (None, true), "nobody listens there");
    }

    #[test]
    fn what_the_kernel_refuses_is_an_error_and_what_is_cut_off_harms_nobody() {
        let refused = message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes());
        assert_eq!(read_answer(&refused, 80).unwrap_err().raw_os_error(), Some(libc::EPERM));
        let whole = listener(80, 3);
        for length in 0..whole.len() {
            assert_eq!(read_answer(&whole[..length], 80).unwrap(), (None, false));
        }
        assert_eq!(read_answer(&[0; 64], 80).unwrap(), (None, false), "a message without a length");
    }

    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut queues = ListenQueues::open().unwrap();
        assert_eq!(queues.waiting(address.port()), Some(0));
        let connections: Vec<TcpStream> =
            (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(queues.waiting(address.port()), Some(3));
        let accepted = listener.accept().unwrap();
        assert_eq!(queues.waiting(address.port()), Some(2));
        drop((listener, connections, accepted));
        assert_eq!(queues.waiting(address.port()), None, "nothing listens there any more");
    }
}
