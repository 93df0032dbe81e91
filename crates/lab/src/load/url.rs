//! A load of a URL, as a run of its own: what `pippin load` does.
use pippin_model::host::usage::Role;
use pippin_model::load::LoadSpec;
use pippin_model::plan::cpus::{CpuSet, CpuSplit};
use pippin_model::plan::profile::Profile;
use pippin_model::run::{
    Calibration, RunHeader, RunRecord, RunState, ServerProcess, TargetInfo, UrlServer,
};
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialSpec};
use pippin_model::workload::Request;
use pippin_probe::server::{self, NoServer, Server};
use pippin_probe::{RoleRoot, Roots};
use std::collections::BTreeMap;

use crate::error::LabError;
use crate::load;
use crate::run::observer::Event;
use crate::run::recording::{Keeping, Recording};
use crate::run::run_id;
use crate::run::steps::Steps;
use crate::target::ad_hoc;
use crate::trial::generator::Generator;
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
    /// The server's first process, where it was named; else it is looked for.
    pub target_pid: Option<i32>,
    /// The generator's ceiling, if it is known and holds for this load.
    pub calibration: Option<Calibration>,
    /// Who applies the load.
    pub generator: &'a dyn Generator,
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
    let servers = servers(&load)?;
    let mut recording = Recording::begin(header(&load, &servers), keeping, watch.observer)?;
    let mut repetitions = (0..load.repetitions).map(|repetition| (repetition, Steps::of(profile)));
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
        let trial = Trial {
            load: load::of(profile, step, LoadSpec { seed: spec.seed, ..base.clone() }),
            roots: Some(roots(base, servers.as_deref().unwrap_or_default())),
            proving: None,
            referee: None,
            generator: load.generator,
        };
        let mut record = trial.make(&spec, watch);
        recording.judge(&mut record, Vec::new());
        if let Some(failure) = &record.failure {
            // What was measured until a part of the engine died is kept.
            if recording.trials().is_empty() && record.load.is_none() {
                let message = failure.message.clone();
                recording.end(RunState::Failed)?;
                return Err(LabError::User(message));
            }
            recording.keep(record)?;
            state = RunState::Failed;
            break;
        }
        recording.keep(record)?;
        if let Some(made) = recording.trials().last() {
            steps.observe(made, watch);
        }
        if watch.is_over() {
            state = RunState::Interrupted;
            break;
        }
    }
    recording.end(state)
}

/// Why the last step was not finished; `None` if it was. If something was measured, the lab failed;
/// otherwise the step could not run as requested.
#[must_use]
pub fn failure(record: &RunRecord) -> Option<LabError> {
    let last = record.trials.last()?;
    let failure = last.failure.clone()?;
    Some(match (&last.load, record.trials.len() - 1) {
        (Some(_), _) => LabError::Target(failure),
        (None, 1) => LabError::User(format!("{} (after 1 step that is kept)", failure.message)),
        (None, kept) => {
            LabError::User(format!("{} (after {kept} steps that are kept)", failure.message))
        }
    })
}

/// The processes that serve the URL on this machine, or why none is measured.
fn servers(load: &UrlLoad<'_>) -> Result<Result<Vec<Server>, NoServer>, LabError> {
    let Some(pid) = load.target_pid else {
        return Ok(match &load.base.unix_socket {
            Some(path) => server::behind_unix_socket(path),
            None => server::behind(&load.base.addresses),
        });
    };
    match server::of_process(pid) {
        Ok(named) => Ok(Ok(vec![named])),
        Err(error) => Err(LabError::User(format!("--target-pid {pid}: {error}"))),
    }
}

fn roots(base: &LoadSpec, servers: &[Server]) -> Roots {
    let generator = vec![RoleRoot::Process(std::process::id() as i32)];
    let mut roles = BTreeMap::from([(Role::Generator, generator)]);
    if !servers.is_empty() {
        roles.insert(Role::Target, servers.iter().map(|server| server.root).collect());
    }
    // This host has no table of the listeners on another.
    let is_here =
        !servers.is_empty() || base.addresses.iter().all(|address| address.ip().is_loopback());
    Roots {
        roles,
        log: servers.iter().find_map(|server| server.log.clone()),
        port: base.addresses.first().filter(|_| is_here).map(std::net::SocketAddr::port),
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

/// The name under which a URL has a history: `url/localhost-8080-users`.
#[must_use]
pub fn target_of(url: &str) -> TargetId {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    ad_hoc::name_of("url", rest)
}

fn header(load: &UrlLoad<'_>, servers: &Result<Vec<Server>, NoServer>) -> RunHeader {
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
        requests: Some(load.base.known_requests()),
        server: Some(url_server(servers)),
        seed: load.base.seed,
        host: pippin_probe::fingerprint(),
        probe: None,
        targets: BTreeMap::from([(target, TargetInfo::default())]),
        calibration: load.calibration.clone(),
    }
}

fn url_server(servers: &Result<Vec<Server>, NoServer>) -> UrlServer {
    match servers {
        Ok(servers) => UrlServer::Processes {
            processes: servers
                .iter()
                .map(|server| ServerProcess { pid: server.pid, name: server.name.clone() })
                .collect(),
        },
        Err(error) => UrlServer::Not { reason: error.to_string() },
    }
}
