//! What a gate may decide on: results of all planned repetitions, none of them INVALID; for times and
//! rates a target that was warm; for those without a base, a host that was calm.
use pippin_model::result::Window;
use pippin_model::run::{RunRecord, RunState};
use pippin_model::text::units::counted;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Severity, Verdict};
use std::collections::BTreeMap;

use super::{Doubt, Reason};
use crate::judge::{SHORTEST_USAGE_NS, compiling, processors};
use crate::rounds::calm;
use crate::series::steady::{can_tell, measured_rates, unsteady};

/// The trials of one target at one step.
#[derive(Debug, Clone, Default)]
pub struct Group<'a> {
    /// The newest trial of each repetition. A search repeats steps that were INVALID.
    pub(super) trials: Vec<&'a TrialRecord>,
    planned: Planned,
}

/// What a run should have of each target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Planned {
    /// Repetitions: those of the plan, and those that were made beyond it.
    pub repetitions: u32,
    /// Whether the run came to its end, or has come so far.
    pub is_whole: bool,
}

impl Planned {
    /// What this run should have. A plan with a precision may end early, for all targets alike.
    #[must_use]
    pub fn of(record: &RunRecord) -> Self {
        let made = record.trials.iter().map(|trial| trial.spec.repetition + 1).max().unwrap_or(0);
        let plan = &record.header.plan;
        let least = if plan.precision.is_some() { 0 } else { plan.repetitions };
        Self { repetitions: made.max(least), is_whole: record.state == RunState::Finished }
    }
}

impl<'a> Group<'a> {
    /// The trials of one target at one step.
    #[must_use]
    pub fn new(trials: impl IntoIterator<Item = &'a TrialRecord>, planned: Planned) -> Self {
        let newest: BTreeMap<u32, &TrialRecord> =
            trials.into_iter().map(|trial| (trial.spec.repetition, trial)).collect();
        Self { trials: newest.into_values().collect(), planned }
    }

    /// Why no gate can be decided by these; `None` if it can. `whose` names a base.
    pub(super) fn doubt(&self, whose: &str) -> Option<Reason> {
        let reason = |doubt, text: String| Some(Reason::new(doubt, format!("{whose}{text}")));
        if !self.planned.is_whole {
            return reason(Doubt::Interrupted, "the run did not come to its end".into());
        }
        for trial in &self.trials {
            let number = trial.spec.repetition + 1;
            if let Some(file) = &trial.elsewhere {
                let text =
                    format!("it runs {file} of your checkout, not the files of its revision");
                return reason(Doubt::OtherFiles, text);
            }
            if let Some(failure) = &trial.failure {
                let message: Vec<&str> = failure.message.split_whitespace().collect();
                let (stage, message) = (failure.stage.name(), message.join(" "));
                return reason(
                    Doubt::Missing,
                    format!("repetition {number} has no result: {stage}: {message}"),
                );
            }
            if trial.load.is_none() || trial.verdict == Verdict::Invalid {
                let grave = trial.caveats.iter().filter(|one| one.severity == Severity::Invalid);
                let names: Vec<String> = grave.map(|caveat| caveat.name()).collect();
                let names = if names.is_empty() { "no result".into() } else { names.join(", ") };
                return reason(Doubt::Invalid, format!("repetition {number} is INVALID: {names}"));
            }
        }
        let made = self.trials.len() as u32;
        let planned = self.planned.repetitions.max(1);
        if made < planned {
            let planned = counted(planned.into(), "repetition");
            return reason(Doubt::Missing, format!("{made} of {planned} have a result"));
        }
        None
    }

