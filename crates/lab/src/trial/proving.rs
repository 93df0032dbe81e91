//! Proves a target on this machine before and after its load, and reads what its services counted.
use pippin_engine::{Referee, try_places};
use pippin_model::host::usage::Role;
use pippin_model::load::{BodyCheck, LoadSpec};
use pippin_model::result::LoadResult;
use pippin_model::trial::{Failure, ProofOutcome, ProofTime, Stage, TrialRecord};
use pippin_model::workload::{Sample, Service, Workload};
use pippin_probe::bystanders::{Bystanders, Look};
use pippin_probe::{RoleRoot, Roots};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::check::conformance;
use crate::error::LabError;
use crate::load;
use crate::load::pool;
use crate::running::RunningTarget;
use crate::running::helping::{self, Helping};
use crate::services::Services;
use crate::trial::Proving;
use crate::trial::single;
use crate::verify::live::{self, Live};
use crate::verify::{self, Subject};

/// How long one answer to a proof may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A target that runs here, with its workload.
pub struct ProvedTarget<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// Its requests.
    pub samples: &'a [Sample],
    /// The target.
    pub target: &'a mut RunningTarget,
    /// The services.
    pub services: &'a mut Services,
    /// Whether the services count from the start of the load. If not, their counts include the
    /// proofs' calls, as if the target had called more than once, and are left out.
    pub counts_anew: bool,
    /// Whether the load has a connection for each request; known when it is proved.
    pub closes: bool,
    /// Judges answers that differ each time; made anew before the load.
    pub live: Live,
    /// What other processes do while it is loaded and while it is not; `None` where this is not
    /// needed.
    pub helping: Option<Watching>,
    /// Whether to ask the target about the edges of HTTP/1.1 when the proofs are done.
    pub asks_conformance: bool,
}

/// Watches processes that have no part in a load.
#[derive(Debug, Default)]
pub struct Watching {
    bystanders: Bystanders,
    helping: Helping,
    /// When the load began.
    before: Option<Look>,
}

impl ProvedTarget<'_> {
    /// Whose use of the machine is sampled.
    #[must_use]
    pub fn roots(&self) -> Roots {
        let generator = vec![RoleRoot::Process(std::process::id() as i32)];
        let mut roles = BTreeMap::from([(Role::Generator, generator)]);
        if !self.target.roots().is_empty() {
            roles.insert(Role::Target, self.target.roots().to_vec());
        }
        let shared = self.services.supervisors().into_iter().map(RoleRoot::Tree);
        let services: Vec<RoleRoot> = shared.chain(self.target.services()).collect();
        if !services.is_empty() {
            roles.insert(Role::Services, services);
        }
        Roots {
            roles,
            log: self.target.log(),
            // Pippin reads no table of the kernel that lists the queues of unix sockets.
            address: (!self.target.way().is_unix()).then(|| self.target.address()),
            apart: self.target.apart().clone(),
            group: self.target.group().map(Path::to_path_buf),
            given: self.target.given().clone(),
            serving: None,
        }
    }

    /// Measures what other processes do while the target has no requests.
    fn rest(&mut self) {
        if let Some(watching) = &mut self.helping {
            watching.helping.rest(&mut watching.bystanders, self.target);
        }
    }

    fn subject(&mut self) -> Subject<'_> {
        Subject {
            way: self.target.way(),
            workload: self.workload,
            samples: self.samples,
            services: self.services,
            live: &mut self.live,
            limit: PATIENCE,
            closes: self.closes,
        }
    }

    fn failed(&self, proofs: &[ProofOutcome]) -> Option<Failure> {
        let failed: Vec<String> = proofs
            .iter()
            .filter_map(|proof| {
                let when = match proof.when {
                    ProofTime::During => " under the load",
                    ProofTime::Before | ProofTime::After => "",
                };
                let failure = proof.failure.as_ref()?;
                Some(format!("proof {}{when}: {failure}", proof.proof))
            })
            .collect();
        (!failed.is_empty()).then(|| self.proof_failure(failed.join("; ")))
    }

    fn proof_failure(&self, message: String) -> Failure {
        let message = match self.target.dead_service() {
            Some(dead) => format!("{dead}; {message}"),
            None => message,
        };
        Failure { stage: Stage::Proof, message, log_tail: self.target.log_tail() }
    }
}

