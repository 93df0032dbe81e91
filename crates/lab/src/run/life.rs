//! The life of each target, after all repetitions: how long it takes to start, also after SIGKILL,
//! what memory it takes, and what is lost when it is stopped under load. It is started twice more
//! and loaded for 4 s in all. Nothing of this is in the figures of the run.
use pippin_model::host::usage::{MemoryOverTime, Role};
use pippin_model::plan::profile::{Profile, StopRule};
use pippin_model::run::life::TargetLife;
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Stage, TrialRecord, TrialSpec};
use pippin_probe::{RoleRoot, Roots, TreeMemory, sample};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::execution::{Execution, Extra};
use crate::error::LabError;
use crate::install::{Installed, size};
use crate::run::observer::{Event, Silent};
use crate::running::draining::{Asking, end_under_load};
use crate::running::{Ending, RunningTarget};
use crate::services::Services;
use crate::target::{Kind, Target};
use crate::trial::Watch;
use crate::verify::http::Request;

/// How long a target rests before its memory is read again.
const REST: Duration = Duration::from_secs(1);
/// How long it is loaded with the connections of the plan, nanoseconds.
const LOADED_NS: u64 = 2_000_000_000;
/// The most connections of that load.
const MOST_CONNECTIONS: u32 = 256;
/// How long users ask before it is ended.
const ASKED: Duration = Duration::from_secs(1);

impl Execution<'_> {
    /// Measures the life of every target that has a result, if the plan asks for it.
    pub(super) fn live_all(&mut self, services: &mut Services) -> Result<(), LabError> {
        if !self.header().plan.life {
            return Ok(());
        }
        for id in self.with_results() {
            self.go_on()?;
            let note = format!("{id}: its life (start, memory, SIGKILL, stop under load)");
            self.settings.observer.event(&Event::Note(&note));
            let life = self.life_of(&id, services)?;
            self.recording.keep_life(life)?;
        }
        Ok(())
    }

    fn life_of(&self, id: &TargetId, services: &mut Services) -> Result<TargetLife, LabError> {
        let mut life = TargetLife::new(id.clone());
        let Some((target, Ok(installed))) = self.prepared.get(id) else { return Ok(life) };
        life.install_ns = installed.took_ns;
        if matches!(target.kind, Kind::Catalog) {
            life.own_lines = size::own_lines(&target.folder).ok();
            life.installed_bytes = size::installed_bytes(&target.folder).ok();
        }
        services.choose_table(0);
        match self.live(&mut life, target, installed, services) {
            Err(LabError::Target(failure)) => life.failure = Some(failure.message),
            other => other?,
        }
        Ok(life)
    }

    /// What is found is in `life`, also what was found before a failure.
    fn live(
        &self,
        life: &mut TargetLife,
        target: &Target,
        installed: &Installed,
        services: &mut Services,
    ) -> Result<(), LabError> {
        if !matches!(target.kind, Kind::Catalog | Kind::Command) {
            let message = "a life is measured only of processes that Pippin starts itself";
            return Err(LabError::target(Stage::Start, message));
        }
        let id = &life.target.clone();
        let extra = Extra::default();
        let mut running = self.start_with(id, target, installed, services, &extra)?;
        life.start_ns = start_ns(&running);
        life.memory.started_bytes = memory_bytes(&running);
        self.rest()?;
        life.memory.idle_bytes = memory_bytes(&running);
        let loaded = self.loaded(id, &mut running, services)?;
        life.memory.loaded_bytes = highest_memory(&loaded);
        life.memory.killed = running.killed_in_step();
        if let Some(failure) = loaded.failure {
            return Err(LabError::Target(failure));
        }
        self.rest()?;
        life.memory.rested_bytes = memory_bytes(&running);
        let asking = self.asking(target);
        let port = Some(running.address().port());
        let _ = end_under_load(running, &asking, ASKED / 2, Ending::Killed);
        self.go_on()?;
        let extra = Extra { port, ..extra };
        let running = self.start_with(id, target, installed, services, &extra).map_err(again)?;
        life.restart_ns = start_ns(&running);
        life.stop = Some(end_under_load(running, &asking, ASKED, Ending::Stopped));
        Ok(())
    }

    /// A closed loop with the connections of the plan.
    fn loaded(
        &self,
        id: &TargetId,
        running: &mut RunningTarget,
        services: &mut Services,
    ) -> Result<TrialRecord, LabError> {
        let plan = &self.header().plan;
        let asked = &plan.profile.connections;
        let count = asked.count.clamp(1, MOST_CONNECTIONS);
        let mut profile = Profile::closed(count, StopRule::after(LOADED_NS));
        profile.connections.requests_per_connection = asked.requests_per_connection;
        profile.protocol = plan.profile.protocol;
        let spec = TrialSpec {
            profile: profile.clone(),
            repetitions: 1,
            ..self.spec(id, plan.repetitions, None)
        };
        let watch = Watch { observer: &Silent, stop: self.settings.stop };
        let record = self.make_watched(&watch, &spec, &profile, running, services);
        self.go_on()?;
        Ok(record)
    }

    /// What users ask a target for.
    fn asking(&self, target: &Target) -> Asking<'_> {
        let workload = &self.header().workload;
        let method = &workload.request.method;
        let requests = self.samples.iter().map(|of| (Request::of_sample(method, of), of));
        let expected = target.is_proved().then_some(&workload.answer);
        Asking { requests: requests.collect(), expected }
    }

    fn rest(&self) -> Result<(), LabError> {
        let begin = Instant::now();
        while begin.elapsed() < REST {
            self.go_on()?;
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// An error if the user wants to stop.
    pub(super) fn go_on(&self) -> Result<(), LabError> {
        if self.interrupted() { Err(LabError::Interrupted) } else { Ok(()) }
    }
}

fn start_ns(running: &RunningTarget) -> Option<u64> {
    running.start_up().map(|time| time.as_nanos() as u64)
}

/// The highest memory of a target under a load.
fn highest_memory(loaded: &TrialRecord) -> Option<u64> {
    loaded.usage.as_ref()?.roles.get(&Role::Target)?.memory_max_bytes()
}

/// The memory of a target now.
fn memory_bytes(running: &RunningTarget) -> Option<u64> {
    let roles: BTreeMap<Role, Vec<RoleRoot>> = [(Role::Target, running.roots().to_vec())].into();
    let roots = Roots { roles, apart: running.apart().clone(), ..Roots::default() };
    // A new memory reads the proportional set at once.
    let now = sample(&roots, &mut TreeMemory::default());
    MemoryOverTime::default().at(&now, Role::Target)
}

/// A second start that fails has another cause than the first.
fn again(error: LabError) -> LabError {
    match error {
        LabError::Target(Failure { message, log_tail, .. }) => LabError::Target(Failure {
            stage: Stage::Start,
            message: format!("after SIGKILL it does not start again on its port: {message}"),
            log_tail,
        }),
        other => other,
    }
}
