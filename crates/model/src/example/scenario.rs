//! Trials whose users went through steps.
use std::net::Ipv4Addr;

use crate::load::{Connections, LoadSpec, Request};
use crate::result::{ErrorKind, StepMeasured};
use crate::scenario::{Scenario, Step};
use crate::text::units::Spread;
use crate::trial::TrialRecord;

/// This trial, with a step for each of these think times. The steps have equal shares of its
/// answers, and one answer to the last step was wrong.
#[must_use]
pub fn walked(mut trial: TrialRecord, thinks_ns: &[Option<u64>]) -> TrialRecord {
    let step = |(nth, think_ns): (usize, &Option<u64>)| Step {
        name: format!("step {}", nth + 1),
        think: think_ns.map(Spread::exactly),
        ..Step::default()
    };
    let steps: Vec<Step> = thinks_ns.iter().enumerate().map(step).collect();
    if let Some(load) = &mut trial.load {
        let share = load.measured.requests.completed / steps.len().max(1) as u64;
        let spans = &load.measured.spans;
        load.measured.steps = steps
            .iter()
            .map(|step| StepMeasured {
                name: step.name.clone(),
                completed: share,
                good: share,
                service_time: spans.service_time.clone(),
                response_time: spans.response_time.clone(),
                ..StepMeasured::default()
            })
            .collect();
        if let Some(last) = load.measured.steps.last_mut() {
            last.good -= 1;
            last.errors.insert(ErrorKind::WrongBody, 1);
            last.example =
                Some("the body does not contain `total` (status 200, 2 bytes: \"no\")".into());
        }
    }
    let requests = steps.iter().map(|step| Request::get(&format!("/{}", step.name.len()), "a"));
    trial.load_spec = Some(LoadSpec {
        addresses: vec![(Ipv4Addr::LOCALHOST, 1).into()],
        requests: requests.collect(),
        scenario: Some(Scenario { steps, ..Scenario::default() }),
        connections: Connections::kept(10),
        ..LoadSpec::default()
    });
    trial
}
