//! One slice on this machine: the load waits at its gate, is observed, judged and reported.
use pippin_engine::{Control, Gate};
use pippin_lab::load::fitted;
use pippin_lab::run::observer::{Event, Observer};
use pippin_lab::trial::generator::{Applied, Generator, Here, NotApplied};
use pippin_lab::trial::{Trial, Watch};
use pippin_lab::verify::live::deputy;
use pippin_model::load::LoadSpec;
use pippin_model::plan::cpus::{CpuSet, CpuSplit};
use pippin_model::plan::profile::{Profile, Steps};
use pippin_model::result::LoadResult;
use pippin_model::run::Calibration;
use pippin_model::target::TargetId;
use pippin_model::trial::{TrialRecord, TrialSpec};
use pippin_probe::{RoleRoot, Roots};
use pippin_stats::judge::{Context, judge_agent};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use tokio::sync::mpsc::UnboundedSender;

use super::policy::HostPort;
use super::{Assignment, Policy, Work, WorkEvent, Worker};
use crate::caught::caught;
use crate::clock::Clock;
use crate::message::{Prepare, SliceResult};

/// What an agent uses to apply loads.
#[derive(Debug, Clone)]
pub struct Means {
    /// The hosts that it may load.
    pub policy: Policy,
    /// Processors of its generator, with a thread on each.
    pub cores: Vec<u32>,
    /// Local addresses to connect from.
    pub source_addresses: Vec<IpAddr>,
    /// Its ceiling, if it is calibrated.
    pub calibration: Option<Calibration>,
    /// Its clock.
    pub clock: Clock,
}

impl Worker for Means {
    fn allows(&self, work: &Work) -> Result<(), String> {
        match work {
            Work::Slice(slice) if slice.load.unix_socket.is_some() => {
                Err("a coordinator may not use a unix socket of this machine".into())
            }
            Work::Slice(slice) if slice.load.proxy.is_some() => {
                Err("agents send no requests through a proxy: --allow-host of this agent is for hosts that it connects to itself".into())
            }
            Work::Slice(slice) => {
                // First the bounds: all that follows takes as long as the numbers are large.
                pippin_engine::bounds(&self.with_threads(&slice.load, slice.threads))
                    .map_err(|error| error.to_string())?;
                Ok(())
            }
            Work::Run(_) => {
                Err("it is not a probe; start one on the target's machine: pippin agent --probe"
                    .into())
            }
        }
    }

    fn begin(&self, assignment: Assignment) {
        let means = self.clone();
        let Assignment { work, gate, stop, tell, .. } = assignment;
        let Work::Slice(slice) = work else { return };
        let trial = slice.trial;
        let failed = tell.clone();
        let run =
            move || {
                let result = caught(|| means.work(*slice, &gate, &stop, &tell));
                let result = result.unwrap_or_else(SliceResult::failed);
                drop(tell.send(WorkEvent::Text(
                    trial,
                    serde_json::to_string(&result).unwrap_or_default(),
                )));
                drop(tell.send(WorkEvent::Over(trial)));
            };
        // The engine ends on time, so this thread always ends.
        if let Err(error) = std::thread::Builder::new().name("slice".into()).spawn(run) {
            let result = SliceResult::failed(format!("it cannot start a thread: {error}"));
            drop(
                failed.send(WorkEvent::Text(
                    trial,
                    serde_json::to_string(&result).unwrap_or_default(),
                )),
            );
            drop(failed.send(WorkEvent::Over(trial)));
        }
    }
}

impl Means {
    fn work(
        &self,
        slice: Prepare,
        gate: &Gate,
        stop: &AtomicBool,
        tell: &UnboundedSender<WorkEvent>,
    ) -> SliceResult {
        let Prepare { trial, load, host, threads, watches_host, briefing, .. } = slice;
        // Looking up names may take seconds. Heartbeats go on meanwhile, because this is a thread
        // of its own.
        let load = match self.placed(load, host) {
            Ok(load) => load,
            Err(why) => return SliceResult::failed(why),
        };
        let referee = match briefing.as_deref().map(deputy::from_briefing).transpose() {
            Ok(referee) => referee,
            Err(why) => return SliceResult::failed(why),
        };
        let load = self.fit(load, threads);
        let spec = spec_of(&load);
        let own = vec![RoleRoot::Process(std::process::id() as i32)];
        let roots = watches_host.then(|| Roots {
            roles: BTreeMap::from([(pippin_model::host::usage::Role::Generator, own)]),
            ..Roots::default()
        });
        let seconds = Seconds { trial, tell };
        let trial = Trial {
            roots,
            referee: referee.clone(),
            generator: &AtGate(gate),
            ..Trial::from_load(load)
        };
        let record = trial.make(&spec, &Watch { observer: &seconds, stop });
        SliceResult { found: referee.map(|deputy| deputy.found()), ..self.result(record) }
    }

