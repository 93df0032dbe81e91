//! The figures of one target by repetition and round of slices.
//!
//! A round is one slice of every target. A disturbance of the host in a round affects all of them,
//! so figures of the same round are compared with each other ([`crate::rounds::paired`]).
//!
//! If at least half of the slices were calm, pairs use the slices that the figures use. Otherwise
//! they use all slices: disturbances cancel out in pairs, and many slices say more than a few calm
//! ones (docs/decisions/paired-ratios.md).
//!
//! | module | what it does |
//! |---|---|
//! | [`paired`] | targets against each other within rounds |
//! | [`moderated`] | variances that borrow from each other |
//! | [`calm`] | which slices the host left alone, and on which of them figures rest |
//! | [`order`] | the interleaved order of repetitions and rounds |
pub mod calm;
pub(crate) mod moderated;
pub mod order;
pub mod paired;

use pippin_model::figure::{Figure, Point, Span};
use pippin_model::trial::TrialRecord;
use pippin_model::trial::slice::{Slice, SliceQuantiles};
use std::collections::BTreeMap;

use crate::series::quantile::variance;
use crate::series::trend::lag_one_autocorrelation;

/// From this share of calm slices on, pairs use only the used slices.
const ENOUGH_CALM: f64 = 0.5;

/// The slices that pairs use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resting {
    /// Those that the figures of the trials use.
    OnUsed,
    /// All of them.
    OnAll,
}

impl Resting {
    /// The choice for these trials. It depends only on the host.
    pub(crate) fn from_trials<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> Self {
        let (calm, all) = trials
            .into_iter()
            .flat_map(|record| &record.slices)
            .fold((0_u32, 0_u32), |(calm, all), slice| (calm + u32::from(slice.calm), all + 1));
        if f64::from(calm) < ENOUGH_CALM * f64::from(all) { Self::OnAll } else { Self::OnUsed }
    }

    fn has(self, slice: &Slice) -> bool {
        self == Self::OnAll || slice.used
    }
}

/// What a slice adds; `None` if it does not have the figure.
fn part(figure: Figure, slice: &Slice) -> Option<Part> {
    let figures = &slice.figures;
    let rate = |sum: f64, over: u64| Part { sum, over: over as f64 };
    match figure {
        Figure::Goodput => {
            let sum = figures.goodput_per_s * slice.measured_ns as f64;
            Some(rate(sum, slice.measured_ns))
        }
        Figure::Throughput => Some(rate(figures.answered as f64 * 1e9, slice.measured_ns)),
        Figure::Cpu => Some(rate(figures.target_cpu_ns? as f64, figures.right)),
        Figure::GeneratorCpu => Some(rate(figures.generator_cpu_ns? as f64, figures.right)),
        Figure::Span(Span::ResponseTime, point) => quantile(&figures.response, point),
        Figure::Span(Span::ServiceTime, point) => quantile(&figures.service, point),
        _ => None,
    }
}

/// The logarithm of a point of a time span, for those that slices have.
fn quantile(of: &SliceQuantiles, point: Point) -> Option<Part> {
    let ns = match point {
        Point::Quantile(0.5) => of.p50_ns,
        Point::Quantile(0.9) => of.p90_ns,
        Point::Quantile(0.99) => of.p99_ns,
        Point::Max => of.max_ns,
        _ => None,
    };
    ns.filter(|ns| *ns > 0).map(|ns| Part { sum: (ns as f64).ln(), over: 1.0 })
}

/// Whether the slices add up to a rate. For quantiles, the mean of their logarithms is taken
/// instead.
const fn is_rate(figure: Figure) -> bool {
    matches!(figure, Figure::Goodput | Figure::Throughput | Figure::Cpu | Figure::GeneratorCpu)
}

/// What one slice adds to a figure. The figure is the sum of all `sum` divided by the sum of all
/// `over`; for quantiles, that is the mean of logarithms.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    sum: f64,
    over: f64,
}

impl Part {
    fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, over: self.over + other.over }
    }
}

/// Slices of one target.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    figure: Figure,
    /// By repetition, then by round.
    repetitions: BTreeMap<u32, BTreeMap<u32, Part>>,
}

/// A figure over some rounds of one repetition.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    /// The logarithm of the figure.
    pub(crate) log: f64,
    /// The relative deviation of each round, in the order of the rounds.
    pub(crate) residuals: Vec<f64>,
}

impl Observed {
    /// The slices of these trials of one target that pairs use. A disturbed round has more than one
    /// slice: they count together.
    pub(crate) fn from_trials(trials: &[&TrialRecord], figure: Figure, resting: Resting) -> Self {
        let mut repetitions: BTreeMap<u32, BTreeMap<u32, Part>> = BTreeMap::new();
        for record in trials {
            let rounds = repetitions.entry(record.spec.repetition).or_default();
            for slice in record.slices.iter().filter(|slice| resting.has(slice)) {
                if let Some(part) = part(figure, slice) {
                    let of_round = rounds.entry(slice.round).or_default();
                    *of_round = of_round.and(part);
                }
            }
        }
        repetitions.retain(|_, rounds| !rounds.is_empty());
        Self { figure, repetitions }
    }

    /// The level of each repetition over all its rounds.
    pub(crate) fn levels(&self) -> Vec<Level> {
        self.repetitions.values().filter_map(|rounds| self.level(rounds.values())).collect()
    }

