//! One load with what is sampled beside it and what proves its target: the only way to the engine.
//!
//! | module | what it does |
//! |---|---|
//! | [`proving`] | what proves a target before and after |
//! | [`single`] | requests one at a time before the load |
//! | [`warming`] | when a target is warm |
//! | `notice` | other loads of the same target on this machine |
//! | `again` | a trial that lost a part of its generator is made again |
//! | [`generator`] | who applies a load: the engine in this process, or somebody elsewhere |
pub(crate) mod again;
pub mod generator;
pub(crate) mod notice;
pub mod proving;
pub mod single;
pub mod warming;

use pippin_engine::{Control, Referee};
use pippin_model::host::usage::{Role, Usage, UsageSample};
use pippin_model::load::LoadSpec;
use pippin_model::result::{LoadResult, WarmUpResult, Window};
use pippin_model::trial::agent::AgentPart;
use pippin_model::trial::{EndedProcess, Failure, ServerEnd, Stage, TrialRecord, TrialSpec};
use pippin_probe::acceptors::LeftOut;
use pippin_probe::kernel_files::KernelFiles;
use pippin_probe::memory::killed_for_memory;
use pippin_probe::sampler::Sampled;
use pippin_probe::succession::Ended;
use pippin_probe::{Roots, Sampler, TreeMemory, usage_between};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::LabError;
use crate::lifecycle::life::Life;
use crate::lifecycle::log;
use crate::run::observer::{Event, Observer, Silent};
use crate::trial::generator::{Applied, Generator, Here, NotApplied};
use crate::trial::notice::Notice;
use crate::trial::warming::Warming;

/// How often samples are taken during a load.
pub(crate) const SAMPLE_EVERY: Duration = Duration::from_millis(200);
/// Records keep all samples up to this number, so that short trials have a curve to draw; of more,
/// they keep about one a second.
const MOST_SAMPLES: usize = 50;
/// The last lines of a server's log that are kept with its end.
const LOG_LINES: usize = 15;

/// One load of anything that listens.
pub struct Trial<'a> {
    /// What the generator is asked.
    pub load: LoadSpec,
    /// Whose use of the machine is sampled; `None` samples nothing.
    pub roots: Option<Roots>,
    /// What proves the target before and after the load; `None` where nothing can.
    pub proving: Option<&'a mut dyn Proving>,
    /// Judges the answers that need it, where no `proving` does.
    pub referee: Option<Arc<dyn Referee>>,
    /// Who applies the load.
    pub generator: &'a dyn Generator,
    /// Whether the load goes on when a watched server has ended, until it is started again.
    pub keeps_going: bool,
    /// Whether the target lives, if Pippin started it: the load ends at once if it does not.
    pub life: Option<Arc<Life>>,
}

/// What proves a target, around its load.
pub trait Proving {
    /// Before the load. It may change the load, for example to expect the body that was proved.
    ///
    /// # Errors
    /// Why there is nothing to load.
    fn before(&mut self, load: &mut LoadSpec, record: &mut TrialRecord) -> Result<(), Failure>;

    /// A load begins: the only one between the proofs, or one of many. What is returned judges the
    /// answers that need it.
    ///
    /// # Errors
    /// Why the load cannot be judged.
    fn load_begins(&mut self) -> Result<Option<Arc<dyn Referee>>, LabError>;

    /// The load is over; `None` if it could not be applied.
    fn load_ends(&mut self, load: Option<&LoadResult>);

    /// After the loads; what it finds is in the record.
    fn after(&mut self, record: &mut TrialRecord);

    /// The last lines of the target's log.
    fn log_tail(&self) -> Vec<String>;
}

/// Who follows a trial, and who may end it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Told what happens.
    pub observer: &'a dyn Observer,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

impl Watch<'_> {
    /// Nobody follows, and nobody ends it.
    #[must_use]
    pub fn nobody() -> Watch<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Watch { observer: &Silent, stop: &NEVER }
    }

    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// By the generator.
    pub load: LoadResult,
    /// The agents that took part.
    pub agents: Vec<AgentPart>,
    /// By the kernel, over the measured part.
    pub usage: Option<Usage>,
    /// The samples behind it.
    pub samples: Vec<UsageSample>,
    /// First processes of a watched server that ended.
    pub ended: Vec<EndedProcess>,
    /// What is known of the end of all of it, if nobody served any more.
    pub server_end: Option<ServerEnd>,
}

impl Measured {
    /// What only the generator and the kernel measured.
    #[must_use]
    pub const fn from_load(load: LoadResult, usage: Option<Usage>) -> Self {
        Self {
            load,
            agents: Vec::new(),
            usage,
            samples: Vec::new(),
            ended: Vec::new(),
            server_end: None,
        }
    }
}

