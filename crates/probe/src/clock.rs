//! Clocks: CLOCK_MONOTONIC, CPU-time clocks, and the units in which /proc counts.
use std::time::Duration;

/// CLOCK_MONOTONIC in nanoseconds (clock_gettime(2)); the instants of every sample and of the
/// engine are on this clock.
#[must_use]
pub fn monotonic_ns() -> u64 {
    // CLOCK_MONOTONIC exists on every Linux, so there is no failure to report.
    read(libc::CLOCK_MONOTONIC).unwrap_or_default()
}

/// CPU time of the calling thread in nanoseconds (CLOCK_THREAD_CPUTIME_ID).
#[must_use]
pub fn thread_cpu_ns() -> Option<u64> {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of a whole process, all threads living and dead, in nanoseconds:
/// clock_getcpuclockid(3). It is utime + stime of `/proc/PID/stat`, without their rounding to clock
/// ticks. `None` if there is no such process (any more).
#[must_use]
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` is a valid place for the answer.
    let failed = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    if failed == 0 { read(clock) } else { None }
}

fn read(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if failed != 0 {
        return None;
    }
    u64::try_from(
        Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?)
            .as_nanos(),
    )
    .ok()
}

/// The units in which /proc counts (sysconf(3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcUnits {
    /// Clock ticks per second (_SC_CLK_TCK), the unit of /proc/stat and /proc/PID/stat.
    pub ticks_per_second: u64,
    /// Bytes of a page (_SC_PAGESIZE), the unit of the resident set in /proc/PID/stat.
    pub page_bytes: u64,
}

impl ProcUnits {
    /// This machine's.
    #[must_use]
    pub fn of_this_host() -> Self {
        // SAFETY: sysconf reads constants only.
        let (ticks, page) =
            unsafe { (libc::sysconf(libc::_SC_CLK_TCK), libc::sysconf(libc::_SC_PAGESIZE)) };
        // Linux has reported 100 ticks to user space since 2.6 on every current architecture;
        // sysconf does not fail for either name.
        Self {
            ticks_per_second: u64::try_from(ticks).unwrap_or(100).max(1),
            page_bytes: u64::try_from(page).unwrap_or(4096),
        }
    }

    /// Clock ticks since boot, in which /proc/PID/stat says when a process started
    /// (CLOCK_BOOTTIME, which also runs while the machine sleeps).
    #[must_use]
    pub fn ticks_since_boot(self) -> u64 {
        read(libc::CLOCK_BOOTTIME).unwrap_or_default() / (1_000_000_000 / self.ticks_per_second)
    }

    /// Clock ticks in nanoseconds.
    #[must_use]
    pub const fn ticks_to_ns(self, ticks: u64) -> u64 {
        ticks.saturating_mul(1_000_000_000 / self.ticks_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_run_forwards_and_cpu_time_is_less_than_real_time_of_one_thread() {
        let (real, cpu) = (monotonic_ns(), thread_cpu_ns().unwrap());
        while thread_cpu_ns().unwrap() - cpu < 5_000_000 {
            std::hint::black_box(0);
        }
        assert!(monotonic_ns() - real >= 5_000_000);
    }

    #[test]
    fn the_clock_of_this_process_is_known_and_of_no_process_is_not() {
        let own = process_cpu_ns(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(own >= thread_cpu_ns().unwrap());
        assert_eq!(process_cpu_ns(i32::MAX - 1), None);
    }

    #[test]
    fn ticks_become_nanoseconds() {
        let units = ProcUnits { ticks_per_second: 100, page_bytes: 4096 };
        assert_eq!(units.ticks_to_ns(3), 30_000_000);
    }
}
