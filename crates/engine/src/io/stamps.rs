//! Arrival stamps: the kernel notes when it receives each segment (`SO_TIMESTAMPING`; Linux:
//! Documentation/networking/timestamping.rst), and `recvmsg` hands out the stamp of the last
//! segment that it read.
//!
//! Without them an answer would seem to arrive when the generator reads it.
use std::io;
use std::mem::size_of;

use super::socket;

/// Stamp in software on receiving, and report those stamps.
const FLAGS: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;

/// Room for the control message: a header and `struct scm_timestamping`, which has three instants.
/// The first of them is the software's.
pub(super) const CONTROL_BYTES: usize = size_of::<Control>();

#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    instants: [libc::timespec; 3],
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
