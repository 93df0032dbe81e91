//! `pippin targets check`: installed, started, ready, every workload proved before and after a
//! short load, stopped cleanly, port free, no process left.
//!
//! | module | its job |
//! |---|---|
//! | `folder` | a folder that no other check uses |
//! | `many` | many targets: what runs side by side, what alone, when the time is over |
//! | `passed` | which targets passed earlier, so that a check can be taken up again |
//! | `causes` | failures grouped by their cause |
//! | [`conformance`] | how a target answers at the edges of HTTP/1.1 |
pub mod causes;
pub mod conformance;
pub mod folder;
pub mod many;
pub mod passed;

use pippin_model::load::{LoadSpec, Protocol, StopRule};
use pippin_model::plan::limits::Limits;
use pippin_model::result::LoadResult;
use pippin_model::target::TargetId;
use pippin_model::target::conformance::Conformance;
use pippin_model::trial::{Failure, ProofOutcome, ProofTime, Stage};
use pippin_model::verdict::Severity;
use pippin_model::workload::{Message, Proof, Service, Workload};
use pippin_stats::judge::outside_help;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use crate::error::LabError;
use crate::install::{Installed, Installer};
use crate::lifecycle::affinity;
use crate::load;
use crate::load::pool::{self, Pool};
use crate::run::two_databases;
use crate::running::helping;
use crate::running::{RunningTarget, StartSettings};
use crate::services::{ServiceSettings, Services};
use crate::target::catalog::{Catalog, Target};
use crate::trial::unix_now_ns;
use crate::verify::live::{self, Live};
use crate::verify::{self, Subject, revalidation, walk};

/// How one target came out.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The target, with its variant.
    pub target: TargetId,
    /// Why it takes no part at all; the stage `install` means unavailable.
    pub failure: Option<Failure>,
    /// The way it was installed.
    pub route: Option<String>,
    /// What is wrong with each workload; an empty list means that it passed.
    pub workloads: BTreeMap<String, Vec<String>>,
    /// What was seen that is allowed and worth knowing, each with its workload.
    pub remarks: Vec<String>,
    /// How it answers at the edges of HTTP/1.1. This does not decide the check.
    pub conformance: Vec<Conformance>,
    /// Why it was not checked at all.
    pub skipped: Option<Skipped>,
}

/// Why a target was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// It passed an earlier check, and nothing of it has changed since.
    PassedBefore,
    /// The time for all checks was over.
    NoTimeLeft,
    /// The time for all checks was over before it was installed.
    NoTimeToInstall,
    /// It serves none of the workloads that were asked for.
    NoSuchWorkload,
}

impl Skipped {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::PassedBefore => "passed before",
            Self::NoTimeLeft => "no time left",
            Self::NoTimeToInstall => "no time left to install it",
            Self::NoSuchWorkload => "serves none of these workloads",
        }
    }
}

impl Checked {
    /// A target of which nothing is known yet.
    const fn new(target: TargetId) -> Self {
        Self {
            target,
            failure: None,
            route: None,
            workloads: BTreeMap::new(),
            remarks: Vec::new(),
            conformance: Vec::new(),
            skipped: None,
        }
    }

    /// Of a target that is not checked.
    fn skipped(target: TargetId, why: Skipped) -> Self {
        Self { skipped: Some(why), ..Self::new(target) }
    }

    /// Whether it cannot be installed here. That is not the target's fault.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.stage == Stage::Install)
    }

    /// Whether everything it serves was proved.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.skipped.is_none()
            && self.failure.is_none()
            && self.workloads.values().all(Vec::is_empty)
    }
}

/// What a check works with.
pub struct Checker<'a> {
    /// Where targets and workloads are.
    pub catalog: &'a Catalog,
    /// Installs what is missing, or not.
    pub installer: &'a Installer<'a>,
    /// For logs and the services' files.
    pub folder: &'a Path,
    /// Only these workloads; empty for all that the target serves.
    pub only: &'a [String],
}

/// `WORKERS` during a check: enough to find errors between the processes of a target.
const WORKERS: u32 = 2;
const DATABASE_POOL: u32 = 10;

