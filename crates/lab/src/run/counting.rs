//! Counts the instructions of each target per request, before each repetition. Nothing of this is in the
//! other figures.
use pippin_model::load::{BodyCheck, Connections, LoadSpec, StopRule};
use pippin_model::plan::Plan;
use pippin_model::request::requests::Requests;
use pippin_model::target::TargetId;
use pippin_model::trial::instructions::{Counter, Instructions};
use pippin_model::workload::Workload;
use std::time::{Duration, Instant};

use super::agreement::other_than_requests;
use super::callgrind::{Callgrind, Counts};
use super::execution::{Execution, Extra};
use super::explaining::processes;
use super::processor::ProcessorCounter;
use crate::error::LabError;
use crate::load;
use crate::run::observer::Event;
use crate::running::RunningTarget;
use crate::services::Services;
use crate::target::{Kind, Target};

/// The requests of the first load.
const FEW: u64 = 200;
/// The most of the second under callgrind, where each takes many times as long.
const MANY_UNDER_CALLGRIND: u64 = 8_200;
/// The most of the second for the processor's counter.
const MANY: u64 = 100_200;
/// How long the additional requests of the second load may take.
const BUDGET: Duration = Duration::from_secs(5);
/// How long a target gets requests before the processor's counter counts them: a runtime may compile.
const WARM_NS: u64 = 10_000_000_000;
/// Runtimes that callgrind 3.19 cannot run, or that make their code while they run.
const NOT_UNDER_CALLGRIND: [&str; 7] = ["beam", "bun", "deno", "dotnet", "go", "jvm", "node"];

/// What is said in front of the reason.
const UNREADABLE: &str = "the processor's counter cannot be read here";

/// What can count here: at least one of them.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    /// Or why it cannot be used.
    callgrind: Result<Callgrind, String>,
    /// Or why it cannot be read.
    processor: Result<ProcessorCounter, String>,
}

impl Counters {
    fn find() -> Result<Self, LabError> {
        let callgrind = Callgrind::find().map_err(|error| error.to_string());
        match (callgrind, ProcessorCounter::find()) {
            (Err(error), Err(why)) => Err(LabError::User(format!("{error}; {UNREADABLE}: {why}"))),
            (callgrind, processor) => Ok(Self { callgrind, processor }),
        }
    }
}

/// Refuses what cannot be counted, before anything is installed.
pub(super) fn counters(
    plan: &Plan,
    workload: &Workload,
    targets: &[(TargetId, Target)],
) -> Result<Option<Counters>, LabError> {
    if !plan.counts_instructions() {
        return Ok(None);
    }
    if let Some(what) = other_than_requests(workload) {
        return Err(LabError::User(format!(
            "instructions are counted for single requests, and `{}` has {what}; leave the count out",
            workload.id
        )));
    }
    if !targets.iter().any(|(_, target)| matches!(target.kind, Kind::Catalog | Kind::Command)) {
        return Err(LabError::User(
            "instructions are counted only of processes that Pippin starts itself; leave the count out".into(),
        ));
    }
    Counters::find().map(Some)
}

/// What was counted; or why that is unknown, in words.
type Counted<T> = Result<T, String>;

