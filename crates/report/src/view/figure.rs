//! A median over repetitions with its interval.
use pippin_stats::bootstrap::{Basis, Sample};
use pippin_stats::interval::median_interval;
use pippin_stats::quantile::median;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A figure over all repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The median over repetitions.
    pub median: f64,
    /// The lower end of the 95 % interval of the median; `None` where it cannot be known.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// What the interval's scatter was taken from: several trials, or the windows of one.
    pub basis: Option<Basis>,
    /// The highest of the repetitions.
    pub best: f64,
    /// The lowest.
    pub worst: f64,
    /// Every repetition's figure, in the order in which they were made.
    pub repetitions: Vec<f64>,
}

impl Figure {
    /// The figure of these trials; `None` if there is none.
    pub fn of<R: Rng + ?Sized>(samples: &[Sample], rng: &mut R) -> Option<Self> {
        let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
        let interval = median_interval(samples, rng);
        Some(Self {
            median: median(&values)?,
            low: interval.map(|i| i.low),
            high: interval.map(|i| i.high),
            basis: interval.map(|i| i.basis),
            best: values.iter().copied().fold(f64::MIN, f64::max),
            worst: values.iter().copied().fold(f64::MAX, f64::min),
            repetitions: values,
        })
    }

    /// Half the interval's width as a fraction of the median: 0.02 is "±2 %".
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        let (low, high) = (self.low?, self.high?);
        (self.median != 0.0).then(|| (high - low) / 2.0 / self.median.abs())
    }
}
