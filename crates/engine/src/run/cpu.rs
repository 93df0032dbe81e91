//! Binding a thread to a processor.
use std::io;

/// Binds the calling thread to one processor.
pub(crate) fn bind(core: u32) -> io::Result<()> {
    if core as usize >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: a cpu_set_t is plain bits, for which zero is valid; CPU_SET stays within it; pid 0 is
    // the calling thread.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Peak resident memory of the process in bytes (getrusage(2), `ru_maxrss` counts KiB).
pub(crate) fn max_rss_bytes() -> Option<u64> {
    // SAFETY: a rusage is plain integers, for which zero is valid, and the kernel fills it.
    let (result, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), usage)
    };
    (result == 0).then_some(usage.ru_maxrss as u64 * 1024)
}

/// Makes the calling thread's sleeps end on time: by default the kernel adds up to 50 us of timer
/// slack (prctl(2)).
pub(crate) fn sleep_precisely() {
    // If the kernel refuses, threads poll longer before deadlines. SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
