//! Moderated variances: few repetitions say little about the scatter between starts, so each pair
//! of targets borrows from all pairs.
//!
//! Source: Smyth, "Linear models and empirical Bayes methods for assessing differential expression
//! in microarray experiments" (2004), sections 6.1 and 6.2: the scatter of the logarithms of the
//! variances shows how many degrees of freedom the common variance is worth. There are two changes.
//! These degrees are limited to those that the repetitions of the other targets have, because pairs
//! share targets. And no pair gets a variance below its own, because the starts of one target may
//! scatter more than those of all others (simulated in `tests/paired_coverage.rs`).
use crate::interval::special::{digamma, trigamma};
use crate::series::quantile::{mean, variance};

/// The variance that all pairs have in common, in any unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prior {
    variance: f64,
    degrees: f64,
}

/// Smaller variances count as this.
const LEAST_VARIANCE: f64 = 1e-10;

impl Prior {
    /// The prior from variances with their degrees of freedom. It is worth at most `most` degrees.
    /// `None` if there is nothing to borrow.
    pub(crate) fn from_variances(variances: &[(f64, f64)], most: f64) -> Option<Self> {
        if most <= 0.0 {
            return None;
        }
        let logs: Vec<f64> = variances
            .iter()
            .map(|(s, d)| s.max(LEAST_VARIANCE).ln() - digamma(d / 2.0) + (d / 2.0).ln())
            .collect();
        let expected = mean(&variances.iter().map(|(_, d)| trigamma(d / 2.0)).collect::<Vec<_>>())?;
        let excess = variance(&logs)? - expected;
        let centre = mean(&logs)?;
        if excess <= 0.0 {
            return Some(Self { variance: centre.exp(), degrees: most });
        }
        let half = inverse_trigamma(excess);
        Some(Self {
            variance: (centre + digamma(half) - half.ln()).exp(),
            degrees: (2.0 * half).min(most),
        })
    }
}

/// The variance of a pair with its degrees of freedom.
pub(crate) fn moderated(own: f64, degrees: f64, prior: Option<Prior>) -> (f64, f64) {
    let own = own.max(LEAST_VARIANCE);
    prior.map_or((own, degrees), |prior| {
        let together = prior.degrees + degrees;
        let variance = (prior.degrees * prior.variance + degrees * own) / together;
        (variance.max(own), together)
    })
}

/// The `x` whose trigamma is `value`, by bisection, because trigamma decreases.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-3_f64, 1e4_f64);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_variances_are_pooled_and_unlike_ones_are_not() {
        let alike =
            Prior::from_variances(&[(1e-4, 2.0), (1.1e-4, 2.0), (0.9e-4, 2.0)], 4.0).unwrap();
        assert_eq!(alike.degrees, 4.0);
        let unlike = Prior::from_variances(&[(1e-8, 2.0), (1e-4, 2.0), (1.0, 2.0)], 4.0).unwrap();
        assert!(unlike.degrees < 1.0, "{unlike:?}");
        assert_eq!(Prior::from_variances(&[(1e-4, 2.0)], 0.0), None);
        assert_eq!(
            Prior::from_variances(&[(1e-4, 2.0)], 4.0),
            None,
            "one pair has nothing to borrow from"
        );
    }

    #[test]
    fn a_pair_borrows_degrees_but_never_gets_surer_than_its_own_scatter() {
        let prior = Some(Prior { variance: 4.0, degrees: 4.0 });
        assert_eq!(moderated(1.0, 2.0, prior), (3.0, 6.0));
        assert_eq!(moderated(16.0, 2.0, prior), (16.0, 6.0));
        assert_eq!(moderated(1.0, 2.0, None), (1.0, 2.0));
    }

    #[test]
    fn the_inverse_undoes_trigamma() {
        for x in [0.1, 1.0, 7.0, 300.0] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-6);
        }
    }
}
