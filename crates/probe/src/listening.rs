//! The listening sockets of a port: their addresses, their inodes, and how many connections wait in
//! their queues. The kernel has established these connections and the client sees them as open, but
//! the server has not accepted them yet.
//!
//! It uses sock_diag(7), which walks only the listening sockets. `/proc/net/tcp` has the same
//! figures, but the kernel walks the table of all connections for it. That takes a millisecond on a
//! machine with much memory.
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::sock_diag::{BY_FAMILY, SockDiag, attributes, number};

/// The state LISTEN (include/net/tcp_states.h), as a set of states.
const LISTENING: u32 = 1 << 10;
/// The state CLOSE, which UDP sockets have that are not connected.
const UNCONNECTED: u32 = 1 << 7;
/// `INET_DIAG_SKMEMINFO` (include/uapi/linux/inet_diag.h), and where the socket's drops are in it
/// (`SK_MEMINFO_DROPS`).
const MEMORY: u16 = 7;
const DROPS_AT: usize = 8 * 4;
/// `INET_DIAG_SKV6ONLY`.
const V6_ONLY: u16 = 11;

/// Places in `struct inet_diag_msg`. For a listening socket, the receive queue is the length of its
/// listen queue and the send queue the maximum length.
pub(crate) const SOURCE_PORT_AT: usize = 4;
pub(crate) const PEER_PORT_AT: usize = 6;
pub(crate) const SOURCE_AT: usize = 8;
pub(crate) const PEER_AT: usize = 24;
const INTERFACE_AT: usize = 40;
const RECEIVE_QUEUE_AT: usize = 56;
const SEND_QUEUE_AT: usize = 60;
pub(crate) const INODE_AT: usize = 68;
/// The length of `struct inet_diag_msg`.
pub(crate) const MESSAGE_BYTES: usize = 72;

/// One listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listener {
    /// The address it is bound to.
    pub address: IpAddr,
    /// Whether a socket of IPv6 refuses IPv4 (ipv6(7), `IPV6_V6ONLY`).
    pub is_v6_only: bool,
    /// The interface that it is bound to (socket(7), `SO_BINDTODEVICE`); 0 for all.
    pub interface: u32,
    /// The inode by which `/proc/PID/fd` names it: `socket:[12345]`.
    pub inode: u32,
    /// Connections that wait to be accepted.
    pub waiting: u32,
    /// The backlog that the server asked for: the kernel drops what comes while more are waiting.
    pub backlog: u32,
    /// Connections that the kernel dropped at this socket, most of them because its queue was full.
    /// It counts from the socket's creation and wraps around. `None` before Linux 4.7.
    pub dropped: Option<u32>,
}

/// The queues of the sockets that serve one address, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queues {
    /// Connections that wait to be accepted.
    pub waiting: u64,
    /// How many may wait.
    pub backlog: u64,
    /// Connections dropped since the sockets were made; `None` if a socket does not tell.
    pub dropped: Option<u64>,
}

/// A connection to the kernel for queries about listening sockets.
#[derive(Debug)]
pub struct Listeners(SockDiag);

impl Listeners {
    /// # Errors
    /// If the kernel has no sock_diag, or this process may not use it.
    pub fn open() -> io::Result<Self> {
        SockDiag::open().map(Self)
    }

    /// The queues of the sockets of this network namespace to which a connection to this address
    /// comes. `None` if nothing listens there or the kernel does not tell.
    pub fn queues(&mut self, address: SocketAddr) -> Option<Queues> {
        let serving = serving(self.of_port(address.port()), address.ip());
        let one = |listener: &Listener| Queues {
            waiting: listener.waiting.into(),
            backlog: listener.backlog.into(),
            dropped: listener.dropped.map(u64::from),
        };
        serving.iter().map(one).reduce(|sum, one| Queues {
            waiting: sum.waiting + one.waiting,
            backlog: sum.backlog + one.backlog,
            dropped: sum.dropped.zip(one.dropped).map(|(sum, one)| sum + one),
        })
    }

    /// The sockets that listen on this port of this network namespace; empty if the kernel does not
    /// tell.
    pub fn of_port(&mut self, port: u16) -> Vec<Listener> {
        let mut all = self.all().unwrap_or_default();
        all.retain(|(at, _)| *at == port);
        all.into_iter().map(|(_, listener)| listener).collect()
    }

    /// All listening sockets of this network namespace, with their ports.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn all(&mut self) -> io::Result<Vec<(u16, Listener)>> {
        self.sockets(|family| request(family, LISTENING, 1 << (MEMORY - 1)))
    }

    /// All UDP sockets of this network namespace that are bound and not connected, with their ports:
    /// those of servers among them.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn bound_to_udp(&mut self) -> io::Result<Vec<(u16, Listener)>> {
        self.sockets(|family| {
            let mut request = request(family, UNCONNECTED, 0);
            request[1] = libc::IPPROTO_UDP as u8;
            request
        })
    }

    fn sockets(&mut self, request: impl Fn(i32) -> Vec<u8>) -> io::Result<Vec<(u16, Listener)>> {
        let mut all = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            self.0.dump(BY_FAMILY, &request(family), |message| all.extend(listener(message)))?;
        }
        Ok(all)
    }
}

