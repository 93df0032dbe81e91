//! Proves a target that runs here, before and after its load, and takes its services' account.
use pippin_engine::Referee;
use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{BodyCheck, LoadSpec};
use pippin_model::trial::{Failure, ProofOutcome, ProofTime, Stage, TrialRecord};
use pippin_model::usage::Role;
use pippin_model::workload::{Sample, Workload};
use pippin_probe::{RoleRoot, Roots};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::error::LabError;
use crate::load;
use crate::running::RunningTarget;
use crate::services::Services;
use crate::trial::Proving;
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
    /// Whether the services count from the beginning of the load on. An account that holds the
    /// proofs' calls too would look as if the target asked more than once: then it is not known.
    pub counts_anew: bool,
    /// What judges answers that are different each time; made anew before the load.
    pub live: Live,
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
        let services: Vec<RoleRoot> =
            self.services.supervisors().into_iter().map(RoleRoot::Tree).collect();
        if !services.is_empty() {
            roles.insert(Role::Services, services);
        }
        Roots { roles, log: self.target.log(), port: Some(self.target.address().port()) }
    }

    fn subject(&mut self) -> Subject<'_> {
        Subject {
            address: self.target.address(),
            workload: self.workload,
            samples: self.samples,
            services: self.services,
            live: &mut self.live,
            limit: PATIENCE,
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
        Failure { stage: Stage::Proof, message, log_tail: self.target.log_tail() }
    }
}

impl Proving for ProvedTarget<'_> {
    fn before(&mut self, load: &mut LoadSpec, record: &mut TrialRecord) -> Result<(), Failure> {
        record.start_up_ns = self.target.start_up().map(|time| time.as_nanos() as u64);
        let address = self.target.address();
        let mut as_proved = BodyCheck::Any;
        let mut least_ns = 0;
        if self.target.is_proved() {
            self.live = Live::of(self.workload, self.services)
                .map_err(|message| self.proof_failure(message))?;
            record.proofs = verify::prove(&mut self.subject(), ProofTime::Before);
            self.failed(&record.proofs).map_or(Ok(()), Err)?;
            as_proved =
                self.subject().proved_body().map_err(|message| self.proof_failure(message))?;
            least_ns = self.subject().least_ns();
        }
        self.target.aim(load, load::requests(self.workload, self.samples, &as_proved, address));
        load.requests.iter_mut().for_each(|request| request.check.least_ns = least_ns);
        self.counts_anew = self.services.reset_account();
        Ok(())
    }

    fn load_begins(&mut self) -> Result<Option<Arc<dyn Referee>>, LabError> {
        self.live.begin(self.services).map_err(LabError::User)
    }

    fn load_ends(&mut self, load: Option<&LoadResult>) {
        let right = load.map_or(0, |load| load.windows.iter().map(|window| window.good).sum());
        self.live.end(self.services, right);
    }

    fn after(&mut self, record: &mut TrialRecord) {
        if self.counts_anew {
            record.services = self.services.account();
        }
        if let Some(failure) = self.target.crashed() {
            record.failure = Some(failure);
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
    }

    fn log_tail(&self) -> Vec<String> {
        self.target.log_tail()
    }
}
