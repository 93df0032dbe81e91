//! The only module that names the kernel's clocks.

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing; the clocks used here exist on every Linux, so that the
    // call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CLOCK_MONOTONIC in nanoseconds: what every time span is measured with. Read without a system
/// call (vDSO).
#[inline]
pub(crate) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// What the loop of a thread reads the time from, chosen at compile time: tests have a clock of their
/// own.
pub(crate) trait Clock {
    /// The present instant, in nanoseconds.
    fn now_ns() -> u64;
    /// Lets time pass, in nanoseconds.
    fn sleep_ns(ns: u64);
}

/// CLOCK_MONOTONIC.
pub(crate) struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now_ns() -> u64 {
        now_ns()
    }

    fn sleep_ns(ns: u64) {
        std::thread::sleep(std::time::Duration::from_nanos(ns));
    }
}

/// CLOCK_REALTIME in nanoseconds since 1970.
pub(crate) fn unix_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// CLOCK_REALTIME - CLOCK_MONOTONIC in nanoseconds, but for the time between reading the two.
pub(crate) fn unix_offset_ns() -> u64 {
    unix_ns().saturating_sub(now_ns())
}

/// CPU time of the calling thread, user and system, in nanoseconds (CLOCK_THREAD_CPUTIME_ID; a
/// system call).
pub(crate) fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Turns the kernel's arrival stamps, which are CLOCK_REALTIME, into CLOCK_MONOTONIC.
///
/// The offset between the two is measured again after each millisecond: NTP slews by at most 500
/// ppm, which makes half a microsecond in that time. A step of the time of day is noticed; stamps
/// from before it are dropped, for their offset is not known.
#[derive(Debug)]
pub(crate) struct StampClock {
    /// CLOCK_REALTIME - CLOCK_MONOTONIC.
    offset_ns: i64,
    measured_at: u64,
    /// Arrivals before this instant have an unknown offset.
    valid_from: u64,
    steps: u64,
}

/// How long a measured offset holds.
const OFFSET_HOLDS_NS: u64 = 1_000_000;
/// A stamp that lies so long before the measuring is looked at again.
const LONG_AGO_NS: u64 = 10_000_000;
/// A change of the offset that is larger than this, and larger than slewing explains, is a step.
const STEP_NS: u64 = 20_000;
/// NTP slews a clock by one part in this many at the most (adjtimex(2), with room to spare).
const SLEW: u64 = 1_000;
/// The two clocks are read again until both lie so close together, but not for ever.
const BRACKET_NS: u64 = 500;
const TRIES: usize = 5;

impl StampClock {
    pub fn new() -> Self {
        let (offset_ns, measured_at) = measure();
        Self { offset_ns, measured_at, valid_from: 0, steps: 0 }
    }

    /// The instant of a stamp, read at `now`. `None` where a step of the time of day makes it
    /// unknown.
    #[inline]
    pub fn monotonic(&mut self, stamp_unix_ns: u64, now: u64) -> Option<u64> {
        self.convert(stamp_unix_ns, now, measure)
    }

    /// How often the time of day was set.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    #[inline]
    fn convert(
        &mut self,
        stamp_unix_ns: u64,
        now: u64,
        measure: impl FnOnce() -> (i64, u64),
    ) -> Option<u64> {
        let is_fresh = now < self.measured_at + OFFSET_HOLDS_NS;
        let mut arrived = self.shifted(stamp_unix_ns);
        // In the future or long ago: either the answer waited, or the time of day was set.
        if !is_fresh || arrived > now || arrived + LONG_AGO_NS < self.measured_at {
            self.renew(measure());
            arrived = self.shifted(stamp_unix_ns);
        }
        // The clocks are not read at the same instant, so a stamp may seem to be slightly in the
        // future.
        (arrived >= self.valid_from && arrived <= now + STEP_NS).then_some(arrived.min(now))
    }

    #[inline]
    fn shifted(&self, stamp_unix_ns: u64) -> u64 {
        stamp_unix_ns.saturating_add_signed(-self.offset_ns)
    }

    #[cold]
    fn renew(&mut self, (offset_ns, measured_at): (i64, u64)) {
        let slewed = measured_at.saturating_sub(self.measured_at) / SLEW;
        if offset_ns.abs_diff(self.offset_ns) > STEP_NS + slewed {
            self.steps += 1;
            self.valid_from = measured_at;
        }
        (self.offset_ns, self.measured_at) = (offset_ns, measured_at);
    }
}

/// CLOCK_REALTIME - CLOCK_MONOTONIC and when it was so, from the closest of some pairs of readings.
fn measure() -> (i64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..TRIES {
        let (before, unix, after) = (now_ns(), unix_ns(), now_ns());
        if after - before < best.0 {
            best = (after - before, unix as i64 - before.midpoint(after) as i64, after);
        }
        if best.0 <= BRACKET_NS {
            break;
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const OFFSET: i64 = 1_700_000_000_000_000_000;

    fn clock() -> StampClock {
        StampClock { offset_ns: OFFSET, measured_at: 100 * MS, valid_from: 0, steps: 0 }
    }

    /// The time of day at an instant, with this offset.
    fn at(instant: u64, offset: i64) -> u64 {
        instant.strict_add_signed(offset)
    }

    #[test]
    fn the_offset_is_taken_off_and_measured_again_when_it_is_old() {
        let mut clock = clock();
        let read = clock.convert(at(100 * MS + 10, OFFSET), 100 * MS + 90, || unreachable!());
        assert_eq!(read, Some(100 * MS + 10));
        // Slewed by 5 us in a second.
        let slewed = OFFSET + 5_000;
        let read = clock.convert(at(1_100 * MS, slewed), 1_101 * MS, || (slewed, 1_101 * MS));
        assert_eq!((read, clock.steps()), (Some(1_100 * MS), 0));
    }

    #[test]
    fn a_stamp_that_waited_long_is_told_from_a_step() {
        let mut clock = clock();
        let read = clock.convert(at(80 * MS, OFFSET), 100 * MS + 500, || (OFFSET, 100 * MS + 500));
        assert_eq!((read, clock.steps()), (Some(80 * MS), 0));
    }

    #[test]
    fn a_step_is_counted_and_what_came_before_it_has_no_instant() {
        for step in [3_600_000_000_000, -3_600_000_000_000, 1_000_000, -1_000_000] {
            let mut clock = clock();
            let (after, now) = (OFFSET + step, 110 * MS);
            assert_eq!(clock.convert(at(108 * MS, OFFSET), now, || (after, now)), None, "{step}");
            assert_eq!(clock.steps(), 1);
            let read = clock.convert(at(now + 100, after), now + 200, || unreachable!());
            assert_eq!((read, clock.steps()), (Some(now + 100), 1));
        }
    }

    #[test]
    fn no_arrival_lies_in_the_future() {
        let mut clock = clock();
        let now = 100 * MS + 50;
        assert_eq!(clock.convert(at(now + 30, OFFSET), now, || (OFFSET, now)), Some(now));
        assert_eq!(clock.convert(at(now + 5 * MS, OFFSET), now, || (OFFSET, now)), None);
    }

    #[test]
    fn the_two_clocks_are_read_close_together() {
        let (offset, at) = measure();
        let now = now_ns();
        assert!(at <= now);
        assert!((unix_ns() as i64 - now as i64).abs_diff(offset) < 1_000 * MS);
    }
}
