//! The clock that the reference servers and the engine share.

/// CLOCK_MONOTONIC in nanoseconds (clock_gettime(2)): comparable with every instant of a load
/// result on the same machine.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call; CLOCK_MONOTONIC always exists, so the call can't fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::monotonic_ns;

    #[test]
    fn goes_forward_by_what_was_slept() {
        let before = monotonic_ns();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(monotonic_ns() - before >= 5_000_000);
    }
}
