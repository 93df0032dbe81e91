//! One execution of a plan. Everything is installed first. Then come the repetitions of all
//! targets, interleaved in a seeded order, each with a fresh start.
//!
//! | module | what it does |
//! |---|---|
//! | `agreement` | whether plan, workload and targets go together |
//! | `preparation` | installs the targets, and writes down what they are |
//! | `split` | which processors target, generator and services have |
//! | `execution` | starts, measures and stops the targets, one after the other |
//! | `repetitions` | how many there are, and in which order |
//! | `earlier` | what an earlier run of the same load says about a run with a goal |
//! | `rounds` | a repetition of loads that are measured in slices: groups of targets, in rounds |
//! | `at_rest` | what targets use while nobody asks them, before the first of several rates |
//! | `member` | one target of a group |
//! | `counting`, [`callgrind`], [`processor`] | instructions per request, before each repetition |
//! | `explained` | what a profiler sees of the targets, after all repetitions |
//! | `life` | starts, memory and end of the targets, after all repetitions |
//! | `overload` | the capacity of a target, before more than it is offered |
//! | [`steps`] | the steps of a profile, known or searched for |
//! | [`recording`] | judges, stores and reports each finished trial |
//! | [`observer`] | receivers of progress events |
//! | [`explaining`] | targets under the profiler |
//! | [`perf`] | runs `perf` |
mod agreement;
mod at_rest;
pub mod callgrind;
mod counting;
mod earlier;
mod execution;
mod explained;
pub mod explaining;
mod life;
mod member;
pub mod observer;
mod overload;
pub mod perf;
mod preparation;
pub mod processor;
pub mod recording;
mod repetitions;
mod rounds;
mod split;
pub mod steps;

pub(crate) use agreement::two_databases;
pub(crate) use preparation::run_id;
pub use repetitions::order;
pub use split::split;
pub(crate) use split::workers;

