//! The search for the highest offered rate, or the most devices, that keeps an objective:
//! bracketing, bisection, confirmation. A pure state machine; the caller measures. A rate is one of
//! requests or of walks; of devices, every `per_s` here is their number.
//!
//! | module | what it holds |
//! |---|---|
//! | [`step`] | what one measured step says about its rate |
//! | [`found`] | the searches of all repetitions together |
//! | [`objective`] | whether a step kept its objective |
//! | [`overload`] | what a target does beyond its capacity |
//!
//! A single step can mislead: a stall of the host makes a rate miss that the target could keep. So
//! steps are evidence, which adds up for each rate. The rules follow two searches of network
//! testing: binary search with loss verification (ETSI GS NFV-TST 009, section 12.3.3), which
//! repeats what failed, and MLRsearch (draft-ietf-bmwg-mlrsearch), which decides a load by all its
//! trials and needs evidence for both ends of the result. RFC 2544 (section 26.1) decides each rate
//! by one trial.
pub mod found;
pub mod objective;
pub mod overload;
#[cfg(test)]
mod simulated;
pub mod step;

use pippin_model::plan::profile::{Profile, Searched, Steps};
use pippin_model::text::units::format_count;
use serde::{Deserialize, Serialize};

pub use step::StepOutcome;

/// The fewest halvings of the first rate before the search gives up: a thousandth of it.
const MOST_HALVINGS: i32 = 10;
/// The most doublings of the first rate: a millionfold.
const MOST_DOUBLINGS: i32 = 20;
/// So many times the first number of devices is the most that is tried. Each device costs the
/// generator and the target a connection, whether the target keeps up or not.
const MOST_DEVICES_TIMES: f64 = 1_000.0;
/// Steps after which the search ends in any case. Otherwise an inconsistent target could keep it
/// going for ever.
const MOST_STEPS: u32 = 80;
/// The points of evidence that decide a rate: one step that held, or one that missed on a calm
/// host.
const DECIDED: i32 = 3;
/// The points that an end of the result needs: twice as many.
const CONFIRMED: i32 = 6;
/// Steps after which a rate that is still undecided counts as missed: it is not kept reliably.
const MOST_AT_A_RATE: u32 = 7;
/// INVALID steps after which a rate cannot be measured.
const MOST_INVALID: u32 = 3;
/// Rates that cannot be measured before the whole search is INVALID.
const MOST_UNMEASURABLE: usize = 3;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Outcome {
    /// The objective held repeatedly at `rate_per_s` and was missed repeatedly at `missed_per_s`,
    /// which is higher by no more than the precision.
    Found {
        /// The highest rate that held.
        rate_per_s: f64,
        /// The lowest rate that did not.
        missed_per_s: f64,
    },
    /// The objective never held, down to this rate.
    NeverHeld {
        /// The lowest rate that was tried.
        tried_per_s: f64,
    },
    /// The objective always held, up to this rate.
    AlwaysHeld {
        /// The highest rate that was tried.
        tried_per_s: f64,
    },
    /// The steps were used up, because the target answers differently at the same rate.
    Unsettled {
        /// The highest rate that held below all rates that missed, if there is one.
        held_per_s: Option<f64>,
        /// The lowest rate that missed above it, if there is one.
        missed_per_s: Option<f64>,
    },
    /// Steps that decide the search stayed INVALID although they were repeated.
    Invalid {
        /// The highest rate that held, if there is one.
        held_per_s: Option<f64>,
        /// The lowest rate above it that could not be measured.
        tried_per_s: f64,
    },
    /// The search was cut short.
    Unfinished {
        /// The highest rate that held below all rates that missed, if there is one.
        held_per_s: Option<f64>,
        /// The lowest rate that missed above it, if there is one.
        missed_per_s: Option<f64>,
    },
}

impl Outcome {
    /// The capacity, if it was confirmed.
    #[must_use]
    pub const fn confirmed_per_s(&self) -> Option<f64> {
        match self {
            Self::Found { rate_per_s, .. } => Some(*rate_per_s),
            _ => None,
        }
    }

