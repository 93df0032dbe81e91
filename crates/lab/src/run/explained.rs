//! Profiles each target after all repetitions. It is started anew and loaded twice: once to sample
//! its stacks, once to count its system calls. Neither load is kept as a trial.
use pippin_model::host::usage::Role;
use pippin_model::plan::profile::Profile;
use pippin_model::target::TargetId;
use pippin_model::trial::explained::Explained;
use pippin_model::trial::{TrialRecord, TrialSpec};
use pippin_stats::bottleneck::cost::cpu_seconds_per_million;
use std::fs;
use std::path::PathBuf;

use super::execution::{Execution, Extra};
use crate::error::LabError;
use crate::run::explaining::{Explaining, Look, Looking, short};
use crate::run::observer::Event;
use crate::run::perf;
use crate::running::RunningTarget;
use crate::services::Services;
use crate::trial::Watch;

impl Execution<'_> {
    /// Explains every target that has a result.
    pub(super) fn explain_all(&mut self, services: &mut Services) -> Result<(), LabError> {
        let Some(explaining) = self.settings.explaining else { return Ok(()) };
        let profile = short(&self.header().plan.profile)?;
        for id in self.with_results() {
            self.go_on()?;
            let note = format!("{id}: explained with perf; nothing of this is measured");
            self.settings.observer.event(&Event::Note(&note));
            explaining.keep(self.explain(&id, &profile, explaining, services)?);
        }
        Ok(())
    }

    fn explain(
        &self,
        id: &TargetId,
        profile: &Profile,
        explaining: &Explaining,
        services: &mut Services,
    ) -> Result<Explained, LabError> {
        let mut explained = Explained {
            has_hardware_counters: explaining.perf.has_hardware_counters,
            ..Explained::new(id.clone())
        };
        let Some((target, Ok(installed))) = self.prepared.get(id) else { return Ok(explained) };
        services.choose_table(0);
        let extra = Extra { environment: &perf::ENVIRONMENT, ..Extra::default() };
        let mut running = match self.start_with(id, target, installed, services, &extra) {
            Ok(running) => running,
            Err(LabError::Target(failure)) => {
                return Ok(Explained { failure: Some(failure.message), ..explained });
            }
            Err(other) => return Err(other),
        };
        let mut sampled = Vec::new();
        let at = (&mut running, services);
        let looked = self.look_at(&mut explained, profile, explaining, at, &mut sampled);
        drop(running.stop());
        // The JVM names its functions only when it ends.
        let read = self.read_stacks(&mut explained, &sampled);
        explained.failure = looked.and(read).err();
        Ok(explained)
    }

    /// Reads what was sampled, and removes it.
    fn read_stacks(&self, explained: &mut Explained, processes: &[i32]) -> Result<(), String> {
        let data = self.data_of("samples.perf", &explained.target);
        let stacks = perf::stacks(&data);
        drop(fs::remove_file(data));
        perf::tidy(processes);
        explained.stacks = stacks?;
        explained.samples = perf::samples(&explained.stacks);
        Ok(())
    }

    /// A file of the profiler, in the folder of the run.
    fn data_of(&self, name: &str, target: &TargetId) -> PathBuf {
        self.settings.folder.join(format!("{name}-{}", target.file_name()))
    }

    /// Loads a target twice: sampled, then counted. Tells which processes were sampled.
    fn look_at(
        &self,
        explained: &mut Explained,
        profile: &Profile,
        explaining: &Explaining,
        (running, services): (&mut RunningTarget, &mut Services),
        processes: &mut Vec<i32>,
    ) -> Result<(), String> {
        let roots = running.roots().to_vec();
        // The number of the extra repetition; no other has it.
        let repetition = self.header().plan.repetitions;
        let spec = TrialSpec {
            profile: profile.clone(),
            repetitions: 1,
            ..self.spec(&explained.target, repetition, None)
        };
        let mut made = |look: Look, name: &str| {
            let data = self.data_of(name, &spec.target);
            let looking = Looking::new(&explaining.perf, look, &roots, data);
            let watch = Watch { observer: &looking, stop: self.settings.stop };
            let record = self.make_watched(&watch, &spec, profile, running, services);
            let processes = looking.finish()?;
            match record.failure {
                Some(failure) => Err(failure.message),
                None => Ok((record, processes)),
            }
        };
        let sampled;
        (sampled, *processes) = made(Look::Samples, "samples.perf")?;
        explained.cpu_per_request_ns = cpu_per_request_ns(&sampled);
        let (counted, _) = made(Look::Counts, "counts")?;
        explained.cpu_per_request_counted_ns = cpu_per_request_ns(&counted);
        let data = self.data_of("counts", &explained.target);
        let text = fs::read_to_string(&data).map_err(|error| error.to_string())?;
        drop(fs::remove_file(data));
        let found = perf::counted(&text);
        let per_request = |count: Option<u64>| Some(count? as f64 / requests(&counted)? as f64);
        explained.switches_per_request = per_request(found.switches);
        explained.syscalls_per_request = per_request(found.syscalls);
        Ok(())
    }
}

/// Requests of the whole load, its warm-up included, as the profiler saw them.
fn requests(record: &TrialRecord) -> Option<u64> {
    let load = record.load.as_ref()?;
    Some(load.warm_up.completed + load.measured.requests.completed).filter(|count| *count > 0)
}

fn cpu_per_request_ns(record: &TrialRecord) -> Option<f64> {
    let (load, usage) = (record.load.as_ref()?, record.usage.as_ref()?);
    // A CPU-second per million requests is a microsecond per request.
    Some(cpu_seconds_per_million(load, usage, Role::Target)? * 1e3)
}
