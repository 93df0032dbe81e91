//! Every packet of a port on the loopback, by an AF_PACKET socket (packet(7)).
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use pippin_reference::Error;

/// A TCP segment, or a UDP datagram, over IPv4.
#[derive(Debug, Clone)]
pub struct Segment {
    /// When the kernel received it, in nanoseconds of CLOCK_REALTIME.
    pub at_ns: u64,
    /// The sender's port.
    pub from_port: u16,
    /// The receiver's port.
    pub to_port: u16,
    /// The number of the first byte (RFC 9293, section 3.1); 0 of a datagram.
    pub sequence: u32,
    /// Opens a connection.
    pub is_syn: bool,
    /// Acknowledges something.
    pub is_ack: bool,
    /// The bytes it carries.
    pub payload: Vec<u8>,
}

/// A capture under way.
#[derive(Debug)]
pub struct Capture {
    socket: Arc<OwnedFd>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Segment>, Error>>,
}

/// All protocols: a socket for IP alone would get its packets after TCP has had them, and then an
/// answer may come before its request.
const ETH_P_ALL: u16 = 3;
/// IPv4.
const ETH_P_IP: u16 = 0x0800;
/// A jumbo of the loopback (65,536 bytes) with its headers.
const PACKET_BYTES: usize = 68 * 1024;

impl Capture {
    /// Begins to capture what goes to or from `port`.
    ///
    /// # Errors
    /// The socket cannot be opened: it needs CAP_NET_RAW and CAP_NET_ADMIN.
    pub fn start(port: u16) -> Result<Self, Error> {
        let failed = |source| Error::System { action: "opening a packet socket", source };
        let socket = Arc::new(open().map_err(failed)?);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (socket, stop) = (Arc::clone(&socket), Arc::clone(&stop));
            move || capture(&socket, port, &stop)
        });
        Ok(Self { socket, stop, thread })
    }

    /// All segments, in the order of their arrival.
    ///
    /// # Errors
    /// The kernel dropped some, or gave one without a time.
    pub fn stop(self) -> Result<Vec<Segment>, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let segments = self.thread.join().map_err(|_| Error::Panicked)??;
        match dropped(&self.socket)? {
            0 => Ok(segments),
            count => Err(Error::Capture(format!("the kernel dropped {count} packets"))),
        }
    }
}

fn option(fd: i32, level: i32, name: i32, value: i32) -> io::Result<()> {
    let length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the pointer and its length belong together.
    let result = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn open() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, i32::from(ETH_P_ALL.to_be())) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the string ends in a zero.
    let loopback = unsafe { libc::if_nametoindex(c"lo".as_ptr()) };
    // SAFETY: an address of zeros is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ETH_P_ALL.to_be();
    address.sll_ifindex = loopback as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer and its length belong together.
    if unsafe { libc::bind(fd, (&raw const address).cast(), length) } < 0 {
        return Err(io::Error::last_os_error());
    }
    option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 256 << 20)?;
    option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
    Ok(socket)
}

fn capture(socket: &OwnedFd, port: u16, stop: &AtomicBool) -> Result<Vec<Segment>, Error> {
    let mut segments = Vec::new();
    let mut packet = vec![0; PACKET_BYTES];
    loop {
        // The flag first: what came before it was set is read to the end.
        let is_last = stop.load(Ordering::Relaxed);
        while let Some((length, at_ns, is_outgoing)) = receive(socket, &mut packet)? {
            // Over the loopback each packet is seen twice: when it leaves and when it arrives.
            if !is_outgoing && let Some(segment) = parse(&packet[..length], at_ns, port) {
                segments.push(segment);
            }
        }
        if is_last {
            return Ok(segments);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A packet with its length, its stamp and whether it is a copy from its way out.
fn receive(socket: &OwnedFd, packet: &mut [u8]) -> Result<Option<(usize, u64, bool)>, Error> {
    // SAFETY: messages and addresses of zeros are valid.
    let (mut message, mut from): (libc::msghdr, libc::sockaddr_ll) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    let mut control = [0_u64; 16];
    let mut piece = libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: packet.len() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_name = (&raw mut from).cast();
    message.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    message.msg_control = control.as_mut_ptr().cast();
    // A `size_t` with glibc, and shorter with musl.
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: all pointers are valid for the call.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let Ok(length) = usize::try_from(length) else { return Ok(None) };
    // SAFETY: the kernel has filled the message.
    let at_ns = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_TIMESTAMPNS {
            return Err(Error::Capture("a packet has no time stamp".into()));
        }
        let at = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
        at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
    };
    Ok(Some((length, at_ns, from.sll_pkttype == libc::PACKET_OUTGOING)))
}

/// A frame of the loopback: an Ethernet header of zeros, IPv4 (RFC 791), TCP (RFC 9293) or UDP (RFC 768).
fn parse(frame: &[u8], at_ns: u64, port: u16) -> Option<Segment> {
    let (ethernet, ip) = frame.split_at_checked(14)?;
    if ethernet[12..] != ETH_P_IP.to_be_bytes() {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([*ip.get(2)?, *ip.get(3)?]));
    // Of a packet larger than the field can say, the length is 0 (BIG TCP).
    let ip = if total == 0 { ip } else { ip.get(..total)? };
    if *ip.first()? >> 4 != 4 {
        return None;
    }
    let is_datagram = match *ip.get(9)? {
        6 => false,
        17 => true,
        _ => return None,
    };
    let tcp = ip.get(usize::from(ip[0] & 15) * 4..)?;
    if tcp.len() < if is_datagram { 8 } else { 20 } {
        return None;
    }
    let number = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let (from_port, to_port) = (number(0), number(2));
    if from_port != port && to_port != port {
        return None;
    }
    if is_datagram {
        let payload = tcp[8..].to_vec();
        let (sequence, is_syn, is_ack) = (0, false, false);
        return Some(Segment { at_ns, from_port, to_port, sequence, is_syn, is_ack, payload });
    }
    let flags = tcp[13];
    Some(Segment {
        at_ns,
        from_port,
        to_port,
        sequence: u32::from(number(4)) << 16 | u32::from(number(6)),
        is_syn: flags & 2 != 0,
        is_ack: flags & 16 != 0,
        payload: tcp.get(usize::from(tcp[12] >> 4) * 4..).unwrap_or_default().to_vec(),
    })
}

/// Packets that the kernel could not keep for us.
fn dropped(socket: &OwnedFd) -> Result<u32, Error> {
    /// PACKET_STATISTICS (include/uapi/linux/if_packet.h): `struct tpacket_stats`.
    const STATISTICS: i32 = 6;
    let mut counts = [0_u32; 2];
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: the pointer and its length belong together.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            STATISTICS,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result < 0 { Err(Error::last("asking for lost packets")) } else { Ok(counts[1]) }
}