/// The workloads of a target that are to be checked: these, or all that it serves if the list is
/// empty. Checked before anything is installed.
///
/// # Errors
/// If there is no such target, or one of its workloads is not there or cannot be read.
pub fn workloads(
    catalog: &Catalog,
    id: &TargetId,
    only: &[String],
) -> Result<Vec<Workload>, LabError> {
    let target = catalog.target(id)?;
    let names = target.manifest.workloads_of(id.variant.as_deref()).iter();
    names
        .filter(|name| only.is_empty() || only.contains(name))
        .map(|name| {
            catalog.workload(name).map_err(|error| match error {
                LabError::User(message) => LabError::User(format!(
                    "{}: workloads: {message}",
                    target.folder.join("target.toml").display()
                )),
                other => other,
            })
        })
        .collect()
}

impl Checker<'_> {
    /// Checks one target or variant that is installed.
    ///
    /// # Errors
    /// If the lab itself fails, or the user stops it. What is wrong with the target is in the
    /// answer.
    fn prove(
        &self,
        id: &TargetId,
        installed: &Installed,
        quiet: &RwLock<()>,
    ) -> Result<Checked, LabError> {
        let target = self.catalog.target(id)?;
        let mut checked = Checked::new(id.clone());
        checked.route = Some(installed.route.clone());
        for workload in workloads(self.catalog, id, self.only)? {
            let _quiet = quiet_for(&workload, quiet);
            let wrong = match self.check_workload(
                id,
                &target,
                installed,
                &workload,
                &mut checked.remarks,
                &mut checked.conformance,
            ) {
                Ok(wrong) => wrong,
                Err(LabError::Target(failure)) => {
                    let tail = failure
                        .log_tail
                        .last()
                        .map(|line| format!(" (log: {line})"))
                        .unwrap_or_default();
                    vec![format!("{}: {}{tail}", failure.stage.name(), failure.message)]
                }
                // If a service does not start, only the workloads that need it fail.
                Err(LabError::User(message)) => vec![message],
                Err(other) => return Err(other),
            };
            checked.workloads.insert(workload.id.clone(), wrong);
        }
        Ok(checked)
    }

    fn check_workload(
        &self,
        id: &TargetId,
        target: &Target,
        installed: &Installed,
        workload: &Workload,
        said: &mut Vec<String>,
        conformance: &mut Vec<Conformance>,
    ) -> Result<Vec<String>, LabError> {
        if let Some(why) = two_databases(target, workload) {
            return Ok(vec![why]);
        }
        let mut services = self.services(workload, target)?;
        let around = services.of_next_target(target, installed, self.installer.interrupted)?;
        let start = StartSettings {
            cpus: affinity::available(),
            workers: WORKERS,
            limits: Limits::default(),
            database_pool: DATABASE_POOL,
            more: &[],
            folder: self.folder,
            address: Ipv4Addr::LOCALHOST.into(),
            protocol: None,
            messages: workload.message.map(Message::messages),
            port: None,
            before: &[],
        };
        let interrupted = self.installer.interrupted;
        let mut running = RunningTarget::start(target, id, installed, &start, around, interrupted)?;
        let samples = workload.samples(seed(), verify::PROVED);
        let mut live = Live::from_workload(workload, &mut services).map_err(LabError::User)?;
        let way = running.way().clone();
        let mut subject = Subject {
            way: &way,
            workload,
            samples: &samples,
            services: &mut services,
            live: &mut live,
            limit: Duration::from_secs(10),
            closes: false,
        };
        let logged = running.log_tail();
        let mut wrong = prove(&mut subject, &mut running, said);
        if conformance.is_empty() && wrong.is_empty() {
            *conformance = conformance::probe_target(&running, workload);
        }
        if let Some(crash) = running.crashed() {
            let Failure { message, log_tail, .. } = crash.failure;
            let tail = log_tail.last().map(|line| format!(" (log: {line})")).unwrap_or_default();
            wrong.push(format!("{message}{tail}"));
        } else if !wrong.is_empty() {
            wrong.extend(logged_since(&logged, &running.log_tail()));
        }
        let doubts = running.stop().into_iter().filter(|it| it.severity != Severity::Note);
        wrong.extend(doubts.map(|caveat| caveat.evidence));
        Ok(wrong)
    }

    /// The services that a workload and a target need.
    fn services(&self, workload: &Workload, target: &Target) -> Result<Services, LabError> {
        let settings = ServiceSettings {
            folder: self.folder,
            cpus: affinity::available(),
            database_connections: 2 * DATABASE_POOL + 20,
            tables: 1,
            upstream_delay_ns: 500_000_000,
            databases: target.world.has_database(),
        };
        Services::provide(&workload.services, target.world.has_database(), self.installer)?;
        Services::start(workload, &settings, self.installer.interrupted)
    }
}

