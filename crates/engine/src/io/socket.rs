//! Sockets: non-blocking from the start, bound to a source address if one is given, with as few
//! calls as possible.
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use pippin_model::load::{LoadSpec, Protocol};

use super::stamps::{self, CONTROL_BYTES};

/// An address as the kernel reads it.
#[derive(Clone, Copy)]
pub(crate) struct KernelAddress {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

impl From<SocketAddr> for KernelAddress {
    fn from(address: SocketAddr) -> Self {
        // SAFETY: sockaddr_storage is plain bytes, for which zero is valid.
        let mut storage: libc::sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
        let length = match address {
            SocketAddr::V4(v4) => {
                let address = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from(*v4.ip()).to_be() },
                    sin_zero: [0; 8],
                };
                // SAFETY: sockaddr_storage is large enough and aligned for every address type.
                unsafe { (&raw mut storage).cast::<libc::sockaddr_in>().write(address) };
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(v6) => {
                let address = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: v6.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                };
                // SAFETY: as above.
                unsafe { (&raw mut storage).cast::<libc::sockaddr_in6>().write(address) };
                size_of::<libc::sockaddr_in6>()
            }
        };
        Self { storage, length: length as libc::socklen_t }
    }
}

impl KernelAddress {
    /// The address of a unix socket in the file system (unix(7)).
    ///
    /// # Errors
    /// If the path is too long or empty, or has a NUL character.
    pub fn unix(path: &Path) -> io::Result<Self> {
        // SAFETY: sockaddr_un is plain bytes, for which zero is valid.
        let mut address: libc::sockaddr_un = unsafe { MaybeUninit::zeroed().assume_init() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let bytes = path.as_os_str().as_bytes();
        // The last byte stays NUL.
        let room = address.sun_path.len() - 1;
        if bytes.is_empty() || bytes.contains(&0) || bytes.len() > room {
            let why = format!("its path must have 1 to {room} bytes, none of them NUL");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        for (into, byte) in address.sun_path.iter_mut().zip(bytes) {
            *into = *byte as libc::c_char;
        }
        // SAFETY: as above.
        let mut storage: libc::sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: sockaddr_storage is large enough and aligned for every address type.
        unsafe { (&raw mut storage).cast::<libc::sockaddr_un>().write(address) };
        let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + bytes.len() + 1;
        Ok(Self { storage, length: length as libc::socklen_t })
    }

    /// The address and port that the kernel has written; `None` if they are not of IPv4 or IPv6.
    fn to_socket_address(self) -> Option<SocketAddr> {
        match self.family() {
            libc::AF_INET => {
                // SAFETY: the family says that it is one.
                let v4 = unsafe { (&raw const self.storage).cast::<libc::sockaddr_in>().read() };
                let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                Some(SocketAddr::new(ip.into(), u16::from_be(v4.sin_port)))
            }
            libc::AF_INET6 => {
                // SAFETY: the family says that it is one.
                let v6 = unsafe { (&raw const self.storage).cast::<libc::sockaddr_in6>().read() };
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                Some(SocketAddr::new(ip.into(), u16::from_be(v6.sin6_port)))
            }
            _ => None,
        }
    }

    pub fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }

    pub const fn length(&self) -> libc::socklen_t {
        self.length
    }

    fn family(&self) -> libc::c_int {
        libc::c_int::from(self.storage.ss_family)
    }
}

/// Where connections go to and come from.
pub(crate) struct Endpoints {
    targets: Vec<KernelAddress>,
    /// Empty: the kernel chooses.
    sources: Vec<KernelAddress>,
    /// Several writes may follow each other without an answer between them, as those of a TLS
    /// handshake, of HTTP/2 and of a PROXY header do: Nagle's algorithm would hold them back.
    sends_at_once: bool,
    /// Connections are UDP sockets that are connected (QUIC).
    is_datagram: bool,
}

/// The receive buffer of a UDP socket, of which the kernel may give less (net.core.rmem_max): several
/// answers may lie in it while the thread reads others.
const DATAGRAM_BUFFER_BYTES: libc::c_int = 4 << 20;

impl Endpoints {
    /// # Errors
    /// If the path of a unix socket is none.
    pub fn from_spec(spec: &LoadSpec) -> io::Result<Self> {
        let targets = match &spec.unix_socket {
            Some(path) => vec![KernelAddress::unix(path)?],
            None => spec.addresses.iter().map(|target| (*target).into()).collect(),
        };
        let sources = &spec.source_addresses;
        Ok(Self {
            targets,
            sources: sources.iter().map(|ip| SocketAddr::new(*ip, 0).into()).collect(),
            sends_at_once: spec.connections.pipeline > 1
                || spec.tls.is_some()
                || spec.proxy_header.is_some()
                || spec.protocol != Protocol::Http1,
            is_datagram: spec.protocol == Protocol::Http3,
        })
    }

