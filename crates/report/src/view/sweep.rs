//! The points of a sweep, of several rates or of a capacity search.
use pippin_model::plan::profile::{Profile, Searched, Steps};
use pippin_model::result::histogram::Summary;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Severity, Verdict};
use pippin_stats::capacity::StepOutcome;
use pippin_stats::capacity::found::Capacity;
use pippin_stats::capacity::step::missed;
use pippin_stats::judge::knee::law_doubted;
use pippin_stats::judge::search;
use pippin_stats::scalability::knee::Knee;
use pippin_stats::scalability::ladder::{self, Ladder};
use pippin_stats::scalability::predict::Law;
use pippin_stats::scalability::sweep::Sweep as FoundSweep;
use pippin_stats::scalability::usl::{self, Usl};
use pippin_stats::series::quantile::median;
use pippin_stats::summary::TargetSummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::words;

/// The remark about a curve that still rises.
pub const RISES: &str = "Throughput still rises at the last point: more connections bring more.";

/// The points of one target, ascending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The points.
    pub points: Vec<Point>,
    /// The fit of the Universal Scalability Law; `None` if there is none.
    pub fit: Option<Fit>,
    /// The number of connections from which more bring little; `None` if it was not reached.
    pub knee: Option<Knee>,
    /// Whether throughput surely still rises at the last point (see [`RISES`]).
    pub rises: bool,
    /// How many requests are served at a time, if throughput is flat while the queue grows.
    pub served_at_a_time: Option<f64>,
    /// Capacity search only: the highest rate, or number of devices, that kept the objective, the
    /// median of the repetitions; `None` unless every repetition confirmed one. `capacity` says of
    /// what it is.
    pub capacity_per_s: Option<f64>,
    /// Capacity search only: how the search ended in each repetition.
    #[serde(default)]
    pub capacity: Option<Capacity>,
    /// Several rates only: how far up it kept up, and what it used at no load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Ladder>,
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
    /// Response time of all repetitions together.
    pub response_time: Summary,
    /// Errors over all repetitions.
    pub errors: u64,
    /// Cores that the target kept busy, median.
    pub target_cores: Option<f64>,
    /// The target's CPU-seconds per million complete answers, median.
    #[serde(default)]
    pub cpu_s_per_million: Option<f64>,
    /// Its highest memory in bytes, median; shared pages count once.
    #[serde(default)]
    pub memory_bytes: Option<f64>,
    /// Several rates only: right answers divided by the requests that were due, median.
    #[serde(default)]
    pub achieved: Option<f64>,
    /// The prediction from the points before it.
    pub prediction: Option<PredictionView>,
    /// Capacity search only: whether the objective was kept, judged from all steps at this rate;
    /// `None` if they are INVALID.
    pub held: Option<bool>,
    /// Capacity search only: the outcome of each step at this rate, in words.
    #[serde(default)]
    pub seen: Vec<String>,
    /// Capacity search only: which limits were missed, over all trials.
    pub missed: Vec<String>,
}

/// The prediction for a point, made before it was measured, and its error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PredictionView {
    /// Answers per second.
    pub throughput_per_s: f64,
    /// Mean response time in nanoseconds.
    pub response_ns: f64,
    /// Predicted divided by measured, minus 1.
    pub throughput_error: Option<f64>,
    /// The relative error of the predicted mean response time.
    pub response_error: Option<f64>,
    /// The law used.
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

impl Point {
    /// Capacity search only: the outcomes of the steps at this rate: `held 2x, missed`.
    #[must_use]
    pub fn kept(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for seen in &self.seen {
            match counts.iter_mut().find(|(known, _)| known == seen) {
                Some((_, count)) => *count += 1,
                None => counts.push((seen, 1)),
            }
        }
        let parts = counts.into_iter().map(|(seen, count)| match count {
            1 => seen.to_string(),
            count => format!("{seen} {count}x"),
        });
        match parts.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => words::UNKNOWN.into(),
            some => some,
        }
    }
}

impl Sweep {
    /// What a search looked for.
    #[must_use]
    pub fn searched(&self) -> Searched {
        let of = |capacity: &Capacity| capacity.searches.first().map(|one| one.of);
        self.capacity.as_ref().and_then(of).unwrap_or_default()
    }

