//! When the thread stood still: it was stopped, its machine was away, or other programs had its
//! processor.
use std::collections::VecDeque;

/// A pause of this length is a stop. Shorter ones are those of a busy machine.
pub(super) const STOOD_STILL_NS: u64 = 50_000_000;
/// Older stops are forgotten: nothing waits for so long.
const MOST: usize = 64;

/// The stops of a thread, as its turns show them.
#[derive(Debug, Default)]
pub(crate) struct Stops {
    past: VecDeque<(u64, u64)>,
    /// When the present turn began; 0 before the first.
    turn_at: u64,
    /// Until when it may sleep at the most.
    sleeps_until: u64,
}

impl Stops {
    /// A turn begins, and the one before is over.
    #[inline]
    pub fn turn(&mut self, now: u64) {
        if let Some(stop) = self.present(now) {
            self.past.truncate(MOST - 1);
            self.past.push_front(stop);
        }
        (self.turn_at, self.sleeps_until) = (now, now);
    }

    /// The present turn sleeps for so long, unless something happens.
    #[inline]
    pub const fn sleeps(&mut self, ns: u64) {
        self.sleeps_until = self.turn_at + ns;
    }

    /// The stop that the present turn has had.
    #[inline]
    fn present(&self, now: u64) -> Option<(u64, u64)> {
        let is_stop = self.turn_at > 0 && now >= self.sleeps_until + STOOD_STILL_NS;
        is_stop.then_some((self.turn_at, now))
    }

    /// For how long the thread stood still from `since` to `now`.
    #[inline]
    pub fn within(&self, since: u64, now: u64) -> u64 {
        let stops = self.present(now).into_iter().chain(self.past.iter().copied());
        stops
            .take_while(|(_, until)| *until > since)
            .map(|(from, until)| until - from.max(since))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_turn_that_takes_longer_than_its_sleep_was_a_stop() {
        let mut stops = Stops::default();
        assert_eq!(stops.within(0, 1_000 * MS), 0, "no turn has begun");
        stops.turn(1_000 * MS);
        stops.sleeps(10 * MS);
        assert_eq!(stops.within(0, 1_059 * MS), 0);
        // Within the turn, and after it.
        assert_eq!(stops.within(1_030 * MS, 1_100 * MS), 70 * MS);
        stops.turn(1_100 * MS);
        assert_eq!(stops.within(1_030 * MS, 1_101 * MS), 70 * MS);
        assert_eq!(stops.within(1_100 * MS, 1_101 * MS), 0);
        // A second one.
        stops.turn(1_300 * MS);
        assert_eq!(stops.within(1_030 * MS, 1_301 * MS), 270 * MS);
        assert_eq!(stops.within(1_200 * MS, 1_301 * MS), 100 * MS);
    }

    #[test]
    fn long_loads_forget() {
        let mut stops = Stops::default();
        (1..1_000).for_each(|nth| stops.turn(nth * 100 * MS));
        assert_eq!(stops.past.len(), MOST);
    }
}
