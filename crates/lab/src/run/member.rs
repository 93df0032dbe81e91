//! One target of a group, from its start to its record.
use pippin_engine::Referee;
use pippin_model::host::usage::Role;
use pippin_model::load::LoadSpec;
use pippin_model::plan::Plan;
use pippin_model::plan::profile::Profile;
use pippin_model::trial::{AtRest, Company, Failure, Stage, TrialRecord, TrialSpec};
use pippin_model::workload::{Sample, Workload};
use pippin_probe::bystanders::Bystanders;
use pippin_probe::{Roots, TreeMemory};
use std::sync::Arc;
use std::time::Duration;

use crate::check::conformance;
use crate::load;
use crate::running::RunningTarget;
use crate::running::helping::Helping;
use crate::services::Services;
use crate::slices::account::{Account, Services as Counts};
use crate::slices::idle::Idle;
use crate::slices::length::{self, Lengths};
use crate::slices::making;
use crate::slices::stretch::Stretch;
use crate::trial::notice::Notice;
use crate::trial::proving::ProvedTarget;
use crate::trial::{Measured, NotMeasured, Watch, empty_record};
use crate::verify::live::Live;

/// A target that is up.
pub struct Member {
    pub spec: TrialSpec,
    pub record: TrialRecord,
    pub slices: Account,
    pub idle: Idle,
    /// What other processes did in its slices, and in the slices of other targets.
    pub helping: Helping,
    /// Why it is measured apart from others.
    pub apart: Option<String>,
    pub running: RunningTarget,
    /// Which table of the database is its own, if it reads one.
    table: usize,
    memory_bytes: Option<u64>,
    /// Judges its answers, over all loads of a step.
    live: Live,
    referee: Option<Arc<dyn Referee>>,
    /// Answers of all its loads, used or not.
    pub answers: u64,
    load: LoadSpec,
    /// For how long it has been warmed up for this step, in nanoseconds.
    warmed_ns: u64,
    /// Whether it was warmed up for all steps, before the first of several rates.
    is_warm: bool,
    /// Says to other loads on this machine that the target is loaded.
    notice: Notice,
    memory: TreeMemory,
}

/// What all targets of a run share.
pub struct Shared<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload,
    pub samples: &'a [Sample],
    pub services: &'a mut Services,
    pub watch: Watch<'a>,
}

impl Member {
    pub fn new(
        spec: TrialSpec,
        running: RunningTarget,
        table: usize,
        apart: Option<String>,
    ) -> Self {
        let load = base(&spec, &running);
        Self {
            record: empty_record(&spec),
            spec,
            slices: Account::default(),
            idle: Idle::default(),
            helping: Helping::default(),
            apart,
            running,
            table,
            memory_bytes: None,
            live: Live::default(),
            referee: None,
            answers: 0,
            load,
            warmed_ns: 0,
            is_warm: false,
            notice: Notice::default(),
            memory: TreeMemory::default(),
        }
    }

    /// Begins another step.
    pub fn step(&mut self, spec: TrialSpec) {
        self.record = empty_record(&spec);
        self.load = base(&spec, &self.running);
        self.warmed_ns = 0;
        self.spec = spec;
        self.slices = Account::default();
        self.idle = Idle::default();
        self.helping.forget_loads();
    }

    pub const fn has_failed(&self) -> bool {
        self.record.failure.is_some()
    }

