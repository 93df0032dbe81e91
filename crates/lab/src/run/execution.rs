//! A run under way: services and targets are started, measured and stopped, one after the other.
use pippin_model::plan::cpus::{CpuSet, CpuSplit};
use pippin_model::plan::limits::Limits;
use pippin_model::plan::profile::Profile;
use pippin_model::run::RunHeader;
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Stage, Step, TrialRecord, TrialSpec};
use pippin_model::verdict::Caveat;
use pippin_model::workload::{Message, Sample};
use pippin_stats::planning::choice::Choice;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::counting::Counters;
use super::earlier;
use super::preparation::Prepared;
use super::repetitions::{self, order};
use super::split::workers;
use super::{RunSettings, observer::Event, recording::Recording, steps::Steps};
use crate::check::conformance;
use crate::error::LabError;
use crate::install::Installed;
use crate::load;
use crate::running::{RunningTarget, StartSettings};
use crate::services::{ServiceSettings, Services};
use crate::slices::room::Room;
use crate::target::Kind;
use crate::target::catalog::Target;
use crate::trial::again::made_again;
use crate::trial::proving::{ProvedTarget, Watching};
use crate::trial::{Trial, Watch, empty_record};
use crate::verify::{self, live::Live};

/// What a start is given beside what all have.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extra<'a> {
    pub(super) environment: &'a [(&'a str, &'a str)],
    /// A port that it must use.
    pub(super) port: Option<u16>,
    /// Words before its command.
    pub(super) before: &'a [String],
    /// The plan's limits are left out: what is added to the target would be limited too.
    pub(super) unlimited: bool,
}

/// A run under way: what was prepared for it, and what is known of its targets so far.
pub(super) struct Execution<'a> {
    pub(super) recording: Recording<'a>,
    pub(super) prepared: Prepared,
    pub(super) settings: &'a RunSettings<'a>,
    pub(super) cpus: CpuSplit,
    pub(super) samples: Vec<Sample>,
    pub(super) given_up: BTreeSet<TargetId>,
    /// Targets that are not idle without requests, and the evidence.
    pub(super) restless: BTreeMap<TargetId, String>,
    /// Counts instructions, if the plan asks for it.
    pub(super) counters: Option<Counters>,
    /// Targets whose instructions cannot be counted, and why.
    pub(super) uncountable: BTreeMap<TargetId, String>,
    pub(super) room: Room,
    pub(super) number: usize,
    /// Trials of all targets that are available.
    pub(super) in_all: usize,
    /// When the first repetition began.
    pub(super) began: Instant,
    /// What the repetitions beyond the first ones are spent on, if a goal decides on them.
    pub(super) choice: Option<Choice>,
}

impl<'a> Execution<'a> {
    pub(super) fn new(
        recording: Recording<'a>,
        prepared: Prepared,
        cpus: CpuSplit,
        counters: Option<Counters>,
        settings: &'a RunSettings<'a>,
    ) -> Self {
        let header = recording.header();
        let samples = header.workload.samples(header.seed, verify::PROVED);
        let in_all = order(header).len() * Steps::number(&header.plan.profile);
        Self {
            recording,
            prepared,
            settings,
            cpus,
            samples,
            given_up: BTreeSet::new(),
            restless: BTreeMap::new(),
            counters,
            uncountable: BTreeMap::new(),
            room: Room::default(),
            number: 0,
            in_all,
            began: Instant::now(),
            choice: None,
        }
    }

    pub(super) fn header(&self) -> &RunHeader {
        self.recording.header()
    }

    pub(super) fn interrupted(&self) -> bool {
        self.settings.stop.load(Ordering::Relaxed)
    }

    pub(super) fn all_repetitions(&mut self) -> Result<(), LabError> {
        let order = order(self.header());
        if order.is_empty() || self.interrupted() {
            return Ok(());
        }
        if let Some(said) = earlier::expectation(self.header(), self.settings.keeping) {
            self.settings.observer.event(&Event::Note(&said));
        }
        let mut services = self.start_services()?;
        self.began = Instant::now();
        for repetition in 0.. {
            if !self.needs(repetition) {
                break;
            }
            let order = repetitions::order_of(self.header(), repetition + 1);
            let targets = order.iter().filter(|(of, _)| *of == repetition).map(|(_, id)| id);
            let targets: Vec<TargetId> = targets.cloned().collect();
            self.count_all(repetition, &targets, &mut services)?;
            if self.is_sliced() {
                self.rounds(repetition, targets, &mut services)?;
            } else {
                self.one_by_one(repetition, &targets, &mut services)?;
            }
        }
        self.live_all(&mut services)?;
        self.explain_all(&mut services)
    }

    /// One repetition of loads that are not measured in slices.
    fn one_by_one(
        &mut self,
        repetition: u32,
        targets: &[TargetId],
        services: &mut Services,
    ) -> Result<(), LabError> {
        for id in targets {
            if self.interrupted() {
                return Err(LabError::Interrupted);
            }
            if self.takes_part(id) && !self.is_lost() {
                self.session(id, repetition, services)?;
            }
        }
        Ok(())
    }

