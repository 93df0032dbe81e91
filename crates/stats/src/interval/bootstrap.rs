//! The hierarchical bootstrap (trials, then windows) behind every interval and every ratio.
//!
//! Resampling three trials without a correction gives intervals that are far too narrow. Resampling
//! both trials and windows counts the windows' noise twice, because the trials' means already
//! include it. So, on logarithms (the figures are positive and compared as ratios):
//!
//! - from three trials on, deviations of the trials from their median are shrunk by
//!   `sqrt(1 - within / between)`. After the windows' noise is added again, the variance is that of
//!   the trials, or that of the windows' means if the trials are closer together by chance (Davison
//!   and Hinkley, "Bootstrap methods and their application", 1997, section 3.8);
//! - windows are drawn in circular blocks, because neighbours resemble each other (Politis and
//!   White 2004, with the rule for the block length worked out for a first-order autoregression);
//! - deviations are widened for few trials, as Student's t widens the normal distribution
//!   (Hesterberg, "What teachers should know about the bootstrap", 2015, section 5.3).
use rand::Rng;

use crate::interval::draw::below;
use crate::interval::student_t::{NORMAL_975, t_975};
use crate::series::quantile::{mean, median, quantile_in_place, variance};
use crate::series::trend::lag_one_autocorrelation;

/// Resamples for a figure in a table. The ends of a 95 % interval then vary by about a tenth of its
/// width.
pub const RESAMPLES: usize = 1_000;

/// Fewest windows whose variation is used.
pub const FEWEST_WINDOWS: usize = 3;

/// One trial's figure with the windows behind it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// The trial's figure.
    pub value: f64,
    /// This figure by window, oldest first; empty if it is not known by window.
    pub windows: Vec<f64>,
}

impl Sample {
    /// A figure that is not known by window.
    #[must_use]
    pub const fn alone(value: f64) -> Self {
        Self { value, windows: Vec::new() }
    }
}

/// The source of the variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Several trials, and the windows within them.
    Trials,
    /// The windows of one trial. Differences from start to start are not included.
    Windows,
}

/// Trials, prepared for drawing.
pub(crate) struct Source {
    /// The median of the trials' figures.
    pub(crate) centre: f64,
    pub(crate) basis: Basis,
    trials: Vec<Trial>,
    /// Independent observations: trials, or blocks of the only trial.
    units: f64,
    /// Estimated variance of the logarithm of one trial's figure.
    variance: f64,
}

struct Trial {
    /// Shrunk deviation of the logarithm from the median's.
    deviation: f64,
    blocks: Option<Blocks>,
}

struct Blocks {
    /// The mean of the block that begins at each window, relative to the mean of all, minus 1.
    /// Scaled up for the variance that blocks miss.
    deviations: Vec<f64>,
    length: usize,
}

impl Source {
    /// `None` without a trial, if a figure is not above 0, or with one trial of fewer than 3
    /// windows.
    pub(crate) fn new(samples: &[Sample]) -> Option<Self> {
        if samples.is_empty()
            || samples.iter().any(|sample| !sample.value.is_finite() || sample.value <= 0.0)
        {
            return None;
        }
        let logs: Vec<f64> = samples.iter().map(|sample| sample.value.ln()).collect();
        let centre = median(&samples.iter().map(|sample| sample.value).collect::<Vec<_>>())?;
        let log_centre = median(&logs)?;
        let blocks: Vec<Option<Blocks>> =
            samples.iter().map(|sample| Blocks::new(&sample.windows)).collect();
        let within =
            mean(&blocks.iter().flatten().map(Blocks::variance_of_mean).collect::<Vec<_>>())
                .unwrap_or(0.0);
        let (units, between, basis) = if let [only] = blocks.as_slice() {
            (only.as_ref()?.count(), within, Basis::Windows)
        } else {
            (samples.len() as f64, variance(&logs)?, Basis::Trials)
        };
        // The variance of two trials is hardly known. If chance shrank it, it would hide the
        // difference between them.
        let shrinks = samples.len() > 2 && between > 0.0;
        let shrink = if shrinks { (1.0 - within / between).max(0.0).sqrt() } else { 1.0 };
        let trials = logs
            .iter()
            .zip(blocks)
            .map(|(log, blocks)| Trial { deviation: shrink * (log - log_centre), blocks })
            .collect();
        Some(Self { centre, basis, trials, units, variance: between.max(within) })
    }

    /// One resample: the logarithm of its median over that of the sample, widened.
    pub(crate) fn draw<R: Rng + ?Sized>(&self, widening: Widening, rng: &mut R) -> f64 {
        let n = self.trials.len();
        let mut drawn: Vec<f64> = (0..n)
            .map(|_| {
                let trial = &self.trials[below(rng, n)];
                widening.trials * trial.deviation
                    + widening.windows
                        * trial.blocks.as_ref().map_or(0.0, |blocks| blocks.draw(rng))
            })
            .collect();
        quantile_in_place(&mut drawn, 0.5).unwrap_or(0.0)
    }

    /// The widening with which the interval of this sample's median holds the true median in 95 %
    /// of cases.
    pub(crate) fn widening(&self) -> Widening {
        match self.basis {
            Basis::Trials => Widening { trials: median_factor(self.trials.len()), windows: 1.0 },
            Basis::Windows => {
                Widening { trials: 1.0, windows: t_factor(self.units - 1.0, self.units) }
            }
        }
    }