    /// The highest rate that held, if there is one.
    #[must_use]
    pub const fn held_per_s(&self) -> Option<f64> {
        match *self {
            Self::Found { rate_per_s, .. } => Some(rate_per_s),
            Self::AlwaysHeld { tried_per_s } => Some(tried_per_s),
            Self::Unsettled { held_per_s, .. }
            | Self::Invalid { held_per_s, .. }
            | Self::Unfinished { held_per_s, .. } => held_per_s,
            Self::NeverHeld { .. } => None,
        }
    }

    /// The lowest rate that missed, if there is one.
    #[must_use]
    pub const fn missed_per_s(&self) -> Option<f64> {
        match *self {
            Self::Found { missed_per_s, .. } => Some(missed_per_s),
            Self::NeverHeld { tried_per_s } => Some(tried_per_s),
            Self::Unsettled { missed_per_s, .. } | Self::Unfinished { missed_per_s, .. } => {
                missed_per_s
            }
            Self::AlwaysHeld { .. } | Self::Invalid { .. } => None,
        }
    }

    /// This end of a search, where the rate that held is no higher than `most` requests per
    /// second: more right answers were not seen.
    #[must_use]
    pub fn at_most(self, most: f64) -> Self {
        let held = |rate: Option<f64>| rate.map(|rate| rate.min(most));
        match self {
            Self::Found { rate_per_s, missed_per_s } => {
                Self::Found { rate_per_s: rate_per_s.min(most), missed_per_s }
            }
            Self::AlwaysHeld { tried_per_s } => {
                Self::AlwaysHeld { tried_per_s: tried_per_s.min(most) }
            }
            Self::Unsettled { held_per_s, missed_per_s } => {
                Self::Unsettled { held_per_s: held(held_per_s), missed_per_s }
            }
            Self::Invalid { held_per_s, tried_per_s } => {
                Self::Invalid { held_per_s: held(held_per_s), tried_per_s }
            }
            Self::Unfinished { held_per_s, missed_per_s } => {
                Self::Unfinished { held_per_s: held(held_per_s), missed_per_s }
            }
            never @ Self::NeverHeld { .. } => never,
        }
    }

    /// In words, without a full stop: `1,000 requests/s, confirmed (1,016 requests/s missed)`. `of` is
    /// what was searched for.
    #[must_use]
    pub fn words(&self, of: Searched) -> String {
        let rate = |rate: f64| of.amount(rate);
        let range = |held: Option<f64>, missed: Option<f64>| match (held, missed) {
            (Some(held), Some(missed)) => {
                format!("between {} and {}", format_count(held), rate(missed))
            }
            (Some(held), None) => format!("at least {}", rate(held)),
            (None, Some(missed)) => format!("below {}", rate(missed)),
            (None, None) => "unknown".into(),
        };
        match *self {
            Self::Found { rate_per_s, missed_per_s } => {
                format!("{}, confirmed ({} missed)", rate(rate_per_s), rate(missed_per_s))
            }
            Self::NeverHeld { tried_per_s } => {
                format!(
                    "no {} that was tried keeps the objective, down to {}",
                    of.noun(),
                    rate(tried_per_s)
                )
            }
            Self::AlwaysHeld { tried_per_s } => {
                format!("at least {}, the highest {} that is tried", rate(tried_per_s), of.noun())
            }
            Self::Unsettled { held_per_s, missed_per_s } => format!(
                "unsettled, {}: the same {}s held and missed",
                range(held_per_s, missed_per_s),
                if of.is_whole() { "number" } else { of.noun() }
            ),
            Self::Invalid { held_per_s: Some(held), tried_per_s } => format!(
                "INVALID: {} held, but {} could not be measured",
                rate(held),
                rate(tried_per_s)
            ),
            Self::Invalid { held_per_s: None, tried_per_s } => {
                format!("INVALID: {} could not be measured", rate(tried_per_s))
            }
            Self::Unfinished { held_per_s, missed_per_s } => {
                format!("unfinished, {}", range(held_per_s, missed_per_s))
            }
        }
    }
}

/// What is known of one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tried {
    per_s: f64,
    /// The points of its steps, see [`StepOutcome::points`].
    points: i32,
    /// Steps that are evidence.
    steps: u32,
    /// Steps that are INVALID.
    invalid: u32,
}

impl Tried {
    const fn is_unmeasurable(&self) -> bool {
        self.invalid >= MOST_INVALID && self.points.abs() < CONFIRMED
    }

