//! One execution of a plan. Everything is installed first. Then come the repetitions of all
//! targets, interleaved in a seeded order, each with a fresh start.
//!
//! | module | what it does |
//! |---|---|
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
mod at_rest;
pub mod callgrind;
mod counting;
mod explained;
pub mod explaining;
mod life;
mod member;
pub mod observer;
mod overload;
pub mod perf;
pub mod processor;
pub mod recording;
mod rounds;
pub mod steps;

use pippin_model::load::{Protocol, Scenario, WarmUp};
use pippin_model::plan::Plan;
use pippin_model::plan::cpus::{CpuSet, CpuSplit};
use pippin_model::plan::limits::Limits;
use pippin_model::plan::profile::{self, Profile};
use pippin_model::run::labels::Labels;
use pippin_model::run::{Calibration, RunHeader, RunRecord, RunState, TargetInfo};
use pippin_model::target::TargetId;
use pippin_model::target::register::Register;
use pippin_model::text::units::format_length;
use pippin_model::trial::{Failure, Stage, Step, TrialRecord, TrialSpec};
use pippin_model::verdict::Caveat;
use pippin_model::workload::{Message, Proof, Sample, Service, Workload};
use pippin_stats::gate::comparing::has_time;
use pippin_stats::planning::Progress;
use pippin_stats::planning::choice::Choice;
use pippin_stats::planning::words::length;
use pippin_stats::rank::sequential::{self, FEWEST_REPETITIONS};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::check::conformance;
use crate::error::LabError;
use crate::host::descriptors;
use crate::install::{self, Installed, Installer, versions};
use crate::lifecycle::affinity;
use crate::load;
use crate::run::counting::Counters;
use crate::run::explaining::Explaining;
use crate::run::observer::{Event, Observer};
use crate::run::recording::{Keeping, KeptRequests, Recording};
use crate::run::steps::Steps;
use crate::running::{RunningTarget, StartSettings, limits};
use crate::services::{ServiceSettings, Services};
use crate::slices::room::Room;
use crate::target::Kind;
use crate::target::catalog::{Catalog, Target};
use crate::trial::again::made_again;
use crate::trial::generator::Generator;
use crate::trial::proving::{ProvedTarget, Watching};
use crate::trial::{Trial, Watch, empty_record, unix_now_ns};
use crate::verify::{
    self,
    live::{self, Live},
};

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

type Prepared = BTreeMap<TargetId, (Target, Result<Installed, Failure>)>;

