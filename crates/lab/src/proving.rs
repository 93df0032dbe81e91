//! Proves a target that runs here, before and after its load, and takes its services' account.
use pippin_model::load_spec::{BodyCheck, LoadSpec};
use pippin_model::trial::{Failure, ProofOutcome, ProofTime, Stage, TrialRecord};
use pippin_model::usage::Role;
use pippin_model::workload::{Sample, Workload};
use pippin_probe::{RoleRoot, Roots};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::load;
use crate::running::RunningTarget;
use crate::services::Services;
use crate::trial::Proving;
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
}

impl ProvedTarget<'_> {
    /// Whose use of the machine is sampled.
    #[must_use]
    pub fn roots(&self) -> Roots {
        let mut roles = BTreeMap::from([
            (Role::Target, vec![RoleRoot::Below(self.target.supervisor_pid())]),
            (Role::Generator, vec![RoleRoot::Process(std::process::id() as i32)]),
        ]);
        let services: Vec<RoleRoot> =
            self.services.supervisors().into_iter().map(RoleRoot::Tree).collect();
        if !services.is_empty() {
            roles.insert(Role::Services, services);
        }
        Roots { roles, log: Some(self.target.log()), port: Some(self.target.address().port()) }
    }

    fn subject(&mut self) -> Subject<'_> {
        Subject {
            address: self.target.address(),
            workload: self.workload,
            samples: self.samples,
            services: self.services,
            limit: PATIENCE,
        }
    }

    fn failed(&self, proofs: &[ProofOutcome]) -> Option<Failure> {
        let failed: Vec<String> = proofs
            .iter()
            .filter_map(|proof| {
                proof.failure.as_ref().map(|failure| format!("proof {}: {failure}", proof.proof))
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
        record.start_up_ns = Some(self.target.start_up().as_nanos() as u64);
        record.proofs = verify::prove(&mut self.subject(), ProofTime::Before);
        self.failed(&record.proofs).map_or(Ok(()), Err)?;
        let as_proved: BodyCheck =
            self.subject().proved_body().map_err(|message| self.proof_failure(message))?;
        load.requests =
            load::requests(self.workload, self.samples, &as_proved, self.target.address());
        self.counts_anew = self.services.reset_account();
        Ok(())
    }

    fn after(&mut self, record: &mut TrialRecord) {
        if self.counts_anew {
            record.services = self.services.account();
        }
        if let Some(failure) = self.target.crashed() {
            record.failure = Some(failure);
        } else if record.failure.is_none()
            && !record.load.as_ref().is_some_and(|load| load.interrupted)
        {
            record.proofs.extend(verify::prove(&mut self.subject(), ProofTime::After));
            record.failure = self.failed(&record.proofs);
        }
    }

    fn log_tail(&self) -> Vec<String> {
        self.target.log_tail()
    }
}