    /// Whether connections are UDP sockets: a read has one datagram, which may be empty.
    #[inline]
    pub const fn is_datagram(&self) -> bool {
        self.is_datagram
    }

    /// The addresses of the `nth` connection of the load. Targets and sources both take turns, so
    /// that every pair occurs.
    #[inline]
    pub fn target(&self, nth: u64) -> &KernelAddress {
        &self.targets[(nth % self.targets.len() as u64) as usize]
    }

    fn source(&self, nth: u64) -> Option<&KernelAddress> {
        let count = self.sources.len() as u64;
        (count > 0).then(|| {
            &self.sources[((nth + nth / least_common_multiple(count, self.targets.len() as u64))
                % count) as usize]
        })
    }

    /// A socket for the `nth` connection, bound to its source address, and how many system calls
    /// that took.
    pub fn socket(&self, nth: u64, nonblocking: bool) -> Result<(i32, u64), i32> {
        let target = self.target(nth);
        let mode = if nonblocking { libc::SOCK_NONBLOCK } else { 0 };
        // SAFETY: no pointers.
        let fd = unsafe {
            let kind = if self.is_datagram { libc::SOCK_DGRAM } else { libc::SOCK_STREAM };
            libc::socket(target.family(), kind | libc::SOCK_CLOEXEC | mode, 0)
        };
        if fd < 0 {
            return Err(errno());
        }
        stamps::enable(fd);
        let mut calls = 2;
        if self.is_datagram {
            // QUIC looks itself how long datagrams may be (RFC 9000 section 14).
            set_option(fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE);
            set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, DATAGRAM_BUFFER_BYTES);
            set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, DATAGRAM_BUFFER_BYTES);
            calls += 3;
        } else if self.sends_at_once && target.family() != libc::AF_UNIX {
            set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1);
            calls += 1;
        }
        if let Some(source) = self.source(nth) {
            // The port is then chosen at connect(). It is unique for the pair of addresses, not for
            // the source alone.
            set_option(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1);
            calls += 2;
            // SAFETY: the pointer and its length belong together.
            if unsafe { libc::bind(fd, source.as_ptr(), source.length()) } < 0 {
                let error = errno();
                close(fd);
                return Err(error);
            }
        }
        Ok((fd, calls))
    }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

pub(crate) fn set_option(fd: i32, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
    // Options only improve things: if the kernel refuses one, the connection still works. SAFETY:
    // `value` outlives the call, and its length is given.
    unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
}

/// Tries whether connections can come from this address.
pub(crate) fn try_source(address: IpAddr) -> io::Result<()> {
    let kernel: KernelAddress = SocketAddr::new(address, 0).into();
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(kernel.family(), libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the pointer and its length belong together.
    let bound = unsafe { libc::bind(fd, kernel.as_ptr(), kernel.length()) };
    let error = io::Error::last_os_error();
    close(fd);
    if bound < 0 { Err(error) } else { Ok(()) }
}

/// send(2) without waiting, whatever the socket's mode, and with MSG_NOSIGNAL, so that a broken
/// connection is an error and not a signal. The raw system call, because the C library's is a cancellation point, which costs 2 % of a request
/// (docs/decisions/engine-event-loops.md).
#[inline]
pub(crate) fn send(fd: i32, bytes: &[u8]) -> Result<usize, i32> {
    // SAFETY: the pointer and its length belong together.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_sendto,
            fd,
            bytes.as_ptr(),
            bytes.len(),
            libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
            std::ptr::null::<u8>(),
            0,
        )
    };
    if sent < 0 { Err(errno()) } else { Ok(sent as usize) }
}

