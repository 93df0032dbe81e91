//! What a gate may decide on: results of all planned repetitions, none of them INVALID; for times and
//! rates a target that was warm; for those without a base, a host that was calm.
use pippin_model::figure::Figure;
use pippin_model::run::{RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_model::text::units::counted;
use pippin_model::trial::slice::SliceHost;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Severity, Verdict};
use std::collections::{BTreeMap, BTreeSet};

use super::left_out::{LeftOut, Why};
use super::warmth::warmth;
use super::{Doubt, Reason};
use crate::interval::anytime::FEWEST_STARTS;
use crate::judge::{SHORTEST_USAGE_NS, processors};
use crate::rounds::calm;

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
    pub fn from_record(record: &RunRecord) -> Self {
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

    /// Those of this target at this step.
    #[must_use]
    pub fn of_target(
        trials: impl IntoIterator<Item = &'a TrialRecord>,
        (target, step): (&TargetId, Option<Step>),
        planned: Planned,
    ) -> Self {
        let is_one = |trial: &&TrialRecord| trial.spec.step == step && trial.spec.target == *target;
        Self::new(trials.into_iter().filter(is_one), planned)
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

    /// The trials that meet these needs; or, if they are fewer than planned, why.
    pub(super) fn counting(
        &self,
        needs: Needs,
        whose: &str,
    ) -> Result<Vec<&'a TrialRecord>, Reason> {
        let (kept, out) = self.split(needs, whose)?;
        let planned = self.planned.repetitions.max(1);
        match out.first() {
            Some((number, obstacle)) if (kept.len() as u32) < planned => {
                let left_out =
                    LeftOut::from_reasons(self.trials.len(), out.iter().map(|(_, it)| it.why));
                let text = format!("{whose}{}", first_of(&left_out, *number, &obstacle.text));
                Err(Reason::new(obstacle.why.doubt(), text))
            }
            _ => Ok(kept),
        }
    }

    /// The trials that meet these needs, and those that do not, with the numbers of their repetitions.
    ///
    /// # Errors
    /// If it is unknown of one of them.
    fn split(&self, needs: Needs, whose: &str) -> Result<Split<'a>, Reason> {
        let (mut kept, mut out) = (Vec::new(), Vec::new());
        for trial in &self.trials {
            let number = trial.spec.repetition + 1;
            match needs.met(trial) {
                Ok(()) => kept.push(*trial),
                Err(Lacking::Known(obstacle)) => out.push((number, obstacle)),
                Err(Lacking::Unknown(doubt, why)) => {
                    return Err(Reason::new(doubt, format!("{whose}repetition {number}: {why}")));
                }
            }
        }
        Ok((kept, out))
    }
}

/// The trials that count, and the numbers of the others with what stands against them.
type Split<'a> = (Vec<&'a TrialRecord>, Vec<(u32, Obstacle)>);

/// The starts of two sides of which both count.
#[derive(Default)]
pub(super) struct Both<'a> {
    pub(super) own: Vec<&'a TrialRecord>,
    pub(super) base: Vec<&'a TrialRecord>,
    pub(super) left_out: LeftOut,
    /// Repetitions of these that count at a handicap, because neither side was warm.
    pub(super) cold: BTreeSet<u32>,
    /// The first start that does not count, in words.
    first: Option<(u32, String)>,
    /// The starts that do not count only because neither side was warm.
    not_warm: [Vec<&'a TrialRecord>; 2],
}

impl<'a> Both<'a> {
    /// These starts, all of which count.
    pub(super) fn all(own: Vec<&'a TrialRecord>, base: Vec<&'a TrialRecord>) -> Self {
        Self { own, base, ..Self::default() }
    }

