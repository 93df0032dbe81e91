//! What the starts of a target show of the figure that ranks it.
use pippin_model::figure::{Figure, RankedBy};
use pippin_model::plan::goal::Changed;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Severity, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use crate::interval::sequence::half_width;
use crate::rank::criterion::ranked_sample;
use crate::rounds::{Observed, Resting, variance_of_mean};
use crate::series::quantile::{mean, variance};
use crate::summary::sample::{value, with_chance};

/// The starts of a target at one step, or of two targets that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Starts {
    /// The target.
    pub target: TargetId,
    /// The point of a sweep or of several rates.
    pub step: Option<Step>,
    /// What the logarithms are ratios of; `None` if they are those of the target's own figure.
    pub change: Option<Change>,
    /// The logarithms of the figure or of the ratio, one for each repetition; empty unless all of them
    /// have it.
    pub logs: Vec<f64>,
    /// The part of their standard deviation that the scatter within a start explains; `None` if it is
    /// unknown.
    pub within_a_start: Option<f64>,
    /// By how much a figure may be rounded, as a fraction of it: by one answer, or by the width of the
    /// histograms' buckets.
    pub rounding: f64,
    /// Why more repetitions are no help; `None` if they are.
    pub stuck: Option<String>,
}

/// A figure, and the target with which it is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The target with which it is compared.
    pub base: TargetId,
    /// What changes.
    pub figure: Figure,
}

impl Starts {
    /// The standard deviation of the logarithms; `None` below two starts. Figures that are equal
    /// because they are counts, or rounded, are not known to nothing: it is at least that of an even
    /// distribution within the rounding.
    #[must_use]
    pub fn scatter(&self) -> Option<f64> {
        let least = self.rounding / 12.0_f64.sqrt();
        variance(&self.logs).map(|variance| variance.sqrt().max(least))
    }

    /// The scatter, where more starts are a help; `None` if they are not, or it is unknown.
    #[must_use]
    pub fn useful_scatter(&self) -> Option<f64> {
        self.scatter().filter(|_| self.stuck.is_none())
    }

    /// How far the interval of the figure reaches, as a fraction of it, or that of a change as a
    /// fraction of the base; `None` if that is unknown, as with few starts.
    #[must_use]
    pub fn reach(&self) -> Option<f64> {
        Some(self.reach_of(half_width(self.logs.len())? * self.scatter()?))
    }

    /// How far it reaches if the interval of the logarithm reaches so far.
    #[must_use]
    pub fn reach_of(&self, half: f64) -> f64 {
        let ratio = self.change.as_ref().and_then(|_| mean(&self.logs)).map_or(1.0, f64::exp);
        ratio * half.exp_m1()
    }
}

/// The starts of these targets after so many repetitions, at each step that they have.
#[must_use]
pub fn starts(trials: &[TrialRecord], targets: &[TargetId], made: u32) -> Vec<Starts> {
    let of_target = |target: &TargetId| -> Vec<Starts> {
        let own: Vec<&TrialRecord> =
            trials.iter().filter(|trial| trial.spec.target == *target).collect();
        steps(&own).into_iter().map(|step| of_step(target, step, &own, made)).collect()
    };
    targets.iter().flat_map(of_target).collect()
}

fn of_step(target: &TargetId, step: Option<Step>, own: &[&TrialRecord], made: u32) -> Starts {
    let by_repetition = by_repetition(own.iter(), step, made);
    let figures = by_repetition.values().filter_map(|trial| {
        let by = RankedBy::from_profile(&trial.spec.profile).figure();
        figure(trial, by, Resting::OnUsed)
    });
    of_figures((target, step, None), figures.collect(), made, stuck(&by_repetition, made))
}

