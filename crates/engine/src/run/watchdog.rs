//! When a load must be over at the latest, whatever happens.
use pippin_model::load::LoadSpec;
use pippin_model::text::units::Spread;

use crate::run::validate::users;
use crate::shared::OPENING_AT_ONCE;

/// How long threads may take to end: they check some 100 times per second.
pub(crate) const GRACE_NS: u64 = 5_000_000_000;
/// What the time between two looks counts for at the most: twice what should lie between them.
const MOST_COUNTED_NS: u64 = 200_000_000;

/// What a load is doing when the watchdog looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It has not begun, the caller holds it back, or its end is known and has not come.
    Waits,
    /// It sets up, or its schedule is under way, and only its own events end that: it may take so
    /// long.
    Runs { at_most_ns: u64 },
    /// It should have ended.
    Lingers,
}

/// Counts for how long a load does what it does.
///
/// A stop of the whole process (SIGSTOP, a suspended machine) is not the load's doing. So a look
/// counts for [`MOST_COUNTED_NS`] at the most, however long ago the last one was.
#[derive(Debug)]
pub(crate) struct Watchdog {
    looked_at: u64,
    ran_ns: u64,
    lingered_ns: u64,
}

impl Watchdog {
    pub const fn new(now: u64) -> Self {
        Self { looked_at: now, ran_ns: 0, lingered_ns: 0 }
    }

    /// Another part of the load begins, which has a time of its own.
    pub const fn begin(&mut self) {
        self.ran_ns = 0;
    }

    /// Looks. Whether the load has run for too long.
    pub fn look(&mut self, now: u64, doing: Doing) -> bool {
        let passed = now.saturating_sub(self.looked_at).min(MOST_COUNTED_NS);
        self.looked_at = now;
        match doing {
            Doing::Waits => false,
            Doing::Runs { at_most_ns } => {
                self.ran_ns = self.ran_ns.saturating_add(passed);
                self.ran_ns > at_most_ns
            }
            Doing::Lingers => {
                self.lingered_ns += passed;
                false
            }
        }
    }

    /// Whether the load has lingered too long after its end to be waited for.
    pub const fn has_lost_patience(&self) -> bool {
        self.lingered_ns > GRACE_NS
    }
}

/// How long a load can take, whatever its server does. A generator that needs longer is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Longest {
    /// From its begin until its connections are open, nanoseconds.
    pub set_up_ns: u64,
    /// From the start of its schedule until its result is there, nanoseconds.
    pub load_ns: u64,
}

/// The longest times of a load, by its own numbers: its plan, its time limits, and [`GRACE_NS`] for
/// threads that end late.
#[must_use]
pub fn longest(spec: &LoadSpec) -> Longest {
    let by_rule = spec.stop.duration_ns.map(|ns| ns.saturating_add(spec.warm_up.at_most_ns()));
    let by_count = spec.stop.requests.map(|_| counted_ns(spec));
    // With a count, the last requests may be answered after the schedule is over.
    let by_schedule = spec.schedule.length_ns().filter(|_| by_count.is_none());
    let planned_ns = [by_rule, by_count, by_schedule].into_iter().flatten().min().unwrap_or(0);
    let late_ns = spec.timeouts.connect_ns.saturating_add(spec.timeouts.request_ns);
    Longest {
        set_up_ns: set_up_ns(spec),
        load_ns: planned_ns.saturating_add(late_ns).saturating_add(2 * GRACE_NS),
    }
}

/// How long opening the first connections can take: each in turn until its timeout.
pub(crate) fn set_up_ns(spec: &LoadSpec) -> u64 {
    let turns = u64::from(users(spec)).div_ceil(u64::from(OPENING_AT_ONCE)).max(1);
    spec.timeouts.connect_ns.saturating_mul(turns + 1).saturating_add(GRACE_NS)
}

/// How long a load can take that ends by a count: each request of each connection in turn, with its
/// think time and both of its timeouts.
pub(crate) fn counted_ns(spec: &LoadSpec) -> u64 {
    let schedule_ns = spec.schedule.length_ns().unwrap_or(0);
    let think_ns = spec.schedule.think().map_or(0, Spread::max_ns);
    let requests = spec.stop.requests.unwrap_or(0);
    let in_turn = requests.div_ceil(u64::from(users(spec)).max(1)).saturating_mul(2);
    let each = [spec.timeouts.connect_ns, spec.timeouts.request_ns, think_ns, GRACE_NS]
        .into_iter()
        .fold(0, u64::saturating_add);
    in_turn.saturating_mul(each).saturating_add(schedule_ns).saturating_add(GRACE_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const LOAD: Doing = Doing::Runs { at_most_ns: 10 * SECOND };

    /// Looks ten times per second, as the coordinator does; after how many looks it barks.
    fn barks_after(dog: &mut Watchdog, from: u64) -> Option<u64> {
        (1..1_000).find(|nth| dog.look(from + nth * SECOND / 10, LOAD))
    }

    #[test]
    fn a_load_that_outlives_its_time_is_ended() {
        assert_eq!(barks_after(&mut Watchdog::new(0), 0), Some(101));
    }

    #[test]
    fn a_process_that_was_stopped_for_an_hour_goes_on() {
        let mut dog = Watchdog::new(0);
        let hour = 3_600 * SECOND;
        assert!(!dog.look(SECOND / 10, LOAD));
        assert!(!dog.look(hour, LOAD));
        // 0.3 s of its 10 s are gone.
        assert_eq!(barks_after(&mut dog, hour), Some(98));
    }

    #[test]
    fn each_part_has_its_own_time_and_waiting_has_none() {
        let mut dog = Watchdog::new(0);
        for nth in 1..=100 {
            assert!(!dog.look(nth * SECOND / 10, LOAD));
        }
        dog.begin();
        for nth in 101..=1_000 {
            assert!(!dog.look(nth * SECOND / 10, Doing::Waits));
        }
        assert_eq!(barks_after(&mut dog, 100 * SECOND), Some(101));
    }

    #[test]
    fn who_lingers_is_left_behind_but_not_for_a_stop() {
        let mut dog = Watchdog::new(0);
        dog.look(3_600 * SECOND, Doing::Lingers);
        assert!(!dog.has_lost_patience());
        for nth in 1..=50 {
            dog.look(3_600 * SECOND + nth * SECOND / 10, Doing::Lingers);
        }
        assert!(dog.has_lost_patience());
    }
}