/// sendmsg(2) of a message whose departure is to be stamped.
pub(super) fn send_message(fd: i32, message: *const libc::msghdr) -> Result<usize, i32> {
    // SAFETY: the message and what it points to are valid for the call.
    let sent = unsafe { libc::sendmsg(fd, message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
    if sent < 0 { Err(errno()) } else { Ok(sent as usize) }
}

/// The kernel's `struct user_msghdr` (include/linux/socket.h). The C libraries have other types for
/// its lengths.
#[repr(C)]
struct Message {
    name: *mut libc::c_void,
    name_length: libc::c_int,
    pieces: *mut libc::iovec,
    piece_count: usize,
    control: *mut libc::c_void,
    control_length: usize,
    flags: libc::c_uint,
}

/// recvmsg(2), raw for the same reason. Returns how many bytes came, and the stamp of their last
/// segment in nanoseconds of CLOCK_REALTIME.
#[inline]
pub(super) fn receive(fd: i32, buffer: &mut [u8]) -> Result<(usize, Option<u64>), i32> {
    let mut control = MaybeUninit::<[u64; CONTROL_BYTES / 8]>::uninit();
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut message = Message {
        name: std::ptr::null_mut(),
        name_length: 0,
        pieces: &raw mut piece,
        piece_count: 1,
        control: control.as_mut_ptr().cast(),
        control_length: CONTROL_BYTES,
        flags: 0,
    };
    // SAFETY: the kernel writes at most as many bytes as the buffer and the control message have.
    let received = unsafe { libc::syscall(libc::SYS_recvmsg, fd, &raw mut message, 0) };
    if received < 0 {
        return Err(errno());
    }
    let filled = message.control_length.min(CONTROL_BYTES);
    // SAFETY: the kernel has written this many bytes of it.
    let control = unsafe { std::slice::from_raw_parts(control.as_ptr().cast::<u8>(), filled) };
    Ok((received as usize, stamps::read(control)))
}

/// Local and remote address of a connection (getsockname(2), getpeername(2)); `None` if they are
/// not IPv4 or IPv6, or it is no longer open.
pub(crate) fn ends(fd: i32) -> Option<(SocketAddr, SocketAddr)> {
    let ask =
        |call: unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32| {
            // SAFETY: sockaddr_storage is plain bytes, for which zero is valid.
            let mut storage: libc::sockaddr_storage =
                unsafe { MaybeUninit::zeroed().assume_init() };
            let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            // SAFETY: the kernel writes at most `length` bytes.
            let result = unsafe { call(fd, (&raw mut storage).cast(), &raw mut length) };
            (result == 0).then_some(KernelAddress { storage, length })?.to_socket_address()
        };
    Some((ask(libc::getsockname)?, ask(libc::getpeername)?))
}

pub(crate) fn close(fd: i32) {
    // SAFETY: the caller owns `fd`.
    unsafe { libc::close(fd) };
}

/// Ends a connection in both directions, even if the kernel still uses the socket.
pub(crate) fn shut_down(fd: i32) {
    // SAFETY: the caller owns `fd`.
    unsafe { libc::shutdown(fd, libc::SHUT_RDWR) };
}

#[inline]
pub(crate) fn errno() -> i32 {
    // SAFETY: the C library's pointer to this thread's errno is always valid.
    unsafe { *libc::__errno_location() }
}

/// The pending error of a socket (SO_ERROR), 0 if there is none.
pub(crate) fn pending_error(fd: i32) -> i32 {
    let mut error: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: both pointers are valid for the call.
    let result = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut error).cast(),
            &raw mut length,
        )
    };
    if result < 0 { errno() } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_path_must_fit() {
        let longest = "x".repeat(107);
        assert!(KernelAddress::unix(Path::new(&longest)).is_ok());
        for wrong in ["", "a\0b", &format!("{longest}x")] {
            let error = KernelAddress::unix(Path::new(wrong)).err().unwrap().to_string();
            assert!(error.contains("1 to 107 bytes"), "{error}");
        }
    }

    #[test]
    fn every_pair_of_target_and_source_is_used() {
        for (targets, sources) in [(1, 3), (2, 2), (2, 4), (3, 2), (4, 6)] {
            let all: Vec<SocketAddr> =
                (0..targets).map(|i| SocketAddr::from(([127, 0, 0, 1], 1000 + i))).collect();
            let from: Vec<IpAddr> =
                (0..sources).map(|i| IpAddr::from([127, 0, 0, 1 + i])).collect();
            let endpoints = Endpoints {
                targets: all.iter().map(|target| (*target).into()).collect(),
                sources: from.iter().map(|ip| SocketAddr::new(*ip, 0).into()).collect(),
                sends_at_once: false,
                is_datagram: false,
            };
            let pairs: HashSet<(*const KernelAddress, *const KernelAddress)> =
                (0..u64::from(targets) * u64::from(sources))
                    .map(|n| {
                        (&raw const *endpoints.target(n), &raw const *endpoints.source(n).unwrap())
                    })
                    .collect();
            assert_eq!(pairs.len(), usize::from(targets) * usize::from(sources));
        }
    }
}