/// The changes of these figures after so many repetitions, at each step that both targets have.
#[must_use]
pub fn changes(trials: &[TrialRecord], changed: &[Changed], made: u32) -> Vec<Starts> {
    let of_change = |changed: &Changed| -> Vec<Starts> {
        let both: Vec<&TrialRecord> = trials
            .iter()
            .filter(|trial| trial.spec.repetition < made)
            .filter(|trial| [&changed.base, &changed.target].contains(&&trial.spec.target))
            .collect();
        steps(&both).into_iter().map(|step| of_pair(changed, step, &both, made)).collect()
    };
    changed.iter().flat_map(of_change).collect()
}

fn of_pair(changed: &Changed, step: Option<Step>, both: &[&TrialRecord], made: u32) -> Starts {
    let resting = Resting::from_trials(both.iter().copied());
    let of = |target: &TargetId| -> BTreeMap<u32, &TrialRecord> {
        let own = both.iter().filter(|trial| trial.spec.target == *target);
        by_repetition(own, step, made)
    };
    let (base, target) = (of(&changed.base), of(&changed.target));
    let ratios = target.iter().filter_map(|(repetition, trial)| {
        let base = base.get(repetition)?;
        let are_whole = is_whole(trial) && is_whole(base);
        ratio(trial, base, changed.figure, resting).filter(|_| are_whole)
    });
    let ratios: Vec<OfStart> = ratios.collect();
    let change = Change { base: changed.base.clone(), figure: changed.figure };
    let lacks = || {
        let figure = &changed.figure;
        (ratios.len() < made as usize).then(|| format!("a repetition has no {figure}"))
    };
    let stuck = stuck(&base, made).or_else(|| stuck(&target, made)).or_else(lacks);
    of_figures((&changed.target, step, Some(change)), ratios, made, stuck)
}

/// The trial of each repetition at this step; of several, the newest.
fn by_repetition<'a>(
    own: impl Iterator<Item = &'a &'a TrialRecord>,
    step: Option<Step>,
    made: u32,
) -> BTreeMap<u32, &'a TrialRecord> {
    own.filter(|trial| trial.spec.step == step && trial.spec.repetition < made)
        .map(|trial| (trial.spec.repetition, *trial))
        .collect()
}

/// The steps of these trials; one that is none without a trial.
fn steps(trials: &[&TrialRecord]) -> Vec<Option<Step>> {
    let mut steps: Vec<Option<Step>> = Vec::new();
    for trial in trials {
        if !steps.contains(&trial.spec.step) {
            steps.push(trial.spec.step);
        }
    }
    if steps.is_empty() { vec![None] } else { steps }
}

fn of_figures(
    (target, step, change): (&TargetId, Option<Step>, Option<Change>),
    figures: Vec<OfStart>,
    made: u32,
    stuck: Option<String>,
) -> Starts {
    let has_all = figures.len() as u32 == made;
    let within: Option<Vec<f64>> = figures.iter().map(|figure| figure.variance).collect();
    Starts {
        target: target.clone(),
        step,
        change,
        logs: figures.iter().filter(|_| has_all).map(|figure| figure.log).collect(),
        within_a_start: within.and_then(|all| mean(&all)).map(f64::sqrt),
        rounding: figures.iter().map(|figure| figure.rounding).fold(0.0, f64::max),
        stuck,
    }
}

/// The figure of one start, or a ratio.
struct OfStart {
    log: f64,
    /// The variance that it would have if only its slices or windows scattered; `None` if unknown.
    variance: Option<f64>,
    /// By how much it may be rounded, as a fraction.
    rounding: f64,
}

impl OfStart {
    fn new(log: f64, residuals: &[f64], rounding: f64) -> Option<Self> {
        let variance = variance_of_mean(residuals).map(|(variance, _)| variance);
        log.is_finite().then_some(Self { log, variance, rounding })
    }
}

/// By how much a figure of this start may be rounded: a time by the width of the histograms' buckets
/// (3 significant digits), all others by one right answer.
fn rounding(trial: &TrialRecord, figure: Figure) -> f64 {
    const BUCKET: f64 = 1e-3;
    let good = trial.load.as_ref().map_or(0, |load| load.measured.answered.good);
    if matches!(figure, Figure::Span(..)) { BUCKET } else { 1.0 / good.max(1) as f64 }
}