/// The last line of the target's log, if it wrote any meanwhile. A worker that died may be named there
/// while its parent lives on.
fn logged_since(before: &[String], now: &[String]) -> Option<String> {
    let line = now.iter().rev().find(|line| !line.trim().is_empty())?;
    (before != now).then(|| format!("the end of its log: {line}"))
}

/// What is wrong before, under and after a short load. Remarks of the proofs are added to `said`.
fn prove(
    subject: &mut Subject<'_>,
    running: &mut RunningTarget,
    said: &mut Vec<String>,
) -> Vec<String> {
    let before = verify::prove(subject, ProofTime::Before);
    remarks(&before, said);
    let mut wrong = failures(before);
    if wrong.is_empty() {
        wrong.extend(short_load(subject, said));
        wrong.extend(strangers(running));
        // If the server is dead, the proofs would only say that nobody answers.
        if running.crashed().is_none() {
            wrong.extend(failures(verify::prove(subject, ProofTime::After)));
        }
    }
    wrong
}

/// Processes that listen for the target and do not belong to it.
fn strangers(running: &RunningTarget) -> Vec<String> {
    let found = helping::strangers(running).into_iter();
    found.map(|outside| format!("outside-help: {}", outside_help::in_words(&outside))).collect()
}

/// In a short load, more of the requests are of another kind.
const OTHER_KIND_EVERY: u32 = 10;

/// Another one for each check.
fn seed() -> u64 {
    unix_now_ns()
}

/// A proof that measures time runs alone; the others share the machine.
enum Quiet<'a> {
    /// Until this is dropped nobody else proves anything.
    Alone { _guard: RwLockWriteGuard<'a, ()> },
    /// Other proofs may run at the same time, if they measure no time.
    Shared { _guard: RwLockReadGuard<'a, ()> },
}

fn quiet_for<'a>(workload: &Workload, quiet: &'a RwLock<()>) -> Quiet<'a> {
    let is_timed = |proof: &Proof| {
        matches!(proof, Proof::Delay { .. } | Proof::Simultaneous { .. } | Proof::Events { .. })
    };
    if workload.proofs.iter().any(is_timed) {
        Quiet::Alone { _guard: quiet.write().unwrap_or_else(PoisonError::into_inner) }
    } else {
        Quiet::Shared { _guard: quiet.read().unwrap_or_else(PoisonError::into_inner) }
    }
}

fn failures(outcomes: Vec<ProofOutcome>) -> Vec<String> {
    let words = |outcome: &ProofOutcome| {
        let failure = outcome.failure.as_ref()?;
        Some(match outcome.when {
            ProofTime::Before => format!("{}: {failure}", outcome.proof),
            when => format!("{} ({}): {failure}", outcome.proof, when.words()),
        })
    };
    outcomes.iter().filter_map(words).collect()
}

/// Connections and requests of the short load: a few seconds even where each answer waits. Waits
/// need so many that a distribution can be told from another one, by five standard errors, although
/// a server that cheats under load alone draws those of the first few that ask at once.
fn short_load_of(workload: &Workload) -> (u32, u64) {
    if workload.services.contains(&Service::Upstream) {
        (8, 32)
    } else if workload.proofs.contains(&Proof::Stored) {
        // Time for each step of each walk beside it.
        (8, 3_000)
    } else if workload.proofs.iter().any(|proof| matches!(proof, Proof::Delay { .. })) {
        (64, 640)
    } else if workload.answer.events.is_some() {
        // One after the other takes as long as a stream each time.
        (STREAMS, STREAMS.into())
    } else {
        (8, 500)
    }
}

/// Streams of events at a time: more than the threads or processes of most pools that hold one for each.
const STREAMS: u32 = 100;

/// Adds what the proofs remark.
fn remarks(outcomes: &[ProofOutcome], said: &mut Vec<String>) {
    said.extend(outcomes.iter().filter_map(|ProofOutcome { workload, proof, remark, .. }| {
        Some(format!("{workload}: {proof}: {}", remark.as_ref()?))
    }));
}

