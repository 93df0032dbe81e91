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
pub(super) const WORTH: f64 = 0.8;
pub(super) const LONGEST_TIMES: f64 = 10.0;
/// From one slice to the next there is at most this many times its length; a longer pause is no part of
/// the rounds.
const PAUSE: u64 = 10;

/// What repetitions cost, from those that were made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// How long a repetition of all targets takes, in nanoseconds; `None` below two.
    pub repetition_ns: Option<f64>,
    /// How much of it the loads take, all together, in nanoseconds; of rounds, with what is left out
    /// before each slice.
    pub measured_ns: f64,
    /// Whether all loads were measured in rounds of slices.
    pub in_rounds: bool,
}

impl Costs {
    /// What the first `made` repetitions of these trials cost.
    #[must_use]
    pub fn from_trials(trials: &[TrialRecord], made: u32) -> Self {
        let trials: Vec<&TrialRecord> =
            trials.iter().filter(|trial| trial.spec.repetition < made).collect();
        let mut begun: BTreeMap<u32, u64> = BTreeMap::new();
        for trial in &trials {
            let first = begun.entry(trial.spec.repetition).or_insert(trial.started_unix_ns);
            *first = trial.started_unix_ns.min(*first);
        }
        let between = begun.first_key_value().zip(begun.last_key_value());
        let repetition_ns = between.and_then(|((first, from), (last, to))| {
            let repetitions = f64::from(last - first);
            let took = to.saturating_sub(*from) as f64;
            (repetitions > 0.0 && took > 0.0).then(|| took / repetitions)
        });
        let (sliced, whole): (Vec<&TrialRecord>, Vec<&TrialRecord>) = trials
            .into_iter()
            .filter(|trial| trial.load.is_some())
            .partition(|trial| !trial.slices.is_empty());
        let loads = whole.iter().filter_map(|trial| trial.load.as_ref());
        let measured: u64 = loads.map(|load| load.measured.duration_ns).sum();
        let measured_ns = (measured + rounds_ns(&sliced)) as f64 / begun.len().max(1) as f64;
        Self { repetition_ns, measured_ns, in_rounds: whole.is_empty() && !sliced.is_empty() }
    }
}

/// How long the rounds of these trials took.
fn rounds_ns(trials: &[&TrialRecord]) -> u64 {
    let slices = trials.iter().flat_map(|trial| &trial.slices);
    let mut slices: Vec<(u64, u64)> =
        slices.map(|slice| (slice.started_unix_ns, slice.measured_ns)).collect();
    slices.sort_unstable();
    let until_next = slices.windows(2).map(|pair| {
        let [(began, length), (next, _)] = [pair[0], pair[1]];
        (next - began).min(PAUSE * length)
    });
    until_next.sum::<u64>() + slices.last().map_or(0, |(_, length)| *length)
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
    /// The part of the time that is then needed for the same precision: 0.5 is half.
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
        let costs = Costs { repetition_ns: Some(30e9), measured_ns: 1e9, in_rounds: false };
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
                &Costs { repetition_ns: Some(repetition_ns), measured_ns, in_rounds: false },
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
        assert_eq!(Costs::from_trials(&trials, 3).repetition_ns, Some(20e9));
        assert_eq!(Costs::from_trials(&trials, 2).repetition_ns, Some(20e9));
        assert_eq!(Costs::from_trials(&trials, 1).repetition_ns, None);
        // A clock that was set back says nothing.
        assert_eq!(Costs::from_trials(&[trial(0, 100), trial(1, 50)], 2).repetition_ns, None);
    }

    #[test]
    fn rounds_cost_what_is_left_out_before_slices_too_and_not_the_pause_for_another_group() {
        use pippin_model::example::slices::Rounds;
        const S: u64 = 1_000_000_000;
        let rounds = Rounds { repetitions: 1, rounds: 3, ..Rounds::default() };
        let mut trials = rounds.trials("go/net-http", 10_000.0, 10.0);
        trials.extend(rounds.trials("c/nginx", 10_000.0, 10.0));
        // Slices of 0.4 s: those of the first target each 1.6 s, those of the second 0.6 s later.
        for slice in &mut trials[1].slices {
            slice.started_unix_ns += 6 * S / 10;
        }
        let costs = Costs::from_trials(&trials, 1);
        assert!(costs.in_rounds);
        // From the first to the last slice 3.8 s, and that one.
        assert!((costs.measured_ns - 4.2e9).abs() < 1e6, "{costs:?}");
        for slice in &mut trials[1].slices {
            slice.started_unix_ns += 60 * S;
        }
        let costs = Costs::from_trials(&trials, 1);
        assert!((costs.measured_ns - (3.2e9 + 4e9 + 3.6e9)).abs() < 1e6, "{costs:?}");
        trials[0].slices.clear();
        assert!(!Costs::from_trials(&trials, 1).in_rounds);
    }
}