fn resolve(
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
fn is_behind_proxy(target: &Target) -> bool {
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
fn other_than_requests(workload: &Workload) -> Option<&'static str> {
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

/// Reports targets that cannot hold the plan's connections here, before anything is installed or
/// started.
fn stopped_by_limits(
    targets: &[(TargetId, Target)],
    plan: &Plan,
    cpus: &CpuSplit,
) -> BTreeMap<TargetId, Failure> {
    let open_files = descriptors::open_files();
    let stops = |id, target| descriptors::stops(target, id, plan, workers(plan, cpus), open_files);
    targets.iter().filter_map(|(id, target)| Some((id.clone(), stops(id, target)?))).collect()
}

/// `WORKERS` of every target.
pub(crate) fn workers(plan: &Plan, cpus: &CpuSplit) -> u32 {
    plan.workers.unwrap_or(cpus.target.len().max(1) as u32)
}

/// Installs what is missing. On an interruption, finished installations stay; the remaining targets
/// are recorded as not installed.
fn prepare(
    targets: &[(TargetId, Target)],
    mut stopped: BTreeMap<TargetId, Failure>,
    workload: &Workload,
    settings: &RunSettings<'_>,
) -> Result<Prepared, LabError> {
    let interrupted = || settings.stop.load(Ordering::Relaxed);
    let say = |text: &str| settings.observer.event(&Event::Note(text));
    let installer = Installer {
        apt_allowed: settings.apt,
        steps_allowed: settings.install,
        say: &say,
        interrupted: &interrupted,
    };
    let databases = targets.iter().any(|(_, target)| target.world.has_database());
    match Services::provide(&workload.services, databases, &installer) {
        Ok(()) | Err(LabError::Interrupted) => {}
        Err(other) => return Err(other),
    }
    let mut prepared = Prepared::new();
    // The values of a scan share a folder, which is built once.
    let built = |target: &Target| {
        (target.id.language.clone(), target.id.plain_name().to_string(), target.folder.clone())
    };
    let mut done: BTreeMap<_, Result<Installed, Failure>> = BTreeMap::new();
    for (id, target) in targets {
        let outcome = match (stopped.remove(id), done.get(&built(target))) {
            (Some(stopped), _) => Err(stopped),
            (None, Some(outcome)) => outcome.clone(),
            (None, None) => {
                let outcome = match installer.install(target) {
                    Ok(installed) => Ok(installed),
                    Err(LabError::Target(failure)) => Err(failure),
                    Err(LabError::Interrupted) => Err(not_installed()),
                    Err(other) => return Err(other),
                };
                done.insert(built(target), outcome.clone());
                outcome
            }
        };
        if let Some(failure) = outcome.as_ref().err().filter(|_| !interrupted()) {
            settings.observer.event(&Event::Unavailable(id, failure));
        }
        prepared.insert(id.clone(), (target.clone(), outcome));
    }
    Ok(prepared)
}

fn not_installed() -> Failure {
    Failure {
        stage: Stage::Install,
        message: "interrupted before it was installed".into(),
        log_tail: Vec::new(),
    }
}

fn header(
    plan: Plan,
    workload: Workload,
    prepared: &Prepared,
    register: &Register,
    settings: &RunSettings<'_>,
) -> RunHeader {
    let info = |(target, outcome): &(Target, Result<Installed, Failure>)| TargetInfo {
        manifest: target.kept_manifest(),
        route: outcome.as_ref().ok().map(|installed| installed.route.clone()),
        versions: outcome
            .as_ref()
            .map(|installed| versions::read(target, installed))
            .unwrap_or_default(),
        digest: target.digest(),
        commit: target.commit(),
        registered: register
            .entries(&target.id, outcome.as_ref().ok().map(|installed| installed.route.as_str())),
        unavailable: outcome.as_ref().err().cloned(),
    };
    let started = unix_now_ns();
    RunHeader {
        id: run_id(started, &plan.id),
        started_unix_ns: started,
        pippin_version: env!("CARGO_PKG_VERSION").into(),
        workload,
        url: None,
        requests: None,
        server: None,
        seed: settings.seed,
        host: pippin_probe::fingerprint(),
        probe: settings.probe.clone(),
        targets: prepared.iter().map(|(id, entry)| (id.clone(), info(entry))).collect(),
        calibration: settings.calibration.clone(),
        labels: settings.labels.clone(),
        plan,
    }
}

/// A name that sorts by time and is unique among Pippins.
pub(crate) fn run_id(started_unix_ns: u64, plan: &str) -> String {
    let started = jiff::Timestamp::from_nanosecond(started_unix_ns.into()).unwrap_or_default();
    // Milliseconds are not enough: a script may start several runs in the same one.
    format!("{}-{plan}", started.strftime("%Y%m%d-%H%M%S%.6f"))
}

/// How many repetitions there are at least: with a precision, measuring ends early once it is
/// reached. With a goal, the plan has the least number.
fn least_repetitions(plan: &Plan) -> u32 {
    match plan.precision {
        Some(_) => plan.repetitions.min(FEWEST_REPETITIONS),
        None => plan.repetitions,
    }
}

/// The order in which the targets of a run are measured, `(repetition, target)`: those that are
/// available, interleaved by the run's seed.
#[must_use]
pub fn order(header: &RunHeader) -> Vec<(u32, TargetId)> {
    order_of(header, header.plan.repetitions)
}

/// The order of so many repetitions. It begins as that of fewer.
fn order_of(header: &RunHeader, repetitions: u32) -> Vec<(u32, TargetId)> {
    let is_available =
        |id: &TargetId| header.targets.get(id).is_some_and(|info| info.unavailable.is_none());
    let available: Vec<TargetId> =
        header.plan.targets.iter().filter(|id| is_available(id)).cloned().collect();
    pippin_stats::rounds::order::interleaved(
        &available,
        repetitions,
        &mut Xoshiro256PlusPlus::seed_from_u64(header.seed),
    )
}

/// What a start is given beside what all have.
#[derive(Debug, Clone, Copy, Default)]
struct Extra<'a> {
    environment: &'a [(&'a str, &'a str)],
    /// A port that it must use.
    port: Option<u16>,
    /// Words before its command.
    before: &'a [String],
    /// The plan's limits are left out: what is added to the target would be limited too.
    unlimited: bool,
}

struct Execution<'a> {
    recording: Recording<'a>,
    prepared: Prepared,
    settings: &'a RunSettings<'a>,
    cpus: CpuSplit,
    samples: Vec<Sample>,
    given_up: BTreeSet<TargetId>,
    /// Targets that are not idle without requests, and the evidence.
    restless: BTreeMap<TargetId, String>,
    /// Counts instructions, if the plan asks for it.
    counters: Option<Counters>,
    /// Targets whose instructions cannot be counted, and why.
    uncountable: BTreeMap<TargetId, String>,
    room: Room,
    number: usize,
    /// Trials of all targets that are available.
    in_all: usize,
    /// When the first repetition began.
    began: Instant,
    /// What the repetitions beyond the first ones are spent on, if a goal decides on them.
    choice: Option<Choice>,
}

