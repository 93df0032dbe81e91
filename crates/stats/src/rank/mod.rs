//! Ranks: targets that cannot be told apart share one.
//!
//! Targets that were measured in rounds have an interval of ranks ([`rank_intervals`]). Others have
//! one rank each, by the bootstrap of their trials ([`ranks`]).
//!
//! | module | what it does |
//! |---|---|
//! | [`standing`] | ranks, and ratios to a reference |
//! | [`sequential`] | when repetitions may stop |
//! | [`criterion`] | the figure by which targets are ranked |
//! | [`due`] | quantiles over all requests that were due |
pub mod criterion;
pub mod due;
pub mod sequential;
pub mod standing;

use pippin_model::figure::Better;
use pippin_model::verdict::Verdict;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::interval::bootstrap::Sample;
use crate::interval::ratio::ratio;
use crate::rounds::paired::Pairs;
use crate::series::quantile::median;

/// A target in a ranking.
#[derive(Debug, Clone)]
pub struct Contender<'a> {
    /// Its trials' figures.
    pub samples: &'a [Sample],
    /// INVALID is never ranked.
    pub verdict: Verdict,
    /// Whether its figure is a lower bound: it is never behind anyone by that alone.
    pub at_least: bool,
}

/// The ranks that a target may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankInterval {
    /// 1 + the number of targets that are certainly better.
    pub best: u32,
    /// The number of targets, minus those that are certainly worse.
    pub worst: u32,
}

impl fmt::Display for RankInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.best == self.worst {
            write!(f, "{}", self.best)
        } else {
            write!(f, "{}-{}", self.best, self.worst)
        }
    }
}

/// The chance that any equal pair among all is told apart.
const LEVEL: f64 = 0.05;

/// The interval of ranks of each target. `None` if the scatter between it and all others is
/// unknown. A target alone is the first.
///
/// A pair is told apart if Holm's method rejects that it is equal, with all pairs taken together:
/// so all intervals hold at once in 95 % of runs. The same construction as in Mogstad, Romano,
/// Shaikh and Wilhelm, "Inference for ranks" (2024).
///
/// A figure of `at_least` is a lower bound. It is surely ahead of what ends below it, and never
/// behind anyone.
#[must_use]
pub fn rank_intervals(
    pairs: &Pairs,
    better: Better,
    at_least: &[bool],
) -> Vec<Option<RankInterval>> {
    let count = pairs.len();
    let mut found = vec![RankInterval { best: 1, worst: count as u32 }; count];
    for (first, second) in told_apart(pairs) {
        let is_more = pairs.ratio(first, second).is_some_and(|ratio| ratio.value > 1.0);
        let (winner, loser) =
            if is_more == (better == Better::More) { (first, second) } else { (second, first) };
        if at_least[loser] {
            continue;
        }
        found[loser].best += 1;
        found[winner].worst -= 1;
    }
    let is_known =
        |place: usize| count == 1 || (0..count).any(|other| pairs.p_value(place, other).is_some());
    found.into_iter().enumerate().map(|(place, rank)| is_known(place).then_some(rank)).collect()
}

/// The pairs that certainly differ, by Holm's method over all pairs: at most 5 % of runs have an
/// equal pair among them.
#[must_use]
pub fn told_apart(pairs: &Pairs) -> Vec<(usize, usize)> {
    let count = pairs.len();
    let (places, p_values): (Vec<(usize, usize)>, Vec<f64>) = (0..count)
        .flat_map(|first| (first + 1..count).map(move |second| (first, second)))
        .filter_map(|(first, second)| Some(((first, second), pairs.p_value(first, second)?)))
        .unzip();
    let apart = holm(&p_values, LEVEL);
    places.into_iter().zip(apart).filter_map(|(place, apart)| apart.then_some(place)).collect()
}

/// Which of these hypotheses are rejected at this level, for all of them together (Holm, "A simple
/// sequentially rejective multiple test procedure", 1979).
fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut rejected = vec![false; p_values.len()];
    for (place, index) in order.iter().enumerate() {
        if p_values[*index] > level / (p_values.len() - place) as f64 {
            break;
        }
        rejected[*index] = true;
    }
    rejected
}

/// The rank of each contender from 1 on, in the given order. `None` if it is INVALID, has no
/// figure, or has one whose variation is unknown: a single short trial gives an order, but not a
/// rank. If the best has such a figure, none is ranked.
///
/// A rank is 1 + the number of contenders that are certainly better: the 95 % interval of their
/// ratio does not cover 1. A contender whose variation is unknown counts by its median. In the
/// order of the medians, ranks never fall, so a noisy figure gains nothing.
///
/// A comparison with only the best is not enough: if the best is noisy, none is certainly worse, so
/// all would share rank 1, even those that the second certainly beats.
pub fn ranks<R: Rng + ?Sized>(
    contenders: &[Contender],
    better: Better,
    rng: &mut R,
) -> Vec<Option<u32>> {
    let mut order: Vec<(usize, f64)> = contenders
        .iter()
        .enumerate()
        .filter(|(_, contender)| contender.verdict != Verdict::Invalid)
        .filter_map(|(index, contender)| {
            Some((index, median(&values(contender.samples)).filter(|m| m.is_finite())?))
        })
        .collect();
    order.sort_by(|a, b| match better {
        Better::More => b.1.total_cmp(&a.1),
        Better::Less => a.1.total_cmp(&b.1),
    });
    let mut ranks = vec![None; contenders.len()];
    let Some(&(best, _)) = order.first() else { return ranks };
    if ratio(contenders[best].samples, contenders[best].samples, rng).is_none() {
        return ranks;
    }
    let mut rank = 1;
    for (place, &(index, _)) in order.iter().enumerate() {
        let samples = contenders[index].samples;
        if ratio(samples, samples, rng).is_none() {
            continue;
        }
        let better = order[..place].iter().filter(|(ahead, _)| {
            ratio(contenders[*ahead].samples, samples, rng)
                .is_none_or(|ratio| ratio.is_significant())
        });
        if contenders[index].at_least {
            ranks[index] = Some(1);
            continue;
        }
        rank = rank.max(1 + better.count() as u32);
        ranks[index] = Some(rank);
    }
    ranks
}

