//! A scan: the values of one parameter, each a target of one run, compared in pairs within rounds.
//!
//! The knee is that of a sweep ([`crate::scalability::knee`]): the first value from which no larger
//! one is surely more than 10 % better. Here what is sure comes from the ratio of two values within
//! the rounds that both have ([`crate::rounds::paired`]), so that what the host did to a round
//! cancels out. Loads that were too short for slices are compared by the bootstrap of their trials.
use pippin_model::figure::{Better, RankedBy};
use pippin_model::trial::TrialRecord;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::interval::bootstrap::Sample;
use crate::interval::ratio::{Ratio, ratio};
use crate::interval::student_t::NORMAL_975;
use crate::rounds::has_slices;
use crate::rounds::paired::Pairs;
use crate::scalability::knee::{Bend, Gain, SURE, WORTH, bend, rises};
use crate::summary::ranked_samples;

/// Chance alone makes a pair look surely better or surely not in at most this many cases.
const LEVEL: f64 = 0.01;
/// The seed of the resampling, so that equal records give an equal knee.
const SEED: u64 = 1;

/// What the values of a parameter show when they are compared with each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compared {
    /// The figure of each value over that of the base; `None` for the base, or if the scatter is
    /// unknown.
    pub to_base: Vec<Option<Ratio>>,
    /// The figure of each value over that of the best; `None` for the best, or if the scatter is
    /// unknown.
    pub to_best: Vec<Option<Ratio>>,
}

/// Where the curve of a scan bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// At one of the values, and there are larger ones.
    Knee {
        /// The first value from which no larger one is surely more than 10 % better, by its place.
        at: usize,
        /// The first value from which every larger one is surely at most 10 % better, by its place.
        /// The knee lies between both.
        at_most: usize,
    },
    /// The largest value is surely more than 10 % better than every other: larger ones may bring
    /// more.
    Rises,
    /// Nobody can tell: there are fewer than three values, or the scatter of a pair is unknown.
    Unknown,
}

/// Compares the values of a parameter, each given by its trials. `base` and `best` are places among
/// them.
#[must_use]
pub fn compared(
    trials: &[&[&TrialRecord]],
    by: RankedBy,
    base: Option<usize>,
    best: Option<usize>,
) -> Compared {
    let ratios = Ratios::from_trials(trials, by);
    let to = |place: Option<usize>| -> Vec<Option<Ratio>> {
        (0..trials.len()).map(|other| ratios.get(other, place?)).collect()
    };
    Compared { to_base: to(base), to_best: to(best) }
}

/// Where the curve through these values bends, which are in ascending order.
#[must_use]
pub fn shape(trials: &[&[&TrialRecord]], by: RankedBy) -> Shape {
    let ratios = Ratios::from_trials(trials, by);
    let count = trials.len();
    let all: Option<Vec<Vec<Gain>>> = (0..count)
        .map(|early| (0..count).map(|late| ratios.gain(by.better(), early, late)).collect())
        .collect();
    let Some(all) = all else { return Shape::Unknown };
    let gain = |early: usize, late: usize| all[early][late];
    match bend(count, gain) {
        Some(Bend { at, at_most }) => Shape::Knee { at, at_most },
        None if count > 2 && rises(count, gain) => Shape::Rises,
        None => Shape::Unknown,
    }
}

/// The ratio of each value to each other.
enum Ratios {
    /// Within rounds.
    InRounds(Pairs),
    /// By the bootstrap of the trials, where not all were measured in slices.
    ByTrials(Vec<Vec<Option<Ratio>>>),
}

