//! The points of a sweep or of a capacity search.
use pippin_model::caveat::Verdict;
use pippin_model::histogram::{Histogram, Summary};
use pippin_model::profile::Profile;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::usage::Role;
use pippin_stats::cost;
use pippin_stats::quantile::median;
use serde::{Deserialize, Serialize};

use super::row::goodput_sample;

/// The points of one target, ascending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The points.
    pub points: Vec<Point>,
    /// The fit of the Universal Scalability Law; `None` where it cannot be made.
    pub fit: Option<Fit>,
    /// The number of connections at which more of them stop paying; `None` where it was not reached.
    pub knee: Option<f64>,
    /// Capacity search only: the highest rate that kept the objective, requests per second.
    pub capacity_per_s: Option<f64>,
}

/// One point, over all repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Connections or offered rate.
    pub at: Step,
    /// The worst verdict of its trials.
    pub verdict: Verdict,
    /// Right answers per second, median.
    pub goodput_per_s: Option<f64>,
    /// Response time, all repetitions together.
    pub response_time: Summary,
    /// Errors over all repetitions.
    pub errors: u64,
    /// Cores that the target kept busy, median.
    pub target_cores: Option<f64>,
    /// What was predicted from the points before it.
    pub prediction: Option<Prediction>,
    /// Capacity search only: whether the objective was kept.
    pub held: Option<bool>,
}

/// What was predicted for a point before it was measured, and how far off it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Mean response time in nanoseconds.
    pub response_ns: f64,
    /// Measured over predicted, less 1.
    pub throughput_error: f64,
    /// The same of the response time.
    pub response_error: f64,
}

/// Parameters of the Universal Scalability Law, X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)), with standard errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Requests per second of one connection.
    pub lambda: f64,
    /// Contention.
    pub sigma: f64,
    /// Coherence.
    pub kappa: f64,
    /// Their standard errors; `None` where they cannot be known.
    pub standard_errors: Option<[f64; 3]>,
    /// The curve for the chart: connections and requests per second.
    pub curve: Vec<(f64, f64)>,
    /// The number of connections at which the curve peaks; `None` if it never bends down.
    pub peak_connections: Option<f64>,
}

/// The trials whose figures make the headline of a target, and the step they were made at.
///
/// A sweep's headline is its best point: the one with the highest median. A capacity search's is the highest offered rate that kept the
/// objective. All trials for the other kinds.
pub(super) fn headline<'a>(profile: &Profile, trials: &[&'a TrialRecord]) -> (Option<Step>, Vec<&'a TrialRecord>) {
    let (Profile::Sweep { .. } | Profile::Capacity { .. }) = profile else { return (None, trials.to_vec()) };
    let valid_first = |verdict: Verdict| verdict != Verdict::Invalid;
    let best = steps(trials)
        .into_iter()
        .filter_map(|(step, trials)| {
            let figure = median(&trials.iter().filter_map(|trial| goodput_sample(trial)).map(|sample| sample.value).collect::<Vec<_>>())?;
            let verdict = trials.iter().map(|trial| trial.verdict).max()?;
            Some((step, trials, (valid_first(verdict), figure)))
        })
        .max_by(|a, b| a.2.0.cmp(&b.2.0).then(a.2.1.total_cmp(&b.2.1)));
    match best {
        Some((step, trials, _)) => (Some(step), trials),
        None => (None, Vec::new()),
    }
}

/// The points of one target; `None` if the profile has none.
pub(super) fn of(profile: &Profile, trials: &[&TrialRecord]) -> Option<Sweep> {
    let (Profile::Sweep { .. } | Profile::Capacity { .. }) = profile else { return None };
    let points: Vec<Point> = steps(trials).into_iter().map(|(step, trials)| point(step, &trials)).collect();
    (!points.is_empty()).then_some(Sweep { points, fit: None, knee: None, capacity_per_s: None })
}

fn point(at: Step, trials: &[&TrialRecord]) -> Point {
    let mut response = Histogram::new();
    for load in trials.iter().filter_map(|trial| trial.load.as_ref()) {
        response.merge(&load.measured.spans.response_time);
    }
    let values: Vec<f64> = trials.iter().filter_map(|trial| goodput_sample(trial)).map(|sample| sample.value).collect();
    let cores: Vec<f64> = trials.iter().filter_map(|trial| cost::cores_of(trial.usage.as_ref()?, Role::Target)).collect();
    Point {
        at,
        verdict: trials.iter().map(|trial| trial.verdict).max().unwrap_or(Verdict::Invalid),
        goodput_per_s: median(&values),
        response_time: response.summary(),
        errors: trials.iter().filter_map(|trial| trial.load.as_ref()).map(|load| load.measured.errors_total()).sum(),
        target_cores: median(&cores),
        prediction: None,
        held: None,
    }
}

/// Trials by step, ascending.
fn steps<'a>(trials: &[&'a TrialRecord]) -> Vec<(Step, Vec<&'a TrialRecord>)> {
    let mut steps: Vec<(Step, Vec<&TrialRecord>)> = Vec::new();
    for trial in trials {
        let Some(step) = trial.spec.step else { continue };
        match steps.iter_mut().find(|(known, _)| *known == step) {
            Some((_, group)) => group.push(trial),
            None => steps.push((step, vec![trial])),
        }
    }
    steps.sort_by(|a, b| size(a.0).total_cmp(&size(b.0)));
    steps
}

/// The number that a step is about.
#[must_use]
pub fn size(step: Step) -> f64 {
    match step {
        Step::Connections { count } => f64::from(count),
        Step::Rate { per_s } => per_s,
    }
}
