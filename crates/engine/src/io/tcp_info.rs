//! What TCP itself knows of a connection: `TCP_INFO` (tcp(7)).
use std::mem::size_of;

/// The start of the kernel's `struct tcp_info` (include/uapi/linux/tcp.h) up to
/// `tcpi_bytes_retrans` (Linux 4.19).
#[repr(C)]
#[derive(Default)]
struct TcpInfo {
    bytes_of_state: [u8; 8],
    words: [u32; 24],
    /// `tcpi_pacing_rate`, `tcpi_max_pacing_rate`, `tcpi_bytes_acked`, `tcpi_bytes_received`.
    first: [u64; 4],
    /// `tcpi_segs_out` ... `tcpi_data_segs_out`.
    segments: [u32; 6],
    /// `tcpi_delivery_rate`, `tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`.
    rates: [u64; 4],
    /// `tcpi_delivered`, `tcpi_delivered_ce`.
    delivered: [u32; 2],
    /// `tcpi_bytes_sent`, `tcpi_bytes_retrans`.
    sent: [u64; 2],
}

/// `TCP_ESTABLISHED` (include/net/tcp_states.h), which `tcpi_state` says.
const ESTABLISHED: u8 = 1;
/// The places of `tcpi_rtt` and `tcpi_total_retrans` among the words.
const ROUND_TRIP: usize = 15;
const RETRANSMITTED: usize = 23;

/// How a connection was opened, as TCP saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handshake {
    /// From SYN to SYN-ACK, in nanoseconds (the kernel counts in microseconds). `None` where a SYN
    /// was sent again: TCP does not tell which of them was answered (Karn's algorithm, RFC 6298).
    pub round_trip_ns: Option<u64>,
    /// How many SYNs were sent again.
    pub repeated_syns: u32,
    /// The server has sent bytes already.
    pub has_received: bool,
}

/// The handshake of a connection that is open and has carried nothing yet. `None` if the kernel
/// does not say.
pub(super) fn handshake(fd: i32) -> Option<Handshake> {
    let mut info = read(fd)?;
    if info.has_received() {
        // The kernel reads the state before it locks the socket. An end of the stream that comes in
        // between is a byte of a connection that is open; a second look sees it as an end.
        info = read(fd)?;
    }
    let (round_trip_us, repeated_syns) = (info.words[ROUND_TRIP], info.words[RETRANSMITTED]);
    let round_trip_ns =
        (repeated_syns == 0 && round_trip_us > 0).then_some(u64::from(round_trip_us) * 1_000);
    Some(Handshake { round_trip_ns, repeated_syns, has_received: info.has_received() })
}

/// Whether the peer's kernel has acknowledged bytes. `None` if the kernel does not say.
pub(super) fn has_delivered(fd: i32) -> Option<bool> {
    Some(read(fd)?.acknowledged() > 0)
}

impl TcpInfo {
    /// Note that `tcpi_bytes_acked` counts the SYN too.
    const fn acknowledged(&self) -> u64 {
        self.first[2].saturating_sub(1)
    }

    /// `tcpi_bytes_received` counts the end of the stream as a byte.
    const fn has_received(&self) -> bool {
        let has_end = self.bytes_of_state[0] != ESTABLISHED;
        self.first[3] > has_end as u64
    }
}

/// Whether the peer's kernel has not acknowledged the last bytes sent, so that nobody can have read
/// them. `None` if the kernel does not say.
pub(super) fn is_undelivered(fd: i32) -> Option<bool> {
    let info = read(fd)?;
    let [sent, repeated] = info.sent;
    Some(info.acknowledged() < sent.saturating_sub(repeated))
}

fn read(fd: i32) -> Option<TcpInfo> {
    let mut info = TcpInfo::default();
    let mut length = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: both pointers are valid for the call, and the kernel writes no more than `length`
    // bytes.
    let result = unsafe {
        libc::getsockopt(
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    (result == 0 && length as usize >= size_of::<TcpInfo>()).then_some(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;

    #[test]
    fn the_kernel_tells_how_long_the_handshake_took() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let seen = handshake(client.as_raw_fd()).unwrap();
        assert!(seen.round_trip_ns.is_some_and(|ns| ns > 0), "{seen:?}");
        assert_eq!(seen.repeated_syns, 0);
    }

    #[test]
    fn the_kernel_tells_delivered_bytes_from_refused_ones() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"first").unwrap();
        server.read_exact(&mut [0; 5]).unwrap();
        assert_eq!(is_undelivered(client.as_raw_fd()), Some(false));
        drop(server);
        client.write_all(b"second").unwrap();
        assert_eq!(is_undelivered(client.as_raw_fd()), Some(true));
    }

    #[test]
    fn the_kernel_tells_whether_bytes_went_either_way() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let fd = client.as_raw_fd();
        let seen = || (handshake(fd).unwrap().has_received, has_delivered(fd).unwrap());
        assert_eq!(seen(), (false, false));
        client.write_all(b"x").unwrap();
        server.read_exact(&mut [0]).unwrap();
        assert_eq!(seen(), (false, true));
        server.write_all(b"x").unwrap();
        client.peek(&mut [0]).unwrap();
        assert_eq!(seen(), (true, true));
    }

    #[test]
    fn the_end_of_the_stream_is_no_byte() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        drop(listener.accept().unwrap());
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        assert!(!handshake(client.as_raw_fd()).unwrap().has_received);
    }
}
