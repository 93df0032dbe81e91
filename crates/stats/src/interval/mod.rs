//! The 95 % interval of a median over repetitions.
//!
//! | module | what it does |
//! |---|---|
//! | [`anytime`] | on which side of a limit the starts of a target lie, looked at after each |
//! | [`bootstrap`] | intervals by resampling |
//! | [`order_statistics`] | two values that bound a median |
//! | [`ratio`] | the ratio of two medians |
//! | [`sequence`] | the interval of a mean that may be looked at after each start |
//! | [`tail`] | the interval of the 99th percentile of one load |
//! | [`unsure`] | whether a figure is known well enough to be read as it stands |
//! | [`student_t`] | Student's t distribution |
//! | [`special`] | the functions behind p-values |
//! | [`draw`] | random orders and choices |
pub mod anytime;
pub mod bootstrap;
pub(crate) mod draw;
pub mod order_statistics;
pub mod ratio;
pub mod sequence;
pub(crate) mod special;
pub(crate) mod student_t;
pub mod tail;
pub mod unsure;

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::interval::bootstrap::{Basis, RESAMPLES, Sample, Source};
use crate::series::quantile::quantile_in_place;

/// An interval that holds the true figure in about 95 % of cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end, in the unit of the figure.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The source of the variation.
    pub basis: Basis,
}

impl Interval {
    /// Its width as a fraction of `centre`; infinite if that is 0.
    #[must_use]
    pub fn relative_width(&self, centre: f64) -> f64 {
        if centre == 0.0 { f64::INFINITY } else { (self.high - self.low) / centre.abs() }
    }

    /// Whether a value lies in it, ends included.
    #[must_use]
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The 95 % interval of the median over trials by the hierarchical bootstrap of
/// [`crate::interval::bootstrap`].
///
/// With one trial, it is the interval of that trial's mean over its windows, without differences
/// from start to start ([`Basis::Windows`]). `None` if it is unknown: no trial, one trial with
/// fewer than 3 windows, or a figure that is not above 0.
pub fn median_interval<R: Rng + ?Sized>(samples: &[Sample], rng: &mut R) -> Option<Interval> {
    median_interval_of(samples, RESAMPLES, rng)
}

/// As [`median_interval`] with another number of resamples.
pub fn median_interval_of<R: Rng + ?Sized>(
    samples: &[Sample],
    resamples: usize,
    rng: &mut R,
) -> Option<Interval> {
    let source = Source::new(samples)?;
    let widening = source.widening();
    let mut drawn: Vec<f64> = (0..resamples).map(|_| source.draw(widening, rng)).collect();
    let (low, high) =
        (quantile_in_place(&mut drawn, 0.025)?, quantile_in_place(&mut drawn, 0.975)?);
    // The figure itself always lies in the interval.
    Some(Interval {
        low: source.centre * low.min(0.0).exp(),
        high: source.centre * high.max(0.0).exp(),
        basis: source.basis,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use proptest::prelude::*;

    #[test]
    fn equal_trials_have_a_narrow_interval_and_scattered_ones_a_wide_one() {
        let mut noise = Noise::new(1);
        let close = [Sample::alone(100.0), Sample::alone(100.1), Sample::alone(99.9)];
        let wide = [Sample::alone(100.0), Sample::alone(120.0), Sample::alone(80.0)];
        let close = median_interval(&close, &mut noise.0).unwrap();
        let wide = median_interval(&wide, &mut noise.0).unwrap();
        assert!(
            close.relative_width(100.0) < 0.02 && wide.relative_width(100.0) > 0.4,
            "{close:?} {wide:?}"
        );
        assert_eq!(close.basis, Basis::Trials);
    }

    #[test]
    fn lucky_trials_are_not_surer_than_their_windows() {
        // Three equal means of windows that scatter by 10 % are not known to a millionth.
        let mut noise = Noise::new(2);
        let windows: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 90.0 } else { 110.0 }).collect();
        let trials = vec![Sample { value: 100.0, windows }; 3];
        let found = median_interval(&trials, &mut noise.0).unwrap();
        assert!(found.relative_width(100.0) > 0.02, "{found:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn the_median_lies_within_and_the_unit_does_not_matter(values in prop::collection::vec(1.0..1e6f64, 2..7), seed in 0u64..1_000) {
            let interval = |scale: f64| {
                let trials: Vec<Sample> = values.iter().map(|v| Sample::alone(v * scale)).collect();
                median_interval_of(&trials, 200, &mut Noise::new(seed).0).unwrap()
            };
            let (plain, scaled) = (interval(1.0), interval(1_000.0));
            prop_assert!(plain.covers(crate::series::quantile::median(&values).unwrap()));
            prop_assert!((scaled.low / plain.low / 1_000.0 - 1.0).abs() < 1e-9);
        }
    }
}
