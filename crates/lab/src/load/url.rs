//! A load of a URL, as a run of its own: what `pippin load` does.
use pippin_model::host::usage::Role;
use pippin_model::load::{LoadSpec, Protocol};
use pippin_model::plan::cpus::{CpuSet, CpuSplit};
use pippin_model::plan::profile::Profile;
use pippin_model::request::requests::Whole;
use pippin_model::request::secrets::{Public, without_values};
use pippin_model::run::labels::Labels;
use pippin_model::run::{
    Calibration, RunHeader, RunRecord, RunState, ServerProcess, TargetInfo, UrlServer,
};
use pippin_model::target::TargetId;
use pippin_model::text::units::counted;
use pippin_model::trial::{Single, Stage, Step, TrialRecord, TrialSpec};
use pippin_model::workload::Request;
use pippin_probe::server::{self, NoServer, Place, Servers};
use pippin_probe::{RoleRoot, Roots, Serving};
use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::error::LabError;
use crate::load;
use crate::load::spoken;
use crate::run::observer::Event;
use crate::run::recording::{Keeping, KeptRequests, Recording};
use crate::run::run_id;
use crate::run::steps::Steps;
use crate::target::ad_hoc;
use crate::trial::again::made_again;
use crate::trial::generator::Generator;
use crate::trial::single;
use crate::trial::{Trial, Watch, unix_now_ns};

/// The name of such runs where others have that of their plan.
pub const PLAN: &str = "load";

/// What is loaded, and how.
pub struct UrlLoad<'a> {
    /// The URL as it was given.
    pub url: String,
    /// What is loaded, for people: the URL, and the file of the requests if there is one.
    pub title: String,
    /// Its method and path, as they are asked.
    pub request: Request,
    /// The status that is right; 200 where several are.
    pub status: u16,
    /// How load is applied.
    pub profile: Profile,
    /// How often it is applied.
    pub repetitions: u32,
    /// Everything else that the generator is asked: addresses, requests, timeouts, threads.
    pub base: LoadSpec,
    /// Addresses of the server, to find its processes if it runs on this machine: those of `base`,
    /// unless agents look them up themselves.
    pub observed: Vec<SocketAddr>,
    /// What the user calls the run.
    pub labels: Labels,
    /// Whether the record keeps what may be a secret: bodies, values of headers and queries, answers
    /// that went wrong, lines of the server's log.
    pub keep_requests: bool,
    /// The server's first processes, where they were named; else they are looked for.
    pub target_pids: Vec<i32>,
    /// The generator's ceiling, if it is known and holds for this load.
    pub calibration: Option<Calibration>,
    /// Who applies the load.
    pub generator: &'a dyn Generator,
    /// Whether the tiers behind the server are looked for.
    pub follows_tiers: bool,
    /// Whether the load goes on when the server has ended.
    pub keeps_going: bool,
}

