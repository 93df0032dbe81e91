//! How many more repetitions a figure needs, how long they take, and whether longer loads would need
//! less time (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013, section 4: each level
//! is repeated as often as the square root of its variance over that of the level above, and of the cost
//! above over its own).
use pippin_model::trial::TrialRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::interval::sequence::half_width;
use crate::planning::starts::Starts;

/// Beyond so many more repetitions, nothing is foretold.
const MOST: u32 = 10_000;
/// Longer loads are named if they take this much less time, and are at most this many times as long.
const WORTH: f64 = 0.8;
const LONGEST_TIMES: f64 = 10.0;

/// What repetitions cost, from those that were made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// How long a repetition of all targets takes, in nanoseconds; `None` below two.
    pub repetition_ns: Option<f64>,
    /// How much of it the targets are measured, all together, in nanoseconds.
    pub measured_ns: f64,
}

impl Costs {
    /// What these trials cost.
    #[must_use]
    pub fn from_trials(trials: &[TrialRecord]) -> Self {
        let mut begun: BTreeMap<u32, u64> = BTreeMap::new();
        for trial in trials {
            let first = begun.entry(trial.spec.repetition).or_insert(trial.started_unix_ns);
            *first = trial.started_unix_ns.min(*first);
        }
        let between = begun.first_key_value().zip(begun.last_key_value());
        let repetition_ns = between.and_then(|((first, from), (last, to))| {
            let repetitions = f64::from(last - first);
            let took = to.saturating_sub(*from) as f64;
            (repetitions > 0.0 && took > 0.0).then(|| took / repetitions)
        });
        let loads = trials.iter().filter_map(|trial| trial.load.as_ref());
        let measured: f64 = loads.map(|load| load.measured.duration_ns as f64).sum();
        let measured_ns = measured / begun.len().max(1) as f64;
        Self { repetition_ns, measured_ns }
    }
}

/// What a figure needs until it is known as well as asked for, if its starts go on to differ as they
/// did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// How many more repetitions.
    pub repetitions: u32,
    /// How long they take for all targets, in nanoseconds; `None` if a repetition's time is unknown.
    pub ns: Option<f64>,
    /// Loads of this many times the length would take less time in all; `None` if they would not, or
    /// that is unknown.
    pub longer: Option<Longer>,
}

/// Longer loads in place of more repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Longer {
    /// How many times as long each load is then.
    pub times: f64,
    /// How much of the time it then takes for the same precision: 0.5 for half.
    pub of_the_time: f64,
}

impl Forecast {
    /// For a figure after `made` repetitions. `None` if its scatter is unknown, or more than
    /// [`MOST`] are needed.
    #[must_use]
    pub fn from_starts(starts: &Starts, made: u32, within: f64, costs: &Costs) -> Option<Self> {
        let scatter = starts.scatter()?;
        let is_enough = |more: &u32| {
            let half = half_width((made + more) as usize);
            half.is_some_and(|half| starts.reach_of(half * scatter) <= within)
        };
        let repetitions = (1..=MOST).find(is_enough)?;
        Some(Self {
            repetitions,
            ns: costs.repetition_ns.map(|ns| ns * f64::from(repetitions)),
            longer: longer(scatter, starts.within_a_start, costs),
        })
    }
}

/// Loads of the length that takes the least time for the same precision, if that is worth it. The part
/// of the variance that is from within a start falls with the length, the rest does not; and of the
/// time of a repetition only that in which targets are measured rises with it.
fn longer(scatter: f64, within_a_start: Option<f64>, costs: &Costs) -> Option<Longer> {
    let inner = within_a_start?.powi(2).min(scatter.powi(2));
    let between = scatter.powi(2) - inner;
    let around = (costs.repetition_ns? - costs.measured_ns).max(0.0);
    if costs.measured_ns <= 0.0 || inner <= 0.0 {
        return None;
    }
    let best = (around * inner / (costs.measured_ns * between)).sqrt().min(LONGEST_TIMES);
    let time = |times: f64| (between + inner / times) * (around + costs.measured_ns * times);
    let of_the_time = time(best) / time(1.0);
    (best > 1.0 && of_the_time <= WORTH).then_some(Longer { times: best, of_the_time })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(logs: &[f64], within_a_start: Option<f64>) -> Starts {
        Starts {
            target: "go/net-http".parse().unwrap(),
            step: None,
            logs: logs.to_vec(),
            change: None,
            within_a_start,
            rounding: 0.0,
            stuck: None,
        }
    }

    const FIVE: [f64; 5] = [0.0, 0.02, -0.02, 0.01, -0.01];

    #[test]
    fn more_repetitions_are_foretold_by_the_scatter_so_far() {
        let costs = Costs { repetition_ns: Some(30e9), measured_ns: 1e9 };
        let found = Forecast::from_starts(&starts(&FIVE, None), 5, 0.02, &costs).unwrap();
        // The standard deviation is 0.0158, so 1.25 of them may be left: as after 10 starts.
        assert_eq!((found.repetitions, found.ns), (5, Some(150e9)));
        assert_eq!(found.longer, None, "what is within a start is unknown");
        let finer = Forecast::from_starts(&starts(&FIVE, None), 5, 0.005, &costs).unwrap();
        assert!(finer.repetitions > 50, "{finer:?}");
        assert_eq!(Forecast::from_starts(&starts(&FIVE, None), 5, 1e-5, &costs), None);
        assert_eq!(Forecast::from_starts(&starts(&[], None), 5, 0.02, &costs), None);
    }

    #[test]
    fn longer_loads_help_where_the_scatter_is_within_a_start_and_starts_are_dear() {
        let scatter = 0.0158;
        let longer = |within, repetition_ns, measured_ns| {
            longer(
                scatter,
                Some(within),
                &Costs { repetition_ns: Some(repetition_ns), measured_ns },
            )
        };
        let found = longer(scatter, 30e9, 1e9).unwrap();
        assert_eq!(found.times, LONGEST_TIMES, "all of it is within a start");
        assert!(found.of_the_time < 0.2, "{found:?}");
        assert_eq!(longer(0.001, 30e9, 1e9), None, "starts differ, whatever their length");
        assert_eq!(longer(0.011, 2e9, 1e9), None, "another start costs no more than a longer one");
        let half = longer(0.011, 30e9, 1e9).unwrap();
        assert!((2.0..LONGEST_TIMES).contains(&half.times), "{half:?}");
    }

    #[test]
    fn a_repetition_takes_as_long_as_those_before() {
        use pippin_model::example::ExampleTrial;
        let trial = |repetition: u32, started_s: u64| {
            let mut trial = ExampleTrial::hello().repetition(repetition).build();
            trial.started_unix_ns = started_s * 1_000_000_000;
            trial
        };
        let trials = [trial(0, 100), trial(0, 108), trial(1, 120), trial(2, 140)];
        assert_eq!(Costs::from_trials(&trials).repetition_ns, Some(20e9));
        assert_eq!(Costs::from_trials(&trials[..2]).repetition_ns, None);
        // A clock that was set back says nothing.
        assert_eq!(Costs::from_trials(&[trial(0, 100), trial(1, 50)]).repetition_ns, None);
    }
}
