//! What the starts of a target show of the figure that ranks it.
use pippin_model::figure::RankedBy;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Severity, Verdict};
use std::collections::{BTreeMap, BTreeSet};

use crate::interval::sequence::half_width;
use crate::rank::criterion::ranked_sample;
use crate::rounds::{Observed, Resting, variance_of_mean};
use crate::series::quantile::{mean, variance};
use crate::summary::sample::with_chance;

/// The starts of a target at one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Starts {
    /// The target.
    pub target: TargetId,
    /// The point of a sweep or of several rates.
    pub step: Option<Step>,
    /// The logarithms of the figure, one for each repetition; empty unless all of them have it.
    pub logs: Vec<f64>,
    /// The part of their standard deviation that the scatter within a start explains; `None` if it is
    /// unknown.
    pub within_a_start: Option<f64>,
    /// How long each start was measured, in nanoseconds; `None` without one.
    pub measured_ns: Option<f64>,
    /// Why more repetitions are no help; `None` if they are.
    pub stuck: Option<String>,
}

impl Starts {
    /// The standard deviation of the logarithms; `None` below two starts.
    #[must_use]
    pub fn scatter(&self) -> Option<f64> {
        variance(&self.logs).map(f64::sqrt)
    }

    /// How far the interval of the figure reaches, as a fraction of it; `None` if that is unknown, as
    /// with few starts.
    #[must_use]
    pub fn reach(&self) -> Option<f64> {
        Some(reach_of(half_width(self.logs.len())? * self.scatter()?))
    }
}

/// How far an interval of a logarithm reaches as a fraction of the figure.
#[must_use]
pub fn reach_of(half: f64) -> f64 {
    half.exp() - 1.0
}

/// The starts of these targets after so many repetitions, at each step that they have.
#[must_use]
pub fn starts(trials: &[TrialRecord], targets: &[TargetId], made: u32) -> Vec<Starts> {
    let of_target = |target: &TargetId| -> Vec<Starts> {
        let own: Vec<&TrialRecord> =
            trials.iter().filter(|trial| trial.spec.target == *target).collect();
        let mut steps: Vec<Option<Step>> = Vec::new();
        for trial in &own {
            if !steps.contains(&trial.spec.step) {
                steps.push(trial.spec.step);
            }
        }
        if steps.is_empty() {
            steps.push(None);
        }
        let at = |step: &Option<Step>| of_step(target, *step, &own, made);
        steps.iter().map(at).collect()
    };
    targets.iter().flat_map(of_target).collect()
}

fn of_step(target: &TargetId, step: Option<Step>, own: &[&TrialRecord], made: u32) -> Starts {
    let by_repetition: BTreeMap<u32, &TrialRecord> = own
        .iter()
        .filter(|trial| trial.spec.step == step && trial.spec.repetition < made)
        .map(|trial| (trial.spec.repetition, *trial))
        .collect();
    let figures: Vec<Figure> = by_repetition.values().filter_map(|trial| figure(trial)).collect();
    let has_all = figures.len() as u32 == made;
    let within: Option<Vec<f64>> = figures.iter().map(|figure| figure.variance).collect();
    let lengths: Vec<f64> = by_repetition
        .values()
        .filter_map(|trial| trial.load.as_ref())
        .map(|load| load.measured.duration_ns as f64)
        .collect();
    Starts {
        target: target.clone(),
        step,
        logs: figures.iter().filter(|_| has_all).map(|figure| figure.log).collect(),
        within_a_start: within.and_then(|all| mean(&all)).map(f64::sqrt),
        measured_ns: mean(&lengths),
        stuck: stuck(&by_repetition, made),
    }
}

/// The figure of one start.
struct Figure {
    log: f64,
    /// The variance that it would have if only its slices or windows scattered; `None` if unknown.
    variance: Option<f64>,
}

/// The figure of a start, from the slices that its interval rests on; `None` if the start is not whole,
/// or has no figure.
fn figure(trial: &TrialRecord) -> Option<Figure> {
    let load = trial.load.as_ref()?;
    if trial.failure.is_some() || load.interrupted || !has_its_rounds(trial) {
        return None;
    }
    let by = RankedBy::of(&trial.spec.profile);
    let (log, residuals) = if trial.slices.is_empty() {
        let sample = with_chance(trial, ranked_sample(by, load)?);
        (sample.value.ln(), relative(&sample.windows))
    } else {
        let observed = Observed::of(&[trial], by.figure(), Resting::OnUsed);
        let level = observed.levels().pop()?;
        (level.log, level.residuals)
    };
    let variance = variance_of_mean(&residuals).map(|(variance, _)| variance);
    log.is_finite().then_some(Figure { log, variance })
}

/// The relative deviation of each window from their mean.
fn relative(windows: &[f64]) -> Vec<f64> {
    let centre = mean(windows).filter(|centre| *centre > 0.0);
    centre.map_or_else(Vec::new, |centre| windows.iter().map(|it| it / centre - 1.0).collect())
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
        figure(trial).is_none().then(|| format!("repetition {number} is not whole, or has no figure"))
    })
}
