//! One user goes through all steps of a scenario.
use pippin_model::load::{BodyCheck, LoadSpec, Scenario, StopRule};
use pippin_model::result::StepMeasured;
use pippin_model::scenario::Step;

use super::{Subject, Verdict};
use crate::load;

/// Every step is answered rightly, and has what later ones need.
pub fn once(subject: &mut Subject<'_>) -> Verdict {
    let Some(walk) = &subject.workload.walk else { return Ok(()) };
    let requests = load::requests(subject.workload, &[], &BodyCheck::Any, subject.way.address());
    let count = requests.len() as u64;
    let base = LoadSpec {
        threads: 1,
        scenario: Some(without_thoughts(&walk.scenario)),
        ..subject.way.base(Vec::new(), 1)
    };
    let stop = StopRule::requests(count);
    let result = load::run_closed(base, requests, subject.connections(1), stop, None)
        .map_err(|error| error.to_string())?;
    if result.measured.requests.good == count {
        return Ok(());
    }
    Err(result.measured.steps.iter().find_map(in_words).unwrap_or_else(|| {
        let kinds = result.measured.errors.keys().map(|kind| kind.name());
        format!("the first step was not answered: {}", kinds.collect::<Vec<_>>().join(", "))
    }))
}

fn without_thoughts(scenario: &Scenario) -> Scenario {
    let steps = scenario.steps.iter().map(|step| Step { think: None, ..step.clone() });
    Scenario { steps: steps.collect(), ..scenario.clone() }
}

fn in_words(step: &StepMeasured) -> Option<String> {
    step.example.as_ref().map(|example| format!("step `{}`: {example}", step.name))
}