    /// The starts of which both sides meet these needs. A start of which that is known not to be so
    /// is left out on both sides, because the other side alone says nothing.
    ///
    /// # Errors
    /// If it is unknown of one of them: what is unknown passes nothing.
    pub(super) fn from_groups(
        own: &Group<'a>,
        (base, whose): (&Group<'a>, &str),
        needs: Needs,
    ) -> Result<Self, Reason> {
        let (kept_own, out_own) = own.split(needs, "")?;
        let (kept_base, out_base) = base.split(needs, whose)?;
        let neither_is_warm: BTreeSet<u32> = numbers_not_warm(&out_own)
            .intersection(&numbers_not_warm(&out_base))
            .copied()
            .collect();
        let mut out: BTreeMap<u32, (Why, String)> = BTreeMap::new();
        let sides = [("", out_own), (whose, out_base)];
        for (whose, (number, obstacle)) in
            sides.into_iter().flat_map(|(whose, out)| out.into_iter().map(move |it| (whose, it)))
        {
            let found = (obstacle.why, format!("{whose}{}", obstacle.text));
            let known = out.entry(number).or_insert_with(|| found.clone());
            if found.0 < known.0 {
                *known = found;
            }
        }
        let why = |trial: &TrialRecord| out.get(&(trial.spec.repetition + 1)).map(|(why, _)| *why);
        let counts = |trial: &&TrialRecord| why(trial).is_none();
        // Where calmness is needed too, it is not known of a start that was not warm.
        let is_cold = |trial: &&TrialRecord| {
            matches!(needs, Needs::Warm(_))
                && neither_is_warm.contains(&(trial.spec.repetition + 1))
        };
        let cold = |group: &Group<'a>| group.trials.iter().copied().filter(is_cold).collect();
        let not_warm = [cold(own), cold(base)];
        let made = own.trials.len().max(base.trials.len());
        Ok(Self {
            own: kept_own.into_iter().filter(counts).collect(),
            base: kept_base.into_iter().filter(counts).collect(),
            first: out.first_key_value().map(|(number, (_, text))| (*number, text.clone())),
            left_out: LeftOut::from_reasons(made, out.values().map(|(why, _)| *why)),
            cold: BTreeSet::new(),
            not_warm,
        })
    }

    /// These starts and those in which neither side was warm, which are marked; `None` if there are none
    /// of them.
    pub(super) fn with_cold(&self) -> Option<Self> {
        let [own, base] = &self.not_warm;
        let cold: BTreeSet<u32> = own.iter().map(|trial| trial.spec.repetition).collect();
        let all = |of: &[&'a TrialRecord], cold: &[&'a TrialRecord]| [of, cold].concat();
        (!cold.is_empty()).then(|| Self {
            own: all(&self.own, own),
            base: all(&self.base, base),
            cold,
            ..Self::default()
        })
    }

    /// The doubt where too many starts do not count; `None` where those that do may decide.
    ///
    /// At least half of them must count. What is left of a target that is seldom warm is a choice
    /// of its best moments.
    pub(super) fn doubt(&self) -> Option<Reason> {
        let main = self.left_out.main()?;
        let counting = self.left_out.counting();
        let enough = counting as usize >= FEWEST_STARTS && 2 * counting >= self.left_out.made;
        let (number, text) = self.first.as_ref().filter(|_| !enough)?;
        Some(Reason::new(main.doubt(), first_of(&self.left_out, *number, text)))
    }
}

/// The numbers of the starts that were not warm, among those that do not count.
fn numbers_not_warm(out: &[(u32, Obstacle)]) -> BTreeSet<u32> {
    let is_cold = |(_, obstacle): &&(u32, Obstacle)| obstacle.why.doubt() == Doubt::NotWarm;
    out.iter().filter(is_cold).map(|(number, _)| *number).collect()
}

/// How many starts do not count and why, the first of them, and what to do.
fn first_of(left_out: &LeftOut, number: u32, text: &str) -> String {
    let advice = left_out.advice().map_or_else(String::new, |advice| format!("; {advice}"));
    format!("{} (repetition {number}: {text}){advice}", left_out.words())
}

/// What a gate needs of a start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Needs {
    /// Nothing: counts and memory.
    Nothing,
    /// A target that was warm for this figure.
    Warm(Figure),
    /// A target that was warm for this figure, on a calm host.
    WarmAndCalm(Figure),
}

