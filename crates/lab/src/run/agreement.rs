//! Whether a plan, its workload and its targets go together. What has no effect, or no meaning, is refused
//! before anything is installed.
use pippin_model::load::{Protocol, Scenario, WarmUp};
use pippin_model::plan::Plan;
use pippin_model::plan::profile::{self, Profile};
use pippin_model::target::TargetId;
use pippin_model::workload::{Proof, Service, Workload};

use crate::error::LabError;
use crate::target::Kind;
use crate::target::catalog::{Catalog, Target};

/// The targets of a plan. It is an error if one of them does not serve the workload in the way that the plan asks
/// for.
pub(super) fn resolve(
    plan: &Plan,
    workload: &Workload,
    catalog: &Catalog,
) -> Result<Vec<(TargetId, Target)>, LabError> {
    let targets = plan
        .targets
        .iter()
        .map(|id| {
            let target = catalog.target(id)?;
            let served = target.manifest.workloads_of(id.variant.as_deref());
            if !served.contains(&workload.id) {
                return Err(LabError::User(format!(
                    "{id} does not serve the workload `{}` (it serves {}); {}",
                    workload.id,
                    served.join(", "),
                    way_out(&target, workload)
                )));
            }
            match two_databases(&target, workload) {
                Some(why) => Err(LabError::User(why)),
                None => Ok((id.clone(), target)),
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    speak(plan, workload, &targets)?;
    walk(plan, workload)?;
    stream(plan, workload)?;
    live_on(plan, workload)?;
    Ok(targets)
}

/// Whether a proxy leads to a target.
pub(super) fn is_behind_proxy(target: &Target) -> bool {
    matches!(&target.kind, Kind::Listening(listening) if listening.proxy.is_some())
}

/// Why a target cannot be measured with a workload: both bring a database.
pub(crate) fn two_databases(target: &Target, workload: &Workload) -> Option<String> {
    let both = target.world.has_database() && workload.services.contains(&Service::Postgres);
    both.then(|| {
        format!(
            "{}: the workload `{}` brings its own database with a table in it, and services = [\"postgres\"] of [target.{}] another: both are DATABASE_URL; measure it with another workload, or write a second target without `postgres`",
            target.id, workload.id, target.manifest.name
        )
    })
}

/// What has no effect, or no meaning, where users go through steps.
fn walk(plan: &Plan, workload: &Workload) -> Result<(), LabError> {
    if !workload.has_steps() {
        return Ok(());
    }
    if let Some(key) = plan.key_about_slices() {
        return Err(LabError::User(format!(
            "{key} has no effect, because the workload `{}` has steps: slices would hold more first steps than last ones; take it out",
            workload.id
        )));
    }
    if plan.profile.is_search() || plan.profile.is_overload() || plan.profile.is_rates() {
        return Err(LabError::User(format!(
            "the workload `{}` has steps, and kind = \"{}\" is applied with single requests: give connections, devices or a rate of walks",
            workload.id,
            plan.profile.kind()
        )));
    }
    if workload.proofs.contains(&Proof::Stored) && plan.profile.steps != profile::Steps::One {
        return Err(LabError::User(format!(
            "the walks of the workload `{}` write names that are drawn from the seed, and each of several levels of a load would write the same ones again: give one level, as connections = 64",
            workload.id
        )));
    }
    divided(plan, workload)
}

/// Scenarios with numbers of users of their own need that many.
fn divided(plan: &Plan, workload: &Workload) -> Result<(), LabError> {
    let scenario = workload.walk.as_ref().map(|walk| &walk.scenario);
    let Some(asked) = scenario.and_then(Scenario::users) else { return Ok(()) };
    let Profile { schedule, connections, steps, .. } = &plan.profile;
    let has = schedule.users(connections.count);
    let is_held = schedule.arrivals().is_none() && *steps == profile::Steps::One;
    if is_held && u64::from(has) == asked {
        return Ok(());
    }
    Err(LabError::User(format!(
        "the scenarios of the workload `{}` have {asked} users together (users=N): give connections = {asked}, or weights, as \"browse.toml:70\"",
        workload.id
    )))
}

/// What has no effect, or no meaning, where an answer is a stream that takes as long as it is meant to.
fn stream(plan: &Plan, workload: &Workload) -> Result<(), LabError> {
    if workload.answer.events.is_none() {
        return Ok(());
    }
    let wrong =
        |words: String| Err(LabError::User(format!("the workload `{}` {words}", workload.id)));
    if let Some(key) = plan.key_about_slices() {
        return wrong(format!("has streams, which are longer than slices: take {key} out"));
    }
    if plan.profile.is_search() || plan.profile.is_overload() || plan.profile.is_rates() {
        let kind = plan.profile.kind();
        return wrong(format!(
            "has streams, and kind = \"{kind}\" looks at how soon answers end: write kind = \"devices\", or \"closed\""
        ));
    }
    if matches!(plan.profile.warm_up, WarmUp::Auto { .. }) {
        return wrong(
            "has streams, of which most windows see none end, so that nothing shows when the target is steady: write warm_up = \"none\" or a time".into(),
        );
    }
    Ok(())
}

/// What a workload has in place of single requests that are answered at once; `None` if it has those.
pub(super) fn other_than_requests(workload: &Workload) -> Option<&'static str> {
    if workload.message.is_some() {
        Some("messages")
    } else if workload.has_steps() {
        Some("steps")
    } else {
        workload.answer.events.as_ref().map(|_| "streams")
    }
}

/// Users who ask a target while it is stopped send single requests.
fn live_on(plan: &Plan, workload: &Workload) -> Result<(), LabError> {
    match other_than_requests(workload) {
        Some(what) if plan.life => Err(LabError::User(format!(
            "`life` goes with workloads of single requests, and `{}` has {what}; take it out",
            workload.id
        ))),
        _ => Ok(()),
    }
}

/// What is not proved over HTTP/3: these proofs look at many connections, or at parts of an answer, as they
/// come.
fn unproved_over_http3(workload: &Workload) -> Option<&'static str> {
    workload.proofs.iter().find_map(|proof| match proof {
        Proof::Simultaneous { .. } => Some("many answers at once"),
        Proof::Events { .. } => Some("events"),
        _ => None,
    })
}

/// Checks that plan and targets agree on the protocol, and that `streams` has an effect.
fn speak(plan: &Plan, workload: &Workload, targets: &[(TargetId, Target)]) -> Result<(), LabError> {
    let mut protocols = Vec::new();
    for (id, target) in targets {
        let spoken = target
            .spoken(id.variant.as_deref(), plan.profile.protocol)
            .map_err(|message| LabError::User(format!("{id}: {message}")))?;
        if workload.message.is_some() && spoken.protocol() != Protocol::Http1 {
            let protocol = spoken.protocol().name();
            return Err(LabError::User(format!(
                "{id} is spoken with over {protocol}, and the workload `{}` is one of WebSocket, which is opened over HTTP/1.1; take it out of the plan",
                workload.id
            )));
        }
        if let (Protocol::Http3, Some(proof)) = (spoken.protocol(), unproved_over_http3(workload)) {
            return Err(LabError::User(format!(
                "{id} is spoken with over HTTP/3, over which Pippin has no proof of {proof}, and the workload `{}` has it; take it out of the plan",
                workload.id
            )));
        }
        protocols.push(spoken.protocol());
    }
    let has_streams = |protocol: &Protocol| matches!(protocol, Protocol::Http2 | Protocol::Http3);
    if plan.profile.connections.streams > 1 && !protocols.iter().any(has_streams) {
        return Err(LabError::User(
            "profile.streams has no effect, because no target of the plan is spoken with over HTTP/2 or HTTP/3; take it out, or write protocol = \"h2c\", \"h2\" or \"h3\"".into(),
        ));
    }
    Ok(())
}

/// What would let a target take part.
fn way_out(target: &Target, workload: &Workload) -> String {
    if target.id.language != pippin_model::target::project::LANGUAGE {
        return "take it out of the plan".into();
    }
    let (request, answer) = (&workload.request, &workload.answer);
    let body = answer.body.as_ref().map_or(String::new(), |body| format!(" and the body {body:?}"));
    format!(
        "to compare it there, let it answer {} {} with {}{body}, and write serves = [\"{}\"] in [target.{}] of pippin.toml",
        request.method, request.path, answer.status, workload.id, target.id.name
    )
}
