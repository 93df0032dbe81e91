//! Targets compared with each other, in pairs within rounds of slices.
//!
//! A disturbance of the host in a round affects every target in it. So the ratio of two targets is
//! taken over the rounds that both have, in each repetition, on logarithms. Within a repetition it
//! is the ratio of the sums over the slices. Repetitions are fresh starts, and starts differ. So
//! the scatter that counts is that of the ratio between repetitions; rounds of one repetition do
//! not show it. Their mean has Student's t with one degree of freedom less than there are
//! repetitions, plus those borrowed from all pairs together ([`crate::rounds::moderated`]): by how much
//! starts scatter more than their rounds alone explain. Some targets scatter more from slice to
//! slice than others, so the variances themselves cannot be borrowed.
//!
//! With one repetition, only the scatter of its rounds is known ([`Basis::Windows`]). The interval
//! then does not include differences from start to start.
//!
//! Targets that never ran in the same round, or in too few to show how their ratio scatters, are
//! compared by their levels with Welch's degrees of freedom (Welch 1947). Then nothing that the host
//! did cancels out, so [`Pairs::is_within_rounds`] is false, and whoever shows the ratio must not say
//! otherwise.
use pippin_model::figure::Figure;
use pippin_model::trial::TrialRecord;

use crate::interval::Interval;
use crate::interval::bootstrap::Basis;
use crate::interval::ratio::Ratio;
use crate::interval::student_t::{t_975, two_sided_p};
use crate::rounds::moderated::{Prior, moderated};
use crate::rounds::{Level, Observed, Resting, variance_of_mean};
use crate::series::quantile::{mean, variance};

/// Every pair of some targets by one figure.
#[derive(Debug, Clone)]
pub struct Pairs {
    targets: usize,
    /// First over second, for every ordered pair, in order.
    estimates: Vec<Option<Estimate>>,
    known: Known,
}

/// What all pairs together show about the scatter between starts.
#[derive(Debug, Clone, Copy)]
struct Known {
    prior: Option<Prior>,
    /// Whether it is known for every pair how much its rounds explain. The prior is then a multiple
    /// of that, otherwise a variance.
    knows_rounds: bool,
}

impl Known {
    const NOTHING: Self = Self { prior: None, knows_rounds: false };

    /// The variance that the prior counts as 1.
    fn unit(&self, of_rounds: Option<f64>) -> f64 {
        of_rounds.filter(|_| self.knows_rounds).map_or(1.0, |variance| variance.max(LEAST_VARIANCE))
    }
}

/// The least number of rounds of a repetition that show their scatter.
const FEWEST_ROUNDS: usize = 3;
/// Relative figures are never more certain than 0.001 %.
const LEAST_VARIANCE: f64 = 1e-10;

/// A logarithm and its scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    log: f64,
    scatter: Scatter,
    /// Whether only rounds that both targets have went into it.
    is_within_rounds: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scatter {
    /// The variance of one of several repetitions, which are fresh starts, and the variance if only
    /// its rounds scattered; `None` if that is unknown.
    Starts { variance: f64, repetitions: f64, of_rounds: Option<f64> },
    /// The variance of the mean, for which nothing can be borrowed.
    Mean { variance: f64, degrees: f64, basis: Basis },
}

impl Estimate {
    /// The estimate from one logarithm and the residuals of its rounds for each repetition; `None`
    /// if the scatter is unknown.
    fn from_repetitions(repetitions: &[Level]) -> Option<Self> {
        let logs: Vec<f64> = repetitions.iter().map(|level| level.log).collect();
        let log = mean(&logs)?;
        let scatter = if let [only] = repetitions {
            let (variance, degrees) = variance_of_mean(&only.residuals)?;
            Scatter::Mean { variance, degrees, basis: Basis::Windows }
        } else {
            Scatter::Starts {
                variance: variance(&logs)?,
                repetitions: logs.len() as f64,
                of_rounds: of_rounds(repetitions),
            }
        };
        Some(Self { log, scatter, is_within_rounds: false })
    }

