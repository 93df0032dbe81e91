//! The steps of scenarios, and the scenarios of a mix.
use pippin_model::result::histogram::Summary;
use pippin_model::result::{ErrorKind, Measured, StepMeasured};
use pippin_model::scenario::mix::title;
use pippin_model::text::units::counted;
use pippin_model::trial::TrialRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::words;

/// A step of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// Its name.
    pub name: String,
    /// The scenario whose step it is, where several are mixed; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Requests that were answered in full or failed.
    pub requests: u64,
    /// Requests whose checks all passed and whose values were all found.
    pub good: u64,
    /// Errors by kind.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// The first error in words; null if there was none.
    pub example: Option<String>,
    /// From the first byte sent to the arrival of the answer.
    pub service_time: Summary,
    /// From the instant at which the request was due to the arrival of the answer.
    pub response_time: Summary,
}

impl StepView {
    fn from_step(step: &StepMeasured) -> Self {
        Self {
            name: step.name.clone(),
            scenario: step.scenario.clone(),
            requests: step.completed + step.failed,
            good: step.good,
            errors: step.errors.clone(),
            example: step.example.clone(),
            service_time: step.service_time.summary(),
            response_time: step.response_time.summary(),
        }
    }

    /// Its name in a table, with its scenario if several are mixed.
    #[must_use]
    pub fn title(&self) -> String {
        title(self.scenario.as_deref(), &self.name)
    }

    /// How many errors there were.
    #[must_use]
    pub fn errors_total(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// One scenario of a mix, or all of them together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WayView {
    /// Its name; null of all together.
    pub name: Option<String>,
    /// Walks that were begun.
    pub walks: u64,
    /// Walks that went through all steps.
    pub whole: u64,
    /// Those per second.
    pub whole_per_s: Option<f64>,
    /// How long a whole walk takes on average, without thinking ([`mean_walk_ns`]).
    pub mean_walk_ns: Option<f64>,
    /// Requests that were answered in full or failed.
    pub requests: u64,
    /// Requests whose checks all passed and whose values were all found.
    pub good: u64,
    /// Those per second.
    pub goodput_per_s: Option<f64>,
    /// Errors of all kinds.
    pub errors: u64,
    /// From the instant at which a request was due to the arrival of its answer.
    pub response_time: Summary,
}

impl WayView {
    fn from_steps(steps: &[StepMeasured], duration_ns: u64) -> Self {
        let mut all = StepMeasured::default();
        steps.iter().for_each(|step| all.merge(step));
        let whole = steps.last().map_or(0, |last| last.good);
        let per_s = |count: u64| (duration_ns > 0).then(|| count as f64 * 1e9 / duration_ns as f64);
        Self {
            name: all_the_same(steps),
            walks: steps.first().map_or(0, |first| first.completed + first.failed),
            whole,
            whole_per_s: per_s(whole),
            mean_walk_ns: mean_walk_ns(steps.iter().map(|step| step.response_time.mean_ns())),
            requests: all.completed + all.failed,
            good: all.good,
            goodput_per_s: per_s(all.good),
            errors: all.errors.values().sum(),
            response_time: all.response_time.summary(),
        }
    }

    /// What its cells say in a table: [`WayView::TITLES`].
    #[must_use]
    pub fn cells(&self) -> [String; 7] {
        [
            self.name.clone().unwrap_or_else(|| "all".into()),
            words::whole(self.walks),
            words::whole(self.whole),
            words::count(self.whole_per_s),
            words::ns_f(self.mean_walk_ns),
            words::whole(self.errors),
            words::ns(self.response_time.p99_ns),
        ]
    }