/// `struct inet_diag_req_v2` for all TCP sockets of a family in these states. `extensions` is a set
/// of attributes, bit 0 for number 1.
pub(crate) fn request(family: i32, states: u32, extensions: u8) -> Vec<u8> {
    let mut request = vec![family as u8, libc::IPPROTO_TCP as u8, extensions, 0];
    request.extend(states.to_ne_bytes());
    // `struct inet_diag_sockid`: any socket.
    request.extend([0; 48]);
    request
}

/// Those of the listening sockets of a port to which the kernel gives a connection to `address`: the
/// most specific ones (`__inet_lookup_listener` and `inet6_lookup_listener`). There are several only
/// if they share the port (socket(7), `SO_REUSEPORT`).
#[must_use]
pub fn serving(mut of_port: Vec<Listener>, address: IpAddr) -> Vec<Listener> {
    let best = of_port.iter().filter_map(|listener| rank(listener, address)).max();
    of_port.retain(|listener| best.is_some() && rank(listener, address) == best);
    of_port
}

/// How the kernel prefers a listening socket for an address of this machine: bound to just this
/// address, bound to the interface, of the address's own family. `None` if it does not serve it.
fn rank(listener: &Listener, address: IpAddr) -> Option<(bool, bool, bool)> {
    /// The number of the interface `lo`. Connections of a machine to its own addresses come from it.
    const LOOPBACK: u32 = 1;
    let is_exact = listener.address.to_canonical() == address.to_canonical();
    let is_any = match (listener.address, address.to_canonical()) {
        (IpAddr::V6(all), IpAddr::V4(_)) => all.is_unspecified() && !listener.is_v6_only,
        (IpAddr::V4(all), IpAddr::V4(_)) => all.is_unspecified(),
        (IpAddr::V6(all), IpAddr::V6(_)) => all.is_unspecified(),
        (IpAddr::V4(_), IpAddr::V6(_)) => false,
    };
    let is_bound = listener.interface != 0;
    let same_family = listener.address.is_ipv4() == address.to_canonical().is_ipv4();
    ((is_exact || is_any) && (!is_bound || listener.interface == LOOPBACK)).then_some((
        is_exact,
        is_bound,
        same_family,
    ))
}

fn listener(message: &[u8]) -> Option<(u16, Listener)> {
    let attributes = || attributes(message.get(MESSAGE_BYTES..).unwrap_or_default());
    let of = |kind: u16| attributes().find(|(of, _)| *of == kind).map(|(_, value)| value);
    let port = port(message, SOURCE_PORT_AT)?;
    let listener = Listener {
        address: address(message, SOURCE_AT)?,
        is_v6_only: of(V6_ONLY).is_some_and(|value| value.first() == Some(&1)),
        interface: number(message, INTERFACE_AT),
        inode: number(message, INODE_AT),
        waiting: number(message, RECEIVE_QUEUE_AT),
        backlog: number(message, SEND_QUEUE_AT),
        dropped: of(MEMORY)
            .filter(|value| value.len() >= DROPS_AT + 4)
            .map(|value| number(value, DROPS_AT)),
    };
    (message.len() >= MESSAGE_BYTES).then_some((port, listener))
}

/// A port in a message, in network byte order.
pub(crate) fn port(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?))
}

