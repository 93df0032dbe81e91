//! The points of a sweep or of a capacity search.
use pippin_model::caveat::{Severity, Verdict};
use pippin_model::histogram::Summary;
use pippin_model::objective::Objective;
use pippin_model::profile::{Profile, Steps};
use pippin_model::trial::{Step, TrialRecord};
use pippin_stats::objective::misses;
use pippin_stats::predict::Law;
use pippin_stats::summary::TargetSummary;
use pippin_stats::sweep::Sweep as FoundSweep;
use pippin_stats::usl::{self, Usl};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::words;

/// The points of one target, ascending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The points.
    pub points: Vec<Point>,
    /// The fit of the Universal Scalability Law; `None` where it cannot be made.
    pub fit: Option<Fit>,
    /// The number of connections at which more of them stop paying; `None` where it was not
    /// reached.
    pub knee: Option<f64>,
    /// How many requests are served at a time, where throughput is flat while the queue grows.
    pub served_at_a_time: Option<f64>,
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
    /// The names of the caveats behind it.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Right answers per second, median.
    pub goodput_per_s: Option<f64>,
    /// Response time, all repetitions together.
    pub response_time: Summary,
    /// Errors over all repetitions.
    pub errors: u64,
    /// Cores that the target kept busy, median.
    pub target_cores: Option<f64>,
    /// What was predicted from the points before it.
    pub prediction: Option<PredictionView>,
    /// Capacity search only: whether the objective was kept.
    pub held: Option<bool>,
    /// Capacity search only: what was missed, over all trials.
    pub missed: Vec<String>,
}

/// What was predicted for a point before it was measured, and how far off it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PredictionView {
    /// Answers per second.
    pub throughput_per_s: f64,
    /// Mean response time in nanoseconds.
    pub response_ns: f64,
    /// Predicted over measured, less 1.
    pub throughput_error: Option<f64>,
    /// The same of the mean response time.
    pub response_error: Option<f64>,
    /// The law behind it.
    pub law: Law,
}

/// A fit of the Universal Scalability Law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Its parameters.
    #[serde(flatten)]
    pub law: Usl,
    /// The curve for the chart: connections and requests per second.
    pub curve: Vec<(f64, f64)>,
}

impl Sweep {
    /// What is to be known before law and knee are believed, a sentence each.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let Some(fit) = &self.fit else { return Vec::new() };
        let doubted: Vec<&Point> =
            self.points.iter().filter(|point| point.verdict != Verdict::Valid).collect();
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for reason in doubted.iter().flat_map(|point| &point.reasons) {
            *reasons.entry(reason).or_default() += 1;
        }
        let reasons: Vec<String> =
            reasons.into_iter().map(|(reason, points)| format!("{reason} ({points})")).collect();
        let of_points = (!doubted.is_empty()).then(|| {
            format!(
                "{} of {} points are not VALID: {}.",
                doubted.len(),
                self.points.len(),
                reasons.join(", ")
            )
        });
        let measured: Vec<usl::Point> = self
            .points
            .iter()
            .filter_map(|point| Some(usl::Point { n: size(point.at), x: point.goodput_per_s? }))
            .collect();
        let of_law = fit.law.misses_too_far(&measured).map(|miss| {
            let miss = words::percent(miss);
            format!("The law misses the points by {miss} in the median: it does not describe them, and neither its parameters nor the knee can be relied on.")
        });
        [of_points, of_law].into_iter().flatten().collect()
    }
}

