//! Free ports.
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

/// How many ports are tried.
const SPAN: u32 = 8_000;

/// A loopback port that nobody listens on now; see [`free_at`].
///
/// # Errors
/// If none is free.
pub fn free() -> io::Result<u16> {
    free_at(Ipv4Addr::LOCALHOST.into())
}

/// A port of this address on which nobody listens now, below the range from which the kernel takes
/// local ports for outgoing connections (ip(7), ip_local_port_range), so that the generator's own
/// connections cannot take it.
///
/// # Errors
/// If none is free, or the address is none of this machine.
pub fn free_at(address: IpAddr) -> io::Result<u16> {
    TcpListener::bind((address, 0))?;
    // Where the search starts; differs between processes and calls, so that two Pippins rarely try
    // the same port.
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id()
        .wrapping_mul(97)
        .wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed).wrapping_mul(13))
        % SPAN;
    let first = first_port(first_local_port());
    (0..SPAN)
        .map(|offset| first + ((start + offset) % SPAN) as u16)
        .find(|port| is_free((address, *port).into()))
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::AddrInUse,
                format!("no port from {first} to {} is free", u32::from(first) + SPAN - 1),
            )
        })
}

/// Whether a server can have this port, for TCP and, as servers of HTTP/3 do, for UDP.
fn is_free(address: SocketAddr) -> bool {
    TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
}

fn first_local_port() -> u16 {
    let range =
        std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_ascii_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(32_768)
}

/// The range to search: just below the kernel's local ports. If these begin right above the
/// privileged ports, any unprivileged port must do.
fn first_port(first_local: u16) -> u16 {
    u32::from(first_local)
        .checked_sub(SPAN)
        .filter(|first| *first >= 1_024)
        .map_or(20_000, |first| first as u16)
}

/// Whether somebody accepts connections on this port of the loopback.
#[must_use]
pub fn is_listening(port: u16) -> bool {
    answers((Ipv4Addr::LOCALHOST, port).into())
}

/// Whether somebody accepts connections there.
#[must_use]
pub fn answers(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, Duration::from_millis(300)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_stays_below_the_local_ports_where_it_can() {
        assert_eq!(first_port(32_768), 24_768);
        assert_eq!(first_port(10_000), 2_000);
        assert_eq!(first_port(1_024), 20_000);
    }

    #[test]
    fn a_taken_port_is_not_free() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_listening(port));
        let free = free().unwrap();
        assert!(free != port && !is_listening(free));
        // 192.0.2.0/24 is nobody's (RFC 5737).
        assert!(free_at([192, 0, 2, 1].into()).is_err());
    }
}