impl Execution<'_> {
    /// Counts for every target of a repetition, if the plan asks for it.
    pub(super) fn count_all(
        &mut self,
        repetition: u32,
        targets: &[TargetId],
        services: &mut Services,
    ) -> Result<(), LabError> {
        let Some(counters) = self.counters.clone() else { return Ok(()) };
        for id in targets {
            self.go_on()?;
            if !self.takes_part(id) {
                continue;
            }
            let counted = match self.uncountable.get(id) {
                Some(why) => Err(why.clone()),
                None => self.count(id, &counters, services)?,
            };
            let counted = counted.unwrap_or_else(|why| {
                let note = format!("{id}: its instructions cannot be counted: {why}");
                if self.uncountable.insert(id.clone(), why.clone()).is_none() {
                    self.settings.observer.event(&Event::Note(&note));
                }
                Instructions::unknown(why)
            });
            self.recording.counted(id.clone(), repetition, counted);
        }
        Ok(())
    }

    /// Its instructions; or why they cannot be known. Callgrind counts where it can, because what it counts
    /// is the same on all machines.
    fn count(
        &self,
        id: &TargetId,
        counters: &Counters,
        services: &mut Services,
    ) -> Result<Counted<Instructions>, LabError> {
        let target = self.prepared.get(id).map(|(target, _)| target);
        if !target.is_some_and(|target| matches!(target.kind, Kind::Catalog | Kind::Command)) {
            return Ok(Err("only processes that Pippin starts itself are counted".into()));
        }
        let under_callgrind = match self.callgrind_for(id, counters) {
            Ok(callgrind) => self.count_under(id, callgrind, services)?,
            Err(why) => Err(why),
        };
        match (under_callgrind, &counters.processor) {
            (Err(why), Ok(processor)) => {
                let counted = self.count_by(id, processor, services)?;
                Ok(counted.map_err(|more| format!("{why}; {more}")))
            }
            (Err(why), Err(more)) => Ok(Err(format!("{why}; {UNREADABLE}: {more}"))),
            (counted, _) => Ok(counted),
        }
    }

    fn callgrind_for<'b>(&self, id: &TargetId, counters: &'b Counters) -> Counted<&'b Callgrind> {
        let (target, _) = self.prepared.get(id).ok_or("it is not installed")?;
        let runtime = target.manifest.runtime.as_str();
        if matches!(target.kind, Kind::Catalog) && NOT_UNDER_CALLGRIND.contains(&runtime) {
            return Err(format!("callgrind does not count programs of the runtime `{runtime}`"));
        }
        counters.callgrind.as_ref().map_err(Clone::clone)
    }

    /// By two starts under callgrind, with a load each.
    fn count_under(
        &self,
        id: &TargetId,
        callgrind: &Callgrind,
        services: &mut Services,
    ) -> Result<Counted<Instructions>, LabError> {
        two_loads(Counter::Callgrind, |requests| self.count_once(id, requests, callgrind, services))
    }

    /// Starts a target under callgrind and lets one user ask it. Tells how many instructions it took from
    /// its start to its end, and how long the requests took; or why that is unknown.
    fn count_once(
        &self,
        id: &TargetId,
        requests: u64,
        callgrind: &Callgrind,
        services: &mut Services,
    ) -> Result<Counted<(u64, Duration)>, LabError> {
        let counts = Counts::new()?;
        let before = callgrind.before(&counts);
        // Under callgrind it takes several times the memory and tens of times the processor time.
        let extra = Extra { before: &before, unlimited: true, ..Extra::default() };
        let running = match self.started(id, &extra, services)? {
            Ok(running) => running,
            Err(why) => return Ok(Err(why)),
        };
        let asked = self.ask(&running, StopRule::requests(requests));
        drop(running.stop());
        self.go_on()?;
        let (good, took) = asked?;
        Ok(all_right(good, requests).and_then(|()| Ok((counts.sum()?, took))))
    }

    /// By the processor's counter, in two loads of one start that has warmed up.
    fn count_by(
        &self,
        id: &TargetId,
        processor: &ProcessorCounter,
        services: &mut Services,
    ) -> Result<Counted<Instructions>, LabError> {
        let running = match self.started(id, &Extra::default(), services)? {
            Ok(running) => running,
            Err(why) => return Ok(Err(why)),
        };
        let counted = self.count_two_loads(&running, processor);
        drop(running.stop());
        self.go_on()?;
        counted
    }

    fn count_two_loads(
        &self,
        running: &RunningTarget,
        processor: &ProcessorCounter,
    ) -> Result<Counted<Instructions>, LabError> {
        self.ask(running, StopRule::after(WARM_NS))?;
        two_loads(Counter::Processor, |requests| {
            let counting = match processor.begin(&processes(running.roots())) {
                Ok(counting) => counting,
                Err(why) => return Ok(Err(why)),
            };
            let asked = self.ask(running, StopRule::requests(requests));
            let counted = counting.end();
            let (good, took) = asked?;
            Ok(all_right(good, requests).and_then(|()| Ok((counted?, took))))
        })
    }

    /// A target that runs; or why it does not.
    fn started(
        &self,
        id: &TargetId,
        extra: &Extra<'_>,
        services: &mut Services,
    ) -> Result<Counted<RunningTarget>, LabError> {
        let Some((target, Ok(installed))) = self.prepared.get(id) else {
            return Ok(Err("it is not installed".into()));
        };
        services.choose_table(0);
        match self.start_with(id, target, installed, services, extra) {
            Ok(running) => Ok(Ok(running)),
            Err(LabError::Target(failure)) => Ok(Err(failure.message)),
            Err(other) => Err(other),
        }
    }

    /// Lets one user ask. Tells how many answers were right, and how long it took.
    fn ask(&self, running: &RunningTarget, stop: StopRule) -> Result<(u64, Duration), LabError> {
        let begin = Instant::now();
        let load = load::run_closed(
            self.of_one_user(running),
            self.requests(running),
            self.connection(),
            stop,
            None,
        )?;
        Ok((load.measured.requests.good, begin.elapsed()))
    }

    fn of_one_user(&self, running: &RunningTarget) -> LoadSpec {
        let cores = self.cpus.generator.0.iter().copied().collect();
        LoadSpec { threads: 1, ..running.way().base(cores, self.header().seed) }
    }

    /// The requests of the workload. That the answers are right is proved in the trials: here their status
    /// counts.
    fn requests(&self, running: &RunningTarget) -> Requests {
        let workload = &self.header().workload;
        let mut requests =
            load::requests(workload, &self.samples, &BodyCheck::Any, running.address());
        requests.iter_mut().for_each(|request| request.check.body = BodyCheck::Any);
        let mut load = LoadSpec::default();
        running.aim(&mut load, requests);
        load.requests
    }

    /// One, which lives as long as those of the plan.
    fn connection(&self) -> Connections {
        let asked = &self.header().plan.profile.connections;
        Connections {
            requests_per_connection: asked.requests_per_connection,
            ..Connections::kept(1)
        }
    }
}