impl<'a> Execution<'a> {
    fn new(
        recording: Recording<'a>,
        prepared: Prepared,
        cpus: CpuSplit,
        counters: Option<Counters>,
        settings: &'a RunSettings<'a>,
    ) -> Self {
        let header = recording.header();
        let samples = header.workload.samples(header.seed, verify::PROVED);
        let in_all = order(header).len() * Steps::number(&header.plan.profile);
        Self {
            recording,
            prepared,
            settings,
            cpus,
            samples,
            given_up: BTreeSet::new(),
            restless: BTreeMap::new(),
            counters,
            uncountable: BTreeMap::new(),
            room: Room::default(),
            number: 0,
            in_all,
            began: Instant::now(),
            choice: None,
        }
    }

    fn header(&self) -> &RunHeader {
        self.recording.header()
    }

    fn interrupted(&self) -> bool {
        self.settings.stop.load(Ordering::Relaxed)
    }

    fn all_repetitions(&mut self) -> Result<(), LabError> {
        let order = order(self.header());
        if order.is_empty() || self.interrupted() {
            return Ok(());
        }
        let mut services = self.start_services()?;
        self.began = Instant::now();
        for repetition in 0.. {
            if !self.needs(repetition) {
                break;
            }
            let order = order_of(self.header(), repetition + 1);
            let targets = order.iter().filter(|(of, _)| *of == repetition).map(|(_, id)| id);
            let targets: Vec<TargetId> = targets.cloned().collect();
            self.count_all(repetition, &targets, &mut services)?;
            if self.is_sliced() {
                self.rounds(repetition, targets, &mut services)?;
            } else {
                self.one_by_one(repetition, &targets, &mut services)?;
            }
        }
        self.live_all(&mut services)?;
        self.explain_all(&mut services)
    }

    /// One repetition of loads that are not measured in slices.
    fn one_by_one(
        &mut self,
        repetition: u32,
        targets: &[TargetId],
        services: &mut Services,
    ) -> Result<(), LabError> {
        for id in targets {
            if self.interrupted() {
                return Err(LabError::Interrupted);
            }
            if self.takes_part(id) && !self.is_lost() {
                self.session(id, repetition, services)?;
            }
        }
        Ok(())
    }