    /// The levels of each repetition over the rounds that both have: this target's and the other's.
    pub(crate) fn levels_with(&self, other: &Self) -> Vec<(Level, Level)> {
        self.levels_by_repetition(other).into_iter().map(|(_, own, other)| (own, other)).collect()
    }

    /// As [`Self::levels_with`], with the number of the repetition.
    pub(crate) fn levels_by_repetition(&self, other: &Self) -> Vec<(u32, Level, Level)> {
        let shared = |repetition: &u32, rounds: &BTreeMap<u32, Part>| {
            let others = other.repetitions.get(repetition)?;
            let (own, their): (Vec<&Part>, Vec<&Part>) =
                rounds.iter().filter_map(|(round, part)| Some((part, others.get(round)?))).unzip();
            Some((*repetition, self.level(own.into_iter())?, other.level(their.into_iter())?))
        };
        self.repetitions
            .iter()
            .filter_map(|(repetition, rounds)| shared(repetition, rounds))
            .collect()
    }

    /// `None` without a round, or for a rate of 0, which has no logarithm.
    fn level<'a>(&self, parts: impl Iterator<Item = &'a Part> + Clone) -> Option<Level> {
        let Part { sum, over } = parts.clone().fold(Part::default(), |all, part| all.and(*part));
        let count = parts.clone().count() as f64;
        if over <= 0.0 {
            return None;
        }
        let figure = sum / over;
        if !is_rate(self.figure) {
            return Some(Level {
                log: figure,
                residuals: parts.map(|part| part.sum / part.over - figure).collect(),
            });
        }
        // The residuals of a ratio estimator (Cochran, "Sampling techniques", 1977, section 6.4).
        // They also exist for a slice without answers, which has no logarithm.
        let residuals = parts.map(|part| (part.sum - figure * part.over) * count / sum).collect();
        (figure > 0.0 && figure.is_finite()).then(|| Level { log: figure.ln(), residuals })
    }
}

/// The variance of the mean of consecutive residuals, with its degrees of freedom; `None` below
/// three. Neighbours that are alike say less: they are worth `n (1 - r) / (1 + r)` independent ones,
/// if `r` is their correlation (Bartlett 1935).
///
/// The degrees are one less than that, but at least a third of `n - 1`: by chance, few residuals
/// can seem to be worth only two, which makes Student's t six times as wide. The test below
/// simulates how often the interval of 9 residuals covers the mean.
pub(crate) fn variance_of_mean(residuals: &[f64]) -> Option<(f64, f64)> {
    const FEWEST: usize = 3;
    if residuals.len() < FEWEST {
        return None;
    }
    let n = residuals.len() as f64;
    let found = lag_one_autocorrelation(residuals);
    // The estimate is too low by about (1 + 4 r) / n (Kendall 1954).
    let r = (found + (1.0 + 4.0 * found) / n).clamp(0.0, 0.9);
    let worth = (n * (1.0 - r) / (1.0 + r)).max(2.0);
    let degrees = (worth - 1.0).max((n - 1.0) / 3.0);
    Some((variance(residuals)? / worth, degrees))
}

/// Whether any slice is used.
pub(crate) fn has_slices(record: &TrialRecord) -> bool {
    record.slices.iter().any(|slice| slice.used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::student_t::t_975;
    use crate::simulated::test_noise::Noise;

    /// The share of 40,000 intervals of 9 residuals that cover their mean, and the width that 95 % of
    /// them do not exceed, in standard deviations. `r` is the correlation of neighbours (first-order
    /// autoregression).
    fn simulated(r: f64) -> (f64, f64) {
        const RUNS: usize = 40_000;
        let mut noise = Noise::new(7);
        let mut covered = 0;
        let mut halves = Vec::new();
        for _ in 0..RUNS {
            let mut value = noise.normal();
            let residuals: Vec<f64> = (0..9)
                .map(|_| {
                    let now = value;
                    value = r * now + (1.0 - r * r).sqrt() * noise.normal();
                    now
                })
                .collect();
            let (variance, degrees) = variance_of_mean(&residuals).unwrap();
            let half = t_975(degrees) * variance.sqrt();
            covered += usize::from((residuals.iter().sum::<f64>() / 9.0).abs() <= half);
            halves.push(half);
        }
        halves.sort_by(f64::total_cmp);
        (covered as f64 / RUNS as f64, halves[RUNS * 95 / 100])
    }

    /// docs/methodology.md quotes these shares.
    #[test]
    fn how_often_nine_rounds_cover_the_truth() {
        for (r, wanted) in [(0.0, 0.97), (0.2, 0.94), (0.4, 0.91), (0.6, 0.87)] {
            let (share, widest) = simulated(r);
            assert!((share - wanted).abs() < 0.006, "{r}: {share}");
            assert!(widest < 3.5, "{r}: {widest}");
        }
    }

    #[test]
    fn neighbours_that_are_alike_say_less_and_never_nothing() {
        let independent = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 0.0];
        let (variance, degrees) = variance_of_mean(&independent).unwrap();
        assert!((variance - 1.0 / 9.0).abs() < 1e-12, "{variance}");
        assert_eq!(degrees, 8.0);
        let trend = [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0];
        let (variance, degrees) = variance_of_mean(&trend).unwrap();
        assert!((variance - 7.5 / 2.0).abs() < 1e-12, "{variance}");
        assert!((degrees - 8.0 / 3.0).abs() < 1e-12, "{degrees}");
        assert_eq!(variance_of_mean(&[1.0, 2.0]), None);
    }
}