fn values(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|sample| sample.value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::slices::Rounds;
    use pippin_model::figure::Figure;

    fn around(mean: f64) -> Vec<Sample> {
        [0.999, 1.0, 1.001, 1.0005, 0.9995].iter().map(|f| Sample::alone(mean * f)).collect()
    }

    fn rank(of: &[(Vec<Sample>, Verdict)]) -> Vec<Option<u32>> {
        let contenders: Vec<Contender> = of
            .iter()
            .map(|(samples, verdict)| Contender { samples, verdict: *verdict, at_least: false })
            .collect();
        ranks(&contenders, Better::More, &mut Noise::new(1).0)
    }

    #[test]
    fn holm_stops_at_the_first_that_is_not_sure() {
        // 0.01 <= 0.05 / 4, 0.016 <= 0.05 / 3, 0.03 > 0.05 / 2; the last would pass alone.
        assert_eq!(holm(&[0.04, 0.01, 0.03, 0.016], 0.05), [false, true, false, true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }

    /// Intervals of targets with these goodputs, measured in rounds.
    fn intervals(per_s: &[f64]) -> Vec<String> {
        let trials: Vec<Vec<pippin_model::trial::TrialRecord>> = per_s
            .iter()
            .enumerate()
            .map(|(place, per_s)| Rounds::default().trials(&format!("a/{place}"), *per_s, 10.0))
            .collect();
        let trials: Vec<Vec<_>> = trials.iter().map(|trials| trials.iter().collect()).collect();
        let trials: Vec<&[_]> = trials.iter().map(Vec::as_slice).collect();
        let pairs = Pairs::from_targets(&trials, Figure::Goodput);
        let shown = |rank: Option<RankInterval>| rank.map_or("-".into(), |rank| rank.to_string());
        rank_intervals(&pairs, Better::More, &vec![false; pairs.len()])
            .into_iter()
            .map(shown)
            .collect()
    }

    #[test]
    fn a_rank_is_an_interval_where_targets_cannot_be_told_apart() {
        assert_eq!(intervals(&[500.0, 1_000.0, 1_001.0, 2_000.0]), ["4", "2-3", "2-3", "1"]);
        assert_eq!(intervals(&[1_000.0, 1_000.0]), ["1-2", "1-2"]);
        assert_eq!(intervals(&[1_000.0]), ["1"]);
        assert_eq!(intervals(&[]), Vec::<String>::new());
    }

    #[test]
    fn those_that_cannot_be_told_apart_share_a_rank() {
        let found = rank(&[
            (around(500.0), Verdict::Valid),
            (around(1_000.0), Verdict::Valid),
            (around(1_000.2), Verdict::Suspect),
            (around(100.0), Verdict::Valid),
        ]);
        assert_eq!(found, [Some(3), Some(1), Some(1), Some(4)]);
    }

    #[test]
    fn a_noisy_best_does_not_lift_those_whom_the_second_beats() {
        // The first is ahead only by its median: its repetitions range from 400 to 2,000, so it may
        // be anywhere. The second, at 1,000, is certainly better than the third, at 900.
        let noisy = [400.0, 1_200.0, 2_000.0].map(Sample::alone).to_vec();
        let found = rank(&[
            (noisy.clone(), Verdict::Valid),
            (around(1_000.0), Verdict::Valid),
            (around(900.0), Verdict::Valid),
        ]);
        assert_eq!(found, [Some(1), Some(1), Some(2)]);
        // A noisy last one is not ranked above one with a better median.
        let noisy = noisy.iter().map(|sample| Sample::alone(sample.value * 0.7)).collect();
        let found = rank(&[
            (around(1_000.0), Verdict::Valid),
            (around(900.0), Verdict::Valid),
            (noisy, Verdict::Valid),
        ]);
        assert_eq!(found, [Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn where_less_is_better_the_least_comes_first() {
        let times = [around(500.0), around(100.0), around(100.02), around(900.0)];
        let contenders: Vec<Contender> = times
            .iter()
            .map(|samples| Contender { samples, verdict: Verdict::Valid, at_least: false })
            .collect();
        assert_eq!(
            ranks(&contenders, Better::Less, &mut Noise::new(1).0),
            [Some(3), Some(1), Some(1), Some(4)]
        );
    }

    #[test]
    fn the_invalid_and_the_unmeasured_have_no_rank() {
        let found = rank(&[
            (around(9_000.0), Verdict::Invalid),
            (around(10.0), Verdict::Valid),
            (vec![], Verdict::Valid),
        ]);
        assert_eq!(found, [None, Some(1), None]);
    }

    #[test]
    fn single_short_trials_have_an_order_and_no_rank() {
        let single = |value| (vec![Sample::alone(value)], Verdict::Valid);
        assert_eq!(rank(&[single(10.0), single(1_000.0)]), [None, None]);
        assert_eq!(
            rank(&[(around(10.0), Verdict::Valid), single(1_000.0)]),
            [None, None],
            "nobody can be second to an unknown figure"
        );
        assert_eq!(
            rank(&[(around(1_000.0), Verdict::Valid), single(10.0), (around(5.0), Verdict::Valid)]),
            [Some(1), None, Some(3)]
        );
    }
}
