//! The listening sockets of a port: their addresses, their inodes, and how many connections wait in
//! their queues. The kernel has established these connections and the client sees them as open, but
//! the server has not accepted them yet.
//!
//! It uses sock_diag(7), which walks only the listening sockets. `/proc/net/tcp` has the same
//! figures, but the kernel walks the table of all connections for it. That takes a millisecond on a
//! machine with much memory.
use std::io;
use std::mem::{offset_of, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
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

/// `struct inet_diag_msg`. For a listening socket, `receive_queue` is the length of its listen
/// queue and `send_queue` the maximum length.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Message {
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

/// One listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listener {
    /// The address it is bound to.
    pub address: IpAddr,
    /// The inode by which `/proc/PID/fd` names it: `socket:[12345]`.
    pub inode: u32,
    /// Connections that wait to be accepted.
    pub waiting: u32,
    /// The backlog that the server asked for: the kernel drops what comes while more are waiting.
    pub backlog: u32,
}

/// A connection to the kernel for queries about listening sockets.
#[derive(Debug)]
pub struct Listeners {
    socket: OwnedFd,
    answer: Vec<u8>,
}

impl Listeners {
    /// # Errors
    /// If the kernel has no sock_diag, or this process may not use it.
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
        // SAFETY: the descriptor is new and has no other owner.
        Ok(Self { socket: unsafe { OwnedFd::from_raw_fd(fd) }, answer: vec![0; ANSWER_BYTES] })
    }

    /// Connections that wait to be accepted on this port of this network namespace, and the
    /// backlog, over all addresses and listening sockets. `None` if nothing listens there or the
    /// kernel does not tell.
    pub fn waiting(&mut self, port: u16) -> Option<(u64, u64)> {
        self.of_port(port)
            .iter()
            .map(|listener| (u64::from(listener.waiting), u64::from(listener.backlog)))
            .reduce(|(waiting, backlog), one| (waiting + one.0, backlog + one.1))
    }

    /// The sockets that listen on this port of this network namespace; empty if the kernel does not
    /// tell.
    pub fn of_port(&mut self, port: u16) -> Vec<Listener> {
        let families = [libc::AF_INET, libc::AF_INET6];
        families
            .into_iter()
            .flat_map(|family| self.of_family(family as u8, port).unwrap_or_default())
            .collect()
    }

    fn of_family(&mut self, family: u8, port: u16) -> io::Result<Vec<Listener>> {
        self.ask(family)?;
        let mut all = Vec::new();
        loop {
            let length = self.receive()?;
            if read_answer(&self.answer[..length], port, &mut all)? {
                return Ok(all);
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

/// Adds the listening sockets of `port` from a part of a dump. Returns whether it is the last part.
fn read_answer(mut bytes: &[u8], port: u16, all: &mut Vec<Listener>) -> io::Result<bool> {
    while let Some(header) = bytes.get(..size_of::<Header>()) {
        let length = number(header, offset_of!(Header, length)) as usize;
        let kind = u16::from_ne_bytes([
            header[offset_of!(Header, kind)],
            header[offset_of!(Header, kind) + 1],
        ]);
        let Some(body) = bytes.get(size_of::<Header>()..length) else { break };
        match i32::from(kind) {
            libc::NLMSG_DONE => return Ok(true),
            libc::NLMSG_ERROR => {
                return Err(io::Error::from_raw_os_error(-(number(body, 0) as i32)));
            }
            _ if body.len() >= size_of::<Message>() => {
                let at = offset_of!(Message, id) + offset_of!(SocketId, source_port);
                if body[at..at + 2] == port.to_be_bytes() {
                    all.push(Listener {
                        address: address(body),
                        inode: number(body, offset_of!(Message, inode)),
                        waiting: number(body, offset_of!(Message, receive_queue)),
                        backlog: number(body, offset_of!(Message, send_queue)),
                    });
                }
            }
            _ => {}
        }
        // Messages begin at multiples of four (NLMSG_ALIGN).
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// The address that a socket is bound to, in network byte order. IPv4 uses the first word.
fn address(message: &[u8]) -> IpAddr {
    let at = offset_of!(Message, id) + offset_of!(SocketId, source);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&message[at..at + 16]);
    if i32::from(message[offset_of!(Message, family)]) == libc::AF_INET {
        Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()
    } else {
        Ipv6Addr::from(bytes).into()
    }
}

/// A number in the kernel's byte order; 0 if the message is too short.
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
        let mut body = vec![0; size_of::<Message>()];
        body[0] = libc::AF_INET as u8;
        body[8..12].copy_from_slice(&[127, 0, 0, 1]);
        body[4..6].copy_from_slice(&port.to_be_bytes());
        body[56..60].copy_from_slice(&queue.to_ne_bytes());
        body[60..64].copy_from_slice(&128_u32.to_ne_bytes());
        body[68..72].copy_from_slice(&77_u32.to_ne_bytes());
        message(BY_FAMILY, &body)
    }

    /// The listeners of a port in a part of a dump, and whether it is the last part.
    fn read(bytes: &[u8], port: u16) -> io::Result<(Vec<Listener>, bool)> {
        let mut all = Vec::new();
        let is_last = read_answer(bytes, port, &mut all)?;
        Ok((all, is_last))
    }

    #[test]
    fn all_listeners_of_a_port_are_found() {
        let of = |waiting| Listener {
            address: Ipv4Addr::LOCALHOST.into(),
            inode: 77,
            waiting,
            backlog: 128,
        };
        let mut bytes = [listener(80, 3), listener(81, 100), listener(80, 4)].concat();
        assert_eq!(read(&bytes, 80).unwrap(), (vec![of(3), of(4)], false));
        bytes.extend(message(libc::NLMSG_DONE as u16, &[0; 4]));
        assert_eq!(read(&bytes, 81).unwrap(), (vec![of(100)], true));
        assert_eq!(read(&bytes, 82).unwrap(), (vec![], true), "nobody listens there");
    }

    #[test]
    fn what_the_kernel_refuses_is_an_error_and_what_is_cut_off_harms_nobody() {
        let refused = message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes());
        assert_eq!(read(&refused, 80).unwrap_err().raw_os_error(), Some(libc::EPERM));
        let whole = listener(80, 3);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length], 80).unwrap(), (vec![], false));
        }
        assert_eq!(read(&[0; 64], 80).unwrap(), (vec![], false), "a message without a length");
    }

    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut queues = Listeners::open().unwrap();
        // Debian's limit for a backlog is 4096, and that of older kernels 128.
        let (waiting, backlog) = queues.waiting(address.port()).unwrap();
        assert!(waiting == 0 && backlog > 0, "{backlog}");
        assert_eq!(queues.of_port(address.port())[0].address, address.ip());
        let connections: Vec<TcpStream> =
            (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(queues.waiting(address.port()), Some((3, backlog)));
        let accepted = listener.accept().unwrap();
        assert_eq!(queues.waiting(address.port()), Some((2, backlog)));
        drop((listener, connections, accepted));
        assert_eq!(queues.waiting(address.port()), None, "nothing listens there any more");
    }
}