    /// First over second within the rounds that both have.
    fn paired(first: &Observed, second: &Observed) -> Option<Self> {
        let difference = |(a, b): (Level, Level)| Level {
            log: a.log - b.log,
            residuals: a.residuals.iter().zip(&b.residuals).map(|(a, b)| a - b).collect(),
        };
        let differences: Vec<Level> =
            first.levels_with(second).into_iter().map(difference).collect();
        Some(Self { is_within_rounds: true, ..Self::from_repetitions(&differences)? })
    }

    /// First over second, for two targets whose common rounds, if there are any, do not show how
    /// their ratio scatters.
    fn apart(first: &Observed, second: &Observed) -> Option<Self> {
        let (a, b) =
            (Self::from_repetitions(&first.levels())?, Self::from_repetitions(&second.levels())?);
        let ((va, da, basis_a), (vb, db, basis_b)) =
            (a.of_mean(&Known::NOTHING), b.of_mean(&Known::NOTHING));
        let basis = if basis_a == basis_b { basis_a } else { Basis::Windows };
        let spread = va * va / da + vb * vb / db;
        let degrees = if spread > 0.0 { (va + vb).powi(2) / spread } else { 1.0 };
        Some(Self {
            log: a.log - b.log,
            scatter: Scatter::Mean { variance: va + vb, degrees, basis },
            is_within_rounds: false,
        })
    }

    /// The variance of the mean, with its degrees of freedom.
    fn of_mean(&self, known: &Known) -> (f64, f64, Basis) {
        match self.scatter {
            Scatter::Starts { variance, repetitions, of_rounds } => {
                let unit = known.unit(of_rounds);
                let (times, degrees) = moderated(variance / unit, repetitions - 1.0, known.prior);
                ((unit * times).max(LEAST_VARIANCE) / repetitions, degrees, Basis::Trials)
            }
            Scatter::Mean { variance, degrees, basis } => (variance, degrees, basis),
        }
    }

    /// How far the 95 % interval reaches to either side, as a logarithm.
    fn half_width(&self, known: &Known) -> (f64, Basis) {
        let (variance, degrees, basis) = self.of_mean(known);
        (t_975(degrees) * variance.sqrt(), basis)
    }
}

impl Pairs {
    /// Compares all targets, each given by its trials at one step.
    #[must_use]
    pub fn from_targets(targets: &[&[&TrialRecord]], figure: Figure) -> Self {
        let resting =
            Resting::from_trials(targets.iter().flat_map(|trials| trials.iter().copied()));
        let observed: Vec<Observed> =
            targets.iter().map(|trials| Observed::from_trials(trials, figure, resting)).collect();
        let mut estimates = Vec::new();
        for (place, first) in observed.iter().enumerate() {
            for second in &observed[place + 1..] {
                estimates.push(
                    Estimate::paired(first, second).or_else(|| Estimate::apart(first, second)),
                );
            }
        }
        let known = known_of(&estimates, targets.len());
        Self { targets: targets.len(), estimates, known }
    }

    /// The first target's figure over the second's; `None` if their scatter is unknown.
    #[must_use]
    pub fn ratio(&self, first: usize, second: usize) -> Option<Ratio> {
        let (log, estimate) = self.get(first, second)?;
        let (half, basis) = estimate.half_width(&self.known);
        Some(Ratio {
            value: log.exp(),
            interval: Interval { low: (log - half).exp(), high: (log + half).exp(), basis },
        })
    }

    /// How likely chance alone makes two equal targets differ this much; `None` if their scatter is
    /// unknown.
    #[must_use]
    pub fn p_value(&self, first: usize, second: usize) -> Option<f64> {
        let (log, estimate) = self.get(first, second)?;
        let (variance, degrees, _) = estimate.of_mean(&self.known);
        Some(if variance > 0.0 {
            two_sided_p(log / variance.sqrt(), degrees)
        } else if log == 0.0 {
            1.0
        } else {
            0.0
        })
    }

