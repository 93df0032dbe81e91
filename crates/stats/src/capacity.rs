//! The search for the highest offered rate that keeps an objective: bracketing, bisection,
//! confirmation. A pure state machine; the caller measures.
use serde::{Deserialize, Serialize};

/// The fewest halvings of the first rate before the search gives up: a thousandth of it.
const MOST_HALVINGS: u32 = 10;
/// The most doublings of the first rate: a millionfold.
const MOST_DOUBLINGS: u32 = 20;
/// Steps after which the search ends in any case. Otherwise an inconsistent target could keep it
/// going for ever.
const MOST_STEPS: u32 = 60;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Outcome {
    /// The objective held twice at `rate_per_s` and did not hold at `failed_per_s`, which is higher
    /// by no more than the precision.
    Found {
        /// The highest rate that held.
        rate_per_s: f64,
        /// The lowest rate that did not.
        failed_per_s: f64,
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
    /// The steps were used up, because the target answers differently at the same rate. This is the
    /// best known rate.
    Unsettled {
        /// The highest rate that held and is below all rates that did not, if there is one.
        rate_per_s: Option<f64>,
    },
}

/// The state of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    start: f64,
    precision: f64,
    /// Rates that held, ascending; all below `failed`.
    held: Vec<f64>,
    /// The lowest rate that did not hold.
    failed: Option<f64>,
    /// Whether the next rate repeats the highest one that held.
    confirming: bool,
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
            held: Vec::new(),
            failed: None,
            confirming: false,
            steps: 0,
            next: Some(start),
            outcome: None,
        }
    }

    /// The rate to measure next; `None` when the search has ended.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        self.next
    }

    /// How it ended; `None` while it goes on.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// Steps made so far.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Takes whether the objective held at `rate`, and chooses the next rate.
    pub fn observe(&mut self, rate: f64, held: bool) {
        if self.outcome.is_some() {
            return;
        }
        self.steps += 1;
        let confirmed = std::mem::take(&mut self.confirming) && held;
        if held {
            self.held.retain(|other| *other < rate);
            self.held.push(rate);
            // A rate that holds now was not too high: the earlier failure was an accident and must
            // be seen again.
            self.failed = self.failed.filter(|failed| *failed > rate);
        } else {
            self.held.retain(|other| *other < rate);
            self.failed = Some(self.failed.map_or(rate, |failed| failed.min(rate)));
        }
        self.choose(confirmed);
    }

    fn choose(&mut self, confirmed: bool) {
        let best = self.held.last().copied();
        let choice = match (best, self.failed) {
            (Some(held), Some(failed)) if failed - held <= self.precision * held => {
                if confirmed {
                    return self.end(Outcome::Found { rate_per_s: held, failed_per_s: failed });
                }
                self.confirming = true;
                held
            }
            (Some(held), Some(failed)) => f64::midpoint(held, failed),
            (Some(held), None) if held >= self.start * 2f64.powi(MOST_DOUBLINGS as i32) => {
                return self.end(Outcome::AlwaysHeld { tried_per_s: held });
            }
            (Some(held), None) => held * 2.0,
            (None, Some(failed)) if failed <= self.start / 2f64.powi(MOST_HALVINGS as i32) => {
                return self.end(Outcome::NeverHeld { tried_per_s: failed });
            }
            (None, Some(failed)) => failed / 2.0,
            (None, None) => self.start,
        };
        if self.steps >= MOST_STEPS {
            return self.end(Outcome::Unsettled { rate_per_s: best });
        }
        self.next = Some(choice);
    }

    fn end(&mut self, outcome: Outcome) {
        self.next = None;
        self.outcome = Some(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_noise::Noise;
    use proptest::prelude::*;

    fn run(start: f64, precision: f64, mut holds: impl FnMut(f64) -> bool) -> (Outcome, Vec<f64>) {
        let mut search = Search::new(start, precision);
        let mut tried = Vec::new();
        while let Some(rate) = search.next() {
            tried.push(rate);
            search.observe(rate, holds(rate));
            assert!(tried.len() <= 60);
        }
        (search.outcome().unwrap(), tried)
    }

    #[test]
    fn it_doubles_bisects_and_confirms() {
        let (outcome, tried) = run(100.0, 0.05, |rate| rate <= 730.0);
        assert_eq!(tried, [100.0, 200.0, 400.0, 800.0, 600.0, 700.0, 750.0, 725.0, 725.0]);
        assert_eq!(outcome, Outcome::Found { rate_per_s: 725.0, failed_per_s: 750.0 });
    }

    #[test]
    fn a_start_that_is_too_high_is_halved() {
        let (outcome, tried) = run(1_000.0, 0.05, |rate| rate <= 100.0);
        assert_eq!(tried[..4], [1_000.0, 500.0, 250.0, 125.0]);
        assert!(
            matches!(outcome, Outcome::Found { rate_per_s, .. } if (95.0..=100.0).contains(&rate_per_s)),
            "{outcome:?}"
        );
    }

    #[test]
    fn never_and_always() {
        assert!(
            matches!(run(1_000.0, 0.02, |_| false).0, Outcome::NeverHeld { tried_per_s } if tried_per_s < 1.0)
        );
        assert!(
            matches!(run(1.0, 0.02, |_| true).0, Outcome::AlwaysHeld { tried_per_s } if tried_per_s > 1e6)
        );
    }

    #[test]
    fn luck_does_not_pass_the_confirmation() {
        // The first step at 725 holds by chance; the true capacity is 500.
        let mut luck = true;
        let (outcome, tried) = run(100.0, 0.05, |rate| {
            rate <= 500.0 || ((rate - 600.0).abs() < 1.0 && std::mem::take(&mut luck))
        });
        assert!(
            matches!(outcome, Outcome::Found { rate_per_s, .. } if (475.0..=500.0).contains(&rate_per_s)),
            "{outcome:?} {tried:?}"
        );
    }

    #[test]
    fn a_target_that_flickers_ends_as_well() {
        let mut noise = Noise::new(9);
        for _ in 0..200 {
            let (_, tried) = run(100.0, 0.001, |_| noise.uniform() < 0.5);
            assert!(tried.len() <= 60);
        }
    }

    proptest! {
        #[test]
        fn every_capacity_is_found(capacity in 1.0..1e6f64, start in 1.0..1e4f64, precision in 0.005..0.2f64) {
            prop_assume!(capacity > start / 900.0 && capacity < start * 1e6);
            let (outcome, _) = run(start, precision, |rate| rate <= capacity);
            let Outcome::Found { rate_per_s, failed_per_s } = outcome else { panic!("{outcome:?}") };
            prop_assert!(rate_per_s <= capacity && capacity < failed_per_s && failed_per_s <= rate_per_s * (1.0 + precision) * (1.0 + 1e-12));
        }
    }
}