/// What is wrong under a short load, whose connections are kept, and under a shorter one of a
/// connection for each request: a plan may have either.
fn short_load(subject: &mut Subject<'_>, said: &mut Vec<String>) -> Vec<String> {
    let (connections, count) = short_load_of(subject.workload);
    let mut wrong = Vec::new();
    let kept = loaded(subject, connections, count, &mut wrong);
    let fresh_ns = subject.workload.answer.fresh_within_ns();
    if fresh_ns > 0 {
        // What the server had in the load before is too old for the next.
        wrong.extend(revalidation::replace_all(subject).err());
        std::thread::sleep(Duration::from_nanos(fresh_ns));
        loaded(subject, connections, count / CLOSING_PART, &mut wrong);
    }
    if subject.workload.walk.is_none() && subject.way.protocol == Protocol::Http1 {
        subject.closes = true;
        let fewer = count / CLOSING_PART;
        loaded(subject, connections.min(fewer as u32), fewer, &mut wrong);
        subject.closes = false;
    }
    if let Some(load) = kept {
        let during = live::prove(subject, &load);
        remarks(&during, said);
        wrong.extend(failures(during));
    }
    wrong
}

/// What part of the short load is made again with a connection for each request.
const CLOSING_PART: u64 = 4;

/// A short load; what is wrong with it goes to `wrong`.
fn loaded(
    subject: &mut Subject<'_>,
    connections: u32,
    count: u64,
    wrong: &mut Vec<String>,
) -> Option<LoadResult> {
    let numbers = subject.live.numbers();
    match apply(subject, connections, count) {
        Ok(load) => {
            wrong.extend(miscounted(subject, &load, count, numbers));
            Some(load)
        }
        Err(message) => {
            wrong.push(message);
            None
        }
    }
}

fn apply(subject: &mut Subject<'_>, connections: u32, count: u64) -> Result<LoadResult, String> {
    let Pool { requests, surprises } = pool::fill(subject, seed(), OTHER_KIND_EVERY)?;
    let workload = subject.workload;
    let base = LoadSpec {
        threads: 1,
        surprises,
        scenario: workload.walk.as_ref().map(|walk| walk::without_thoughts(&walk.scenario)),
        follow: workload.follow,
        ..subject.way.base(Vec::new(), seed())
    };
    subject.services.reset_account();
    let referee = subject.live.begin(subject.services, subject.way, subject.closes)?;
    let connections = subject.connections(connections);
    let stop = StopRule::requests(count);
    let result = load::run_closed(base, requests, connections, stop, referee);
    subject.live.end(subject.services);
    result.map_err(|error| format!("short load: {error}"))
}

/// Finds wrong answers, and a wrong number of calls at the upstream. `before`: how many answers had
/// one of its numbers before this load.
fn miscounted(
    subject: &mut Subject<'_>,
    result: &LoadResult,
    count: u64,
    before: Option<u64>,
) -> Option<String> {
    let right = result.measured.requests.good;
    // Nobody knows how many redirections there are.
    let is_whole = if subject.workload.follow > 0 {
        result.measured.errors.is_empty()
    } else {
        right == count
    };
    if !is_whole {
        let of = if subject.closes { " of a connection each" } else { "" };
        return Some(format!(
            "under a short load of {count} requests{of} {right} were answered rightly; errors: {}",
            load::errors_in_words(result)
        ));
    }
    let numbers = subject.live.numbers()? - before.unwrap_or(0);
    // All requests have been answered, so that none is under way.
    let calls = match subject.services.upstream().and_then(|upstream| upstream.calls()) {
        Ok(calls) if calls == numbers => return None,
        Ok(calls) => calls,
        Err(why) => return Some(format!("the account of the upstream cannot be read: {why}")),
    };
    Some(format!("under a short load the upstream was asked {calls} times for {numbers} requests"))
}

#[cfg(test)]
mod tests {
    use super::logged_since;

    #[test]
    fn only_what_a_target_logged_during_its_check_is_repeated() {
        let log = |lines: &[&str]| -> Vec<String> { lines.iter().map(|it| (*it).into()).collect() };
        let before = log(&["Accepting connections"]);
        assert_eq!(logged_since(&before, &before), None);
        assert_eq!(logged_since(&[], &[]), None);
        let now = log(&["Accepting connections", "Worker crashed on signal SIGSEGV!", " "]);
        assert_eq!(
            logged_since(&before, &now).as_deref(),
            Some("the end of its log: Worker crashed on signal SIGSEGV!")
        );
    }
}
