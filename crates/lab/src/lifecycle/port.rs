//! Free ports.
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::time::Duration;

/// A loopback port that nobody listens on now, outside the range from which the kernel takes local ports for outgoing connections
/// (ip(7), ip_local_port_range), so that the generator's own connections cannot take it.
///
/// # Errors
/// If none is free.
pub fn free() -> io::Result<u16> {
    // A start that differs between processes and calls, so that two Pippins rarely try the same port.
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(97).wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed).wrapping_mul(13)) % 12_000;
    (0..12_000)
        .map(|offset| 20_000 + ((start + offset) % 12_000) as u16)
        .find(|port| is_free(*port))
        .ok_or_else(|| io::Error::new(io::ErrorKind::AddrInUse, "no port from 20000 to 31999 is free"))
}

/// Whether the port can be listened on at loopback now.
#[must_use]
pub fn is_free(port: u16) -> bool {
    TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Whether somebody accepts connections on it.
#[must_use]
pub fn is_listening(port: u16) -> bool {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Duration::from_millis(300)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_not_free() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(!is_free(port) && is_listening(port));
        assert!(is_free(free().unwrap()));
    }
}
