//! One load with what is sampled beside it and what proves its target: the only way to the engine.
//!
//! | module | what it does |
//! |---|---|
//! | [`proving`] | what proves a target before and after |
//! | [`single`] | requests one at a time before the load |
//! | [`warming`] | when a target is warm |
//! | [`generator`] | who applies a load: the engine in this process, or somebody elsewhere |
pub mod generator;
pub mod proving;
pub mod single;
pub mod warming;

use pippin_engine::{Control, Referee};
use pippin_model::host::usage::{Role, Usage, UsageSample};
use pippin_model::load::LoadSpec;
use pippin_model::result::{LoadResult, Window};
use pippin_model::trial::agent::AgentPart;
use pippin_model::trial::{Failure, Stage, TrialRecord, TrialSpec};
use pippin_probe::{Roots, Sampler, TreeMemory, usage_between};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::LabError;
use crate::run::observer::{Event, Observer, Silent};
use crate::trial::generator::{Applied, Generator, Here, NotApplied};
use crate::trial::warming::Warming;

/// How often samples are taken during a load.
pub(crate) const SAMPLE_EVERY: Duration = Duration::from_millis(200);
/// Records keep all samples up to this number, so that short trials have a curve to draw; of more,
/// they keep about one a second.
const MOST_SAMPLES: usize = 50;

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
    const fn of(error: LabError) -> Self {
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
    pub const fn of(load: LoadSpec) -> Self {
        Self { load, roots: None, proving: None, referee: None, generator: &Here }
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
        let measured = match self.measure(watch) {
            Ok(measured) => Some(measured),
            Err(error) => {
                let message = error.to_string();
                let log_tail = self.proving.as_ref().map_or(Vec::new(), |target| target.log_tail());
                record.failure = Some(Failure { stage: Stage::Load, message, log_tail });
                error.measured.map(|measured| *measured)
            }
        };
        if let Some(measured) = measured {
            record.usage = measured.usage;
            record.samples = thinned(measured.samples);
            record.agents = measured.agents;
            record.load = Some(measured.load);
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
            Some(proving) => proving.load_begins().map_err(NotMeasured::of)?,
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
                    .map_err(|error| NotMeasured::of(LabError::User(error.to_string())))?,
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
            warming.is_warm(per_window, sampler.as_ref().and_then(Sampler::latest))
        };
        let control = Control {
            on_window: Some(&on_window),
            on_measuring: Some(&on_measuring),
            referee,
            ..Control::new(watch.stop, &is_warm)
        };
        let applied = self.generator.apply(&self.load, &control);
        let samples = sampler.map_or(Vec::new(), |sampler| {
            let (samples, learned) = sampler.pause();
            *memory = learned;
            samples
        });
        let measured = |Applied { load, agents }: Applied| Measured {
            usage: usage_between(&samples, load.measured_from_ns, load.measured_to_ns),
            load,
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

fn thinned(samples: Vec<UsageSample>) -> Vec<UsageSample> {
    let a_second = (1_000 / SAMPLE_EVERY.as_millis() as usize).max(1);
    let every = if samples.len() > MOST_SAMPLES { a_second } else { 1 };
    samples.into_iter().step_by(every).collect()
}
