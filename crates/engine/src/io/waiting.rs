//! Waiting for the events of an epoll descriptor, with a time in nanoseconds.
//!
//! epoll_pwait2(2) came with Linux 5.11. Where it is missing (older kernels, emulators as qemu-user),
//! ppoll(2) waits until the descriptor has events, because it knows nanoseconds too (epoll(7): an epoll
//! descriptor can be polled). Then epoll_wait(2) takes them. Which of both it is, is found out once.
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::socket::errno;

/// Whether this kernel lacks epoll_pwait2.
static LACKS_PWAIT2: AtomicBool = AtomicBool::new(false);

/// Waits for events, `timeout_ns` at the most. Returns how many there are, and adds the calls to
/// `syscalls`. An interruption by a signal counts as no events.
///
/// # Errors
/// What the kernel says.
#[inline]
pub(super) fn wait(
    epoll: i32,
    events: &mut [libc::epoll_event],
    timeout_ns: u64,
    syscalls: &mut u64,
) -> io::Result<usize> {
    wait_as_known(&LACKS_PWAIT2, epoll, events, timeout_ns, syscalls)
}

#[inline]
fn wait_as_known(
    lacks_pwait2: &AtomicBool,
    epoll: i32,
    events: &mut [libc::epoll_event],
    timeout_ns: u64,
    syscalls: &mut u64,
) -> io::Result<usize> {
    let timeout = libc::timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as i64,
        tv_nsec: (timeout_ns % 1_000_000_000) as i64,
    };
    if !lacks_pwait2.load(Ordering::Relaxed) {
        *syscalls += 1;
        match found(pwait2(epoll, events, &timeout)) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                lacks_pwait2.store(true, Ordering::Relaxed);
            }
            ready => return ready,
        }
    }
    wait_by_ppoll(epoll, events, &timeout, syscalls)
}

fn pwait2(epoll: i32, events: &mut [libc::epoll_event], timeout: &libc::timespec) -> i64 {
    let (no_mask, size) = (std::ptr::null::<u8>(), 8);
    // SAFETY: all pointers are valid for the call; the kernel writes at most as many events as there
    // is room for. The C library's wrapper is newer than the call, so it is called by number.
    unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll,
            events.as_mut_ptr(),
            events.len() as i32,
            &raw const *timeout,
            no_mask,
            size,
        )
    }
}

#[cold]
fn wait_by_ppoll(
    epoll: i32,
    events: &mut [libc::epoll_event],
    timeout: &libc::timespec,
    syscalls: &mut u64,
) -> io::Result<usize> {
    let is_wait = timeout.tv_sec > 0 || timeout.tv_nsec > 0;
    if is_wait {
        let mut readable = libc::pollfd { fd: epoll, events: libc::POLLIN, revents: 0 };
        *syscalls += 1;
        // SAFETY: both pointers are valid for the call, and no signal mask is given.
        let result =
            unsafe { libc::ppoll(&raw mut readable, 1, &raw const *timeout, std::ptr::null()) };
        if found(result.into())? == 0 {
            return Ok(0);
        }
    }
    *syscalls += 1;
    // SAFETY: the pointer is valid for the call; the kernel writes at most as many events.
    let result = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), events.len() as i32, 0) };
    found(result.into())
}

/// The number that a call returned.
fn found(result: i64) -> io::Result<usize> {
    match usize::try_from(result) {
        Ok(ready) => Ok(ready),
        Err(_) if errno() == libc::EINTR => Ok(0),
        Err(_) => Err(io::Error::from_raw_os_error(errno())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_testing::old_kernel;
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;

    /// An epoll set with one end of a pair, edge-triggered as in a load, and the other end.
    fn set() -> (i32, UnixStream, UnixStream) {
        let (own, peer) = UnixStream::pair().unwrap();
        let mut event =
            libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLET) as u32, u64: 7 };
        // SAFETY: no pointers; then `event` is valid for the call.
        let epoll = unsafe {
            let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            assert_eq!(
                libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, own.as_raw_fd(), &raw mut event),
                0
            );
            epoll
        };
        (epoll, own, peer)
    }

    /// What a wait finds before and after a byte came, and how many calls that takes.
    fn waits(lacks: &AtomicBool) -> Vec<(usize, u64)> {
        let (epoll, _own, mut peer) = set();
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        let mut one = |timeout_ns| {
            let mut calls = 0;
            let ready = wait_as_known(lacks, epoll, &mut events, timeout_ns, &mut calls).unwrap();
            assert!(events[..ready].iter().all(|event| { event.u64 } == 7));
            (ready, calls)
        };
        let mut seen = vec![one(0), one(1_000)];
        peer.write_all(b"x").unwrap();
        // The edge comes once.
        seen.extend([one(3_600_000_000_000), one(0), one(1_000)]);
        super::super::socket::close(epoll);
        seen
    }

    #[test]
    fn both_ways_to_wait_find_the_same_events() {
        let has = AtomicBool::new(false);
        assert_eq!(waits(&has), [(0, 1), (0, 1), (1, 1), (0, 1), (0, 1)]);
        assert!(!has.load(Ordering::Relaxed), "this kernel has epoll_pwait2");
        let lacks = AtomicBool::new(true);
        assert_eq!(waits(&lacks), [(0, 1), (0, 1), (1, 2), (0, 1), (0, 1)]);
    }

    /// A thread whose kernel says ENOSYS. The first wait asks it, and no other one does.
    #[test]
    fn a_missing_call_is_asked_for_once() {
        let thread = std::thread::spawn(|| {
            old_kernel::refuse_pwait2().unwrap();
            let lacks = AtomicBool::new(false);
            (waits(&lacks), lacks.into_inner())
        });
        let (seen, lacks) = thread.join().unwrap();
        assert_eq!(seen, [(0, 2), (0, 1), (1, 2), (0, 1), (0, 1)]);
        assert!(lacks);
    }

    #[test]
    fn what_is_no_epoll_descriptor_is_an_error() {
        for lacks in [false, true] {
            let mut calls = 0;
            let error =
                wait_as_known(&AtomicBool::new(lacks), -1, &mut [], 0, &mut calls).unwrap_err();
            // No room for events, or no such descriptor.
            assert!(matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EBADF)), "{error}");
        }
    }
}