impl Ratios {
    fn from_trials(trials: &[&[&TrialRecord]], by: RankedBy) -> Self {
        if trials.iter().all(|trials| trials.iter().any(|record| has_slices(record))) {
            return Self::InRounds(Pairs::from_targets(trials, by.figure()));
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let samples: Vec<Vec<Sample>> =
            trials.iter().map(|trials| ranked_samples(trials, by)).collect();
        let mut row = |first: &Vec<Sample>| -> Vec<Option<Ratio>> {
            samples.iter().map(|second| ratio(first, second, &mut rng)).collect()
        };
        Self::ByTrials(samples.iter().map(&mut row).collect())
    }

    /// The first over the second; `None` for a value over itself, or if the scatter is unknown.
    fn get(&self, first: usize, second: usize) -> Option<Ratio> {
        match self {
            _ if first == second => None,
            Self::InRounds(pairs) => pairs.ratio(first, second),
            Self::ByTrials(ratios) => ratios[first][second],
        }
    }

    /// How much better a later value is; `None` if that is unknown.
    fn gain(&self, better: Better, early: usize, late: usize) -> Option<Gain> {
        if early == late {
            return Some(Gain::Little);
        }
        // Where less is better, it is the earlier that has more.
        let (first, second) = if better == Better::More { (late, early) } else { (early, late) };
        let (is_more, is_sure) = match self {
            Self::InRounds(pairs) => {
                let (is_more, p) = pairs.beyond(first, second, WORTH)?;
                (is_more, p < LEVEL)
            }
            Self::ByTrials(ratios) => {
                let Ratio { value, interval } = ratios[first][second]?;
                let by = (value / WORTH).ln();
                let reach = if by > 0.0 { value / interval.low } else { interval.high / value };
                (by > 0.0, by.abs() > SURE / NORMAL_975 * reach.ln())
            }
        };
        Some(match (is_sure, is_more) {
            (false, _) => Gain::Unsure,
            (true, true) => Gain::Worth,
            (true, false) => Gain::Little,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::slices::Rounds;

    const POOLS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

    /// Servers with these numbers of slots, each slot of 100 requests/s, under a closed loop of so
    /// many users: no more slots are busy than there are users.
    fn scanned(pools: &[f64], users: f64, rounds: &Rounds) -> Vec<Vec<TrialRecord>> {
        let of = |pool: &f64| {
            rounds.trials(&format!("own/shop@pool={pool}"), 100.0 * pool.min(users), 100.0)
        };
        pools.iter().map(of).collect()
    }

    fn shape_of(targets: &[Vec<TrialRecord>], by: RankedBy) -> Shape {
        let trials: Vec<Vec<&TrialRecord>> =
            targets.iter().map(|trials| trials.iter().collect()).collect();
        let trials: Vec<&[&TrialRecord]> = trials.iter().map(Vec::as_slice).collect();
        shape(&trials, by)
    }

    #[test]
    fn a_pool_bends_where_all_users_are_served() {
        for (users, place) in [(2.0, 1), (4.0, 2), (8.0, 3), (16.0, 4)] {
            let mut right = 0;
            for seed in 1..=40 {
                let rounds = Rounds { host: 0.3, seed, ..Rounds::default() };
                let found = shape_of(&scanned(&POOLS, users, &rounds), RankedBy::Goodput);
                right += u32::from(found == Shape::Knee { at: place, at_most: place });
            }
            // The server with 32 slots is alike in any case.
            assert!(right >= 38, "{users} users: {right} of 40");
        }
    }

    #[test]
    fn a_curve_that_goes_on_rising_has_no_knee() {
        let found = shape_of(&scanned(&POOLS, 64.0, &Rounds::default()), RankedBy::Goodput);
        assert_eq!(found, Shape::Rises);
        let two = shape_of(&scanned(&POOLS[..2], 64.0, &Rounds::default()), RankedBy::Goodput);
        assert_eq!(two, Shape::Unknown, "two values are no curve");
    }

    #[test]
    fn a_flat_curve_bends_at_its_first_value() {
        let found = shape_of(&scanned(&POOLS, 1.0, &Rounds::default()), RankedBy::Goodput);
        assert_eq!(found, Shape::Knee { at: 0, at_most: 0 });
    }

    #[test]
    fn what_scatters_widely_has_a_knee_within_wide_bounds() {
        let rounds = Rounds { start: 0.15, ..Rounds::default() };
        let (mut within, mut wide) = (0, 0);
        for seed in 1..=40 {
            let rounds = Rounds { seed, ..rounds };
            let targets = scanned(&POOLS, 8.0, &rounds);
            if let Shape::Knee { at, at_most } = shape_of(&targets, RankedBy::Goodput) {
                within += u32::from(at <= 3 && at_most >= 3);
                wide += u32::from(at < at_most);
            }
        }
        assert!(within >= 38 && wide >= 20, "{within} hold the knee, {wide} are wide, of 40");
    }

    #[test]
    fn where_times_are_compared_less_is_better() {
        let slow = |name: &str, speed: f64| {
            let mut trials = Rounds::default().trials(name, 100.0, 100.0);
            for slice in trials.iter_mut().flat_map(|trial| &mut trial.slices) {
                for quantiles in [&mut slice.figures.response, &mut slice.figures.service] {
                    let scaled = |ns: u64| (ns as f64 / speed) as u64;
                    quantiles.p99_ns = quantiles.p99_ns.map(scaled);
                }
            }
            trials
        };
        let targets =
            [1.0, 2.0, 4.0, 4.0].iter().enumerate().map(|(at, it)| slow(&format!("a/{at}"), *it));
        let found = shape_of(&targets.collect::<Vec<_>>(), RankedBy::ResponseP99);
        assert_eq!(found, Shape::Knee { at: 2, at_most: 2 });
    }

    #[test]
    fn values_are_compared_with_the_first_and_with_the_best() {
        let targets = scanned(&POOLS[..3], 64.0, &Rounds::default());
        let trials: Vec<Vec<&TrialRecord>> =
            targets.iter().map(|trials| trials.iter().collect()).collect();
        let trials: Vec<&[&TrialRecord]> = trials.iter().map(Vec::as_slice).collect();
        let found = compared(&trials, RankedBy::Goodput, Some(0), Some(2));
        let values = |ratios: &[Option<Ratio>]| -> Vec<Option<f64>> {
            ratios.iter().map(|it| it.map(|ratio| (ratio.value * 20.0).round() / 20.0)).collect()
        };
        assert_eq!(values(&found.to_base), [None, Some(2.0), Some(4.0)]);
        assert_eq!(values(&found.to_best), [Some(0.25), Some(0.5), None]);
        let covers = |ratio: Option<Ratio>, value| ratio.unwrap().interval.covers(value);
        assert!(covers(found.to_base[1], 2.0) && covers(found.to_best[0], 0.25));
    }

    #[test]
    fn loads_without_slices_are_compared_by_their_trials() {
        let rounds = Rounds { repetitions: 5, ..Rounds::default() };
        let mut targets = scanned(&POOLS, 8.0, &rounds);
        for (number, trial) in targets.iter_mut().flatten().enumerate() {
            trial.slices.clear();
            // Some scatter between repetitions.
            let requests = &mut trial.load.as_mut().unwrap().measured.requests;
            requests.completed += requests.completed * (number as u64 % 5) / 200;
        }
        let found = shape_of(&targets, RankedBy::Goodput);
        assert_eq!(found, Shape::Knee { at: 3, at_most: 3 });
    }

    #[test]
    fn without_scatter_nothing_is_said() {
        let rounds = Rounds { repetitions: 1, rounds: 1, ..Rounds::default() };
        assert_eq!(shape_of(&scanned(&POOLS, 4.0, &rounds), RankedBy::Goodput), Shape::Unknown);
    }
}
