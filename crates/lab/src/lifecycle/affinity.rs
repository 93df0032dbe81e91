//! Which processors a process may use (sched_setaffinity(2)).
use pippin_model::plan::cpus::CpuSet;
use std::io;

/// Binds the calling thread, and what it forks later, to these processors. Async-signal-safe once
/// the set is built.
///
/// # Errors
/// If the kernel refuses, for example because none of the processors exists.
pub fn bind_current(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the pointer is to a live cpu_set_t of the given size; pid 0 is the calling thread.
    let result = unsafe { libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), set) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The kernel's form of a set.
#[must_use]
pub fn kernel_set(cpus: &CpuSet) -> libc::cpu_set_t {
    // SAFETY: cpu_set_t is a plain array of integers, for which all zeroes is the empty set;
    // CPU_SET stays within it below 1024.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus.0.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as u32) {
            libc::CPU_SET(cpu as usize, &mut set);
        }
        set
    }
}

/// The processors that this process may use.
#[must_use]
pub fn available() -> CpuSet {
    // SAFETY: the set is plain data that the call fills; CPU_ISSET reads within it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return CpuSet([0].into());
        }
        CpuSet(
            (0..libc::CPU_SETSIZE as u32)
                .filter(|cpu| libc::CPU_ISSET(*cpu as usize, &set))
                .collect(),
        )
    }
}
