//! `pippin targets check`: installed, started, ready, every workload proved before and after a
//! short load, stopped cleanly, port free, no process left.
//!
//! | module | its job |
//! |---|---|
//! | `findings` | what is found of a target with one workload |
//! | `folder` | a folder that no other check uses |
//! | `many` | many targets: what runs side by side, what alone, when the time is over |
//! | `passed` | which targets passed earlier, so that a check can be taken up again |
//! | `causes` | failures grouped by their cause |
//! | `short_load` | whether a target answers rightly under a short load |
//! | [`conformance`] | how a target answers at the edges of HTTP/1.1 |
pub mod causes;
pub mod conformance;
mod findings;
pub mod folder;
pub mod many;
pub mod passed;
mod short_load;

use pippin_model::plan::limits::Limits;
use pippin_model::target::TargetId;
use pippin_model::target::conformance::Conformance;
use pippin_model::trial::{Failure, ProofTime, Stage};
use pippin_model::verdict::Severity;
use pippin_model::workload::{Message, Proof, Workload};
use pippin_stats::judge::outside_help;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use crate::check::findings::Findings;
use crate::error::LabError;
use crate::install::{Installed, Installer};
use crate::lifecycle::affinity;
use crate::run::two_databases;
use crate::running::helping;
use crate::running::{RunningTarget, StartSettings};
use crate::services::{ServiceSettings, Services};
use crate::target::catalog::{Catalog, Target};
use crate::trial::unix_now_ns;
use crate::verify::live::Live;
use crate::verify::{self, Subject};

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
            let asks_conformance = checked.conformance.is_empty();
            let found =
                match self.check_workload((id, &target), installed, &workload, asks_conformance) {
                    Ok(found) => found,
                    Err(LabError::Target(failure)) => {
                        let tail = log_end(&failure);
                        Findings::wrong(format!(
                            "{}: {}{tail}",
                            failure.stage.name(),
                            failure.message
                        ))
                    }
                    // If a service does not start, only the workloads that need it fail.
                    Err(LabError::User(message)) => Findings::wrong(message),
                    Err(other) => return Err(other),
                };
            checked.workloads.insert(workload.id.clone(), found.wrong);
            checked.remarks.extend(found.remarks);
            checked.conformance.extend(found.conformance);
        }
        Ok(checked)
    }

    fn check_workload(
        &self,
        (id, target): (&TargetId, &Target),
        installed: &Installed,
        workload: &Workload,
        asks_conformance: bool,
    ) -> Result<Findings, LabError> {
        if let Some(why) = two_databases(target, workload) {
            return Ok(Findings::wrong(why));
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
        let samples = workload.samples(unix_now_ns(), verify::PROVED);
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
        let mut found = prove(&mut subject, &mut running);
        if asks_conformance && found.wrong.is_empty() {
            found.conformance = conformance::probe_target(&running, workload);
        }
        if let Some(crash) = running.crashed() {
            let tail = log_end(&crash.failure);
            found.wrong.push(format!("{}{tail}", crash.failure.message));
        } else if !found.wrong.is_empty() {
            found.wrong.extend(logged_since(&logged, &running.log_tail()));
        }
        let doubts = running.stop().into_iter().filter(|it| it.severity != Severity::Note);
        found.wrong.extend(doubts.map(|caveat| caveat.evidence));
        Ok(found)
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

/// The last line of a failure's log, in brackets.
fn log_end(failure: &Failure) -> String {
    failure.log_tail.last().map(|line| format!(" (log: {line})")).unwrap_or_default()
}

/// The last line of the target's log, if it wrote any meanwhile. A worker that died may be named there
/// while its parent lives on.
fn logged_since(before: &[String], now: &[String]) -> Option<String> {
    let line = now.iter().rev().find(|line| !line.trim().is_empty())?;
    (before != now).then(|| format!("the end of its log: {line}"))
}

/// What is found before, under and after a short load.
fn prove(subject: &mut Subject<'_>, running: &mut RunningTarget) -> Findings {
    let mut found = Findings::from_proofs(&verify::prove(subject, ProofTime::Before));
    if found.wrong.is_empty() {
        found.add(short_load::find(subject));
        found.wrong.extend(strangers(running));
        // If the server is dead, the proofs would only say that nobody answers.
        if running.crashed().is_none() {
            let after = Findings::from_proofs(&verify::prove(subject, ProofTime::After));
            // These proofs made their remarks before the load.
            found.wrong.extend(after.wrong);
        }
    }
    found
}

/// Processes that listen for the target and do not belong to it.
fn strangers(running: &RunningTarget) -> Vec<String> {
    let found = helping::strangers(running).into_iter();
    found.map(|outside| format!("outside-help: {}", outside_help::in_words(&outside))).collect()
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