    /// The targets that have a result, in the order of the plan.
    pub(super) fn with_results(&self) -> Vec<TargetId> {
        let has_result = |id: &TargetId| {
            let of = |record: &TrialRecord| record.spec.target == *id && record.load.is_some();
            self.takes_part(id) && self.recording.trials().iter().any(of)
        };
        self.header().plan.targets.iter().filter(|id| has_result(id)).cloned().collect()
    }

    pub(super) fn takes_part(&self, id: &TargetId) -> bool {
        !self.given_up.contains(id) && !self.settings.observer.skips(id)
    }

    fn start_services(&self) -> Result<Services, LabError> {
        let plan = &self.header().plan;
        let settings = ServiceSettings {
            folder: &self.settings.folder,
            cpus: self.cpus.services.clone(),
            database_connections: self.pool() * self.up_together() as u32,
            tables: self.up_together() as u32,
            upstream_delay_ns: plan.upstream_delay_ns,
            databases: self.prepared.values().any(|(target, _)| target.world.has_database()),
        };
        Services::start(&self.header().workload, &settings, &|| self.interrupted())
    }

    /// Connections to the database that a target may open: twice its pool, because some open as
    /// many again before they close the old ones.
    fn pool(&self) -> u32 {
        self.header().plan.database_pool.max(self.workers() * 2) * 2
    }

    /// Targets that may be up at the same time.
    fn up_together(&self) -> usize {
        if self.is_sliced() { self.header().plan.targets.len() } else { 1 }
    }

    pub(super) fn is_sliced(&self) -> bool {
        let RunHeader { plan, workload, .. } = self.header();
        plan.profile.is_sliced()
            && !workload.has_steps()
            && workload.answer.events.is_none()
            && self.settings.generator.is_ready_at_once()
    }

    fn workers(&self) -> u32 {
        workers(&self.header().plan, &self.cpus)
    }

    /// One start of a target, with all steps of the profile.
    fn session(
        &mut self,
        id: &TargetId,
        repetition: u32,
        services: &mut Services,
    ) -> Result<(), LabError> {
        let Some((target, Ok(installed))) = self.prepared.get(id).cloned() else { return Ok(()) };
        let mut spec = self.spec(id, repetition, None);
        self.announce(&spec);
        let mut running = match self.start(id, &target, &installed, services) {
            Ok(running) => running,
            Err(LabError::Target(failure)) => {
                let mut record = empty_record(&spec);
                record.failure = Some(failure);
                // It would fail in every repetition.
                self.given_up.insert(id.clone());
                return self.finish(record, Vec::new());
            }
            Err(other) => return Err(other),
        };
        let mut steps = Steps::from_profile(&self.header().plan.profile);
        let mut step = steps.next();
        while let Some(current) = step {
            spec.step = current;
            let mut record = match self.applied(&spec, &mut running, services) {
                Ok(profile) => self.make(&spec, &profile, &mut running, services),
                Err(failure) => TrialRecord { failure: Some(failure), ..empty_record(&spec) },
            };
            if self.was_skipped(&record) {
                drop(running.stop());
                return Ok(());
            }
            self.recording.judge(&mut record, running.doubts());
            steps.observe(&record, &self.watch());
            let over =
                record.failure.is_some() || self.interrupted() || self.settings.observer.skips(id);
            step = if over { None } else { steps.next() };
            if step.is_some() {
                running.begin_step();
            }
            if step.is_none() {
                if record.failure.as_ref().is_some_and(|failure| failure.stage == Stage::Proof) {
                    self.given_up.insert(id.clone());
                }
                return self.finish(record, running.stop());
            }
            self.recording.keep(record)?;
            spec = self.spec(id, repetition, step.flatten());
            self.announce(&spec);
        }
        drop(running.stop());
        Ok(())
    }

    pub(super) fn start(
        &self,
        id: &TargetId,
        target: &Target,
        installed: &Installed,
        services: &mut Services,
    ) -> Result<RunningTarget, LabError> {
        self.start_with(id, target, installed, services, &Extra::default())
    }

    pub(super) fn start_with(
        &self,
        id: &TargetId,
        target: &Target,
        installed: &Installed,
        services: &mut Services,
        extra: &Extra<'_>,
    ) -> Result<RunningTarget, LabError> {
        self.settings.observer.event(&Event::Stage("starting"));
        let around = services.of_next_target(target, installed, &|| self.interrupted())?;
        let settings = StartSettings {
            cpus: self.cpus.target.clone(),
            workers: self.workers(),
            limits: if extra.unlimited { Limits::default() } else { self.header().plan.limits },
            database_pool: self.header().plan.database_pool,
            more: extra.environment,
            folder: &self.settings.folder,
            address: self.settings.address,
            protocol: self.header().plan.profile.protocol,
            messages: self.header().workload.message.map(Message::messages),
            port: extra.port,
            before: extra.before,
        };
        RunningTarget::start(target, id, installed, &settings, around, &|| self.interrupted())
    }