    /// The widening for the ratio of two medians: Student's t with Welch's degrees of freedom.
    pub(crate) fn widening_against(&self, other: &Self) -> Widening {
        let (a, b) = (self.variance / self.units, other.variance / other.units);
        let spread = a * a / (self.units - 1.0).max(0.5) + b * b / (other.units - 1.0).max(0.5);
        let degrees = if spread > 0.0 { (a + b) * (a + b) / spread } else { 1.0 };
        let factor = t_factor(degrees, self.units.min(other.units));
        // A single trial is widened at the level of its windows.
        let windows = if self.basis == Basis::Windows || other.basis == Basis::Windows {
            factor
        } else {
            1.0
        };
        Widening { trials: factor, windows }
    }
}

/// How much the deviations of each level are widened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widening {
    trials: f64,
    windows: f64,
}

fn t_factor(degrees: f64, units: f64) -> f64 {
    t_975(degrees) / NORMAL_975 * (units / (units - 1.0).max(0.5)).sqrt()
}

/// The median of few draws takes few values, so no formula fits. These factors come from
/// simulation: with them, the widened percentile interval of `n` normal trials holds the true
/// median in 95 % of 6,000 cases (`factors` in `tests/integration/scipy_reference.py`). For 4 to 6 trials the
/// factor alone would be 1.1 to 1.7; the values are higher because shrinking reduces the coverage
/// there.
fn median_factor(n: usize) -> f64 {
    match n {
        0..=2 => 12.5,
        3 => 4.4,
        4 => 1.8,
        5 => 1.35,
        6 => 1.25,
        7 => 1.55,
        8 | 9 => 1.25,
        n => 1.05 * (n as f64 / (n - 1) as f64).sqrt(),
    }
}

impl Blocks {
    fn new(windows: &[f64]) -> Option<Self> {
        let centre = mean(windows).filter(|centre| {
            windows.len() >= FEWEST_WINDOWS && centre.is_finite() && *centre > 0.0
        })?;
        let r = correlation(windows);
        let length = block_length(windows.len(), r);
        // Blocks cut the correlation at their ends. For a first-order autoregression, they miss
        // this part of the mean's variance (Kuensch 1989, theorem 3.1).
        let missed = (2.0 * r / ((1.0 - r * r) * length as f64)).min(0.5);
        let scale = 1.0 / (1.0 - missed).sqrt();
        let circle = windows.iter().chain(windows);
        let block =
            |start: usize| circle.clone().skip(start).take(length).sum::<f64>() / length as f64;
        Some(Self {
            deviations: (0..windows.len())
                .map(|start| scale * (block(start) / centre - 1.0))
                .collect(),
            length,
        })
    }

    fn count(&self) -> f64 {
        self.deviations.len() as f64 / self.length as f64
    }

    /// The variance of the relative mean, from the variation of all circular blocks.
    fn variance_of_mean(&self) -> f64 {
        let scatter =
            self.deviations.iter().map(|d| d * d).sum::<f64>() / self.deviations.len() as f64;
        scatter / (self.count() - 1.0).max(0.5)
    }

    /// The relative mean of as many drawn blocks as the trial has, minus 1.
    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let n = self.deviations.len();
        let count = n.div_ceil(self.length);
        (0..count).map(|_| self.deviations[below(rng, n)]).sum::<f64>() / count as f64
    }
}

/// The length that minimises the error of the variance for a first-order autoregression with the
/// windows' correlation, `(6 r^2 / (1 - r^2)^2 * n)^(1/3)` (Politis and White 2004, circular
/// blocks); from 12 windows on, it is at least the cube root of their number, because the
/// correlation of so few is poorly known, and at most a third of them, so that three blocks remain.
fn block_length(windows: usize, r: f64) -> usize {
    let n = windows as f64;
    let best = (6.0 * r * r / (1.0 - r * r).powi(2) * n).cbrt();
    let least = if windows < 12 { 1.0 } else { n.cbrt() };
    (best.max(least).round() as usize).clamp(1, (windows / 3).max(1))
}

/// The correlation of neighbouring windows, if it is positive. The estimate is too low by about (1
/// + 4 r) / n (Kendall 1954).
fn correlation(windows: &[f64]) -> f64 {
    let r = lag_one_autocorrelation(windows);
    (r + (1.0 + 4.0 * r) / windows.len() as f64).clamp(0.0, 0.9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_the_correlation() {
        let alternating: Vec<f64> = (0..30).map(|i| f64::from(i % 2) + 1.0).collect();
        let slow: Vec<f64> = (0..30).map(|i| (f64::from(i) / 4.0).sin() + 2.0).collect();
        let length = |windows: &[f64]| block_length(windows.len(), correlation(windows));
        assert_eq!(
            (
                length(&alternating),
                length(&alternating[..9]),
                length(&slow),
                length(&[1.0, 2.0, 3.0])
            ),
            (3, 1, 10, 1)
        );
    }

    #[test]
    fn what_has_no_scatter_to_go_by_is_none() {
        let one = |windows: &[f64]| {
            Source::new(&[Sample { value: 10.0, windows: windows.to_vec() }]).is_some()
        };
        assert!(!one(&[]) && !one(&[10.0, 11.0]) && !one(&[0.0; 9]) && one(&[10.0, 11.0, 9.0]));
        assert!(Source::new(&[]).is_none());
        assert!(Source::new(&[Sample::alone(1.0), Sample::alone(0.0)]).is_none());
        assert!(Source::new(&[Sample::alone(1.0), Sample::alone(2.0)]).is_some());
    }
}