impl ProvedTarget<'_> {
    /// Proves the target before its load. The load then expects what was proved.
    ///
    /// # Errors
    /// The proofs that failed.
    pub fn prove_before(
        &mut self,
        load: &mut LoadSpec,
        record: &mut TrialRecord,
    ) -> Result<(), Failure> {
        record.elsewhere = self.target.elsewhere().map(|path| path.display().to_string());
        record.start_up_ns = self.target.start_up().map(|time| time.as_nanos() as u64);
        if let Some(walk) = &self.workload.walk {
            load.scenario = Some(walk.scenario.clone());
            load.follow = self.workload.follow;
        }
        let requests = if self.target.is_proved() {
            self.closes = !load.connections.keep_alive();
            self.live = Live::from_workload(self.workload, self.services)
                .map_err(|message| self.proof_failure(message))?;
            record.proofs = verify::prove(&mut self.subject(), ProofTime::Before);
            self.failed(&record.proofs).map_or(Ok(()), Err)?;
            let pool = pool::fill(&mut self.subject(), load.seed, pool::RARELY)
                .map_err(|message| self.proof_failure(message))?;
            load.surprises = pool.surprises;
            pool.requests
        } else {
            let address = self.target.address();
            let mut requests =
                load::requests(self.workload, self.samples, &BodyCheck::Any, address);
            // Without proofs there is no referee.
            let checks = requests.iter_mut().map(|request| &mut request.check.body);
            checks.filter(|body| body.needs_referee()).for_each(|body| *body = BodyCheck::Any);
            requests
        };
        self.target.aim(load, requests);
        // No proof has shown that the target speaks the load's protocol.
        if !self.target.is_proved() {
            try_places(load, PATIENCE).map_err(|error| Failure {
                stage: Stage::Load,
                message: error.to_string(),
                log_tail: self.target.log_tail(),
            })?;
        }
        // Not in searches, which do not explain a target. Not in scenarios: their users think, and
        // one step says nothing about the others. Not of streams, which take as long as they are meant to.
        let is_stream = self.workload.answer.events.is_some();
        if !record.spec.profile.is_search() && load.scenario.is_none() && !is_stream {
            record.single = single::measure(load);
        }
        Ok(())
    }

    /// Proves the target after its load, also by the answers of the load. Does nothing if the
    /// target failed or the load was stopped.
    pub fn prove_after(&mut self, record: &mut TrialRecord) {
        if let Some(crash) = self.target.crashed() {
            let load = record.load.take();
            crash.note(load.as_ref(), record);
            record.load = load;
        } else if self.target.is_proved()
            && record.failure.is_none()
            && !record.load.as_ref().is_some_and(|load| load.interrupted)
        {
            if let Some(load) = &record.load {
                record.proofs.extend(live::prove(&mut self.subject(), load));
            }
            record.proofs.extend(verify::prove(&mut self.subject(), ProofTime::After));
            record.failure = self.failed(&record.proofs);
        }
        if record.failure.is_none() && self.asks_conformance {
            record.conformance = conformance::probe_target(self.target, self.workload);
        }
    }
}

impl ProvedTarget<'_> {
    /// The upstream's account is unknown, and what nobody counts does not pass.
    fn uncounted(&self) -> ProofOutcome {
        ProofOutcome {
            workload: self.workload.id.clone(),
            proof: "counted".into(),
            when: ProofTime::During,
            failure: Some("the upstream's account of its calls cannot be read".into()),
            remark: None,
            doubt: None,
            packed: None,
        }
    }
}

impl Proving for ProvedTarget<'_> {
    fn before(&mut self, load: &mut LoadSpec, record: &mut TrialRecord) -> Result<(), Failure> {
        self.prove_before(load, record)?;
        self.rest();
        self.counts_anew = self.services.reset_account();
        Ok(())
    }

    fn load_begins(&mut self) -> Result<Option<Arc<dyn Referee>>, LabError> {
        if let Some(watching) = &mut self.helping {
            watching.before = Some(helping::look(&mut watching.bystanders, self.target));
        }
        self.live.begin(self.services, self.target.way(), self.closes).map_err(LabError::User)
    }

    fn load_ends(&mut self, load: Option<&LoadResult>) {
        if let Some(watching) = &mut self.helping
            && let Some(before) = watching.before.take()
        {
            let after = helping::look(&mut watching.bystanders, self.target);
            let answers = load.map_or(0, load::answers);
            watching.helping.add(Some(answers), &before, &after);
        }
        self.live.end(self.services);
    }

    fn after(&mut self, record: &mut TrialRecord) {
        if self.counts_anew {
            record.services = self.services.account();
            self.live.count_numbers(None, &mut record.services);
        }
        if self.workload.services.contains(&Service::Upstream) && record.services.is_empty() {
            record.proofs.push(self.uncounted());
        }
        if record.load.as_ref().is_some_and(|load| !load.interrupted) {
            self.rest();
            if let Some(Watching { bystanders, helping, .. }) = &mut self.helping {
                record.outside = helping.found(bystanders, self.target);
            }
        }
        self.prove_after(record);
    }

    fn log_tail(&self) -> Vec<String> {
        self.target.log_tail()
    }
}