    /// The title of a column with what a search tried.
    #[must_use]
    pub fn tried_title(&self) -> &'static str {
        match self.searched() {
            Searched::Requests => "offered/s",
            Searched::Walks => "walks/s",
            Searched::Devices => "devices",
        }
    }

    /// Capacity search only: the outcome in sentences, one for each repetition, plus one for all
    /// together if there are several.
    #[must_use]
    pub fn outcome(&self) -> Vec<String> {
        let Some(capacity) = &self.capacity else { return Vec::new() };
        if let [one] = capacity.searches.as_slice() {
            return vec![format!("Capacity: {}.", one.words())];
        }
        let together = match capacity.rate_per_s {
            Some(figure) => {
                let interval = figure.interval.map_or(String::new(), |interval| {
                    let (low, high) =
                        (words::count(Some(interval.low)), words::count(Some(interval.high)));
                    format!(", 95 % interval {low} to {high}")
                });
                format!("Capacity: {}{interval}.", self.searched().amount(figure.median))
            }
            None => "Capacity: unknown, because not every repetition confirmed one.".into(),
        };
        let each = capacity
            .searches
            .iter()
            .map(|search| format!("Repetition {}: {}.", search.repetition, search.words()));
        std::iter::once(together).chain(each).collect()
    }

    fn by_size(&self) -> Vec<usl::Point> {
        // INVALID points say nothing about the curve.
        let points = self.points.iter().filter(|point| point.verdict != Verdict::Invalid);
        points
            .filter_map(|point| Some(usl::Point { n: point.at.size(), x: point.goodput_per_s? }))
            .collect()
    }

    /// What to know before you trust the points and the law, one sentence each.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let doubted: Vec<&Point> =
            self.points.iter().filter(|point| point.verdict != Verdict::Valid).collect();
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for reason in doubted.iter().flat_map(|point| &point.reasons) {
            *reasons.entry(reason).or_default() += 1;
        }
        let reasons: Vec<String> =
            reasons.into_iter().map(|(reason, points)| format!("{reason} ({points})")).collect();
        // Searches and rates say of each step what came of it.
        let is_curve = self.capacity.is_none() && self.ladder.is_none();
        let of_points = (is_curve && !doubted.is_empty()).then(|| {
            format!(
                "{} of {} points are not VALID: {}.",
                doubted.len(),
                self.points.len(),
                reasons.join(", ")
            )
        });
        let fit = self.fit.as_ref();
        let of_law = fit
            .and_then(|fit| law_doubted(&fit.law, &self.by_size()))
            .map(|doubt| format!("{}.", words::capital(&doubt)));
        [of_law, of_points].into_iter().flatten().collect()
    }
}

/// The summary that makes the headline of a target; `None` without one.
///
/// For a sweep it is the best point. For several rates it is that of `common_per_s`, with which all
/// targets keep up but those that keep up with none, or else the lowest. For a capacity search it is the
/// lowest rate that was tried, if no repetition has a rate that held ([`confirming`]). INVALID points are used only if there are
/// no others.
pub(super) fn headline<'a>(
    profile: &Profile,
    summaries: &[&'a TargetSummary],
    common_per_s: Option<f64>,
) -> Option<&'a TargetSummary> {
    let common = common_per_s.map(|per_s| Step::Rate { per_s });
    let of_common = summaries.iter().copied().find(|one| one.step == common && common.is_some());
    if let Some(summary) = of_common {
        return Some(summary);
    }
    let is_measurable = |summary: &TargetSummary| summary.verdict != Some(Verdict::Invalid);
    let goodput =
        |summary: &TargetSummary| summary.goodput_per_s.map_or(f64::MIN, |figure| figure.median);
    let rate = |summary: &TargetSummary| summary.step.map_or(f64::MAX, Step::size);
    match profile.steps {
        Steps::One | Steps::Overload { .. } => summaries.first().copied(),
        Steps::Connections(_) => summaries.iter().copied().max_by(|a, b| {
            is_measurable(a).cmp(&is_measurable(b)).then(goodput(a).total_cmp(&goodput(b)))
        }),
        Steps::Search { .. } | Steps::Rates(_) => {
            summaries.iter().copied().min_by(|a, b| rate(a).total_cmp(&rate(b)))
        }
    }
}

