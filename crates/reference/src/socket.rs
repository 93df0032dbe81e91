//! Sockets as the reference servers need them.
use std::io;
use std::mem;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crate::error::Error;

/// The backlog asked for; the kernel cuts it to `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

/// Listens with a long backlog. With `shared` other threads or processes may listen on the same
/// address too (SO_REUSEPORT), and the kernel spreads connections over them.
///
/// # Errors
/// If the address can't be listened on.
pub fn listen(address: SocketAddr, shared: bool) -> Result<TcpListener, Error> {
    try_listen(address, shared).map_err(|source| Error::Listen { address, source })
}

fn try_listen(address: SocketAddr, shared: bool) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: no pointers are passed.
    let fd = check(unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: `fd` was just created and belongs to nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    set_option(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32)?;
    if shared {
        set_option(fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, &1_i32)?;
    }
    bind(fd, address)?;
    // SAFETY: no pointers are passed.
    check(unsafe { libc::listen(fd, BACKLOG) })?;
    Ok(TcpListener::from(socket))
}

/// bind(2) with the C form of the address.
pub fn bind(fd: RawFd, address: SocketAddr) -> io::Result<()> {
    let result = match address {
        SocketAddr::V4(v4) => {
            let address = libc::sockaddr_in {
                sin_family: libc::AF_INET as u16,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            };
            // SAFETY: the address outlives the call and its length is right.
            unsafe {
                libc::bind(fd, (&raw const address).cast(), mem::size_of_val(&address) as u32)
            }
        }
        SocketAddr::V6(v6) => {
            let address = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as u16,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: the address outlives the call and its length is right.
            unsafe {
                libc::bind(fd, (&raw const address).cast(), mem::size_of_val(&address) as u32)
            }
        }
    };
    check(result).map(drop)
}

/// Prepares a listener for the event loop: long backlog, non-blocking, no Nagle delay. On Linux its
/// connections inherit the latter, which saves a call for each.
pub fn prepare_listener(listener: BorrowedFd<'_>) -> Result<(), Error> {
    // SAFETY: no pointers are passed. Listening again only changes the backlog.
    if unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) } < 0 {
        return Err(Error::last("listen"));
    }
    let nonblocking: i32 = 1;
    // SAFETY: `nonblocking` outlives the call.
    if unsafe { libc::ioctl(listener.as_raw_fd(), libc::FIONBIO, &raw const nonblocking) } < 0 {
        return Err(Error::last("ioctl FIONBIO"));
    }
    set_option(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY, &1_i32)
        .map_err(|source| Error::System { action: "setting TCP_NODELAY", source })
}

/// The next connection, non-blocking.
pub fn accept(listener: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: null pointers ask for no address.
    let fd = check(unsafe {
        libc::accept4(
            listener.as_raw_fd(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
        )
    })?;
    // SAFETY: `fd` was just created and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// recv(2).
pub fn receive(connection: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer outlives the call and its length is given.
    let count =
        unsafe { libc::recv(connection.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// send(2) without SIGPIPE.
pub fn send(connection: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes outlive the call and their length is given.
    let count = unsafe {
        libc::send(connection.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// Makes the coming close(2) a reset.
pub fn reset_on_close(connection: BorrowedFd<'_>) -> io::Result<()> {
    set_option(
        connection.as_raw_fd(),
        libc::SOL_SOCKET,
        libc::SO_LINGER,
        &libc::linger { l_onoff: 1, l_linger: 0 },
    )
}

/// Says that no more will be sent.
pub fn finish_sending(connection: BorrowedFd<'_>) {
    // SAFETY: no pointers are passed. It fails only if the connection is gone already, which is as
    // good.
    unsafe { libc::shutdown(connection.as_raw_fd(), libc::SHUT_WR) };
}

fn set_option<T>(fd: RawFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    // SAFETY: the value outlives the call and its length is given.
    check(unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            std::ptr::from_ref(value).cast(),
            mem::size_of::<T>() as u32,
        )
    })
    .map(drop)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::{accept, listen, prepare_listener};
    use std::net::TcpStream;
    use std::os::fd::AsFd;

    #[test]
    fn connections_inherit_that_nothing_is_held_back() {
        let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
        prepare_listener(listener.as_fd()).unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let accepted = TcpStream::from(accept(listener.as_fd()).unwrap());
        assert!(accepted.nodelay().unwrap());
    }

    #[test]
    fn an_address_can_be_shared_only_if_all_agree() {
        let first = listen("127.0.0.1:0".parse().unwrap(), true).unwrap();
        let address = first.local_addr().unwrap();
        assert!(listen(address, true).is_ok());
        let error = listen(address, false).unwrap_err().to_string();
        assert!(error.contains(&address.to_string()) && error.contains("port 0"), "{error}");
    }

    #[test]
    fn listens_on_ipv6() {
        assert!(
            listen("[::1]:0".parse().unwrap(), false).unwrap().local_addr().unwrap().port() > 0
        );
    }
}
