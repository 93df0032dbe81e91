//! The steps of a scenario.
use pippin_model::result::histogram::Summary;
use pippin_model::result::{ErrorKind, Measured, StepMeasured};
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
    fn of(step: &StepMeasured) -> Self {
        Self {
            name: step.name.clone(),
            requests: step.completed + step.failed,
            good: step.good,
            errors: step.errors.clone(),
            example: step.example.clone(),
            service_time: step.service_time.summary(),
            response_time: step.response_time.summary(),
        }
    }

    /// How many errors there were.
    #[must_use]
    pub fn errors_total(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// How many walks went through all steps, of those that were begun: `90 of 100 walks through all
/// steps`. A walk ends at its first step that is not right.
#[must_use]
pub fn whole_walks(steps: &[StepView]) -> String {
    let whole = steps.last().map_or(0, |last| last.good);
    let begun = steps.first().map_or(0, |first| first.requests);
    format!("{} of {} through all steps", words::whole(whole), counted(begun, "walk"))
}

/// How long a whole walk takes on average, without thinking: the mean response times of all steps
/// together, because the mean of a sum is the sum of the means. In nanoseconds; `None` if a step has
/// no answer. Walks that end early have no part in it beyond the steps that they took.
#[must_use]
pub fn mean_walk_ns(steps: &[StepView]) -> Option<f64> {
    (!steps.is_empty())
        .then(|| steps.iter().map(|step| step.response_time.mean_ns).sum::<Option<f64>>())
        .flatten()
}

/// The redirections that were followed; `None` if the load follows none.
#[must_use]
pub fn followed(measured: &Measured) -> Option<StepView> {
    measured.followed.as_deref().map(StepView::of)
}

/// The steps of one load.
#[must_use]
pub fn of_load(measured: &Measured) -> Vec<StepView> {
    measured.steps.iter().map(StepView::of).collect()
}

/// The paths of one load, the worst first; empty if it has only one.
#[must_use]
pub fn paths_of_load(measured: &Measured) -> Vec<StepView> {
    measured.by_request.iter().map(StepView::of).collect()
}

/// The steps of these trials of one target and the redirections that were followed, all repetitions
/// together.
#[must_use]
pub fn of(trials: &[&TrialRecord]) -> (Vec<StepView>, Option<StepView>) {
    let mut all = Measured::default();
    for load in trials.iter().filter_map(|trial| trial.load.as_ref()) {
        all.add_repetition(&load.measured);
    }
    (of_load(&all), followed(&all))
}