    pub(super) fn watch(&self) -> Watch<'a> {
        Watch { observer: self.settings.observer, stop: self.settings.stop }
    }

    pub(super) fn announce(&mut self, spec: &TrialSpec) {
        self.number += 1;
        self.settings.observer.event(&Event::TrialStarted(spec, self.number, self.in_all));
    }

    /// Makes a trial; the load is that of `profile`.
    pub(super) fn make(
        &self,
        spec: &TrialSpec,
        profile: &Profile,
        running: &mut RunningTarget,
        services: &mut Services,
    ) -> TrialRecord {
        self.make_watched(&self.watch(), spec, profile, running, services)
    }

    /// Makes one trial under another watch.
    pub(super) fn make_watched(
        &self,
        watch: &Watch<'_>,
        spec: &TrialSpec,
        profile: &Profile,
        running: &mut RunningTarget,
        services: &mut Services,
    ) -> TrialRecord {
        made_again(self.settings.generator, watch, || {
            let cores = spec.cpus.generator.0.iter().copied().collect();
            let base = running.way().base(cores, spec.seed);
            let mut proving = ProvedTarget {
                workload: &self.header().workload,
                samples: &self.samples,
                target: running,
                services,
                counts_anew: false,
                live: Live::default(),
                // Not in searches: they make many loads already.
                helping: (!spec.profile.is_search()).then(Watching::default),
                closes: false,
                asks_conformance: conformance::is_asked(&self.header().plan, spec),
            };
            let life = proving.target.life();
            let trial = Trial {
                load: load::from_profile(profile, spec.step, base),
                roots: Some(proving.roots()),
                proving: Some(&mut proving),
                referee: None,
                generator: self.settings.generator,
                keeps_going: false,
                life,
            };
            until_skipped(watch, &spec.target, |watch| trial.make(spec, watch))
        })
    }

    pub(super) fn spec(&self, id: &TargetId, repetition: u32, step: Option<Step>) -> TrialSpec {
        TrialSpec {
            target: id.clone(),
            workload: self.header().workload.id.clone(),
            profile: self.header().plan.profile.clone(),
            repetition,
            repetitions: repetitions::least(&self.header().plan),
            step,
            cpus: self.cpus_with(id),
            workers: self.workers(),
            // All targets of a repetition get one load.
            seed: self.header().seed.wrapping_add(u64::from(repetition)),
        }
    }

    /// Who runs where when this target is measured: a server that runs already was given nothing.
    fn cpus_with(&self, id: &TargetId) -> CpuSplit {
        let runs_already = self
            .prepared
            .get(id)
            .is_some_and(|(target, _)| matches!(target.kind, Kind::Listening(_)));
        let target = if runs_already { CpuSet::default() } else { self.cpus.target.clone() };
        CpuSplit { target, ..self.cpus.clone() }
    }

    /// Whether the user skipped the target during its load. What was measured until then is not a
    /// result.
    fn was_skipped(&self, record: &TrialRecord) -> bool {
        !self.interrupted()
            && self.settings.observer.skips(&record.spec.target)
            && record.load.as_ref().is_some_and(|load| load.interrupted)
    }

    pub(super) fn finish(
        &mut self,
        mut record: TrialRecord,
        at_the_end: Vec<Caveat>,
    ) -> Result<(), LabError> {
        self.recording.judge(&mut record, at_the_end);
        // A trial that the user cut short does not count as finished.
        let cut_short =
            self.interrupted() && record.load.as_ref().is_none_or(|load| load.interrupted);
        if cut_short {
            return Err(LabError::Interrupted);
        }
        self.recording.keep(record)
    }

    /// Whether a target failed that the run cannot do without.
    pub(super) fn is_lost(&self) -> bool {
        let is_unavailable = |(_, outcome): &(Target, Result<Installed, Failure>)| outcome.is_err();
        let has_failed = |trial: &TrialRecord| trial.failure.is_some() && trial.load.is_none();
        self.settings.needs_all
            && (self.prepared.values().any(is_unavailable)
                || self.recording.trials().iter().any(has_failed))
    }
}

/// How often a thread looks whether the user skips the target under load: seldom, because it wakes
/// up beside the load.
const LOOK_FOR_SKIP: Duration = Duration::from_millis(200);

/// Works under a watch that also ends when the user skips the target. A load knows one flag only,
/// so that a thread must set it.
fn until_skipped<T>(watch: &Watch<'_>, target: &TargetId, work: impl FnOnce(&Watch<'_>) -> T) -> T {
    let stop = &AtomicBool::new(false);
    let (working, worked) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while worked.recv_timeout(LOOK_FOR_SKIP) == Err(RecvTimeoutError::Timeout) {
                if watch.is_over() || watch.observer.skips(target) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        // Dropped when the work is over, also by a panic: the thread then ends at once.
        let _working = working;
        work(&Watch { observer: watch.observer, stop })
    })
}
