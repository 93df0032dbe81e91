//! One trial: proofs, load and sampling, proofs; everything that is known of it in one record.
use pippin_engine::{Control, EngineError};
use pippin_model::caveat::Verdict;
use pippin_model::load_result::{LoadResult, Window};
use pippin_model::load_spec::BodyCheck;
use pippin_model::trial::{Failure, ProofOutcome, ProofTime, Stage, TrialRecord, TrialSpec};
use pippin_model::usage::{Role, UsageSample};
use pippin_model::workload::{Sample, Workload};
use pippin_probe::{RoleRoot, Roots, Sampler, usage_between};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::load::{self, Connecting};
use crate::observer::{Event, Observer};
use crate::running::RunningTarget;
use crate::services::Services;
use crate::verify::{self, Subject};

/// How often the kernel is asked during a load.
const SAMPLE_EVERY: Duration = Duration::from_millis(200);

/// What a trial works with.
pub struct Trial<'a> {
    /// What is to be done.
    pub spec: &'a TrialSpec,
    /// The workload.
    pub workload: &'a Workload,
    /// Its requests.
    pub samples: &'a [Sample],
    /// The target.
    pub target: &'a mut RunningTarget,
    /// The services.
    pub services: &'a mut Services,
    /// Told what happens.
    pub observer: &'a dyn Observer,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// Nanoseconds since 1970.
#[must_use]
pub fn unix_now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// A record of a trial that has not begun.
#[must_use]
pub fn empty_record(spec: &TrialSpec) -> TrialRecord {
    TrialRecord {
        spec: spec.clone(),
        started_unix_ns: unix_now_ns(),
        load: None,
        usage: None,
        samples: Vec::new(),
        start_up_ns: None,
        proofs: Vec::new(),
        failure: None,
        services: BTreeMap::new(),
        caveats: Vec::new(),
        verdict: Verdict::Invalid,
    }
}

impl Trial<'_> {
    /// Makes the trial; what fails is in the record. Judging is not done here.
    pub fn make(&mut self) -> TrialRecord {
        let mut record = empty_record(self.spec);
        record.start_up_ns = Some(self.target.start_up().as_nanos() as u64);
        self.observer.event(&Event::Stage("proving"));
        record.proofs = self.prove(ProofTime::Before);
        if let Some(failure) = failed_proof(&record.proofs, self.target) {
            record.failure = Some(failure);
            return record;
        }
        let as_proved = match self.proved_body() {
            Ok(check) => check,
            Err(message) => {
                record.failure = Some(Failure {
                    stage: Stage::Proof,
                    message,
                    log_tail: self.target.log_tail(),
                });
                return record;
            }
        };
        // An account that holds the proofs' calls too would look as if the target asked more than
        // once: then it is not known.
        let counts_anew = self.services.reset_account();
        self.observer.event(&Event::Stage("measuring"));
        self.measure(&mut record, &as_proved);
        if counts_anew {
            record.services = self.services.account();
        }
        if let Some(failure) = self.target.crashed() {
            record.failure = Some(failure);
        } else if record.failure.is_none()
            && !record.load.as_ref().is_some_and(|load| load.interrupted)
        {
            self.observer.event(&Event::Stage("proving again"));
            record.proofs.extend(self.prove(ProofTime::After));
            record.failure = failed_proof(&record.proofs, self.target);
        }
        record
    }

    fn prove(&mut self, when: ProofTime) -> Vec<ProofOutcome> {
        let mut subject = Subject {
            address: self.target.address(),
            workload: self.workload,
            samples: self.samples,
            services: self.services,
            limit: Duration::from_secs(10),
        };
        verify::prove(&mut subject, when)
    }

    fn proved_body(&mut self) -> Result<BodyCheck, String> {
        Subject {
            address: self.target.address(),
            workload: self.workload,
            samples: self.samples,
            services: self.services,
            limit: Duration::from_secs(10),
        }
        .proved_body()
    }

    fn measure(&mut self, record: &mut TrialRecord, as_proved: &BodyCheck) {
        let spec = self.spec;
        let cores: Vec<u32> = spec.cpus.generator.0.iter().copied().collect();
        let connecting = Connecting {
            address: self.target.address(),
            threads: cores.len().max(1) as u32,
            cores,
            seed: spec.seed,
        };
        let requests = load::templates(
            self.workload,
            self.samples,
            as_proved,
            load::keeps_alive(&spec.profile),
            self.target.address(),
        );
        let load_spec = load::spec(&spec.profile, spec.step, &connecting, requests);
        let sampler = match Sampler::start(self.roots(), SAMPLE_EVERY, None) {
            Ok(sampler) => sampler,
            Err(error) => {
                record.failure = Some(Failure {
                    stage: Stage::Load,
                    message: error.to_string(),
                    log_tail: Vec::new(),
                });
                return;
            }
        };
        let observer = self.observer;
        let latest = || sampler.latest();
        let on_window = |window: &Window| observer.event(&Event::Window(window, latest().as_ref()));
        let control = Control {
            on_window: Some(&on_window),
            ..Control::new(self.stop, pippin_stats::steady::has_settled)
        };
        let result = pippin_engine::run(&load_spec, &control);
        let samples = sampler.stop();
        match result {
            Ok(load) => keep(record, load, samples),
            Err(error) => {
                record.failure = Some(Failure {
                    stage: Stage::Load,
                    message: error.to_string(),
                    log_tail: self.target.log_tail(),
                });
                if let EngineError::Died { measured: Some(load), .. } = error {
                    keep(record, *load, samples);
                }
            }
        }
    }

    fn roots(&self) -> Roots {
        let mut roles = BTreeMap::from([
            (Role::Target, vec![RoleRoot::Tree(self.target.supervisor_pid())]),
            (Role::Generator, vec![RoleRoot::Process(std::process::id() as i32)]),
        ]);
        let services: Vec<RoleRoot> =
            self.services.supervisors().into_iter().map(RoleRoot::Tree).collect();
        if !services.is_empty() {
            roles.insert(Role::Services, services);
        }
        Roots { roles, log: Some(self.target.log()), port: Some(self.target.address().port()) }
    }
}

/// Cuts the samples at the measured part and keeps about one a second of them.
fn keep(record: &mut TrialRecord, load: LoadResult, samples: Vec<UsageSample>) {
    record.usage = usage_between(&samples, load.measured_from_ns, load.measured_to_ns);
    let every = (1_000 / SAMPLE_EVERY.as_millis() as usize).max(1);
    // Short trials keep all, so that there is a curve to draw.
    let every = if samples.len() > 50 { every } else { 1 };
    record.samples = samples.into_iter().step_by(every).collect();
    record.load = Some(load);
}

fn failed_proof(proofs: &[ProofOutcome], target: &RunningTarget) -> Option<Failure> {
    let failed: Vec<String> = proofs
        .iter()
        .filter_map(|proof| {
            proof.failure.as_ref().map(|failure| format!("proof {}: {failure}", proof.proof))
        })
        .collect();
    (!failed.is_empty()).then(|| Failure {
        stage: Stage::Proof,
        message: failed.join("; "),
        log_tail: target.log_tail(),
    })
}