    /// Whether the first target's figure is this factor of the second's and more, or less, and how
    /// likely chance alone takes it this far to that side; `None` if their scatter is unknown.
    #[must_use]
    pub fn beyond(&self, first: usize, second: usize, factor: f64) -> Option<(bool, f64)> {
        let (log, estimate) = self.get(first, second)?;
        let (variance, degrees, _) = estimate.of_mean(&self.known);
        let by = log - factor.ln();
        let p = match variance > 0.0 {
            true => two_sided_p(by / variance.sqrt(), degrees) / 2.0,
            false => 0.0,
        };
        Some((by > 0.0, p))
    }

    /// Whether the ratio of these two was taken within the rounds that both have; otherwise by their
    /// levels, or it is unknown.
    #[must_use]
    pub fn is_within_rounds(&self, first: usize, second: usize) -> bool {
        self.get(first, second).is_some_and(|(_, estimate)| estimate.is_within_rounds)
    }

    /// The number of compared targets.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.targets
    }

    /// Whether there are no targets.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.targets == 0
    }

    fn get(&self, first: usize, second: usize) -> Option<(f64, &Estimate)> {
        let (low, high) = (first.min(second), first.max(second));
        if low == high || high >= self.targets {
            return None;
        }
        // Each row before this one is one pair shorter than the row before it.
        let row = low * (2 * self.targets - low - 1) / 2;
        let estimate = self.estimates[row + high - low - 1].as_ref()?;
        Some((if first < second { estimate.log } else { -estimate.log }, estimate))
    }
}

/// Two targets of one run by one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The first target's level: the geometric mean over repetitions, over the rounds that the ratio
    /// rests on.
    pub first: f64,
    /// The second target's level: the geometric mean over repetitions, over the rounds that the ratio
    /// rests on.
    pub second: f64,
    /// The second over the first: `second` divided by `first`, with its interval.
    pub ratio: Ratio,
    /// Whether all three rest on the rounds that both have.
    pub is_within_rounds: bool,
}

/// Compares two targets of one run, with levels that give its ratio. `None` if one of them has no
/// slices, or their scatter is unknown.
#[must_use]
pub fn compare(
    first: &[&TrialRecord],
    second: &[&TrialRecord],
    figure: Figure,
) -> Option<Compared> {
    let pairs = Pairs::from_targets(&[first, second], figure);
    let (ratio, is_within_rounds) = (pairs.ratio(1, 0)?, pairs.is_within_rounds(1, 0));
    let resting = Resting::from_trials(first.iter().chain(second).copied());
    let of = |trials| Observed::from_trials(trials, figure, resting);
    let (of_first, of_second) = (of(first), of(second));
    let logs = |levels: Vec<Level>| levels.into_iter().map(|level| level.log).collect();
    let (a, b): (Vec<f64>, Vec<f64>) = if is_within_rounds {
        of_first.levels_with(&of_second).iter().map(|(a, b)| (a.log, b.log)).unzip()
    } else {
        (logs(of_first.levels()), logs(of_second.levels()))
    };
    let (first, second) = (mean(&a)?.exp(), mean(&b)?.exp());
    Some(Compared { first, second, ratio, is_within_rounds })
}

/// The variance that one repetition would have if only its rounds scattered, averaged over
/// repetitions; `None` if one of them has too few. It ignores that neighbouring rounds are alike:
/// the prior of all pairs covers that.
fn of_rounds(repetitions: &[Level]) -> Option<f64> {
    let one = |level: &Level| {
        let rounds = level.residuals.len();
        (rounds >= FEWEST_ROUNDS).then(|| variance(&level.residuals))?.map(|v| v / rounds as f64)
    };
    let all: Option<Vec<f64>> = repetitions.iter().map(one).collect();
    mean(&all?)
}

/// The repetitions of the targets outside of a pair have `(targets - 2) * (repetitions - 1)`
/// degrees of freedom. No more can be borrowed.
fn known_of(estimates: &[Option<Estimate>], targets: usize) -> Known {
    let starts: Vec<(f64, f64, Option<f64>)> = estimates
        .iter()
        .flatten()
        .filter_map(|estimate| match estimate.scatter {
            Scatter::Starts { variance, repetitions, of_rounds } => {
                Some((variance, repetitions - 1.0, of_rounds))
            }
            Scatter::Mean { .. } => None,
        })
        .collect();
    let others = targets.saturating_sub(2);
    if starts.is_empty() || others == 0 {
        return Known::NOTHING;
    }
    let knows_rounds = starts.iter().all(|(_, _, of_rounds)| of_rounds.is_some());
    let known = Known { prior: None, knows_rounds };
    let degrees = starts.iter().map(|(_, degrees, _)| *degrees).fold(f64::INFINITY, f64::min);
    let times: Vec<(f64, f64)> = starts
        .into_iter()
        .map(|(variance, degrees, of_rounds)| (variance / known.unit(of_rounds), degrees))
        .collect();
    Known { prior: Prior::from_variances(&times, others as f64 * degrees), ..known }
}