/// The summary that makes the headline of a target; `None` without one.
///
/// A sweep's headline is its best point, a capacity search's the highest offered rate that kept the
/// objective; points that are INVALID only where there is no other.
pub(super) fn headline<'a>(
    profile: &Profile,
    summaries: &[&'a TargetSummary],
    sweep: Option<&Sweep>,
) -> Option<&'a TargetSummary> {
    if profile.steps == Steps::One {
        return summaries.first().copied();
    }
    let held = |summary: &TargetSummary| {
        sweep.and_then(|sweep| {
            sweep.points.iter().find(|point| Some(point.at) == summary.step)?.held
        }) != Some(false)
    };
    let key = |summary: &TargetSummary| {
        (
            summary.verdict != Some(Verdict::Invalid),
            held(summary),
            summary.goodput_per_s.map_or(f64::MIN, |figure| figure.median),
        )
    };
    summaries.iter().copied().max_by(|a, b| {
        let (a, b) = (key(a), key(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    })
}

/// The points of one target; `None` if the profile has none.
pub(super) fn of(
    profile: &Profile,
    summaries: &[&TargetSummary],
    trials: &[&TrialRecord],
    found: Option<&FoundSweep>,
) -> Option<Sweep> {
    let objective = match &profile.steps {
        Steps::One => return None,
        Steps::Connections(_) => None,
        Steps::Search { objective, .. } => Some(objective),
    };
    let mut points: Vec<Point> =
        summaries.iter().filter_map(|summary| point(summary, objective, trials)).collect();
    points.sort_by(|a, b| size(a.at).total_cmp(&size(b.at)));
    if points.is_empty() {
        return None;
    }
    let sweep =
        Sweep { points, fit: None, knee: None, served_at_a_time: None, capacity_per_s: None };
    Some(match (objective, found) {
        (Some(_), _) => with_capacity(sweep),
        (None, Some(found)) => with_law(sweep, found),
        (None, None) => sweep,
    })
}

fn point(
    summary: &TargetSummary,
    objective: Option<&Objective>,
    trials: &[&TrialRecord],
) -> Option<Point> {
    let missed = objective.map(|objective| missed(objective, summary, trials));
    Some(Point {
        at: summary.step?,
        verdict: summary.verdict?,
        reasons: summary
            .caveats
            .iter()
            .map(|counted| &counted.caveat)
            .filter(|caveat| caveat.severity != Severity::Note)
            .map(|caveat| caveat.id.clone())
            .collect(),
        goodput_per_s: summary.goodput_per_s.map(|figure| figure.median),
        response_time: summary.spans.response_time.clone(),
        errors: summary.errors.values().sum(),
        target_cores: summary.usage.target_cores,
        prediction: None,
        held: missed.as_ref().map(|missed| missed.is_empty() && summary.goodput_per_s.is_some()),
        missed: missed.unwrap_or_default(),
    })
}

/// What the trials at this step missed.
fn missed(objective: &Objective, summary: &TargetSummary, trials: &[&TrialRecord]) -> Vec<String> {
    let here = trials
        .iter()
        .filter(|trial| trial.spec.step == summary.step)
        .filter_map(|trial| trial.load.as_ref());
    here.flat_map(|load| misses(objective, &load.measured)).collect()
}

fn with_capacity(mut sweep: Sweep) -> Sweep {
    let first_failed = sweep
        .points
        .iter()
        .position(|point| point.held == Some(false))
        .unwrap_or(sweep.points.len());
    sweep.capacity_per_s = sweep.points[..first_failed].last().map(|point| size(point.at));
    sweep
}

/// Adds what the statistics found: predictions, the law, the knee, the number served at a time.
fn with_law(mut sweep: Sweep, found: &FoundSweep) -> Sweep {
    for foretold in &found.foretold {
        if let Some(point) =
            sweep.points.iter_mut().find(|point| size(point.at) == foretold.measured.n)
        {
            point.prediction = foretold.prediction.map(|prediction| PredictionView {
                throughput_per_s: prediction.throughput_per_s,
                response_ns: prediction.response_time_ns,
                throughput_error: foretold.throughput_error,
                response_error: foretold.response_time_error,
                law: prediction.law,
            });
        }
    }
    sweep.fit = found.usl.map(|law| Fit { law, curve: curve(&law, &found.points) });
    sweep.knee = found.knee.map(|point| point.n);
    sweep.served_at_a_time = found.served_at_a_time;
    sweep
}

/// The law at equal steps of the logarithm of the number of connections, over the range that was
/// measured.
fn curve(law: &Usl, points: &[usl::Point]) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let steps = 60;
    (0..=steps)
        .map(|step| first.n * (last.n / first.n).powf(f64::from(step) / f64::from(steps)))
        .map(|n| (n, law.throughput_at(n)))
        .collect()
}

/// The number that a step is about.
#[must_use]
pub fn size(step: Step) -> f64 {
    match step {
        Step::Connections { count } => f64::from(count),
        Step::Rate { per_s } => per_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::histogram::Histogram;

    /// A sweep over points of which each has a throughput and, if it is in doubt, a reason.
    fn swept(points: &[(u32, f64, Option<&str>)]) -> Sweep {
        let law = usl::fit(
            &points
                .iter()
                .map(|(n, x, _)| usl::Point { n: f64::from(*n), x: *x })
                .collect::<Vec<_>>(),
        )
        .unwrap();
        let point = |(count, per_s, reason): &(u32, f64, Option<&str>)| Point {
            at: Step::Connections { count: *count },
            verdict: if reason.is_some() { Verdict::Suspect } else { Verdict::Valid },
            reasons: reason.iter().map(ToString::to_string).collect(),
            goodput_per_s: Some(*per_s),
            response_time: Histogram::new().summary(),
            errors: 0,
            target_cores: None,
            prediction: None,
            held: None,
            missed: Vec::new(),
        };
        let points = points.iter().map(point).collect();
        Sweep {
            points,
            fit: Some(Fit { law, curve: Vec::new() }),
            knee: None,
            served_at_a_time: None,
            capacity_per_s: None,
        }
    }

    #[test]
    fn calm_points_on_the_law_leave_no_doubt() {
        let law = |n: u32| (n, 1_000.0 * f64::from(n) / (1.0 + 0.1 * f64::from(n - 1)), None);
        assert!(swept(&[1, 2, 4, 8, 16, 32].map(law)).doubts().is_empty());
    }

    #[test]
    fn points_in_doubt_are_counted_with_their_reasons_and_a_law_that_misses_them_is_no_law() {
        let stolen = [
            (1, 15_921.0, Some("steal")),
            (2, 52_693.0, None),
            (4, 47_617.0, None),
            (8, 15_960.0, Some("steal")),
            (16, 11_772.0, Some("spread")),
        ];
        let doubts = swept(&stolen).doubts();
        assert_eq!(doubts[0], "3 of 5 points are not VALID: spread (1), steal (2).");
        assert!(
            doubts[1].starts_with("The law misses the points by ") && doubts.len() == 2,
            "{doubts:?}"
        );
    }
}
