//! Counts the instructions of each target per request, before each repetition. Nothing of this is in the
//! other figures.
use pippin_model::load::{BodyCheck, Connections, LoadSpec, StopRule};
use pippin_model::plan::Plan;
use pippin_model::request::requests::Requests;
use pippin_model::target::TargetId;
use pippin_model::trial::instructions::Instructions;
use pippin_model::workload::Workload;
use std::time::{Duration, Instant};

use super::callgrind::{Callgrind, Counts};
use super::{Execution, Extra};
use crate::error::LabError;
use crate::load;
use crate::run::observer::Event;
use crate::running::RunningTarget;
use crate::services::Services;
use crate::target::{Kind, Target};

/// The requests of the first start.
const FEW: u64 = 200;
/// The most of the second.
const MANY: u64 = 8_200;
/// How long the additional requests of the second start may take.
const BUDGET: Duration = Duration::from_secs(5);
/// Runtimes that callgrind 3.19 cannot run, or that make their code while they run.
const UNCOUNTABLE: [&str; 7] = ["beam", "bun", "deno", "dotnet", "go", "jvm", "node"];

/// Refuses what cannot be counted, before anything is installed.
pub(super) fn tool(
    plan: &Plan,
    workload: &Workload,
    targets: &[(TargetId, Target)],
) -> Result<Option<Callgrind>, LabError> {
    if !plan.counts_instructions() {
        return Ok(None);
    }
    if workload.message.is_some() || workload.has_steps() {
        return Err(LabError::User(format!(
            "instructions are counted for single requests, and `{}` has {}; leave the count out",
            workload.id,
            if workload.message.is_some() { "messages" } else { "steps" }
        )));
    }
    if !targets.iter().any(|(_, target)| matches!(target.kind, Kind::Catalog | Kind::Command)) {
        return Err(LabError::User(
            "instructions are counted only of processes that Pippin starts itself; leave the count out".into(),
        ));
    }
    Callgrind::find().map(Some)
}

impl Execution<'_> {
    /// Counts for every target of a repetition, if the plan asks for it.
    pub(super) fn count_all(
        &mut self,
        repetition: u32,
        targets: &[TargetId],
        services: &mut Services,
    ) -> Result<(), LabError> {
        let Some(callgrind) = self.callgrind.clone() else { return Ok(()) };
        for id in targets {
            self.go_on()?;
            if !self.takes_part(id) {
                continue;
            }
            let counted = match self.uncountable.get(id) {
                Some(why) => Err(why.clone()),
                None => self.count(id, &callgrind, services)?,
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

    /// What two starts say; or why it cannot be known.
    fn count(
        &self,
        id: &TargetId,
        callgrind: &Callgrind,
        services: &mut Services,
    ) -> Result<Result<Instructions, String>, LabError> {
        if let Some(why) = self.cannot_be_counted(id) {
            return Ok(Err(why));
        }
        let (few, took) = match self.count_once(id, FEW, callgrind, services)? {
            Ok(counted) => counted,
            Err(why) => return Ok(Err(why)),
        };
        let many = second(took);
        let counted = self.count_once(id, many, callgrind, services)?;
        Ok(counted.and_then(|(counted, _)| Instructions::between([FEW, many], [few, counted])))
    }

    fn cannot_be_counted(&self, id: &TargetId) -> Option<String> {
        let (target, _) = self.prepared.get(id)?;
        let runtime = target.manifest.runtime.as_str();
        match target.kind {
            Kind::Catalog if UNCOUNTABLE.contains(&runtime) => {
                Some(format!("callgrind does not count programs of the runtime `{runtime}`"))
            }
            Kind::Catalog | Kind::Command => None,
            _ => Some("only processes that Pippin starts itself are counted".into()),
        }
    }

    /// Starts a target and lets one user ask it. Tells how many instructions it took from its start to its
    /// end, and how long the requests took; or why that is unknown.
    fn count_once(
        &self,
        id: &TargetId,
        requests: u64,
        callgrind: &Callgrind,
        services: &mut Services,
    ) -> Result<Result<(u64, Duration), String>, LabError> {
        let Some((target, Ok(installed))) = self.prepared.get(id) else {
            return Ok(Err("it is not installed".into()));
        };
        services.choose_table(0);
        let counts = Counts::new()?;
        let before = callgrind.before(&counts);
        let extra = Extra { before: &before, ..Extra::default() };
        let running = match self.start_with(id, target, installed, services, &extra) {
            Ok(running) => running,
            Err(LabError::Target(failure)) => return Ok(Err(failure.message)),
            Err(other) => return Err(other),
        };
        let begin = Instant::now();
        let good = load::run_closed(
            self.of_one_user(&running),
            self.requests(&running),
            self.connection(),
            StopRule::requests(requests),
            None,
        );
        let took = begin.elapsed();
        drop(running.stop());
        self.go_on()?;
        let good = good?.measured.requests.good;
        if good < requests {
            return Ok(Err(format!("under callgrind {good} of {requests} answers were right")));
        }
        Ok(counts.sum().map(|counted| (counted, took)))
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

/// The requests of the second start, if those of the first took so long.
fn second(took: Duration) -> u64 {
    let affordable = BUDGET.as_secs_f64() / took.as_secs_f64().max(1e-9) * FEW as f64;
    FEW + (affordable as u64).clamp(FEW, MANY - FEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_targets_get_fewer_requests_and_none_gets_too_few() {
        assert_eq!(second(Duration::from_millis(50)), MANY);
        assert_eq!(second(Duration::from_secs(1)), FEW + 1_000);
        assert_eq!(second(Duration::from_secs(60)), 2 * FEW);
    }
}