    /// The load with the addresses of its host as this machine knows them, if it may be loaded.
    fn placed(&self, load: LoadSpec, host: Option<HostPort>) -> Result<LoadSpec, String> {
        let addresses = match &host {
            Some(host) => self.policy.addresses(host)?,
            None => {
                self.policy.allows(&load.addresses)?;
                load.addresses
            }
        };
        Ok(LoadSpec { addresses, ..load })
    }

    /// The numbers of a load as they will be here; 0 threads lets this machine choose.
    fn with_threads(&self, load: &LoadSpec, threads: Option<u32>) -> LoadSpec {
        LoadSpec { threads: threads.unwrap_or(1), ..load.clone() }
    }

    /// The load with this machine's threads, processors and addresses.
    #[must_use]
    pub fn fit(&self, load: LoadSpec, threads: Option<u32>) -> LoadSpec {
        // The load's own settings were chosen for one machine.
        let source_addresses = self.source_addresses.clone();
        let (threads, cores) = (threads.unwrap_or(0), self.cores.clone());
        fitted(LoadSpec { threads, cores, source_addresses, ..load })
    }

    fn result(&self, record: TrialRecord) -> SliceResult {
        let context = Context { calibration: self.calibration.as_ref(), ..Context::default() };
        let caveats = judge_agent(&record, &context);
        let failure = record.failure.map(|failure| failure.message);
        let load = record.load.map(|load| self.on_own_clock(load));
        let start_ns = load.as_ref().and_then(start_of);
        SliceResult { start_ns, load, failure, caveats, found: None }
    }

    fn on_own_clock(&self, mut load: LoadResult) -> LoadResult {
        // Each second was sent with its histograms. All of them together would be too much.
        for window in &mut load.windows {
            window.histograms = None;
        }
        LoadResult {
            started_ns: self.clock.of_kernel(load.started_ns),
            measured_from_ns: self.clock.of_kernel(load.measured_from_ns),
            measured_to_ns: self.clock.of_kernel(load.measured_to_ns),
            ..load
        }
    }
}

/// When the schedule started, before warm-up and ramp. `None` if it never did.
fn start_of(load: &LoadResult) -> Option<u64> {
    let ramp_ns = load.phases.first().map_or(0, |phase| phase.measured.duration_ns);
    let has_run = load.measured_to_ns > load.measured_from_ns || !load.windows.is_empty();
    has_run.then(|| load.measured_from_ns - load.warm_up.duration_ns - ramp_ns)
}

/// The engine, started by a gate.
struct AtGate<'a>(&'a Gate);

impl Generator for AtGate<'_> {
    fn apply(&self, load: &LoadSpec, control: &Control<'_>) -> Result<Applied, NotApplied> {
        let at_gate = Control {
            on_window: control.on_window,
            referee: control.referee.clone(),
            gate: Some(self.0),
            histograms: true,
            is_over: control.is_over,
            ..Control::new(control.stop, control.steady)
        };
        Here.apply(load, &at_gate)
    }

    fn roots(&self) -> Vec<RoleRoot> {
        Here.roots()
    }
}

struct Seconds<'a> {
    trial: u64,
    tell: &'a UnboundedSender<WorkEvent>,
}

impl Observer for Seconds<'_> {
    fn event(&self, event: &Event<'_>) {
        if let Event::Window(window, _) = event {
            let second = WorkEvent::Second(self.trial, Box::new((*window).clone()));
            drop(self.tell.send(second));
        }
    }
}

/// What the judges need to know about a load: how it was applied.
fn spec_of(load: &LoadSpec) -> TrialSpec {
    let LoadSpec { schedule, connections, stop, warm_up, .. } = load.clone();
    TrialSpec {
        target: TargetId { language: "url".into(), name: "slice".into(), variant: None },
        workload: "url".into(),
        profile: Profile {
            schedule,
            connections,
            stop,
            warm_up,
            steps: Steps::One,
            protocol: None,
            walk_steps: None,
            network: None,
        },
        repetition: 0,
        repetitions: 1,
        step: None,
        cpus: CpuSplit {
            generator: CpuSet(load.cores.iter().copied().collect()),
            ..CpuSplit::default()
        },
        workers: 0,
        seed: load.seed,
    }
}