/// The figure of a start, from the slices that its interval rests on; `None` if the start is not whole,
/// or has no figure.
fn figure(trial: &TrialRecord, figure: Figure, resting: Resting) -> Option<OfStart> {
    is_whole(trial).then_some(())?;
    if trial.slices.is_empty() {
        let by = RankedBy::from_profile(&trial.spec.profile);
        let sample = with_chance(trial, ranked_sample(by, trial.load.as_ref()?)?);
        let rounding = rounding(trial, figure);
        return OfStart::new(sample.value.ln(), &relative(&sample.windows), rounding);
    }
    // Slices without the figure are left out below; a start that has none as a whole is not known better.
    value(figure, trial).filter(|whole| whole.is_finite())?;
    let level = Observed::from_trials(&[trial], figure, resting).levels().pop()?;
    OfStart::new(level.log, &level.residuals, rounding(trial, figure))
}

/// The figure of a start over that of its base, within the rounds that both have where slices have
/// the figure.
fn ratio(
    trial: &TrialRecord,
    base: &TrialRecord,
    figure: Figure,
    resting: Resting,
) -> Option<OfStart> {
    let observed = |trial| Observed::from_trials(&[trial], figure, resting);
    let rounding = rounding(trial, figure) + rounding(base, figure);
    if let Some((own, other)) = observed(trial).levels_with(&observed(base)).pop() {
        let both = own.residuals.iter().zip(&other.residuals);
        let residuals: Vec<f64> = both.map(|(own, other)| own - other).collect();
        return OfStart::new(own.log - other.log, &residuals, rounding);
    }
    OfStart::new((value(figure, trial)? / value(figure, base)?).ln(), &[], rounding)
}

/// The relative deviation of each window from their mean.
fn relative(windows: &[f64]) -> Vec<f64> {
    let centre = mean(windows).filter(|centre| *centre > 0.0);
    centre.map_or_else(Vec::new, |centre| windows.iter().map(|it| it / centre - 1.0).collect())
}

/// Whether a start was made as planned.
fn is_whole(trial: &TrialRecord) -> bool {
    let is_over = trial.load.as_ref().is_some_and(|load| !load.interrupted);
    is_over && trial.failure.is_none() && has_its_rounds(trial)
}

/// Whether all planned rounds of slices are there. A trial in one stretch has none.
fn has_its_rounds(trial: &TrialRecord) -> bool {
    let rounds: BTreeSet<u32> = trial.slices.iter().map(|slice| slice.round).collect();
    let planned = trial.company.as_ref().map(|company| company.rounds);
    if rounds.is_empty() {
        return planned.is_none();
    }
    planned.is_some_and(|planned| rounds.len() as u32 >= planned)
}

/// Why more repetitions cannot make the figure known.
fn stuck(by_repetition: &BTreeMap<u32, &TrialRecord>, made: u32) -> Option<String> {
    (0..made).find_map(|repetition| {
        let number = repetition + 1;
        let Some(trial) = by_repetition.get(&repetition) else {
            return Some(format!("repetition {number} has no result"));
        };
        if let Some(failure) = &trial.failure {
            return Some(format!("repetition {number} failed at {}", failure.stage.name()));
        }
        if trial.verdict == Verdict::Invalid {
            let grave = trial.caveats.iter().filter(|one| one.severity == Severity::Invalid);
            let names: Vec<String> = grave.map(|caveat| caveat.name()).collect();
            let why = if names.is_empty() { "no result".into() } else { names.join(", ") };
            return Some(format!("repetition {number} is INVALID: {why}"));
        }
        let by = RankedBy::from_profile(&trial.spec.profile).figure();
        let has_figure = figure(trial, by, Resting::OnUsed).is_some();
        (!has_figure).then(|| format!("repetition {number} is not whole, or has no figure"))
    })
}