/// The points of one target; `None` if the profile has none.
pub(super) fn from_trials(
    profile: &Profile,
    summaries: &[&TargetSummary],
    trials: &[&TrialRecord],
    found: Option<&FoundSweep>,
    capacity: Option<Capacity>,
) -> Option<Sweep> {
    if matches!(profile.steps, Steps::One | Steps::Overload { .. }) {
        return None;
    }
    let mut points: Vec<Point> =
        summaries.iter().filter_map(|summary| point(summary, trials)).collect();
    points.sort_by(|a, b| a.at.size().total_cmp(&b.at.size()));
    if points.is_empty() {
        return None;
    }
    let sweep = Sweep {
        points,
        fit: None,
        knee: None,
        rises: false,
        served_at_a_time: None,
        capacity_per_s: capacity
            .as_ref()
            .and_then(|capacity| Some(capacity.rate_per_s.as_ref()?.median)),
        capacity,
        ladder: Ladder::from_trials(trials),
    };
    Some(match found {
        Some(found) => with_law(sweep, found),
        None => sweep,
    })
}

fn point(summary: &TargetSummary, trials: &[&TrialRecord]) -> Option<Point> {
    let here: Vec<&TrialRecord> =
        trials.iter().copied().filter(|trial| trial.spec.step == summary.step).collect();
    let seen: Vec<StepOutcome> =
        here.iter().filter_map(|trial| StepOutcome::from_trial(trial)).collect();
    let evidence: Vec<i32> = seen.iter().filter_map(|seen| seen.points()).collect();
    // Leave out what follows from all steps of a search together: it is no doubt about this step.
    let caveats = || {
        let of_steps = summary.caveats.iter().filter(|counted| {
            counted.trials > 0 || !search::IDS.contains(&counted.caveat.id.as_str())
        });
        of_steps.map(|counted| &counted.caveat)
    };
    Some(Point {
        at: summary.step?,
        verdict: Verdict::of(caveats()),
        reasons: caveats()
            .filter(|caveat| caveat.severity != Severity::Note)
            .map(|caveat| caveat.id.clone())
            .collect(),
        goodput_per_s: summary.goodput_per_s.map(|figure| figure.median),
        response_time: summary.spans.response_time.clone(),
        errors: summary.errors.values().sum(),
        target_cores: summary.usage.target_cores,
        cpu_s_per_million: summary.cpu_s_per_million.map(|figure| figure.median),
        memory_bytes: summary.usage.target_memory_bytes,
        achieved: achieved(&here),
        prediction: None,
        held: (!evidence.is_empty()).then(|| evidence.iter().sum::<i32>() > 0),
        seen: seen.iter().map(|seen| seen.words().to_string()).collect(),
        missed: here.iter().flat_map(|trial| missed(trial)).collect(),
    })
}

/// Of several rates: how much of this one was answered right.
fn achieved(trials: &[&TrialRecord]) -> Option<f64> {
    let of_rates = trials.iter().filter(|record| record.spec.profile.is_rates());
    median(&of_rates.filter_map(|record| ladder::achieved(record)).collect::<Vec<_>>())
}

/// Adds what the statistics found: predictions, the law, the knee, the number served at a time.
fn with_law(mut sweep: Sweep, found: &FoundSweep) -> Sweep {
    for foretold in &found.foretold {
        if let Some(point) =
            sweep.points.iter_mut().find(|point| point.at.size() == foretold.measured.n)
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
    sweep.knee = found.knee;
    sweep.rises = found.rises && sweep.capacity.is_none();
    sweep.served_at_a_time = found.served_at_a_time;
    sweep
}

/// The law at equal steps of the logarithm of the number of connections, over the measured range.
fn curve(law: &Usl, points: &[usl::Point]) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let steps = 60;
    (0..=steps)
        .map(|step| first.n * (last.n / first.n).powf(f64::from(step) / f64::from(steps)))
        .map(|n| (n, law.throughput_at(n)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::result::histogram::Histogram;

    /// A sweep with these points. Each has a throughput and, if it is in doubt, a reason.
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
            cpu_s_per_million: None,
            memory_bytes: None,
            achieved: None,
            prediction: None,
            held: None,
            seen: Vec::new(),
            missed: Vec::new(),
        };
        let points = points.iter().map(point).collect();
        Sweep {
            points,
            fit: Some(Fit { law, curve: Vec::new() }),
            knee: None,
            rises: false,
            served_at_a_time: None,
            capacity_per_s: None,
            capacity: None,
            ladder: None,
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
        assert_eq!(doubts[1], "3 of 5 points are not VALID: spread (1), steal (2).");
        assert!(
            doubts[0].starts_with("The Universal Scalability Law does not describe the points")
                && doubts.len() == 2,
            "{doubts:?}"
        );
    }
}
