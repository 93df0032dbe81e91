//! Finds the capacity of a target before it is overloaded: the plan gives it, or a short search
//! finds it. The steps of the search are made as in a capacity search, but are not kept. The
//! recorded load has the rates that follow from the capacity.
use pippin_model::plan::profile::{Profile, Searched};
use pippin_model::trial::{Failure, Stage, TrialSpec};
use pippin_model::verdict::Severity;
use pippin_stats::capacity::Outcome;

use super::execution::Execution;
use crate::run::steps::Steps;
use crate::running::RunningTarget;
use crate::services::Services;

impl Execution<'_> {
    /// The profile for this target: the plan's, with rates that follow from the target's capacity
    /// where they depend on it.
    pub(super) fn applied(
        &self,
        spec: &TrialSpec,
        running: &mut RunningTarget,
        services: &mut Services,
    ) -> Result<Profile, Failure> {
        match spec.profile.capacity_search() {
            None => Ok(spec.profile.clone()),
            Some(search) => {
                let spec = TrialSpec { profile: search, ..spec.clone() };
                let capacity = self.capacity(&spec, running, services)?;
                Ok(self.header().plan.profile.at_capacity(capacity))
            }
        }
    }

    /// Searches for the capacity, in requests per second.
    fn capacity(
        &self,
        spec: &TrialSpec,
        running: &mut RunningTarget,
        services: &mut Services,
    ) -> Result<f64, Failure> {
        let mut steps = Steps::from_profile(&spec.profile);
        let mut doubt = None;
        while let Some(step) = steps.next() {
            let spec = TrialSpec { step, ..spec.clone() };
            let mut record = self.make(&spec, &spec.profile, running, services);
            self.recording.judge(&mut record, Vec::new());
            if let Some(failure) = record.failure {
                return Err(failure);
            }
            let gravest = record.caveats.iter().find(|it| it.severity == Severity::Invalid);
            doubt = gravest.map(|it| format!("{}: {}", it.id, it.evidence)).or(doubt);
            steps.observe(&record, &self.watch());
            if self.interrupted() || self.settings.observer.skips(&spec.target) {
                return Err(not_found("it was stopped", None));
            }
        }
        match steps.outcome() {
            Some(Outcome::Found { rate_per_s, .. }) => Ok(rate_per_s),
            Some(Outcome::Unsettled { held_per_s: Some(held_per_s), .. }) => Ok(held_per_s),
            Some(other) => Err(not_found(&other.words(Searched::Requests), doubt)),
            None => Err(not_found("there was no search", None)),
        }
    }
}

fn not_found(how: &str, doubt: Option<String>) -> Failure {
    let doubt = doubt.map(|doubt| format!(" ({doubt})")).unwrap_or_default();
    Failure {
        stage: Stage::Load,
        message: format!(
            "its capacity was not found: {how}{doubt}; give it in the plan (capacity = 5000), or another objective"
        ),
        log_tail: Vec::new(),
    }
}