/// Loads a URL: every step of the profile, each kept as it finishes.
///
/// # Errors
/// If the first step cannot run as it is asked for. A later one that cannot is in the record, and
/// ends the run.
pub fn run(
    load: UrlLoad<'_>,
    keeping: Keeping<'_>,
    watch: &Watch<'_>,
) -> Result<RunRecord, LabError> {
    let UrlLoad { ref profile, ref base, .. } = load;
    let mut servers = servers(&load)?;
    let mut first_single = Some(first_single(&load)?).filter(|_| is_asked(&load));
    let kept = KeptRequests::new(keeping, Public::default(), load.keep_requests);
    let header = header(&load, kept.known(base), &servers);
    let mut recording = Recording::begin(header, keeping, kept, watch.observer)?;
    let mut repetitions =
        (0..load.repetitions).map(|repetition| (repetition, Steps::from_profile(profile)));
    let mut under_way = repetitions.next();
    let (mut number, in_all) = (0, Steps::number(profile) * load.repetitions as usize);
    let mut state = RunState::Finished;
    while let Some((repetition, steps)) = &mut under_way {
        let Some(step) = steps.next() else {
            under_way = repetitions.next();
            continue;
        };
        number += 1;
        let spec = spec(&load, recording.header(), *repetition, step);
        watch.observer.event(&Event::TrialStarted(&spec, number, in_all.max(number)));
        let trial = || Trial {
            load: load::from_profile(profile, step, LoadSpec { seed: spec.seed, ..base.clone() }),
            roots: Some(roots(&load, servers.as_ref().ok())),
            proving: None,
            referee: None,
            generator: load.generator,
            keeps_going: load.keeps_going,
            life: None,
        };
        let single = first_single.take().unwrap_or_else(|| {
            is_asked(&load).then(|| single::measure_url(&trial().load, profile)).flatten()
        });
        let mut record = made_again(load.generator, watch, || trial().make(&spec, watch));
        note_single(&mut record, single);
        recording.judge(&mut record, Vec::new());
        if let Some(failure) = &record.failure {
            // What was measured until a part of the engine died is kept.
            if recording.trials().is_empty() && record.load.is_none() {
                let failure = failure.clone();
                recording.end(RunState::Failed)?;
                return Err(not_applied(failure.stage, failure.message));
            }
            recording.keep(record)?;
            state = RunState::Failed;
            break;
        }
        let has_changed = !record.ended.is_empty();
        let is_over = record.server_end.is_some();
        recording.keep(record)?;
        if let Some(made) = recording.trials().last() {
            steps.observe(made, watch);
        }
        if is_over && !load.keeps_going {
            break;
        }
        // The next load is of those that serve now.
        if has_changed && load.target_pids.is_empty() {
            servers = server::behind(&place(&load));
        }
        if watch.is_over() {
            state = RunState::Interrupted;
            break;
        }
    }
    recording.end(state)
}

/// Whether this machine may ask the server before a load.
fn is_asked(load: &UrlLoad<'_>) -> bool {
    load.generator.is_ready_at_once()
}

/// The single requests before the first load. Where there are none, or one failed, it is looked
/// whether the server speaks what the load speaks.
fn first_single(load: &UrlLoad<'_>) -> Result<Option<Single>, LabError> {
    let step = Steps::from_profile(&load.profile).next().flatten();
    let first = load::from_profile(&load.profile, step, load.base.clone());
    if !is_asked(load) || pippin_engine::check(&first).is_err() {
        return Ok(None);
    }
    let single = single::measure_url(&first, &load.profile);
    if single.is_some() {
        return Ok(single);
    }
    let may_ask = single::may_ask(&first, &load.profile);
    spoken::other_than_http1(&first, may_ask).map_or(Ok(None), |instead| {
        Err(LabError::User(format!("{} cannot be loaded like this: {instead}", load.url)))
    })
}

/// Single requests before the load are part of its warm-up.
fn note_single(record: &mut TrialRecord, single: Option<Single>) {
    record.single = single;
    if let (Some(single), Some(load)) = (&single, &mut record.load) {
        load.warm_up.completed += single::requests_of(single);
    }
}

/// Why the last step was not finished; `None` if it was. If something was measured, the lab failed;
/// otherwise the step could not run as requested.
#[must_use]
pub fn failure(record: &RunRecord) -> Option<LabError> {
    let last = record.trials.last()?;
    let failure = last.failure.clone()?;
    Some(match (&last.load, record.trials.len() - 1) {
        (Some(_), _) => LabError::Target(failure),
        (None, kept) => {
            let kept = counted(kept as u64, "step");
            let are = if kept == "1 step" { "is" } else { "are" };
            let message = format!("{} (after {kept} that {are} kept)", failure.message);
            not_applied(failure.stage, message)
        }
    })
}

/// Why a load was not applied: by what was asked for, or by agents that were lost.
const fn not_applied(stage: Stage, message: String) -> LabError {
    match stage {
        Stage::Agents => LabError::Agents(message),
        _ => LabError::User(message),
    }
}

