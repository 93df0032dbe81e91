//! Addresses at which connecting fails.
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use pippin_reference::Error;
use pippin_reference::socket;

/// A port that is taken but not listened on: connecting is refused, and nobody else can begin to
/// listen there.
#[derive(Debug)]
pub struct Refusing {
    _socket: OwnedFd,
    address: SocketAddr,
}

impl Refusing {
    /// Takes a free loopback port.
    ///
    /// # Errors
    /// If there is no free port.
    pub fn new() -> Result<Self, Error> {
        // SAFETY: no pointers are passed.
        let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(Error::last("socket"));
        }
        // SAFETY: `fd` was just created and belongs to nobody else.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        socket::bind(fd, any).map_err(|source| Error::Listen { address: any, source })?;
        // A `TcpListener` is no more than a descriptor; it is only asked for its address and never
        // listens.
        let socket = TcpListener::from(socket);
        let address = socket
            .local_addr()
            .map_err(|source| Error::System { action: "getsockname", source })?;
        Ok(Self { _socket: socket.into(), address })
    }

    /// Where connecting is refused.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A listener whose queue is full: connecting takes until the client gives up.
#[derive(Debug)]
pub struct Unaccepting {
    _listener: TcpListener,
    _waiting: Vec<TcpStream>,
    address: SocketAddr,
}

impl Unaccepting {
    /// Listens on a free loopback port with the shortest queue and fills it.
    ///
    /// # Errors
    /// If there is no free port.
    pub fn new() -> Result<Self, Error> {
        let listener = socket::listen(SocketAddr::from(([127, 0, 0, 1], 0)), false)?;
        // SAFETY: no pointers are passed. Listening again changes the length of the queue.
        if unsafe { libc::listen(listener.as_raw_fd(), 0) } < 0 {
            return Err(Error::last("listen"));
        }
        let address = listener
            .local_addr()
            .map_err(|source| Error::System { action: "getsockname", source })?;
        Ok(Self { _waiting: fill(address)?, _listener: listener, address })
    }

    /// Where connecting takes for ever.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Connects until a connection takes longer than 100 ms; the loopback needs a thousandth of that.
fn fill(address: SocketAddr) -> Result<Vec<TcpStream>, Error> {
    let mut waiting = Vec::new();
    loop {
        match TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
            Ok(stream) if waiting.len() < 64 => waiting.push(stream),
            Ok(_) => {
                return Err(Error::System {
                    action: "filling a listen queue",
                    source: io::Error::other("64 connections were not enough"),
                });
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(waiting),
            Err(source) => return Err(Error::System { action: "filling a listen queue", source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusing, Unaccepting};
    use std::io::ErrorKind;
    use std::net::TcpStream;
    use std::time::Duration;

    #[test]
    fn refuses() {
        let port = Refusing::new().unwrap();
        assert_eq!(
            TcpStream::connect(port.address()).unwrap_err().kind(),
            ErrorKind::ConnectionRefused
        );
    }

    #[test]
    fn never_accepts() {
        let port = Unaccepting::new().unwrap();
        let error =
            TcpStream::connect_timeout(&port.address(), Duration::from_millis(150)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
