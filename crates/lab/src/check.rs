//! `pippin targets check`: installed, started, ready, every workload proved before and after a short load, stopped cleanly, port free, no
//! process left.
use pippin_model::load_spec::{BodyCheck, StopRule};
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, ProofOutcome, ProofTime, Stage};
use pippin_model::workload::Workload;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::catalog::{Catalog, Target};
use crate::error::LabError;
use crate::install::{Installed, Installer};
use crate::lifecycle::affinity;
use crate::load::{self, Connecting};
use crate::running::{RunningTarget, StartSettings};
use crate::services::{ServiceSettings, Services};
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
    /// Workload to what is wrong with it; an empty list is a pass.
    pub workloads: BTreeMap<String, Vec<String>>,
}

impl Checked {
    /// Whether it cannot be installed here, which is no fault of the target's.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.stage == Stage::Install)
    }

    /// Whether everything it serves was proved.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failure.is_none() && self.workloads.values().all(Vec::is_empty)
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

/// Connections and requests of the short load.
const LOAD: (u32, u64) = (8, 200);
/// `WORKERS` during a check: enough that a target of several processes shows what goes wrong between them.
const WORKERS: u32 = 2;
const DATABASE_POOL: u32 = 10;

impl Checker<'_> {
    /// Checks one target.
    ///
    /// # Errors
    /// If the lab itself fails, or the user stops it. What is wrong with the target is in the answer.
    pub fn check(&self, id: &TargetId) -> Result<Checked, LabError> {
        let target = self.catalog.target(id)?;
        let mut checked = Checked { target: id.clone(), failure: None, route: None, workloads: BTreeMap::new() };
        let installed = match self.installer.install(&target) {
            Ok(installed) => installed,
            Err(LabError::Target(failure)) => {
                checked.failure = Some(failure);
                return Ok(checked);
            }
            Err(other) => return Err(other),
        };
        checked.route = Some(installed.route.clone());
        for workload in target.manifest.workloads_of(id.variant.as_deref()) {
            if !self.only.is_empty() && !self.only.contains(workload) {
                continue;
            }
            let workload = self.catalog.workload(workload)?;
            let wrong = match self.check_workload(id, &target, &installed, &workload) {
                Ok(wrong) => wrong,
                Err(LabError::Target(failure)) => {
                    let tail = failure.log_tail.last().map(|line| format!(" (log: {line})")).unwrap_or_default();
                    vec![format!("{}: {}{tail}", failure.stage.name(), failure.message)]
                }
                Err(other) => return Err(other),
            };
            checked.workloads.insert(workload.id.clone(), wrong);
        }
        Ok(checked)
    }

    fn check_workload(&self, id: &TargetId, target: &Target, installed: &Installed, workload: &Workload) -> Result<Vec<String>, LabError> {
        let cpus = affinity::available();
        let settings =
            ServiceSettings { folder: self.folder, cpus: cpus.clone(), database_connections: 2 * DATABASE_POOL + 20, upstream_delay_ns: 500_000_000 };
        let mut services = Services::start(&workload.services, &settings, self.installer.interrupted)?;
        let start = StartSettings { cpus, workers: WORKERS, database_pool: DATABASE_POOL, services: services.environment(), folder: self.folder };
        let running = RunningTarget::start(target, id, installed, &start, self.installer.interrupted)?;
        let samples = workload.samples();
        let mut wrong = Vec::new();
        let mut prove = |when| {
            let mut subject = Subject { address: running.address(), workload, samples: &samples, services: &mut services, limit: Duration::from_secs(10) };
            failures(verify::prove(&mut subject, when))
        };
        wrong.extend(prove(ProofTime::Before));
        if wrong.is_empty() {
            wrong.extend(short_load(&running, workload));
            wrong.extend(prove(ProofTime::After));
        }
        wrong.extend(running.stop());
        Ok(wrong)
    }
}

fn failures(outcomes: Vec<ProofOutcome>) -> Vec<String> {
    let when = |outcome: &ProofOutcome| if outcome.when == ProofTime::After { " (after the load)" } else { "" };
    outcomes.iter().filter_map(|outcome| outcome.failure.as_ref().map(|failure| format!("{}{}: {failure}", outcome.proof, when(outcome)))).collect()
}

fn short_load(running: &RunningTarget, workload: &Workload) -> Option<String> {
    let connecting = Connecting { address: running.address(), cores: Vec::new(), threads: 1, seed: 7 };
    let requests = load::templates(workload, &workload.samples(), &BodyCheck::Any, true, running.address());
    // Each request of a slow upstream takes half a second.
    let count = if workload.services.contains(&pippin_model::workload::Service::Upstream) { 32 } else { LOAD.1 };
    match load::run_closed(&connecting, requests, LOAD.0, StopRule { duration_ns: None, requests: Some(count) }) {
        Ok(result) if result.measured.requests.good == count => None,
        Ok(result) => {
            Some(format!("under a short load of {count} requests {} were answered rightly: {:?}", result.measured.requests.good, result.measured.errors))
        }
        Err(error) => Some(format!("short load: {error}")),
    }
}