    /// The targets that have a result, in the order of the plan.
    fn with_results(&self) -> Vec<TargetId> {
        let has_result = |id: &TargetId| {
            let of = |record: &TrialRecord| record.spec.target == *id && record.load.is_some();
            self.takes_part(id) && self.recording.trials().iter().any(of)
        };
        self.header().plan.targets.iter().filter(|id| has_result(id)).cloned().collect()
    }

    fn takes_part(&self, id: &TargetId) -> bool {
        !self.given_up.contains(id) && !self.settings.observer.skips(id)
    }

    fn start_services(&self) -> Result<Services, LabError> {
        let plan = &self.header().plan;
        let settings = ServiceSettings {
            folder: &self.settings.folder,
            cpus: self.cpus.services.clone(),
            database_connections: self.pool() * self.up_together() as u32,
            tables: self.up_together() as u32,
            upstream_delay_ns: plan.upstream_delay_ns,
            databases: self.prepared.values().any(|(target, _)| target.world.has_database()),
        };
        Services::start(&self.header().workload, &settings, &|| self.interrupted())
    }

    /// Connections to the database that a target may open: twice its pool, because some open as
    /// many again before they close the old ones.
    fn pool(&self) -> u32 {
        self.header().plan.database_pool.max(self.workers() * 2) * 2
    }

    /// Targets that may be up at the same time.
    fn up_together(&self) -> usize {
        if self.is_sliced() { self.header().plan.targets.len() } else { 1 }
    }

    fn is_sliced(&self) -> bool {
        let RunHeader { plan, workload, .. } = self.header();
        plan.profile.is_sliced()
            && !workload.has_steps()
            && workload.answer.events.is_none()
            && self.settings.generator.is_ready_at_once()
    }

    fn workers(&self) -> u32 {
        workers(&self.header().plan, &self.cpus)
    }

    /// One start of a target, with all steps of the profile.
    fn session(
        &mut self,
        id: &TargetId,
        repetition: u32,
        services: &mut Services,
    ) -> Result<(), LabError> {
        let Some((target, Ok(installed))) = self.prepared.get(id).cloned() else { return Ok(()) };
        let mut spec = self.spec(id, repetition, None);
        self.announce(&spec);
        let mut running = match self.start(id, &target, &installed, services) {
            Ok(running) => running,
            Err(LabError::Target(failure)) => {
                let mut record = empty_record(&spec);
                record.failure = Some(failure);
                // It would fail in every repetition.
                self.given_up.insert(id.clone());
                return self.finish(record, Vec::new());
            }
            Err(other) => return Err(other),
        };
        let mut steps = Steps::from_profile(&self.header().plan.profile);
        let mut step = steps.next();
        while let Some(current) = step {
            spec.step = current;
            let mut record = match self.applied(&spec, &mut running, services) {
                Ok(profile) => self.make(&spec, &profile, &mut running, services),
                Err(failure) => TrialRecord { failure: Some(failure), ..empty_record(&spec) },
            };
            if self.was_skipped(&record) {
                drop(running.stop());
                return Ok(());
            }
            self.recording.judge(&mut record, running.doubts());
            steps.observe(&record, &self.watch());
            let over =
                record.failure.is_some() || self.interrupted() || self.settings.observer.skips(id);
            step = if over { None } else { steps.next() };
            if step.is_some() {
                running.begin_step();
            }
            if step.is_none() {
                if record.failure.as_ref().is_some_and(|failure| failure.stage == Stage::Proof) {
                    self.given_up.insert(id.clone());
                }
                return self.finish(record, running.stop());
            }
            self.recording.keep(record)?;
            spec = self.spec(id, repetition, step.flatten());
            self.announce(&spec);
        }
        drop(running.stop());
        Ok(())
    }

