//! Ranks: targets that cannot be told apart share one.
use pippin_model::caveat::Verdict;
use rand::Rng;

use crate::bootstrap::Sample;
use crate::quantile::median;
use crate::ratio::ratio;

/// Whether a higher or a lower figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    More,
    /// Less is better.
    Less,
}

/// A target in a ranking.
#[derive(Debug, Clone)]
pub struct Contender<'a> {
    /// Its trials' figures.
    pub samples: &'a [Sample],
    /// INVALID is never ranked.
    pub verdict: Verdict,
}

/// The rank of each contender from 1 on, in the given order. `None` if it is INVALID, has no
/// figure, or has one whose variation is unknown: a single short trial gives an order, but not a
/// rank. If the best has such a figure, nobody is ranked.
///
/// A rank is 1 + the number of contenders that are surely better: the 95 % interval of their ratio
/// does not cover 1. A contender whose variation is unknown counts by its median. In the order of
/// the medians, ranks never fall, so a noisy figure gains nothing.
///
/// Comparing with the best only would not do: nobody is surely worse than a noisy best, so all would
/// share rank 1, even those that the second surely beats.
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
    use crate::test_noise::Noise;

    fn around(mean: f64) -> Vec<Sample> {
        [0.999, 1.0, 1.001, 1.0005, 0.9995].iter().map(|f| Sample::alone(mean * f)).collect()
    }

    fn rank(of: &[(Vec<Sample>, Verdict)]) -> Vec<Option<u32>> {
        let contenders: Vec<Contender> =
            of.iter().map(|(samples, verdict)| Contender { samples, verdict: *verdict }).collect();
        ranks(&contenders, Better::More, &mut Noise::new(1).0)
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
        // The first is ahead by its median alone: with repetitions from 400 to 2,000 it may be
        // anywhere. The second, at 1,000, is surely better than the third, at 900.
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
        let contenders: Vec<Contender> =
            times.iter().map(|samples| Contender { samples, verdict: Verdict::Valid }).collect();
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