fn all_right(good: u64, requests: u64) -> Counted<()> {
    if good < requests {
        return Err(format!("while they were counted, {good} of {requests} answers were right"));
    }
    Ok(())
}

/// What two loads say. `load` has so many requests, and tells how many instructions were counted and how
/// long it took.
fn two_loads(
    by: Counter,
    mut load: impl FnMut(u64) -> Result<Counted<(u64, Duration)>, LabError>,
) -> Result<Counted<Instructions>, LabError> {
    let (few, took) = match load(FEW)? {
        Ok(counted) => counted,
        Err(why) => return Ok(Err(why)),
    };
    let most = match by {
        Counter::Callgrind => MANY_UNDER_CALLGRIND,
        Counter::Processor => MANY,
    };
    let many = second(took, most);
    let counted = load(many)?;
    Ok(counted.and_then(|(counted, _)| Instructions::between(by, [FEW, many], [few, counted])))
}

/// The requests of the second load, if those of the first took so long.
fn second(took: Duration, most: u64) -> u64 {
    let affordable = BUDGET.as_secs_f64() / took.as_secs_f64().max(1e-9) * FEW as f64;
    FEW + (affordable as u64).clamp(FEW, most - FEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_targets_get_fewer_requests_and_none_gets_too_few() {
        let most = MANY_UNDER_CALLGRIND;
        assert_eq!(second(Duration::from_millis(50), most), most);
        assert_eq!(second(Duration::from_secs(1), most), FEW + 1_000);
        assert_eq!(second(Duration::from_secs(60), most), 2 * FEW);
    }
}