    /// The titles of a table of scenarios.
    pub const TITLES: [&str; 7] =
        ["scenario", "walks", "whole", "whole/s", "a walk", "errors", "p99"];
}

/// The scenario of these steps, if it is one.
fn all_the_same(steps: &[StepMeasured]) -> Option<String> {
    let first = steps.first()?.scenario.as_ref()?;
    steps.iter().all(|step| step.scenario.as_ref() == Some(first)).then(|| first.clone())
}

/// The scenarios of a mix, and all of them together at the end; empty for one alone.
#[must_use]
pub fn ways(measured: &Measured) -> Vec<WayView> {
    let mut ways: Vec<WayView> =
        measured.walks().map(|steps| WayView::from_steps(steps, measured.duration_ns)).collect();
    if ways.len() < 2 {
        return Vec::new();
    }
    let whole: u64 = ways.iter().map(|way| way.whole).sum();
    let spent: Option<f64> = ways
        .iter()
        .filter(|way| way.whole > 0)
        .map(|way| way.mean_walk_ns.map(|ns| ns * way.whole as f64))
        .sum();
    let all = WayView::from_steps(&measured.steps, measured.duration_ns);
    ways.push(WayView {
        walks: ways.iter().map(|way| way.walks).sum(),
        whole,
        whole_per_s: ways.iter().map(|way| way.whole_per_s).sum(),
        mean_walk_ns: spent.filter(|_| whole > 0).map(|ns| ns / whole as f64),
        ..all
    });
    ways
}

/// The steps of each scenario: of all that are mixed, or of the only one.
fn each(steps: &[StepView]) -> impl Iterator<Item = &[StepView]> {
    steps.chunk_by(|one, next| one.scenario == next.scenario)
}

/// How many walks went through all steps.
#[must_use]
pub fn whole(steps: &[StepView]) -> u64 {
    each(steps).filter_map(|steps| steps.last()).map(|last| last.good).sum()
}

/// How many walks went through all steps, of those that were begun: `90 of 100 walks through all
/// steps`. A walk ends at its first step that is not right.
#[must_use]
pub fn whole_walks(steps: &[StepView]) -> String {
    let begun = each(steps).filter_map(|steps| steps.first()).map(|first| first.requests).sum();
    format!("{} of {} through all steps", words::whole(whole(steps)), counted(begun, "walk"))
}

/// How long a whole walk takes on average, without thinking, from the mean response times of its
/// steps: the mean of a sum is the sum of the means. In nanoseconds; `None` if a step has no answer.
/// Walks that end early have no part in it beyond the steps that they took.
fn mean_walk_ns(means: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut means = means.peekable();
    means.peek()?;
    means.sum()
}

/// How long a walk through all steps takes on average; of several scenarios, by how often each was
/// walked through.
#[must_use]
pub fn mean_of_walks(steps: &[StepView]) -> Option<f64> {
    let mean = |steps: &[StepView]| {
        let ns = mean_walk_ns(steps.iter().map(|step| step.response_time.mean_ns));
        let whole = steps.last().map_or(0, |last| last.good);
        (ns, whole)
    };
    let each: Vec<(Option<f64>, u64)> = each(steps).map(mean).collect();
    if let [(ns, _)] = each[..] {
        return ns;
    }
    let whole = whole(steps);
    let walked = each.into_iter().filter(|(_, whole)| *whole > 0);
    let spent: Option<f64> = walked.map(|(ns, whole)| ns.map(|ns| ns * whole as f64)).sum();
    spent.filter(|_| whole > 0).map(|ns| ns / whole as f64)
}

/// The redirections that were followed; `None` if the load follows none.
#[must_use]
pub fn followed(measured: &Measured) -> Option<StepView> {
    measured.followed.as_deref().map(StepView::from_step)
}

/// The steps of one load.
#[must_use]
pub fn of_load(measured: &Measured) -> Vec<StepView> {
    measured.steps.iter().map(StepView::from_step).collect()
}

/// The paths of one load, the worst first; empty if it has only one.
#[must_use]
pub fn paths_of_load(measured: &Measured) -> Vec<StepView> {
    measured.by_request.iter().map(StepView::from_step).collect()
}

/// What the users of one target did in these trials, all repetitions together.
#[derive(Debug, Default)]
pub struct Walked {
    /// The steps.
    pub steps: Vec<StepView>,
    /// The redirections that were followed.
    pub followed: Option<StepView>,
    /// The scenarios of a mix.
    pub ways: Vec<WayView>,
}

/// What the users of one target did in these trials.
#[must_use]
pub fn from_trials(trials: &[&TrialRecord]) -> Walked {
    let mut all = Measured::default();
    for load in trials.iter().filter_map(|trial| trial.load.as_ref()) {
        all.add_repetition(&load.measured);
    }
    Walked { steps: of_load(&all), followed: followed(&all), ways: ways(&all) }
}
