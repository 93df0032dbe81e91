//! One user goes through all steps of each scenario.
use pippin_model::load::{BodyCheck, LoadSpec, Requests, Scenario, StopRule};
use pippin_model::result::StepMeasured;
use pippin_model::scenario::Step;
use pippin_model::scenario::mix::{Part, title};

use super::sampled::unknown_to_targets;
use super::{Subject, Verdict};
use crate::load;

/// Every step of every scenario is answered rightly, and has what later ones need.
pub fn once(subject: &mut Subject<'_>) -> Verdict {
    let Some(walk) = subject.workload.walk.clone() else { return Ok(()) };
    walk.scenario.parts().into_iter().try_for_each(|part| through(subject, part))
}

fn through(subject: &mut Subject<'_>, part: Part<'_>) -> Verdict {
    let requests = load::requests(subject.workload, &[], &BodyCheck::Any, subject.way.address());
    let requests: Requests =
        requests.iter().skip(part.first).take(part.steps.len()).cloned().collect();
    let count = requests.len() as u64;
    let base = LoadSpec {
        threads: 1,
        scenario: Some(without_thoughts(&part.alone())),
        follow: subject.workload.follow,
        // Values of before may be taken: a second product cannot have the name of the first.
        ..subject.way.base(Vec::new(), unknown_to_targets().bits())
    };
    let follow = subject.workload.follow;
    // Each redirection is a request, and nobody knows how many there are: enough for one walk.
    let stop = StopRule::requests(count * u64::from(1 + follow));
    let result = load::run_closed(base, requests, subject.connections(1), stop, None)
        .map_err(|error| error.to_string())?;
    let measured = &result.measured;
    let is_whole = match follow {
        0 => measured.requests.good == count,
        _ => measured.errors.is_empty() && measured.steps.iter().all(|step| step.good > 0),
    };
    if is_whole {
        return Ok(());
    }
    Err(result.measured.steps.iter().find_map(|step| in_words(part, step)).unwrap_or_else(|| {
        let kinds = result.measured.errors.keys().map(|kind| kind.name());
        format!("the first step was not answered: {}", kinds.collect::<Vec<_>>().join(", "))
    }))
}

/// The scenario of users who do not think.
#[must_use]
pub fn without_thoughts(scenario: &Scenario) -> Scenario {
    let steps = scenario.steps.iter().map(|step| Step { think: None, ..step.clone() });
    Scenario { steps: steps.collect(), ..scenario.clone() }
}

fn in_words(part: Part<'_>, step: &StepMeasured) -> Option<String> {
    let title = title(part.name, &step.name);
    step.example.as_ref().map(|example| format!("step `{title}`: {example}"))
}