/// An address in a message, in network byte order. IPv4 uses the first word.
pub(crate) fn address(message: &[u8], at: usize) -> Option<IpAddr> {
    let bytes: [u8; 16] = message.get(at..at + 16)?.try_into().ok()?;
    Some(if i32::from(message[0]) == libc::AF_INET {
        Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()
    } else {
        Ipv6Addr::from(bytes).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_bound_udp_socket_is_found_and_a_connected_one_is_not() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        client.connect(server.local_addr().unwrap()).unwrap();
        let found = Listeners::open().unwrap().bound_to_udp().unwrap();
        let ports: Vec<u16> = found.iter().map(|(port, _)| *port).collect();
        assert!(ports.contains(&server.local_addr().unwrap().port()), "{ports:?}");
        assert!(!ports.contains(&client.local_addr().unwrap().port()), "{ports:?}");
    }

    #[test]
    fn a_message_is_read_field_by_field_and_a_short_one_is_none() {
        let mut body = vec![0; MESSAGE_BYTES];
        body[0] = libc::AF_INET as u8;
        body[8..12].copy_from_slice(&[127, 0, 0, 1]);
        body[4..6].copy_from_slice(&80_u16.to_be_bytes());
        body[56..60].copy_from_slice(&3_u32.to_ne_bytes());
        body[60..64].copy_from_slice(&128_u32.to_ne_bytes());
        body[68..72].copy_from_slice(&77_u32.to_ne_bytes());
        let expected = Listener {
            address: Ipv4Addr::LOCALHOST.into(),
            is_v6_only: false,
            interface: 0,
            inode: 77,
            waiting: 3,
            backlog: 128,
            dropped: None,
        };
        assert_eq!(listener(&body), Some((80, expected)));
        for length in 0..body.len() {
            assert_eq!(listener(&body[..length]), None, "{length}");
        }
        // `struct nlattr`: 36 bytes of memory figures, of which the last is the drops.
        body.extend([40, 0, 7, 0]);
        body.extend([0; 32]);
        body.extend(9_u32.to_ne_bytes());
        assert_eq!(listener(&body).unwrap().1.dropped, Some(9));
    }

    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut listeners = Listeners::open().unwrap();
        // Debian's limit for a backlog is 4096, and that of older kernels 128.
        let first = listeners.queues(address).unwrap();
        assert!(first.waiting == 0 && first.backlog > 0 && first.dropped == Some(0), "{first:?}");
        assert_eq!(listeners.of_port(address.port())[0].address, address.ip());
        let connections: Vec<TcpStream> =
            (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(listeners.queues(address), Some(Queues { waiting: 3, ..first }));
        let accepted = listener.accept().unwrap();
        assert_eq!(listeners.queues(address), Some(Queues { waiting: 2, ..first }));
        drop((listener, connections, accepted));
        assert_eq!(listeners.queues(address), None, "nothing listens there any more");
    }

    fn on(address: &str, inode: u32) -> Listener {
        let address = address.parse().unwrap();
        let (is_v6_only, interface, waiting, backlog, dropped) = (false, 0, 0, 0, None);
        Listener { address, is_v6_only, interface, inode, waiting, backlog, dropped }
    }

    /// The inodes of those that serve an address.
    fn chosen(all: &[Listener], address: &str) -> Vec<u32> {
        serving(all.to_vec(), address.parse().unwrap()).iter().map(|it| it.inode).collect()
    }

    #[test]
    fn the_most_specific_bind_serves() {
        let all = [on("0.0.0.0", 1), on("::", 2), on("127.0.0.1", 3), on("::1", 4)];
        assert_eq!(chosen(&all, "127.0.0.1"), [3]);
        assert_eq!(chosen(&all, "::ffff:127.0.0.1"), [3]);
        assert_eq!(chosen(&all, "127.0.0.2"), [1], "IPv4's own before one of both");
        assert_eq!(chosen(&all, "::1"), [4]);
        assert_eq!(chosen(&all[..3], "::1"), [2]);
        assert_eq!(chosen(&all[1..2], "127.0.0.9"), [2], "one of IPv6 serves both");
        assert_eq!(chosen(&all[2..3], "127.0.0.2"), [0; 0]);
    }

    #[test]
    fn mapped_addresses_are_ipv4_and_v6only_is_not() {
        assert_eq!(chosen(&[on("::ffff:127.0.0.1", 1)], "127.0.0.1"), [1], "as Java binds");
        let only = Listener { is_v6_only: true, ..on("::", 2) };
        assert_eq!(chosen(&[only], "127.0.0.1"), [0; 0]);
        assert_eq!(chosen(&[only, on("0.0.0.0", 1)], "127.0.0.1"), [1]);
        assert_eq!(chosen(&[only, on("0.0.0.0", 1)], "::1"), [2]);
    }

    #[test]
    fn sockets_that_share_a_port_all_serve_and_those_of_another_interface_do_not() {
        assert_eq!(chosen(&[on("0.0.0.0", 1), on("0.0.0.0", 2)], "127.0.0.1"), [1, 2]);
        let bound = |interface| Listener { interface, ..on("0.0.0.0", 1) };
        assert_eq!(chosen(&[bound(7), on("0.0.0.0", 2)], "127.0.0.1"), [2]);
        assert_eq!(chosen(&[bound(1), on("0.0.0.0", 2)], "127.0.0.1"), [1]);
    }

    /// The kernel decides as [`serving`] says: whichever of these sockets accepts is the one.
    #[test]
    fn the_kernel_gives_a_connection_to_the_socket_that_is_named() {
        use socket2::{Domain, Socket, Type};
        let bind = |address: &str, port: u16, only: bool| {
            let address: SocketAddr = format!("{address}:{port}").parse().unwrap();
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
            socket.set_reuse_address(true).unwrap();
            if address.is_ipv6() {
                socket.set_only_v6(only).unwrap();
            }
            socket.bind(&address.into()).unwrap();
            socket.listen(4).unwrap();
            socket.set_nonblocking(true).unwrap();
            TcpListener::from(socket)
        };
        let first = bind("[::ffff:127.0.9.3]", 0, false);
        let port = first.local_addr().unwrap().port();
        let all = [first, bind("[::]", port, true), bind("127.0.9.4", port, true)];
        for to in ["127.0.9.3", "127.0.9.4", "[::1]"] {
            let address: SocketAddr = format!("{to}:{port}").parse().unwrap();
            let client = TcpStream::connect(address).unwrap();
            let mut listeners = Listeners::open().unwrap();
            assert_eq!(listeners.queues(address).unwrap().waiting, 1, "{to}");
            let accepted: usize = all.iter().filter(|one| one.accept().is_ok()).count();
            assert_eq!(accepted, 1);
            drop(client);
        }
    }
}