use pippin_model::plan::Plan;
use pippin_model::run::labels::Labels;
use pippin_model::run::{Calibration, RunHeader, RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::LabError;
use crate::install;
use crate::run::agreement::{is_behind_proxy, resolve};
use crate::run::execution::Execution;
use crate::run::explaining::Explaining;
use crate::run::observer::Observer;
use crate::run::preparation::{header, prepare, stopped_by_limits};
use crate::run::recording::{Keeping, KeptRequests, Recording};
use crate::run::split::without_generator;
use crate::running::limits;
use crate::target::Kind;
use crate::target::catalog::{Catalog, Target};
use crate::trial::generator::Generator;
use crate::verify::live;

/// Whether another repetition is needed after so many of the plan or more, from the trials so far.
pub type IsOpen<'a> = &'a dyn Fn(&RunHeader, &[TrialRecord], u32) -> bool;

/// What a run needs besides its plan.
pub struct RunSettings<'a> {
    /// Where targets and workloads are.
    pub catalog: &'a Catalog,
    /// Where finished trials go.
    pub keeping: Keeping<'a>,
    /// What the user calls the run.
    pub labels: Labels,
    /// Whether the record keeps what may be a secret, as a load of a URL does.
    pub keep_requests: bool,
    /// A folder for logs and the services' files.
    pub folder: PathBuf,
    /// Targets that are missing may be installed.
    pub install: bool,
    /// System packages may be installed.
    pub apt: bool,
    /// Seeds order and loads.
    pub seed: u64,
    /// The generator's ceiling, if known.
    pub calibration: Option<Calibration>,
    /// Who applies the loads.
    pub generator: &'a dyn Generator,
    /// Where targets listen: an address of this machine, loopback unless generators are elsewhere.
    pub address: IpAddr,
    /// The probe that makes this run, if its coordinator is elsewhere.
    pub probe: Option<String>,
    /// Profiles the targets after all repetitions, if asked for.
    pub explaining: Option<&'a Explaining>,
    /// Whether repetitions are made beyond those of the plan.
    pub is_open: Option<IsOpen<'a>>,
    /// Whether the repetitions that the plan's goal asks for are not needed any more.
    pub is_decided: Option<IsOpen<'a>>,
    /// Whether the run ends as soon as a target cannot be built or started, because the others are
    /// worth nothing without it.
    pub needs_all: bool,
    /// Told what happens.
    pub observer: &'a dyn Observer,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// Executes a plan. If a target fails, the record says so, and the others go on.
///
/// # Errors
/// If the plan names something that does not exist, or the lab itself fails. An interruption is not
/// an error: it is in the record.
pub fn run(plan: Plan, settings: &RunSettings<'_>) -> Result<RunRecord, LabError> {
    let in_plan = |error| match error {
        LabError::User(message) => LabError::User(format!("plan {}: {message}", plan.id)),
        other => other,
    };
    let workload = settings.catalog.workload(&plan.workload).map_err(in_plan)?;
    let targets = resolve(&plan, &workload, settings.catalog).map_err(in_plan)?;
    let has_agents = !settings.generator.asks_referees();
    if let Some((id, _)) = targets.iter().find(|(_, target)| has_agents && is_behind_proxy(target))
    {
        return Err(in_plan(LabError::User(format!(
            "`proxy` of {id}: agents send nothing through a proxy; run it without --agents"
        ))));
    }
    if live::is_judged_here(&workload) && has_agents {
        return Err(in_plan(LabError::User(format!(
            "what the workload `{}` asks for changes while it is loaded, and only this process knows what is right at each instant; agents cannot ask it for each answer, and unjudged answers would prove nothing: run it without --agents",
            workload.id
        ))));
    }
    if workload.answer.events.is_some() && has_agents {
        return Err(in_plan(LabError::User(format!(
            "the events of the workload `{}` say instants of this machine's clock, and agents have clocks of their own: run it without --agents",
            workload.id
        ))));
    }
    let has_services = !workload.services.is_empty()
        || targets.iter().any(|(_, target)| !target.world.services.is_empty());
    let cpus = match settings.probe {
        Some(_) => without_generator(split(&plan)?, &plan, has_services),
        None => split(&plan)?,
    };
    limits::can_be_held(plan.limits, &targets, &cpus).map_err(in_plan)?;
    let counters = counting::counters(&plan, &workload, &targets).map_err(in_plan)?;
    something_is_installed(&targets, settings)?;
    std::fs::create_dir_all(&settings.folder)
        .map_err(LabError::io(format!("create {}", settings.folder.display())))?;
    let stopped = stopped_by_limits(&targets, &plan, &cpus);
    let prepared = prepare(&targets, stopped, &workload, settings)?;
    let register = settings.catalog.register()?;
    let profile = plan.profile.with_walks(workload.mean_steps());
    let plan = Plan { profile, ..plan };
    let header = header(plan, workload, &prepared, &register, settings);
    let public = settings.catalog.public(&header)?;
    let kept = KeptRequests::new(settings.keeping, public, settings.keep_requests);
    let recording = Recording::begin(header, settings.keeping, kept, settings.observer)?;
    let mut execution = Execution::new(recording, prepared, cpus, counters, settings);
    let outcome = execution.all_repetitions();
    let state = match &outcome {
        Ok(()) if settings.stop.load(Ordering::Relaxed) => RunState::Interrupted,
        Ok(()) => RunState::Finished,
        Err(LabError::Interrupted) => RunState::Interrupted,
        Err(_) => RunState::Failed,
    };
    let record = execution.recording.end(state)?;
    match outcome {
        Ok(()) | Err(LabError::Interrupted) => Ok(record),
        Err(error) => Err(error),
    }
}

/// Refuses a run in which no target could be measured, because none is installed and nothing may be.
fn something_is_installed(
    targets: &[(TargetId, Target)],
    settings: &RunSettings<'_>,
) -> Result<(), LabError> {
    let is_missing = |target: &Target| {
        matches!(target.kind, Kind::Catalog) && install::present(target).is_none()
    };
    if settings.install || !targets.iter().all(|(_, target)| is_missing(target)) {
        return Ok(());
    }
    let message = if settings.probe.is_some() {
        "nothing is installed on the probe's machine: `pippin agent --probe --install` does it"
    } else {
        "nothing is installed: add --install"
    };
    Err(LabError::User(message.into()))
}