impl Needs {
    fn met(self, trial: &TrialRecord) -> Result<(), Lacking> {
        match self {
            Self::Nothing => Ok(()),
            Self::Warm(figure) => warmth(trial, figure),
            Self::WarmAndCalm(figure) => warmth(trial, figure).and_then(|()| calmness(trial)),
        }
    }
}

/// What stands against a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) why: Why,
    text: String,
}

/// What a start lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lacking {
    Known(Obstacle),
    /// Nobody knows whether it lacks something, in words.
    Unknown(Doubt, String),
}

impl Lacking {
    pub(super) fn known(why: Why, text: impl Into<String>) -> Self {
        Self::Known(Obstacle { why, text: text.into() })
    }
}

/// Whether the host was calm. Otherwise what disturbed it, or why that is unknown.
fn calmness(trial: &TrialRecord) -> Result<(), Lacking> {
    if !trial.slices.is_empty() {
        return calm_slices(trial);
    }
    if !trial.agents.is_empty() {
        return calm_agents(trial);
    }
    let unknown = || {
        let text = "it is unknown whether this machine was calm; measure longer";
        Lacking::Unknown(Doubt::NotCalm, text.into())
    };
    let usage = trial.usage.as_ref().filter(|usage| usage.duration_ns >= SHORTEST_USAGE_NS);
    let usage = usage.ok_or_else(unknown)?;
    let of = processors(&trial.spec, usage.busy_by_cpu.len()).ok_or_else(unknown)?;
    for (cores, limit, why, by) in [
        (usage.steal_cores, calm::STEAL_LIMIT, Why::Hypervisor, "the hypervisor took"),
        (usage.other_cores, calm::OTHER_PROGRAMS_LIMIT, Why::OtherPrograms, "other programs used"),
    ] {
        let share = cores.ok_or_else(unknown)? / of;
        if share > limit {
            let text = format!("{by} {:.0} % of the processors", share * 100.0);
            return Err(Lacking::known(why, text));
        }
    }
    Ok(())
}

fn calm_agents(trial: &TrialRecord) -> Result<(), Lacking> {
    for agent in &trial.agents {
        let has = |id: &str| agent.caveats.iter().any(|caveat| caveat.id == id);
        for (id, why) in [("steal", Why::Hypervisor), ("other_programs", Why::OtherPrograms)] {
            if has(id) {
                let text = format!("the host of {} was not calm", agent.name);
                return Err(Lacking::known(why, text));
            }
        }
    }
    Ok(())
}

fn calm_slices(trial: &TrialRecord) -> Result<(), Lacking> {
    let slices = &trial.slices;
    let is_known = |host: &SliceHost| host.steal.is_some() && host.others.is_some();
    let calm = slices.iter().filter(|slice| slice.calm && is_known(&slice.host)).count();
    let rounds = trial.company.as_ref().map_or(slices.len() as u32, |company| company.rounds);
    let is_calm = slices.iter().all(|slice| !slice.used || (slice.calm && is_known(&slice.host)));
    if is_calm && calm as u32 >= calm::enough(rounds).max(1) {
        return Ok(());
    }
    let text = format!("{calm} of {} were calm", counted(slices.len() as u64, "slice"));
    if slices.iter().any(|slice| !is_known(&slice.host)) {
        return Err(Lacking::Unknown(Doubt::NotCalm, text));
    }
    let stolen = slices.iter().filter(|slice| slice.host.steal > Some(calm::STEAL_LIMIT)).count();
    let is_hypervisor = 2 * stolen > slices.len() - calm;
    let why = if is_hypervisor { Why::Hypervisor } else { Why::OtherPrograms };
    Err(Lacking::known(why, text))
}
