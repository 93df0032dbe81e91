//! Users who go through steps: how far each is in its walk, and how long it thinks after a step. What
//! they carry from step to step is in [`crate::scenario`].
use std::ops::Range;

use pippin_model::text::units::Spread;

use super::random::unit;

/// What the last step of a user leaves it with; nothing where no user has steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// It is in the middle of its walk: the next step needs no arrival.
    pub goes_on: bool,
    /// How long the step says that it thinks; `None` leaves that to the load.
    pub thinks_ns: Option<u64>,
}

/// The walks of a worker's users; none where no user has steps.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    /// How long users think after each step.
    thinks: Vec<Option<Spread>>,
    /// Which of the steps are those of each scenario.
    ways: Vec<Range<u32>>,
    users: Vec<Walk>,
}

#[derive(Debug, Clone, Copy)]
struct Walk {
    /// The scenario that it goes through.
    way: u32,
    /// The next step begins another walk.
    is_over: bool,
    /// How long the user thinks after its last step.
    think: Option<Spread>,
}

impl Walks {
    /// `count` users of steps after which they think for so long; `lengths` says how many of the
    /// steps each scenario has. `arrive`: each walk begins with an arrival.
    pub fn new(
        thinks: Vec<Option<Spread>>,
        lengths: impl IntoIterator<Item = u32>,
        count: u32,
        arrive: bool,
    ) -> Self {
        let mut end = 0;
        let way = |length| {
            let begin = end;
            end += length;
            begin..end
        };
        let ways = lengths.into_iter().map(way).collect();
        let user = Walk { way: 0, is_over: arrive, think: None };
        Self { thinks, ways, users: vec![user; count as usize] }
    }

    /// A walk through a scenario begins. Returns its first step.
    pub fn begin(&mut self, user: u32, way: u32) -> u32 {
        let walk = &mut self.users[user as usize];
        (walk.way, walk.is_over) = (way, false);
        self.first_step(way)
    }

    /// A walk ends before its last step.
    pub fn end(&mut self, user: u32) {
        self.users[user as usize].is_over = true;
    }

    /// Whether a user has steps left in its walk.
    pub fn is_under_way(&self, user: u32) -> bool {
        !self.users[user as usize].is_over
    }

    /// The scenario of a user's walk, or of its last one.
    pub fn way(&self, user: u32) -> u32 {
        self.users[user as usize].way
    }

    /// The first step of a scenario.
    pub fn first_step(&self, way: u32) -> u32 {
        self.ways[way as usize].start
    }

    /// Whether a walk of this user begins with this step.
    pub fn is_first(&self, user: u32, step: u32) -> bool {
        self.first_step(self.way(user)) == step
    }

    /// A step is over. Returns the next one; `None` after the last step and after an error.
    pub fn after(&mut self, user: u32, step: u32, is_good: bool) -> Option<u32> {
        let walk = &mut self.users[user as usize];
        walk.think = self.thinks[step as usize];
        let next = step + 1;
        walk.is_over = !is_good || next == self.ways[walk.way as usize].end;
        (!walk.is_over).then_some(next)
    }

    /// What the last step leaves a user with; call it once after each step. `bits` draws random
    /// bits.
    pub fn fate(&mut self, user: u32, bits: impl FnOnce() -> u64) -> Fate {
        let walk = &mut self.users[user as usize];
        let thinks_ns = walk.think.take().map(|think| think.at(unit(bits())));
        Fate { goes_on: !walk.is_over, thinks_ns }
    }

    /// How long a user waits before its first step: up to the thinking of a whole walk, so that not
    /// all begin at once. `None` if no step of it thinks.
    pub fn first_wait_ns(&self, user: u32, bits: impl FnOnce() -> u64) -> Option<u64> {
        let Range { start, end } = self.ways[self.way(user) as usize];
        let mut thinks = self.thinks[start as usize..end as usize].iter().flatten().peekable();
        thinks.peek()?;
        let all: u64 = thinks.map(|think| think.mean_ns).sum();
        Some((all as f64 * unit(bits())) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    /// The random bits of one half.
    const HALF: u64 = 1 << 63;

    /// Three steps, of which the first thinks for 40 ms and the last for 60 ms; and another scenario
    /// of one step, which thinks for 10 ms.
    fn walks(arrive: bool) -> Walks {
        let think = |ms| Some(Spread::exactly(ms * MS));
        Walks::new(vec![think(40), None, think(60), think(10)], [3, 1], 2, arrive)
    }

    #[test]
    fn a_walk_goes_from_the_first_step_of_its_scenario_to_the_last() {
        let mut walks = walks(false);
        let fate = |goes_on, ms: Option<u64>| Fate { goes_on, thinks_ns: ms.map(|ms| ms * MS) };
        assert_eq!(walks.after(0, 0, true), Some(1));
        assert_eq!(walks.fate(0, || HALF), fate(true, Some(40)));
        assert_eq!(walks.fate(0, || HALF), fate(true, None), "it thinks once");
        assert_eq!(walks.after(0, 1, true), Some(2));
        assert_eq!(walks.fate(0, || HALF), fate(true, None));
        assert_eq!(walks.after(0, 2, true), None);
        assert_eq!(walks.fate(0, || HALF), fate(false, Some(60)));
        assert_eq!(walks.begin(0, 1), 3);
        assert!(walks.is_under_way(0) && walks.is_first(0, 3) && walks.is_first(1, 0));
        assert_eq!(walks.after(0, 3, true), None);
        assert_eq!(walks.fate(0, || HALF), fate(false, Some(10)));
    }

    #[test]
    fn an_error_ends_a_walk_and_that_user_still_thinks() {
        let mut walks = walks(false);
        assert_eq!(walks.after(1, 0, false), None);
        assert_eq!(walks.fate(1, || HALF), Fate { goes_on: false, thinks_ns: Some(40 * MS) });
        assert!(walks.is_under_way(0), "the other user goes on");
    }

    #[test]
    fn who_waits_for_arrivals_is_in_no_walk_before_the_first() {
        let mut walks = walks(true);
        assert!(!walks.is_under_way(0));
        walks.begin(0, 0);
        assert!(walks.is_under_way(0) && !walks.is_under_way(1));
        walks.end(0);
        assert!(!walks.is_under_way(0));
    }

    /// A walk through the first scenario thinks for 100 ms: half of that.
    #[test]
    fn first_steps_are_spread_over_the_thinking_of_a_walk() {
        let mut walks = walks(false);
        assert_eq!(walks.first_wait_ns(0, || HALF), Some(50 * MS));
        assert_eq!(walks.first_wait_ns(0, || 0), Some(0));
        walks.begin(1, 1);
        assert_eq!(walks.first_wait_ns(1, || HALF), Some(5 * MS));
        let silent = Walks::new(vec![None, None], [2], 1, false);
        assert_eq!(silent.first_wait_ns(0, || unreachable!()), None);
    }
}