    /// Lets `work` prove the target. The watcher of its answers is kept for the next load.
    fn proving<T>(
        &mut self,
        shared: &mut Shared<'_>,
        work: impl FnOnce(&mut ProvedTarget<'_>) -> T,
    ) -> T {
        shared.services.choose_table(self.table);
        let mut proving = ProvedTarget {
            workload: shared.workload,
            samples: shared.samples,
            target: &mut self.running,
            services: shared.services,
            counts_anew: false,
            closes: !self.load.connections.keep_alive(),
            live: std::mem::take(&mut self.live),
            helping: None,
            asks_conformance: conformance::is_asked(shared.plan, &self.spec),
        };
        let outcome = work(&mut proving);
        self.live = proving.live;
        outcome
    }

    /// Proves the target and warms it up. Returns how long its slices must last, in nanoseconds, if
    /// that is known. Failures are in the record.
    pub fn get_ready(&mut self, shared: &mut Shared<'_>) -> Option<u64> {
        let mut record = self.record.clone();
        let mut load = self.load.clone();
        let outcome = self.proving(shared, |target| {
            target.prove_before(&mut load, &mut record)?;
            let begun = target.live.begin(target.services, target.target.way(), target.closes);
            begun.map_err(|message| Failure {
                stage: Stage::Load,
                message,
                log_tail: target.target.log_tail(),
            })
        });
        (self.record, self.load) = (record, load);
        match outcome {
            Ok(referee) => self.referee = referee,
            Err(failure) => {
                self.record.failure = Some(failure);
                return None;
            }
        }
        self.notice = Notice::post(&self.load);
        if self.spec.profile.is_rates() && !std::mem::replace(&mut self.is_warm, true) {
            self.warm_up(length::warm_up(&self.warming()), shared)?;
        }
        let measured = self.warm_up(length::warm_up(&self.load), shared)?;
        length::needed_ns(&measured.load)
    }

    /// The load that warms it up: its own, or the closed loop before the first of several rates.
    fn warming(&self) -> LoadSpec {
        match self.spec.profile.before_rates() {
            Some(Profile { schedule, warm_up, .. }) => {
                LoadSpec { schedule, warm_up, ..self.load.clone() }
            }
            None => self.load.clone(),
        }
    }

    /// What is looked at to see what it uses, and what is known of it already.
    pub fn watched(&mut self, shared: &mut Shared<'_>) -> (Roots, TreeMemory) {
        let roots = self.proving(shared, |target| target.roots());
        (roots, std::mem::take(&mut self.memory))
    }

    /// What it used while it was watched and nobody asked it.
    pub fn was_watched(&mut self, memory: TreeMemory, at_rest: Option<AtRest>) {
        self.memory = memory;
        self.record.at_rest = at_rest;
    }

    /// Applies a load that warms it up. Nobody uses what it measures.
    fn warm_up(&mut self, load: LoadSpec, shared: &mut Shared<'_>) -> Option<Measured> {
        let (measured, counts) = self.apply(load, shared)?;
        self.warmed_ns += measured.load.warm_up.duration_ns;
        self.slices.warm_up(&measured, counts);
        Some(measured)
    }

    /// Whether the limit of its warm-up leaves time to warm it up for longer.
    pub fn may_warm_on(&self) -> bool {
        length::warm_on(&self.warming(), self.warmed_ns).is_some()
    }

    /// Warms it up for longer, within the limit.
    pub fn warm_on(&mut self, shared: &mut Shared<'_>) {
        if let Some(load) = length::warm_on(&self.warming(), self.warmed_ns) {
            self.warm_up(load, shared);
        }
    }

    /// Makes a slice. Returns whether it was calm; `None` if the target failed or the user stopped
    /// it. `company_cores` is what the other targets that are up and idle use.
    pub fn slice(
        &mut self,
        round: u32,
        lengths: &Lengths,
        company_cores: f64,
        stretch: &mut Stretch,
        shared: &mut Shared<'_>,
    ) -> Option<bool> {
        let load = lengths.load(&self.load, round);
        self.record.load_spec = Some(load.for_record());
        let (measured, counts) = self.apply(load, shared)?;
        let slice = making::slice(round, &measured, &self.spec.cpus, company_cores, stretch);
        let calm = slice.calm;
        self.slices.add(slice, &measured, counts);
        Some(calm)
    }

    /// Applies a load, and reads what the services counted during it.
    fn apply(&mut self, load: LoadSpec, shared: &mut Shared<'_>) -> Option<(Measured, Counts)> {
        shared.services.rest(Duration::from_secs(5));
        let counts_anew = shared.services.reset_account();
        let roots = self.proving(shared, |target| target.roots());
        let (referee, numbers) = (self.referee.clone(), self.live.numbers());
        self.live.is_loaded(true, shared.services);
        let life = self.running.life();
        let outcome = making::load(load, &roots, life, referee, &mut self.memory, &shared.watch);
        self.live.is_loaded(false, shared.services);
        let mut counts = Counts::new();
        if counts_anew {
            counts = shared.services.account();
            self.live.count_numbers(numbers, &mut counts);
        }
        if let Ok(measured) = &outcome {
            self.answers += load::answers(&measured.load);
        }
        if let Some(crash) = self.running.crashed() {
            crash.note(outcome.ok().as_ref().map(|measured| &measured.load), &mut self.record);
            return None;
        }
        match outcome {
            Ok(measured) if measured.load.interrupted => None,
            Ok(measured) => {
                self.memory_bytes = self.memory_bytes.max(memory_bytes(&measured));
                Some((measured, counts))
            }
            Err(NotMeasured { error, .. }) => {
                let (message, log_tail) = (error.to_string(), self.running.log_tail());
                self.record.failure = Some(Failure { stage: Stage::Load, message, log_tail });
                None
            }
        }
    }

    /// Sums up its slices, and proves the target again unless it was stopped early.
    pub fn settle(
        &mut self,
        group: &Group,
        interrupted: bool,
        bystanders: &mut Bystanders,
        shared: &mut Shared<'_>,
    ) {
        let slices = std::mem::take(&mut self.slices);
        slices.settle(group.rounds, &group.calmest, interrupted, &mut self.record);
        self.record.beside = std::mem::take(&mut self.notice).others();
        self.record.company = Some(Company {
            targets: group.targets,
            rounds: group.rounds,
            idle_cores: self.idle.cores(),
            apart: self.apart.clone(),
        });
        if group.targets == 1 && !interrupted {
            self.helping.rest(bystanders, &self.running);
        }
        self.record.outside = self.helping.found(bystanders, &self.running);
        let mut record = self.record.clone();
        self.referee = None;
        self.proving(shared, |target| {
            target.live.end(target.services);
            target.prove_after(&mut record);
        });
        self.record = record;
    }

    /// The most memory that it is known to have used, in bytes; shared pages count once.
    pub const fn memory_bytes(&self) -> Option<u64> {
        self.memory_bytes
    }
}

fn memory_bytes(measured: &Measured) -> Option<u64> {
    measured.usage.as_ref()?.roles.get(&Role::Target)?.memory_max_bytes()
}

/// What a group has in common.
pub struct Group {
    /// Targets that were up together.
    pub targets: u32,
    /// Rounds that were planned.
    pub rounds: u32,
    /// The rounds, the calmest first.
    pub calmest: Vec<u32>,
}

fn base(spec: &TrialSpec, running: &RunningTarget) -> LoadSpec {
    let cores = spec.cpus.generator.0.iter().copied().collect();
    load::from_profile(&spec.profile, spec.step, running.way().base(cores, spec.seed))
}
