//! Arrival stamps: the kernel notes when it receives each segment (`SO_TIMESTAMPING`; Linux:
//! Documentation/networking/timestamping.rst), and `recvmsg` hands out the stamp of the last
//! segment that it read.
//!
//! Without them an answer would seem to arrive when the generator reads it.
use std::io;
use std::mem::size_of;

use super::socket;

/// Stamp in software on receiving, and report those stamps. Those of sends, which are asked for one by
/// one, come without the bytes that were sent.
const FLAGS: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE
    | libc::SOF_TIMESTAMPING_SOFTWARE
    | libc::SOF_TIMESTAMPING_OPT_TSONLY;

/// Room for the control message: a header and `struct scm_timestamping`, which has three instants.
/// The first of them is the software's.
pub(super) const CONTROL_BYTES: usize = size_of::<Control>();

#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    instants: [libc::timespec; 3],
}

/// The control message of a send whose departure is to be stamped: the kernel stamps the packet with
/// the last of its bytes when that is handed to the device.
#[repr(C)]
struct Request {
    header: libc::cmsghdr,
    flags: libc::c_uint,
    _padding: libc::c_uint,
}

/// A message whose departure is to be stamped.
pub(super) struct Stamped {
    message: libc::msghdr,
    piece: libc::iovec,
    control: Request,
}

impl Stamped {
    /// A message without bytes.
    pub fn new() -> Box<Self> {
        // SAFETY: a msghdr of zeros is one without buffers, and a cmsghdr is plain numbers.
        let (message, mut header): (libc::msghdr, libc::cmsghdr) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        // Lengths have other types in musl.
        header.cmsg_len = (size_of::<libc::cmsghdr>() + size_of::<libc::c_uint>()) as _;
        header.cmsg_level = libc::SOL_SOCKET;
        header.cmsg_type = libc::SO_TIMESTAMPING;
        let piece = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let flags = libc::SOF_TIMESTAMPING_TX_SOFTWARE;
        Box::new(Self { message, piece, control: Request { header, flags, _padding: 0 } })
    }

    /// The message for `sendmsg`, with these bytes.
    pub fn message(self: &mut Box<Self>, bytes: &[u8]) -> *const libc::msghdr {
        self.piece =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        self.message.msg_iov = &raw mut self.piece;
        self.message.msg_iovlen = 1;
        self.message.msg_control = (&raw mut self.control).cast();
        self.message.msg_controllen = size_of::<Request>() as _;
        &raw const self.message
    }
}

/// The newest stamp of a departure that waits on this socket, in nanoseconds of CLOCK_REALTIME, and
/// how many system calls it took. The queue is empty afterwards.
pub(super) fn departure(fd: i32) -> (Option<u64>, u64) {
    /// Room for the stamp and for what belongs to an error queue (ip(7), IP_RECVERR).
    const ROOM: usize = 256;
    let (mut newest, mut calls) = (None, 0);
    loop {
        let mut control = [0_u64; ROOM / 8];
        // SAFETY: a msghdr of zeros is one without buffers.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = ROOM as _;
        let how = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        calls += 1;
        // SAFETY: the kernel writes at most as many bytes as the control message has room for.
        if unsafe { libc::recvmsg(fd, &raw mut message, how) } < 0 {
            return (newest, calls);
        }
        let filled = (message.msg_controllen as usize).min(ROOM);
        // SAFETY: any bytes of the array are valid.
        let bytes = unsafe { std::slice::from_raw_parts(control.as_ptr().cast::<u8>(), filled) };
        newest = read(bytes).or(newest);
    }
}

/// Asks the kernel to stamp what arrives on this socket. If it refuses, there are no stamps.
#[inline]
pub(super) fn enable(fd: i32) {
    socket::set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, FLAGS as libc::c_int);
}

/// The stamp in the control message of one `recvmsg`, in nanoseconds of CLOCK_REALTIME.
#[inline]
pub(super) fn read(control: &[u8]) -> Option<u64> {
    if control.len() < CONTROL_BYTES {
        return None;
    }
    // SAFETY: the slice is long enough, and any bytes are a valid `Control`.
    let control = unsafe { control.as_ptr().cast::<Control>().read_unaligned() };
    let is_stamp = control.header.cmsg_level == libc::SOL_SOCKET
        && control.header.cmsg_type == libc::SCM_TIMESTAMPING;
    let libc::timespec { tv_sec, tv_nsec } = control.instants[0];
    (is_stamp && tv_sec > 0).then_some(tv_sec as u64 * 1_000_000_000 + tv_nsec as u64)
}

/// A socket that asks for stamps and carries nothing. The kernel starts to stamp a moment after the
/// first socket asks, and stops with the last one; both patch its code. While this socket is open,
/// connections of a load can come and go without that.
pub(super) struct Keeper(i32);

impl Keeper {
    /// # Errors
    /// No socket could be opened.
    pub fn new() -> io::Result<Self> {
        let datagrams = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no pointers.
        let fd = unsafe { libc::socket(libc::AF_INET, datagrams, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        enable(fd);
        Ok(Self(fd))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        socket::close(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(level: i32, kind: i32, seconds: i64) -> Vec<u8> {
        let mut bytes = (CONTROL_BYTES as u64).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        for number in [seconds, 7, 0, 0, 0, 0] {
            bytes.extend(number.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn a_stamp_is_read_and_nothing_else_is_taken_for_one() {
        let whole = control(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, 2);
        assert_eq!(read(&whole), Some(2_000_000_007));
        assert_eq!(read(&whole[..CONTROL_BYTES - 1]), None, "cut off");
        assert_eq!(read(&[]), None, "no control message");
        assert_eq!(read(&control(libc::SOL_SOCKET, libc::SCM_RIGHTS, 2)), None);
        assert_eq!(read(&control(libc::IPPROTO_TCP, libc::SCM_TIMESTAMPING, 2)), None);
        assert_eq!(
            read(&control(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, 0)),
            None,
            "not stamped"
        );
    }
}