    /// `None` while it is undecided, and for a rate that cannot be measured.
    const fn held(&self) -> Option<bool> {
        if self.is_unmeasurable() {
            None
        } else if self.points >= DECIDED {
            Some(true)
        } else if self.points <= -DECIDED || self.steps >= MOST_AT_A_RATE {
            Some(false)
        } else {
            None
        }
    }

    const fn is_open(&self) -> bool {
        self.held().is_none() && !self.is_unmeasurable()
    }

    const fn is_confirmed(&self) -> bool {
        self.points.abs() >= CONFIRMED || self.steps >= MOST_AT_A_RATE
    }
}

/// The state of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    start: f64,
    precision: f64,
    /// The highest rate that is tried.
    most: f64,
    /// Whether only whole numbers are tried.
    is_whole: bool,
    /// Ascending.
    tried: Vec<Tried>,
    steps: u32,
    next: Option<f64>,
    outcome: Option<Outcome>,
}

impl Search {
    /// Begins at `start` requests per second; ends when the highest rate that holds and the lowest
    /// that does not differ by no more than the fraction `precision` (at least 0.1 %).
    #[must_use]
    pub fn new(start: f64, precision: f64) -> Self {
        Self {
            start,
            precision: precision.max(0.001),
            most: start * 2.0_f64.powi(MOST_DOUBLINGS),
            is_whole: false,
            tried: Vec::new(),
            steps: 0,
            next: Some(start),
            outcome: None,
        }
    }

    /// The search that a profile describes; `None` if it describes none.
    #[must_use]
    pub fn from_profile(profile: &Profile) -> Option<Self> {
        let Steps::Search { precision, .. } = &profile.steps else { return None };
        let search = Self::new(profile.search_begins_at(), *precision);
        let is_whole = profile.searched().is_whole();
        let most = if is_whole { search.start * MOST_DEVICES_TIMES } else { search.most };
        Some(Self { is_whole, most, ..search })
    }