/// The processes that serve the URL on this machine, or why none is measured.
fn servers(load: &UrlLoad<'_>) -> Result<Result<Servers, NoServer>, LabError> {
    if load.target_pids.is_empty() {
        return Ok(server::behind(&place(load)));
    }
    server::of_processes(&load.target_pids)
        .map(Ok)
        .map_err(|error| LabError::User(format!("--target-pid: {error}")))
}

/// Where the load goes.
fn place(load: &UrlLoad<'_>) -> Place {
    match &load.base.unix_socket {
        Some(path) => Place::UnixSocket(path.clone()),
        None if load.base.protocol == Protocol::Http3 => Place::Udp(load.observed.clone()),
        None => Place::Addresses(load.observed.clone()),
    }
}

fn roots(load: &UrlLoad<'_>, servers: Option<&Servers>) -> Roots {
    let generator = vec![RoleRoot::Process(std::process::id() as i32)];
    let mut roles = BTreeMap::from([(Role::Generator, generator)]);
    if let Some(servers) = servers {
        roles.insert(Role::Target, servers.processes.iter().map(|server| server.root).collect());
    }
    // This host has no table of the listeners on another.
    let observed = &load.observed;
    let is_here = servers.is_some() || observed.iter().all(|address| address.ip().is_loopback());
    Roots {
        roles,
        log: servers.and_then(|all| all.processes.iter().find_map(|one| one.log.clone())),
        address: observed.first().copied().filter(|_| is_here),
        apart: servers.map(|servers| servers.apart.clone()).unwrap_or_default(),
        serving: servers.map(|servers| Serving {
            place: place(load),
            servers: servers.clone(),
            follows: load.follows_tiers,
        }),
        ..Roots::default()
    }
}

fn spec(load: &UrlLoad<'_>, header: &RunHeader, repetition: u32, step: Option<Step>) -> TrialSpec {
    TrialSpec {
        target: target_of(&load.title),
        workload: header.workload.id.clone(),
        profile: load.profile.clone(),
        repetitions: load.repetitions,
        repetition,
        step,
        cpus: CpuSplit {
            target: CpuSet::default(),
            generator: CpuSet(load.base.cores.iter().copied().collect()),
            services: CpuSet::default(),
        },
        workers: 0,
        seed: load.base.seed.wrapping_add(u64::from(repetition)),
    }
}

/// The name under which a URL has a history: itself, without the values of its query.
#[must_use]
pub fn target_of(url: &str) -> TargetId {
    TargetId::of_url(&without_values(url))
}

fn header(load: &UrlLoad<'_>, requests: Whole, servers: &Result<Servers, NoServer>) -> RunHeader {
    let started = unix_now_ns();
    let target = target_of(&load.title);
    RunHeader {
        id: run_id(started, PLAN),
        started_unix_ns: started,
        pippin_version: env!("CARGO_PKG_VERSION").into(),
        plan: ad_hoc::plan(
            PLAN,
            load.title.clone(),
            vec![target.clone()],
            load.repetitions,
            load.profile.clone(),
        ),
        workload: ad_hoc::workload(load.request.clone(), load.status),
        url: Some(load.url.clone()),
        requests: Some(requests),
        server: Some(url_server(servers)),
        seed: load.base.seed,
        host: pippin_probe::fingerprint(),
        probe: None,
        targets: BTreeMap::from([(target, TargetInfo::default())]),
        calibration: load.calibration.clone(),
        labels: load.labels.clone(),
    }
}

fn url_server(servers: &Result<Servers, NoServer>) -> UrlServer {
    match servers {
        Ok(servers) => UrlServer::Processes {
            processes: servers
                .processes
                .iter()
                .map(|server| ServerProcess { pid: server.pid, name: server.name.clone() })
                .collect(),
        },
        Err(error) => UrlServer::Not {
            reason: error.to_string(),
            is_here: !matches!(error, NoServer::Elsewhere),
        },
    }
}