    fn start(
        &self,
        id: &TargetId,
        target: &Target,
        installed: &Installed,
        services: &mut Services,
    ) -> Result<RunningTarget, LabError> {
        self.start_with(id, target, installed, services, &Extra::default())
    }

    fn start_with(
        &self,
        id: &TargetId,
        target: &Target,
        installed: &Installed,
        services: &mut Services,
        extra: &Extra<'_>,
    ) -> Result<RunningTarget, LabError> {
        self.settings.observer.event(&Event::Stage("starting"));
        let around = services.of_next_target(target, installed, &|| self.interrupted())?;
        let settings = StartSettings {
            cpus: self.cpus.target.clone(),
            workers: self.workers(),
            limits: if extra.unlimited { Limits::default() } else { self.header().plan.limits },
            database_pool: self.header().plan.database_pool,
            more: extra.environment,
            folder: &self.settings.folder,
            address: self.settings.address,
            protocol: self.header().plan.profile.protocol,
            messages: self.header().workload.message.map(Message::messages),
            port: extra.port,
            before: extra.before,
        };
        RunningTarget::start(target, id, installed, &settings, around, &|| self.interrupted())
    }

    fn watch(&self) -> Watch<'a> {
        Watch { observer: self.settings.observer, stop: self.settings.stop }
    }

    fn announce(&mut self, spec: &TrialSpec) {
        self.number += 1;
        self.settings.observer.event(&Event::TrialStarted(spec, self.number, self.in_all));
    }

    /// Makes a trial; the load is that of `profile`.
    fn make(
        &self,
        spec: &TrialSpec,
        profile: &Profile,
        running: &mut RunningTarget,
        services: &mut Services,
    ) -> TrialRecord {
        self.make_watched(&self.watch(), spec, profile, running, services)
    }

    /// Makes one trial under another watch.
    fn make_watched(
        &self,
        watch: &Watch<'_>,
        spec: &TrialSpec,
        profile: &Profile,
        running: &mut RunningTarget,
        services: &mut Services,
    ) -> TrialRecord {
        made_again(self.settings.generator, watch, || {
            let cores = spec.cpus.generator.0.iter().copied().collect();
            let base = running.way().base(cores, spec.seed);
            let mut proving = ProvedTarget {
                workload: &self.header().workload,
                samples: &self.samples,
                target: running,
                services,
                counts_anew: false,
                live: Live::default(),
                // Not in searches: they make many loads already.
                helping: (!spec.profile.is_search()).then(Watching::default),
                closes: false,
                asks_conformance: conformance::is_asked(&self.header().plan, spec),
            };
            let life = proving.target.life();
            let trial = Trial {
                load: load::from_profile(profile, spec.step, base),
                roots: Some(proving.roots()),
                proving: Some(&mut proving),
                referee: None,
                generator: self.settings.generator,
                keeps_going: false,
                life,
            };
            until_skipped(watch, &spec.target, |watch| trial.make(spec, watch))
        })
    }

    fn spec(&self, id: &TargetId, repetition: u32, step: Option<Step>) -> TrialSpec {
        TrialSpec {
            target: id.clone(),
            workload: self.header().workload.id.clone(),
            profile: self.header().plan.profile.clone(),
            repetition,
            repetitions: least_repetitions(&self.header().plan),
            step,
            cpus: self.cpus_with(id),
            workers: self.workers(),
            // The same load for every target of a repetition.
            seed: self.header().seed.wrapping_add(u64::from(repetition)),
        }
    }

    /// Who runs where when this target is measured: a server that runs already was given nothing.
    fn cpus_with(&self, id: &TargetId) -> CpuSplit {
        let runs_already = self
            .prepared
            .get(id)
            .is_some_and(|(target, _)| matches!(target.kind, crate::target::Kind::Listening(_)));
        let target = if runs_already { CpuSet::default() } else { self.cpus.target.clone() };
        CpuSplit { target, ..self.cpus.clone() }
    }

    /// Whether the user skipped the target during its load. What was measured until then is not a
    /// result.
    fn was_skipped(&self, record: &TrialRecord) -> bool {
        !self.interrupted()
            && self.settings.observer.skips(&record.spec.target)
            && record.load.as_ref().is_some_and(|load| load.interrupted)
    }

    fn finish(&mut self, mut record: TrialRecord, at_the_end: Vec<Caveat>) -> Result<(), LabError> {
        self.recording.judge(&mut record, at_the_end);
        // A trial that the user cut short does not count as finished.
        let cut_short =
            self.interrupted() && record.load.as_ref().is_none_or(|load| load.interrupted);
        if cut_short {
            return Err(LabError::Interrupted);
        }
        self.recording.keep(record)
    }

    /// Whether a target failed that the run cannot do without.
    fn is_lost(&self) -> bool {
        let is_unavailable = |(_, outcome): &(Target, Result<Installed, Failure>)| outcome.is_err();
        let has_failed = |trial: &TrialRecord| trial.failure.is_some() && trial.load.is_none();
        self.settings.needs_all
            && (self.prepared.values().any(is_unavailable)
                || self.recording.trials().iter().any(has_failed))
    }

    /// Whether a repetition is needed after so many: by the plan, unless its precision is reached;
    /// beyond it, by its goal, and by gates that are not decided.
    fn needs(&mut self, made: u32) -> bool {
        let planned = self.header().plan.repetitions;
        if self.is_lost() {
            return false;
        }
        if made < planned && !(made > 0 && self.is_precise_enough(made)) {
            if made == 1 {
                self.tell_least_time(planned);
            }
            return true;
        }
        if made == planned {
            let progress = Progress::from_trials(self.header(), self.recording.trials(), made);
            self.choice = progress.and_then(|progress| progress.choice);
        }
        if self.interrupted() || made == 0 || !self.has_time(made) {
            return false;
        }
        let Some(why) = self.is_open(made) else { return false };
        why.iter().for_each(|said| self.settings.observer.event(&Event::Note(said)));
        let steps = Steps::number(&self.header().plan.profile);
        self.in_all = self.number + order_of(self.header(), 1).len() * steps;
        true
    }

    /// Says after the first repetition if the least number of a goal takes longer than its time.
    fn tell_least_time(&self, least: u32) {
        let Some(goal) = &self.header().plan.goal else { return };
        let one = self.began.elapsed();
        if one.saturating_mul(least) <= Duration::from_nanos(goal.longest_ns()) {
            return;
        }
        let said = format!(
            "{least} repetitions take about {}, longer than {}: they are made in any case, because fewer starts say nothing",
            length(one.as_nanos() as f64 * f64::from(least)),
            format_length(goal.longest_ns())
        );
        self.settings.observer.event(&Event::Note(&said));
    }

    /// Whether the goal of the plan leaves time for another repetition. Without a goal there is.
    fn has_time(&self, made: u32) -> bool {
        self.header().plan.goal.as_ref().is_none_or(|goal| {
            let (spent, longest) = (self.began.elapsed(), Duration::from_nanos(goal.longest_ns()));
            let fits = self.choice.is_none_or(|choice| spent + choice.each() <= longest);
            fits && has_time(spent, made, longest)
        })
    }

    /// Why another repetition is made beyond the planned ones; `None` if none is. Nothing is said
    /// where it was said before.
    fn is_open(&self, made: u32) -> Option<Option<String>> {
        let (header, trials) = (self.header(), self.recording.trials());
        let holds = |ask: Option<IsOpen<'_>>| ask.is_some_and(|ask| ask(header, trials, made));
        let progress = Progress::from_trials(header, trials, made).filter(Progress::is_open);
        if let Some(progress) = progress.filter(|_| !holds(self.settings.is_decided)) {
            let times = made / header.plan.repetitions.max(1);
            let is_said = made.is_multiple_of(header.plan.repetitions) && times.is_power_of_two();
            return Some(is_said.then(|| progress.expectation()));
        }
        holds(self.settings.is_open)
            .then(|| Some(format!("gates are not decided after {made} repetitions: one more")))
    }

    /// Whether the plan's precision is reached before the last repetition.
    fn is_precise_enough(&self, repetitions: u32) -> bool {
        let header = self.header();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(header.seed);
        header.plan.precision.is_some_and(|precision| {
            sequential::is_precise_enough(self.recording.trials(), repetitions, precision, &mut rng)
        })
    }
}