/// Why a load was not measured to its end.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct NotMeasured {
    /// What went wrong.
    pub error: LabError,
    /// What was measured until a part of the engine died.
    pub measured: Option<Box<Measured>>,
}

impl NotMeasured {
    const fn from_error(error: LabError) -> Self {
        Self { error, measured: None }
    }
}

impl From<NotMeasured> for LabError {
    fn from(not: NotMeasured) -> Self {
        not.error
    }
}

/// Nanoseconds since 1970.
#[must_use]
pub fn unix_now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The record of a trial that begins now.
#[must_use]
pub fn empty_record(spec: &TrialSpec) -> TrialRecord {
    TrialRecord::begun(spec.clone(), unix_now_ns())
}

impl Trial<'_> {
    /// A load of which only the generator's own figures matter.
    #[must_use]
    pub const fn from_load(load: LoadSpec) -> Self {
        Self {
            load,
            roots: None,
            proving: None,
            referee: None,
            generator: &Here,
            keeps_going: false,
            life: None,
        }
    }

    /// Proves, loads, proves; what fails is in the record. Judging is not done here.
    #[must_use]
    pub fn make(mut self, spec: &TrialSpec, watch: &Watch<'_>) -> TrialRecord {
        let mut record = empty_record(spec);
        if let Some(proving) = &mut self.proving {
            watch.observer.event(&Event::Stage("proving"));
            if let Err(failure) = proving.before(&mut self.load, &mut record) {
                record.failure = Some(failure);
                return record;
            }
        }
        self.generator.fit(&mut self.load);
        watch.observer.event(&Event::Stage("measuring"));
        record.load_spec = Some(self.load.for_record());
        let notice = Notice::post(&self.load);
        let measured = match self.measure(watch) {
            Ok(measured) => Some(measured),
            Err(error) => {
                let message = error.to_string();
                let log_tail = self.proving.as_ref().map_or(Vec::new(), |target| target.log_tail());
                let stage = match error.error {
                    LabError::Agents(_) => Stage::Agents,
                    _ => Stage::Load,
                };
                record.failure = Some(Failure { stage, message, log_tail });
                error.measured.map(|measured| *measured)
            }
        };
        record.beside = notice.others();
        if let Some(measured) = measured {
            record.usage = measured.usage;
            record.samples = thinned(measured.samples);
            record.agents = measured.agents;
            record.load = Some(measured.load);
            record.ended = measured.ended;
            record.server_end = measured.server_end;
        }
        if let Some(proving) = self.proving {
            if record.failure.is_none()
                && !record.load.as_ref().is_some_and(|load| load.interrupted)
            {
                watch.observer.event(&Event::Stage("proving again"));
            }
            proving.after(&mut record);
        }
        record
    }

    /// Loads, with samples beside if there is something to sample.
    ///
    /// # Errors
    /// If the load cannot run as requested, or the kernel's figures cannot be read.
    pub fn measure(&mut self, watch: &Watch<'_>) -> Result<Measured, NotMeasured> {
        let referee = match &mut self.proving {
            Some(proving) => proving.load_begins().map_err(NotMeasured::from_error)?,
            None => self.referee.clone(),
        };
        let measured = self.apply(referee, &mut TreeMemory::default(), SAMPLE_EVERY, watch);
        if let Some(proving) = &mut self.proving {
            proving.load_ends(measured.as_ref().ok().map(|measured| &measured.load));
        }
        measured
    }

    /// Measures without calling `proving`, with another sampling interval, and with the
    /// probe's memory of earlier loads of the same target.
    ///
    /// # Errors
    /// As [`Self::measure`].
    pub fn measure_on(
        &self,
        memory: &mut TreeMemory,
        every: Duration,
        watch: &Watch<'_>,
    ) -> Result<Measured, NotMeasured> {
        self.apply(self.referee.clone(), memory, every, watch)
    }

    fn apply(
        &self,
        referee: Option<Arc<dyn Referee>>,
        memory: &mut TreeMemory,
        every: Duration,
        watch: &Watch<'_>,
    ) -> Result<Measured, NotMeasured> {
        let sampler = match self.sampled() {
            Some(roots) => Some(
                Sampler::resume(roots, std::mem::take(memory), every, None)
                    .map_err(|error| NotMeasured::from_error(LabError::User(error.to_string())))?,
            ),
            None => None,
        };
        // Usage is measured between the start and the end of measuring: samples at exactly these
        // instants avoid interpolation.
        let on_measuring = |from_ns: u64, to_ns: Option<u64>| {
            for instant in [Some(from_ns), to_ns].into_iter().flatten() {
                sampler.iter().for_each(|sampler| sampler.also_at(instant));
            }
        };
        let on_window = |window: &Window| {
            let latest = sampler.as_ref().and_then(Sampler::latest);
            watch.observer.event(&Event::Window(window, latest.as_ref()));
        };
        let warming = Warming::default();
        let is_warm = |per_window: &[f64]| {
            let warmth = warming.look(per_window, sampler.as_ref().and_then(Sampler::latest));
            if let Some(words) = &warmth.say {
                watch.observer.event(&Event::WarmingUp(words));
            }
            warmth.is_warm
        };
        let on_note = |text: &str| watch.observer.event(&Event::Note(text));
        let control = Control {
            on_note: Some(&on_note),
            on_window: Some(&on_window),
            on_measuring: Some(&on_measuring),
            is_over: match &self.life {
                Some(life) => Some(life.is_over()),
                None => sampler.as_ref().filter(|_| !self.keeps_going).map(Sampler::is_over),
            },
            referee,
            ..Control::new(watch.stop, &is_warm)
        };
        let killed_before = killed_for_memory(&KernelFiles::default());
        let applied = self.generator.apply(&self.load, &control);
        let Sampled { samples, memory: learned, ended, left_out, passing, runtimes, is_over } =
            sampler.map(Sampler::pause).unwrap_or_default();
        *memory = learned;
        let windows = warming.into_windows();
        let measured = |Applied { load, agents }: Applied| Measured {
            usage: usage_between(&samples, load.measured_from_ns, load.measured_to_ns).map(
                |usage| Usage {
                    passing: passing.clone(),
                    runtimes: runtimes.clone(),
                    ..self.with_names(usage, &left_out)
                },
            ),
            ended: ended.iter().map(|one| ended_process(one, load.started_ns)).collect(),
            server_end: is_over.then(|| self.server_end(killed_before)),
            load: LoadResult { warm_up: WarmUpResult { windows, ..load.warm_up }, ..load },
            agents,
            samples: samples.clone(),
        };
        match applied {
            Ok(applied) => Ok(measured(applied)),
            Err(NotApplied { error, applied }) => {
                Err(NotMeasured { error, measured: applied.map(|some| Box::new(measured(*some))) })
            }
        }
    }

    /// Gives the first tier the name of its process, and names those that are left out. A tier
    /// behind it may have the same.
    fn with_names(&self, mut usage: Usage, left_out: &[LeftOut]) -> Usage {
        let named = |one: &LeftOut| format!("{} (process {})", one.name, one.pid);
        usage.left_out = left_out.iter().map(named).collect();
        let serving = self.roots.as_ref().and_then(|roots| roots.serving.as_ref());
        let first = serving.and_then(|serving| serving.servers.processes.first());
        if let (Some(first), Some((tier, others))) = (first, usage.tiers.split_first_mut()) {
            tier.name.clone_from(&first.name);
            for other in others.iter_mut().filter(|other| other.name == first.name) {
                other.name = format!("{} (behind)", other.name);
            }
        }
        usage
    }

    /// What is known of the end of the server.
    fn server_end(&self, killed_before: Option<u64>) -> ServerEnd {
        let killed_now = killed_for_memory(&KernelFiles::default());
        let log = self.roots.as_ref().and_then(|roots| roots.log.clone());
        ServerEnd {
            exit: None,
            killed_for_memory: killed_now
                .zip(killed_before)
                .map(|(now, before)| now.saturating_sub(before)),
            log_tail: log.map(|log| log::tail(&log, LOG_LINES)).unwrap_or_default(),
        }
    }

    /// Whose use of the machine is sampled, with the generator's own processes.
    fn sampled(&self) -> Option<Roots> {
        let mut roots = self.roots.clone()?;
        let own = self.generator.roots();
        if own.is_empty() {
            roots.roles.remove(&Role::Generator);
        } else {
            roots.roles.insert(Role::Generator, own);
        }
        Some(roots)
    }
}

fn ended_process(ended: &Ended, started_ns: u64) -> EndedProcess {
    EndedProcess {
        pid: ended.server.pid,
        name: ended.server.name.clone(),
        after_ns: ended.at_ns.checked_sub(started_ns),
    }
}

fn thinned(samples: Vec<UsageSample>) -> Vec<UsageSample> {
    let a_second = (1_000 / SAMPLE_EVERY.as_millis() as usize).max(1);
    let every = if samples.len() > MOST_SAMPLES { a_second } else { 1 };
    samples.into_iter().step_by(every).collect()
}
