//! Users who wait for their answers: the next request follows the last answer, after the think time
//! if there is one.
use pippin_model::load::LoadSpec;
use pippin_model::text::units::Spread;

use super::kind::Kind;
use super::lane::Lane;
use super::random::ThinkTimes;
use super::{Fate, Next};

/// The users of a closed loop.
pub(crate) struct Closed {
    think: Option<ThinkTimes>,
}

impl Closed {
    /// Users who think for so long; `None`: not at all.
    pub fn new(spec: &LoadSpec, lane: &Lane, think: Option<Spread>) -> Self {
        Self { think: think.map(|spread| lane.think_times(spec, spread)) }
    }

    /// The load starts. Users begin at random points of their think time: all at once would be a
    /// rhythm that real users do not have. Without a think time they do begin at once, unless their
    /// steps have one.
    pub fn first(&mut self, at: u64, first_wait_ns: impl FnOnce() -> Option<u64>) -> Next {
        let wait_ns = match &mut self.think {
            Some(think) => Some(think.draw_remainder_ns()),
            None => first_wait_ns(),
        };
        wait_ns.map_or(Next::Sends, |ns| Next::Thinks { until: at + ns })
    }

    /// A request was settled at `at`. A step's own think time goes before that of the load.
    #[inline]
    pub fn settled(&mut self, at: u64, fate: Fate) -> Next {
        match fate.thinks_ns.or_else(|| self.think.as_mut().map(ThinkTimes::draw_ns)) {
            None => Next::Sends,
            Some(ns) => Next::Thinks { until: at + ns },
        }
    }
}

impl Kind for Closed {
    fn first(&mut self, _user: u32, at: u64, first_wait_ns: impl FnOnce() -> Option<u64>) -> Next {
        self.first(at, first_wait_ns)
    }

    #[inline]
    fn settled(&mut self, _user: u32, at: u64, fate: Fate) -> Next {
        self.settled(at, fate)
    }

    fn carries_over(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn users(think: Option<Spread>) -> Closed {
        let spec = LoadSpec { seed: 3, ..LoadSpec::default() };
        Closed::new(&spec, &Lane::of_whole(0, 1), think)
    }

    #[test]
    fn without_a_think_time_the_next_request_is_due_when_the_last_was_settled() {
        let mut users = users(None);
        assert_eq!(users.first(7, || None), Next::Sends);
        assert_eq!(users.settled(40 * MS, Fate::default()), Next::Sends);
    }

    /// 900 ms from the answer at 40 ms on.
    #[test]
    fn a_user_thinks_from_its_answer_on() {
        let mut users = users(Some(Spread::exactly(900 * MS)));
        let next = users.settled(40 * MS, Fate::default());
        assert_eq!(next, Next::Thinks { until: 940 * MS });
    }

    #[test]
    fn a_step_thinks_for_its_own_time() {
        let fate = Fate { goes_on: true, thinks_ns: Some(5 * MS) };
        for think in [None, Some(Spread::exactly(900 * MS))] {
            assert_eq!(users(think).settled(40 * MS, fate), Next::Thinks { until: 45 * MS });
        }
        // No time at all is a time too: the request goes through the timers.
        let at_once = Fate { goes_on: true, thinks_ns: Some(0) };
        assert_eq!(users(None).settled(40 * MS, at_once), Next::Thinks { until: 40 * MS });
    }

    /// A think time began at a random instant before the start: what is left of 900 ms is uniform
    /// from 0 to 900 ms, 450 ms in the mean.
    #[test]
    fn users_begin_within_their_think_time() {
        let mut users = users(Some(Spread::exactly(900 * MS)));
        let waits: Vec<u64> = (0..10_000)
            .map(|_| match users.first(100 * MS, || unreachable!()) {
                Next::Thinks { until } => until - 100 * MS,
                other => unreachable!("{other:?}"),
            })
            .collect();
        assert!(waits.iter().all(|wait| *wait < 900 * MS));
        let mean = waits.iter().sum::<u64>() / 10_000;
        assert!((440 * MS..460 * MS).contains(&mean), "{mean}");
    }

    #[test]
    fn steps_that_think_spread_the_first_requests() {
        let next = users(None).first(100 * MS, || Some(30 * MS));
        assert_eq!(next, Next::Thinks { until: 130 * MS });
    }
}