/// Who runs where on this machine.
///
/// # Errors
/// If the plan names a processor that this process may not use.
pub fn split(plan: &Plan) -> Result<CpuSplit, LabError> {
    let available = affinity::available();
    if plan.cpus.share {
        return Ok(CpuSplit {
            target: available.clone(),
            generator: available.clone(),
            services: available,
        });
    }
    let default = CpuSplit::default_for(&available);
    let named = |key: &str, wish: &Option<CpuSet>, other: &CpuSet| match wish {
        None => Ok(other.clone()),
        Some(wish) if wish.0.is_subset(&available.0) => Ok(wish.clone()),
        Some(wish) => Err(LabError::User(format!(
            "plan {}: cpus.{key} is {wish}, but this process may use {available}; change it or take it out",
            plan.id
        ))),
    };
    let generator = named("generator", &plan.cpus.generator, &default.generator)?;
    Ok(CpuSplit {
        target: named("target", &plan.cpus.target, &default.target)?,
        services: named("services", &plan.cpus.services, &generator)?,
        generator,
    })
}

/// If the generators run on other machines, the target gets their processors too, unless services
/// use them or the plan names the target's processors.
fn without_generator(split: CpuSplit, plan: &Plan, has_services: bool) -> CpuSplit {
    let mut target = split.target;
    if !has_services && plan.cpus.target.is_none() {
        target.0.extend(&split.generator.0);
    }
    let services = if has_services { split.services } else { CpuSet::default() };
    CpuSplit { target, generator: CpuSet::default(), services }
}

