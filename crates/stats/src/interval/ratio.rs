//! The ratio of two figures with its interval, by the pairwise bootstrap.
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::interval::bootstrap::{Basis, RESAMPLES, Sample, Source};
use crate::series::quantile::quantile_in_place;

/// How one median compares with another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The first median over the second.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

impl Ratio {
    /// The second median over the first.
    #[must_use]
    pub fn inverse(self) -> Self {
        let Interval { low, high, .. } = self.interval;
        let interval = Interval { low: high.recip(), high: low.recip(), ..self.interval };
        Self { value: self.value.recip(), interval }
    }

    /// Whether the two differ at the 5 % level: the interval does not cover 1.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        !self.interval.covers(1.0)
    }
}

/// The ratio of the medians of `first` and `second`, whose trials are drawn independently of each
/// other; `None` if the variation of either is unknown (see [`crate::interval::median_interval`]).
pub fn ratio<R: Rng + ?Sized>(first: &[Sample], second: &[Sample], rng: &mut R) -> Option<Ratio> {
    ratio_of(first, second, RESAMPLES, rng)
}

/// As [`ratio`] with another number of resamples.
pub fn ratio_of<R: Rng + ?Sized>(
    first: &[Sample],
    second: &[Sample],
    resamples: usize,
    rng: &mut R,
) -> Option<Ratio> {
    let (first, second) = (Source::new(first)?, Source::new(second)?);
    let widening = first.widening_against(&second);
    let mut drawn: Vec<f64> =
        (0..resamples).map(|_| first.draw(widening, rng) - second.draw(widening, rng)).collect();
    let (low, high) =
        (quantile_in_place(&mut drawn, 0.025)?, quantile_in_place(&mut drawn, 0.975)?);
    let value = first.centre / second.centre;
    let basis = if first.basis == Basis::Trials && second.basis == Basis::Trials {
        Basis::Trials
    } else {
        Basis::Windows
    };
    Some(Ratio {
        value,
        interval: Interval {
            low: value * low.min(0.0).exp(),
            high: value * high.max(0.0).exp(),
            basis,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;

    fn trials(noise: &mut Noise, n: usize, mean: f64, scatter: f64) -> Vec<Sample> {
        (0..n).map(|_| Sample::alone(mean * (1.0 + scatter * noise.normal()))).collect()
    }

    #[test]
    fn one_percent_is_seen_where_the_scatter_is_small_and_nothing_where_there_is_nothing() {
        let mut noise = Noise::new(5);
        let mut found = |difference: f64| {
            (0..200)
                .filter(|_| {
                    let (a, b) = (
                        trials(&mut noise, 5, 1_000.0 * (1.0 + difference), 0.002),
                        trials(&mut noise, 5, 1_000.0, 0.002),
                    );
                    ratio_of(&a, &b, 300, &mut noise.0).unwrap().is_significant()
                })
                .count()
        };
        let (one_percent, nothing) = (found(0.01), found(0.0));
        println!(
            "of 200 pairs of 5 trials that scatter by 0.2 %: 1 % was seen in {one_percent}, 0 % in {nothing}"
        );
        assert!(one_percent >= 190, "a difference of 1 % was seen in {one_percent} of 200");
        assert!(nothing <= 20, "a difference of 0 % was seen in {nothing} of 200");
    }

    #[test]
    fn the_value_is_the_ratio_of_the_medians() {
        let mut noise = Noise::new(6);
        let a = [Sample::alone(90.0), Sample::alone(100.0), Sample::alone(130.0)];
        let b = [Sample::alone(50.0), Sample::alone(49.0), Sample::alone(52.0)];
        let found = ratio(&a, &b, &mut noise.0).unwrap();
        assert_eq!(found.value, 2.0);
        assert!(found.interval.covers(2.0));
        assert!(ratio(&a, &b[..1], &mut noise.0).is_none());
    }
}