/// How far the 95 % interval of a target's own figure reaches, as a factor above 1: the figure
/// times it, and divided by it. `None` if the target was not measured in slices, or its scatter is
/// unknown. It includes disturbances of whole repetitions, which cancel out in ratios.
#[must_use]
pub fn factor(trials: &[&TrialRecord], figure: Figure) -> Option<(f64, Basis)> {
    let estimate = Estimate::from_repetitions(
        &Observed::from_trials(trials, figure, Resting::OnUsed).levels(),
    )?;
    let (half, basis) = estimate.half_width(&Known::NOTHING);
    Some((half.exp(), basis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::slices::Rounds;

    fn trials(name: &str, rounds: &Rounds, factor: f64) -> Vec<TrialRecord> {
        rounds.trials(name, 10_000.0 * factor, 20.0 / factor)
    }

    fn pairs(targets: &[Vec<TrialRecord>], figure: Figure) -> Pairs {
        let trials: Vec<Vec<&TrialRecord>> =
            targets.iter().map(|trials| trials.iter().collect()).collect();
        let trials: Vec<&[&TrialRecord]> = trials.iter().map(Vec::as_slice).collect();
        Pairs::from_targets(&trials, figure)
    }

    #[test]
    fn what_the_host_does_to_a_round_cancels_out() {
        // The host runs at anything between half and full speed, but the targets scatter by only 1
        // %.
        let rounds = Rounds { host: 0.3, slice: 0.01, start: 0.0, ..Rounds::default() };
        let found =
            pairs(&[trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 0.9)], Figure::Goodput);
        let ratio = found.ratio(1, 0).unwrap();
        assert!((ratio.value / 0.9 - 1.0).abs() < 0.01 && ratio.is_significant(), "{ratio:?}");
        let back = found.ratio(0, 1).unwrap();
        assert!((back.value * ratio.value - 1.0).abs() < 1e-9);
        assert!((back.interval.low * ratio.interval.high - 1.0).abs() < 1e-9);
        let own = trials("a/a", &rounds, 1.0);
        let (factor, _) = factor(&own.iter().collect::<Vec<_>>(), Figure::Goodput).unwrap();
        assert!(factor > 1.05, "its own figure is not known as well: {factor}");
    }

    #[test]
    fn cpu_a_request_is_the_cpu_time_over_the_answers() {
        let rounds = Rounds::default();
        let found = pairs(&[trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 0.5)], Figure::Cpu);
        let ratio = found.ratio(1, 0).unwrap();
        assert!(ratio.interval.covers(2.0) && ratio.is_significant(), "{ratio:?}");
    }

    #[test]
    fn one_repetition_says_that_it_knows_its_rounds_only() {
        let rounds = Rounds { repetitions: 1, rounds: 10, ..Rounds::default() };
        let both = [trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 0.8)];
        let ratio = pairs(&both, Figure::Goodput).ratio(1, 0).unwrap();
        assert_eq!(ratio.interval.basis, Basis::Windows);
        assert!(ratio.is_significant());
        let rounds = Rounds { rounds: 2, ..rounds };
        let both = [trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 0.8)];
        assert!(pairs(&both, Figure::Goodput).ratio(1, 0).is_none(), "two rounds have no scatter");
    }

    #[test]
    fn a_start_that_scatters_is_not_hidden_by_many_rounds() {
        let rounds = Rounds { start: 0.1, rounds: 100, slice: 0.01, ..Rounds::default() };
        let both = [trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 0.97)];
        let ratio = pairs(&both, Figure::Goodput).ratio(1, 0).unwrap();
        assert!(!ratio.is_significant() && ratio.interval.relative_width(1.0) > 0.1, "{ratio:?}");
    }

    #[test]
    fn slices_that_are_not_used_do_not_count() {
        let rounds = Rounds { start: 0.0, ..Rounds::default() };
        let mut both = [trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 1.0)];
        for record in &mut both[1] {
            for slice in record.slices.iter_mut().step_by(2) {
                (slice.used, slice.figures.goodput_per_s) = (false, 1.0);
            }
        }
        let ratio = pairs(&both, Figure::Goodput).ratio(1, 0).unwrap();
        assert!((ratio.value - 1.0).abs() < 0.03, "{ratio:?}");
    }

    #[test]
    fn where_the_host_was_not_calm_pairs_rest_on_all_slices() {
        let rounds = Rounds { start: 0.0, slice: 0.02, rounds: 40, ..Rounds::default() };
        let mut both = [trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 0.9)];
        let of_used = pairs(&both, Figure::Goodput).ratio(1, 0).unwrap();
        // The host disturbs two of three slices, and halves the speed in them.
        for slice in both.iter_mut().flatten().flat_map(|record| &mut record.slices) {
            if slice.round % 3 != 0 {
                (slice.calm, slice.used) = (false, false);
                slice.figures.goodput_per_s /= 2.0;
            }
        }
        let of_all = pairs(&both, Figure::Goodput);
        let half = |ratio: Ratio| (ratio.interval.high / ratio.interval.low).ln();
        let ratio = of_all.ratio(1, 0).unwrap();
        assert!((ratio.value / of_used.value - 1.0).abs() < 0.01, "{ratio:?} {of_used:?}");
        assert!(ratio.interval.covers(0.9) && half(ratio) < 2.0 * half(of_used), "{ratio:?}");
        // A target's own figure still uses only the used slices.
        let own: Vec<&TrialRecord> = both[0].iter().collect();
        assert!(factor(&own, Figure::Goodput).is_some());
        let slices = |record: &TrialRecord| record.slices.iter().filter(|s| s.used).count();
        assert!(own.iter().all(|record| slices(record) == 14));
    }

    #[test]
    fn slices_that_were_made_again_count_together_with_the_first() {
        let rounds = Rounds { start: 0.0, slice: 0.0, host: 0.0, ..Rounds::default() };
        let mut both = [trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 1.0)];
        for record in &mut both[1] {
            let again: Vec<_> = record.slices.clone();
            for slice in &mut record.slices {
                slice.calm = false;
                slice.figures.goodput_per_s *= 0.8;
            }
            record.slices.extend(again);
        }
        for slice in both[0].iter_mut().flat_map(|record| &mut record.slices) {
            slice.calm = false;
        }
        let ratio = pairs(&both, Figure::Goodput).ratio(1, 0).unwrap();
        assert!((ratio.value - 0.9).abs() < 0.001, "{ratio:?}");
    }

    #[test]
    fn targets_that_never_met_are_compared_by_their_levels() {
        let rounds = Rounds { host: 0.0, ..Rounds::default() };
        let mut both = [trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 0.5)];
        for slice in both[1].iter_mut().flat_map(|record| &mut record.slices) {
            slice.round += 1_000;
        }
        let found = pairs(&both, Figure::Goodput);
        let ratio = found.ratio(1, 0).unwrap();
        assert!(ratio.interval.covers(0.5) && ratio.is_significant(), "{ratio:?}");
        assert!(!found.is_within_rounds(1, 0) && !found.is_within_rounds(0, 1));
    }

    #[test]
    fn what_is_equal_in_every_round_is_equal() {
        let rounds = Rounds { host: 0.0, slice: 0.0, start: 0.0, ..Rounds::default() };
        let found = pairs(&[trials("a/a", &rounds, 1.0), trials("b/b", &rounds, 1.0)], Figure::P99);
        assert_eq!(found.ratio(0, 1).unwrap().value, 1.0);
        assert!(found.p_value(0, 1).unwrap() > 0.99);
    }
}