/// How often a thread looks whether the user skips the target under load: seldom, because it wakes
/// up beside the load.
const LOOK_FOR_SKIP: Duration = Duration::from_millis(200);

/// Works under a watch that also ends when the user skips the target. A load knows one flag only,
/// so that a thread must set it.
fn until_skipped<T>(watch: &Watch<'_>, target: &TargetId, work: impl FnOnce(&Watch<'_>) -> T) -> T {
    let stop = &AtomicBool::new(false);
    let (working, worked) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while worked.recv_timeout(LOOK_FOR_SKIP) == Err(RecvTimeoutError::Timeout) {
                if watch.is_over() || watch.observer.skips(target) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        // Dropped when the work is over, also by a panic: the thread then ends at once.
        let _working = working;
        work(&Watch { observer: watch.observer, stop })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run::{closed, header};

    #[test]
    fn without_a_generator_the_target_has_its_processors_too() {
        let cpus = |text: &str| CpuSet::parse(text).unwrap();
        let split =
            || CpuSplit { target: cpus("0-1"), generator: cpus("2-3"), services: cpus("2-3") };
        let header = header("hello", "Hello", closed(), &["go/net-http"]);
        let alone = without_generator(split(), &header.plan, false);
        assert_eq!((alone.target, alone.services.len()), (cpus("0-3"), 0));
        let beside = without_generator(split(), &header.plan, true);
        assert_eq!((beside.target, beside.services), (cpus("0-1"), cpus("2-3")));
        assert!(beside.generator.is_empty());
    }

    #[test]
    fn run_ids_sort_by_time() {
        assert_eq!(run_id(1_795_293_339_123_456_000, "hello"), "20261121-203539.123456-hello");
        assert!(run_id(0, "a").starts_with("19700101-000000"));
    }
}