    /// The rate to measure next; `None` when the search has ended.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        self.next
    }

    /// How it ended; [`Outcome::Unfinished`] while it goes on.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome.unwrap_or(Outcome::Unfinished {
            held_per_s: self.highest_held_below_misses(),
            missed_per_s: self.lowest(Some(false)),
        })
    }

    /// Steps made so far.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Takes what a step at `rate` showed, and chooses the next rate.
    pub fn observe(&mut self, rate: f64, seen: StepOutcome) {
        if self.outcome.is_some() {
            return;
        }
        self.steps += 1;
        let place = self.tried.partition_point(|tried| tried.per_s < rate);
        if self.tried.get(place).is_none_or(|tried| tried.per_s > rate) {
            self.tried.insert(place, Tried { per_s: rate, points: 0, steps: 0, invalid: 0 });
        }
        let tried = &mut self.tried[place];
        match seen.points() {
            Some(points) => (tried.points, tried.steps) = (tried.points + points, tried.steps + 1),
            None => tried.invalid += 1,
        }
        match self.choose() {
            Ok(_) if self.steps >= MOST_STEPS => self.end(self.unsettled()),
            Ok(rate) if self.is_whole => self.next = Some(rate.floor()),
            Ok(rate) => self.next = Some(rate),
            Err(outcome) => self.end(outcome),
        }
    }

    /// The next rate, or how the search ends.
    fn choose(&self) -> Result<f64, Outcome> {
        let held = self.tried.iter().rev().find(|tried| tried.held() == Some(true)).copied();
        let missed = self.tried.iter().find(|tried| tried.held() == Some(false)).copied();
        let is_above = |rate: f64| held.is_none_or(|held| held.per_s < rate);
        let unmeasurable = self
            .tried
            .iter()
            .filter(|tried| tried.is_unmeasurable())
            .map(|tried| tried.per_s)
            .collect::<Vec<_>>();
        let ceiling = unmeasurable.iter().copied().find(|rate| is_above(*rate));
        let invalid =
            |tried_per_s| Outcome::Invalid { held_per_s: held.map(|h| h.per_s), tried_per_s };
        if let Some(open) = self.tried.iter().find(|tried| tried.is_open()) {
            return Ok(open.per_s);
        }
        if let Some(lowest) =
            unmeasurable.first().filter(|_| unmeasurable.len() > MOST_UNMEASURABLE)
        {
            return Err(invalid(ceiling.unwrap_or(*lowest)));
        }
        let limit = match (missed, ceiling) {
            (Some(missed), Some(ceiling)) if ceiling < missed.per_s => None,
            (missed, _) => missed,
        };
        match (held, limit, ceiling) {
            // A rate that missed is below one that held, so one of them was an accident.
            (Some(held), Some(missed), _) if missed.per_s < held.per_s => {
                self.weaker(missed, held).ok_or_else(|| self.unsettled())
            }
            (Some(held), Some(missed), _) if self.is_near(held.per_s, missed.per_s) => self
                .weaker(held, missed)
                .ok_or(Outcome::Found { rate_per_s: held.per_s, missed_per_s: missed.per_s }),
            (Some(held), Some(missed), _) => Ok(f64::midpoint(held.per_s, missed.per_s)),
            (Some(held), None, Some(ceiling)) if self.is_near(held.per_s, ceiling) => {
                if held.is_confirmed() { Err(invalid(ceiling)) } else { Ok(held.per_s) }
            }
            (Some(held), None, Some(ceiling)) => Ok(f64::midpoint(held.per_s, ceiling)),
            (Some(held), None, None) if held.per_s >= self.most => {
                Err(Outcome::AlwaysHeld { tried_per_s: held.per_s })
            }
            (Some(held), None, None) => Ok((held.per_s * 2.0).min(self.most)),
            (None, limit, ceiling) => {
                let lowest = limit.map(|tried| tried.per_s).or(ceiling).unwrap_or(self.start);
                let is_least = self.is_whole && lowest <= 1.0;
                if !is_least && lowest > self.start / 2f64.powi(MOST_HALVINGS) {
                    Ok(lowest / 2.0)
                } else {
                    Err(limit
                        .map_or(invalid(lowest), |_| Outcome::NeverHeld { tried_per_s: lowest }))
                }
            }
        }
    }

    fn is_near(&self, held: f64, above: f64) -> bool {
        let near = self.precision * held;
        above - held <= if self.is_whole { near.max(1.0) } else { near }
    }

    /// The one of two rates with less evidence; `None` if both are confirmed.
    fn weaker(&self, a: Tried, b: Tried) -> Option<f64> {
        let open = [a, b].into_iter().filter(|tried| !tried.is_confirmed());
        open.min_by_key(|tried| tried.points.abs()).map(|tried| tried.per_s)
    }

    fn lowest(&self, held: Option<bool>) -> Option<f64> {
        self.tried.iter().find(|tried| tried.held() == held).map(|tried| tried.per_s)
    }

    fn highest_held_below_misses(&self) -> Option<f64> {
        let below = self.tried.iter().take_while(|tried| tried.held() != Some(false));
        below.filter(|tried| tried.held() == Some(true)).last().map(|tried| tried.per_s)
    }

    /// The range in which the capacity lies: all misses are above it or contradicted.
    fn unsettled(&self) -> Outcome {
        let held_per_s = self.highest_held_below_misses();
        let above = |tried: &&Tried| held_per_s.is_none_or(|held| tried.per_s > held);
        let highest_held = self.tried.iter().rev().find(|tried| tried.held() == Some(true));
        let missed = self
            .tried
            .iter()
            .filter(above)
            .filter(|tried| tried.held() == Some(false))
            .find(|tried| highest_held.is_none_or(|held| tried.per_s > held.per_s));
        Outcome::Unsettled { held_per_s, missed_per_s: missed.map(|tried| tried.per_s) }
    }

    fn end(&mut self, outcome: Outcome) {
        self.next = None;
        self.outcome = Some(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use pippin_model::plan::objective::Objective;
    use pippin_model::text::units::Spread;
    use proptest::prelude::*;

    const MISSED: StepOutcome = StepOutcome::Missed { by_far: false, disturbed: false };
    const DISTURBED: StepOutcome = StepOutcome::Missed { by_far: false, disturbed: true };

    fn searched(
        start: f64,
        precision: f64,
        mut seen: impl FnMut(f64) -> StepOutcome,
    ) -> (Outcome, Vec<f64>) {
        let mut search = Search::new(start, precision);
        let mut tried = Vec::new();
        while let Some(rate) = search.next() {
            tried.push(rate);
            search.observe(rate, seen(rate));
            assert!(tried.len() <= MOST_STEPS as usize);
        }
        (search.outcome(), tried)
    }

    fn up_to(capacity: f64) -> impl Fn(f64) -> StepOutcome {
        move |rate| if rate <= capacity { StepOutcome::Held } else { MISSED }
    }

    #[test]
    fn it_doubles_bisects_and_confirms_both_ends() {
        let (outcome, tried) = searched(100.0, 0.05, up_to(730.0));
        assert_eq!(tried, [100.0, 200.0, 400.0, 800.0, 600.0, 700.0, 750.0, 725.0, 725.0, 750.0]);
        assert_eq!(outcome, Outcome::Found { rate_per_s: 725.0, missed_per_s: 750.0 });
        assert_eq!(
            outcome.words(Searched::Requests),
            "725 requests/s, confirmed (750 requests/s missed)"
        );
    }

    #[test]
    fn devices_are_whole_and_the_search_for_them_ends_at_neighbours() {
        let think = Spread { mean_ns: 1, jitter: 0.0 };
        let objective = Objective::parse("p99 < 50ms").unwrap();
        let profile = Profile::devices(10, 5, think, [1; 3]).most_devices(objective, 0.02);
        for capacity in 0..60u32 {
            let mut search = Search::from_profile(&profile).unwrap();
            while let Some(count) = search.next() {
                assert!(count >= 1.0 && count.fract() == 0.0, "{count} of {capacity}");
                search.observe(count, up_to(capacity.into())(count));
            }
            let outcome = search.outcome();
            if capacity == 0 {
                assert_eq!(outcome, Outcome::NeverHeld { tried_per_s: 1.0 });
                continue;
            }
            let held = f64::from(capacity);
            assert_eq!(outcome, Outcome::Found { rate_per_s: held, missed_per_s: held + 1.0 });
            let words = outcome.words(Searched::Devices);
            assert!(words.starts_with(&Searched::Devices.amount(held)), "{words}");
        }
    }

    #[test]
    fn a_search_over_devices_ends_at_a_thousand_times_the_first_number() {
        let think = Spread { mean_ns: 1, jitter: 0.0 };
        let objective = Objective::parse("p99 < 50ms").unwrap();
        for start in [1_u32, 7, 30] {
            let profile =
                Profile::devices(start, 5, think, [1; 3]).most_devices(objective.clone(), 0.02);
            let mut search = Search::from_profile(&profile).unwrap();
            let mut tried = Vec::new();
            while let Some(count) = search.next() {
                tried.push(count);
                search.observe(count, StepOutcome::Held);
            }
            let most = f64::from(start) * 1_000.0;
            assert_eq!(tried.last(), Some(&most), "{tried:?}");
            assert_eq!(search.outcome(), Outcome::AlwaysHeld { tried_per_s: most });
        }
        let words = Outcome::AlwaysHeld { tried_per_s: 7_000.0 }.words(Searched::Devices);
        assert_eq!(words, "at least 7,000 devices, the highest number of devices that is tried");
    }

    #[test]
    fn a_start_that_is_too_high_is_halved() {
        let (outcome, tried) = searched(1_000.0, 0.05, up_to(100.0));
        assert_eq!(tried[..4], [1_000.0, 500.0, 250.0, 125.0]);
        let found = outcome.confirmed_per_s().unwrap();
        assert!((95.0..=100.0).contains(&found), "{found}");
    }

    #[test]
    fn never_and_always() {
        assert!(
            matches!(searched(1_000.0, 0.02, |_| MISSED).0, Outcome::NeverHeld { tried_per_s } if tried_per_s < 1.0)
        );
        assert!(
            matches!(searched(1.0, 0.02, |_| StepOutcome::Held).0, Outcome::AlwaysHeld { tried_per_s } if tried_per_s > 1e6)
        );
    }

    #[test]
    fn luck_does_not_pass_the_confirmation() {
        // The first step at 600 holds by chance; the true capacity is 500.
        let mut luck = true;
        let (outcome, tried) = searched(100.0, 0.05, |rate| {
            let lucky = (rate - 600.0).abs() < 1.0 && std::mem::take(&mut luck);
            if rate <= 500.0 || lucky { StepOutcome::Held } else { MISSED }
        });
        let found = outcome.confirmed_per_s().unwrap();
        assert!((475.0..=500.0).contains(&found), "{outcome:?} {tried:?}");
    }

    #[test]
    fn neither_does_an_accident_far_below_the_capacity() {
        // The first step at 400 misses on a calm host; the true capacity is 5,000.
        let mut accidents = 1;
        let (outcome, tried) = searched(100.0, 0.05, |rate| {
            let accident = (rate - 400.0).abs() < 1.0 && accidents > 0;
            accidents -= i32::from(accident);
            if rate <= 5_000.0 && !accident { StepOutcome::Held } else { MISSED }
        });
        let found = outcome.confirmed_per_s().unwrap();
        assert!((4_750.0..=5_000.0).contains(&found), "{outcome:?} {tried:?}");
    }

    #[test]
    fn a_miss_on_a_disturbed_host_counts_once_it_was_seen_three_times() {
        let mut disturbed = 2;
        let (outcome, tried) = searched(100.0, 0.05, |rate| {
            if rate == 400.0 && disturbed > 0 {
                disturbed -= 1;
                return DISTURBED;
            }
            up_to(730.0)(rate)
        });
        assert_eq!(tried[..5], [100.0, 200.0, 400.0, 400.0, 400.0]);
        assert!(outcome.confirmed_per_s().is_some(), "{outcome:?}");
        // On a host that never rests, the search takes longer but still ends.
        let (outcome, tried) =
            searched(100.0, 0.02, |rate| if rate <= 730.0 { StepOutcome::Held } else { DISTURBED });
        let found = outcome.confirmed_per_s().unwrap();
        assert!((715.0..=730.0).contains(&found) && tried.len() < 40, "{outcome:?} {tried:?}");
    }

    #[test]
    fn steps_that_are_invalid_are_repeated_and_say_nothing_about_the_rate() {
        let mut invalid = 2;
        let (outcome, tried) = searched(100.0, 0.05, |rate| {
            if rate == 200.0 && invalid > 0 {
                invalid -= 1;
                return StepOutcome::Invalid;
            }
            up_to(730.0)(rate)
        });
        assert_eq!(tried[..5], [100.0, 200.0, 200.0, 200.0, 400.0]);
        assert_eq!(outcome, Outcome::Found { rate_per_s: 725.0, missed_per_s: 750.0 });
    }

    #[test]
    fn a_search_whose_deciding_steps_stay_invalid_is_invalid() {
        // The generator cannot send more than 5,000/s.
        let generator = |capacity: f64| {
            move |rate| if rate > 5_000.0 { StepOutcome::Invalid } else { up_to(capacity)(rate) }
        };
        let (outcome, tried) = searched(100.0, 0.05, generator(9_000.0));
        let Outcome::Invalid { held_per_s: Some(held), tried_per_s } = outcome else {
            panic!("{outcome:?}")
        };
        assert!(held <= 5_000.0 && tried_per_s > 5_000.0, "{outcome:?} {tried:?}");
        // It can send enough for this one, although the first guess above it was too much.
        let (outcome, tried) = searched(100.0, 0.05, generator(4_000.0));
        let found = outcome.confirmed_per_s().unwrap();
        assert!((3_800.0..=4_000.0).contains(&found), "{outcome:?} {tried:?}");
        let (outcome, tried) = searched(100.0, 0.05, |_| StepOutcome::Invalid);
        assert!(matches!(outcome, Outcome::Invalid { held_per_s: None, .. }) && tried.len() <= 12);
    }

    #[test]
    fn a_target_that_flickers_ends_as_well() {
        let mut noise = Noise::new(9);
        for _ in 0..200 {
            let _ = searched(100.0, 0.001, |_| {
                if noise.uniform() < 0.5 { MISSED } else { StepOutcome::Held }
            });
        }
    }

    proptest! {
        #[test]
        fn every_capacity_is_found(capacity in 1.0..1e6f64, start in 1.0..1e4f64, precision in 0.005..0.2f64) {
            prop_assume!(capacity > start / 900.0 && capacity < start * 1e6);
            let (outcome, _) = searched(start, precision, up_to(capacity));
            let Outcome::Found { rate_per_s, missed_per_s } = outcome else { panic!("{outcome:?}") };
            prop_assert!(rate_per_s <= capacity && capacity < missed_per_s && missed_per_s <= rate_per_s * (1.0 + precision) * (1.0 + 1e-12));
        }
    }
}