    /// The trials of warm targets; or, if they are fewer than planned, why.
    pub(super) fn warm(&self, whose: &str) -> Result<Vec<&'a TrialRecord>, Reason> {
        self.those(Doubt::NotWarm, warmth, whose)
    }

    /// The trials of warm targets on a calm host; or, if they are fewer than planned, why.
    pub(super) fn warm_and_calm(&self, whose: &str) -> Result<Vec<&'a TrialRecord>, Reason> {
        let warm = Self { trials: self.warm(whose)?, ..*self };
        warm.those(Doubt::NotCalm, calmness, whose)
    }

    fn those(
        &self,
        doubt: Doubt,
        of: fn(&TrialRecord) -> Result<(), String>,
        whose: &str,
    ) -> Result<Vec<&'a TrialRecord>, Reason> {
        let mut first = None;
        let mut kept = self.trials.clone();
        kept.retain(|trial| match of(trial) {
            Ok(()) => true,
            Err(why) => {
                first.get_or_insert_with(|| (trial.spec.repetition + 1, why));
                false
            }
        });
        match first {
            Some((number, why)) if (kept.len() as u32) < self.planned.repetitions.max(1) => {
                Err(Reason::new(doubt, format!("{whose}repetition {number}: {why}")))
            }
            _ => Ok(kept),
        }
    }
}

/// What the target's compiler did while it was measured, if that makes the result doubtful. A plan
/// that measures cold servers asked for it.
pub(super) fn compiled(trial: &TrialRecord) -> Option<String> {
    let found = compiling::of(trial).filter(|it| it.severity > Severity::Note)?;
    Some(found.evidence)
}

/// Whether the target was warm: its compiler rested, and its throughput had no trend, or its warm-up ended because it had
/// none. Otherwise why not, or why that is unknown.
fn warmth(trial: &TrialRecord) -> Result<(), String> {
    let Some(load) = &trial.load else { return Err("no load".into()) };
    if let Some(compiled) = compiled(trial) {
        return Err(compiled);
    }
    // A rate that changes by plan has no steady state.
    if trial.spec.profile.at(trial.spec.step).shape().is_some() {
        return Ok(());
    }
    let rates = measured_rates(load, |window: &Window| window.completed);
    match (can_tell(&rates), load.warm_up.steady) {
        (true, _) if unsteady(&rates).is_some() => {
            Err("the throughput still changed while it was measured".into())
        }
        (_, Some(false)) => Err("the warm-up ended before the throughput was steady".into()),
        (true, _) | (_, Some(true)) => Ok(()),
        (false, None) => Err(format!(
            "{} of measuring cannot show whether the target was warm; measure at least 8, or leave the warm-up to Pippin (auto)",
            counted(rates.len() as u64, "second")
        )),
    }
}

/// Whether the host was calm. Otherwise what disturbed it, or why that is unknown.
fn calmness(trial: &TrialRecord) -> Result<(), String> {
    if !trial.slices.is_empty() {
        return calm_slices(trial);
    }
    if !trial.agents.is_empty() {
        let noisy = |id: &str| ["steal", "foreign_cpu"].contains(&id);
        let found = trial.agents.iter().find(|agent| agent.caveats.iter().any(|c| noisy(&c.id)));
        return found
            .map_or(Ok(()), |agent| Err(format!("the host of {} was not calm", agent.name)));
    }
    let unknown = || "it is unknown whether this machine was calm; measure longer".to_string();
    let usage = trial.usage.as_ref().filter(|usage| usage.duration_ns >= SHORTEST_USAGE_NS);
    let usage = usage.ok_or_else(unknown)?;
    let of = processors(&trial.spec, usage.busy_by_cpu.len()).ok_or_else(unknown)?;
    for (cores, limit, by) in [
        (usage.steal_cores, calm::STEAL_LIMIT, "the hypervisor took"),
        (usage.foreign_cores, calm::FOREIGN_LIMIT, "other programs used"),
    ] {
        let share = cores.ok_or_else(unknown)? / of;
        if share > limit {
            return Err(format!("{by} {:.0} % of the processors", share * 100.0));
        }
    }
    Ok(())
}

fn calm_slices(trial: &TrialRecord) -> Result<(), String> {
    let slices = &trial.slices;
    let is_known = |host: &pippin_model::trial::slice::SliceHost| {
        host.steal.is_some() && host.foreign.is_some()
    };
    let calm = slices.iter().filter(|slice| slice.calm && is_known(&slice.host)).count();
    let rounds = trial.company.as_ref().map_or(slices.len() as u32, |company| company.rounds);
    let is_calm = slices.iter().all(|slice| !slice.used || (slice.calm && is_known(&slice.host)));
    if is_calm && calm as u32 >= calm::enough(rounds).max(1) {
        return Ok(());
    }
    Err(format!("{calm} of {} were calm", counted(slices.len() as u64, "slice")))
}
