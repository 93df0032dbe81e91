//! Users who go through steps: how far each is in its walk, and how long it thinks after a step. What
//! they carry from step to step is in [`crate::scenario`].
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
    users: Vec<Walk>,
}

#[derive(Debug, Clone, Copy)]
struct Walk {
    /// The next step begins another walk.
    is_over: bool,
    /// How long the user thinks after its last step.
    think: Option<Spread>,
}

impl Walks {
    /// `count` users of steps after which they think for so long. `arrive`: each walk begins with
    /// an arrival.
    pub fn new(thinks: Vec<Option<Spread>>, count: u32, arrive: bool) -> Self {
        Self { thinks, users: vec![Walk { is_over: arrive, think: None }; count as usize] }
    }

    /// A walk begins.
    pub fn begin(&mut self, user: u32) {
        self.users[user as usize].is_over = false;
    }

    /// A walk ends before its last step.
    pub fn end(&mut self, user: u32) {
        self.users[user as usize].is_over = true;
    }

    /// Whether a user has steps left in its walk.
    pub fn is_under_way(&self, user: u32) -> bool {
        !self.users[user as usize].is_over
    }

    /// A step is over. Returns the next one: the first, after the last step and after an error.
    pub fn after(&mut self, user: u32, step: u32, is_good: bool) -> u32 {
        let walk = &mut self.users[user as usize];
        walk.think = self.thinks[step as usize];
        let next = step + 1;
        walk.is_over = !is_good || next as usize == self.thinks.len();
        if walk.is_over { 0 } else { next }
    }

    /// What the last step leaves a user with; call it once after each step. `bits` draws random
    /// bits.
    pub fn fate(&mut self, user: u32, bits: impl FnOnce() -> u64) -> Fate {
        let walk = &mut self.users[user as usize];
        let thinks_ns = walk.think.take().map(|think| think.at(unit(bits())));
        Fate { goes_on: !walk.is_over, thinks_ns }
    }

    /// How long a user waits before its first step: up to the thinking of a whole walk, so that not
    /// all begin at once. `None` if no step thinks.
    pub fn first_wait_ns(&self, bits: impl FnOnce() -> u64) -> Option<u64> {
        let mut thinks = self.thinks.iter().flatten().peekable();
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

    /// Three steps, of which the first thinks for 40 ms and the last for 60 ms.
    fn walks(arrive: bool) -> Walks {
        let think = |ms| Some(Spread::exactly(ms * MS));
        Walks::new(vec![think(40), None, think(60)], 2, arrive)
    }

    #[test]
    fn a_walk_goes_from_the_first_step_to_the_last_and_begins_anew() {
        let mut walks = walks(false);
        let fate = |goes_on, ms: Option<u64>| Fate { goes_on, thinks_ns: ms.map(|ms| ms * MS) };
        assert_eq!(walks.after(0, 0, true), 1);
        assert_eq!(walks.fate(0, || HALF), fate(true, Some(40)));
        assert_eq!(walks.fate(0, || HALF), fate(true, None), "it thinks once");
        assert_eq!(walks.after(0, 1, true), 2);
        assert_eq!(walks.fate(0, || HALF), fate(true, None));
        assert_eq!(walks.after(0, 2, true), 0);
        assert_eq!(walks.fate(0, || HALF), fate(false, Some(60)));
        walks.begin(0);
        assert!(walks.is_under_way(0));
    }

    #[test]
    fn an_error_ends_a_walk_and_that_user_still_thinks() {
        let mut walks = walks(false);
        assert_eq!(walks.after(1, 0, false), 0);
        assert_eq!(walks.fate(1, || HALF), Fate { goes_on: false, thinks_ns: Some(40 * MS) });
        assert!(walks.is_under_way(0), "the other user goes on");
    }

    #[test]
    fn who_waits_for_arrivals_is_in_no_walk_before_the_first() {
        let mut walks = walks(true);
        assert!(!walks.is_under_way(0));
        walks.begin(0);
        assert!(walks.is_under_way(0) && !walks.is_under_way(1));
        walks.end(0);
        assert!(!walks.is_under_way(0));
    }

    /// A walk thinks for 100 ms: half of that.
    #[test]
    fn first_steps_are_spread_over_the_thinking_of_a_walk() {
        assert_eq!(walks(false).first_wait_ns(|| HALF), Some(50 * MS));
        assert_eq!(walks(false).first_wait_ns(|| 0), Some(0));
        let silent = Walks::new(vec![None, None], 1, false);
        assert_eq!(silent.first_wait_ns(|| unreachable!()), None);
    }
}
