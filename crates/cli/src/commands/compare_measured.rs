//! What comparisons share that measure both sides now, as targets of one run.
use pippin_lab::target::revision::Revision;
use pippin_model::run::{RunHeader, RunRecord};
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::gate::{Condition, Gate};
use pippin_report::view::View;
use pippin_stats::compare::{Comparison, Origin, Side, compare};
use pippin_stats::gate::{Base, Bases, Group, Planned, judge, may_be_decided};
use std::fmt::Display;

use super::gates::seeded;
use crate::arguments::CompareArguments;
use crate::exit::CliError;
use crate::output;

/// Gates of a comparison while it is measured: which target is compared with which.
pub struct Deciding<'a> {
    arguments: &'a CompareArguments,
    gates: Vec<Gate>,
    /// The target of A, and that of B.
    pairs: Vec<(TargetId, TargetId)>,
}

impl<'a> Deciding<'a> {
    pub fn new(arguments: &'a CompareArguments, pairs: Vec<(TargetId, TargetId)>) -> Self {
        Self { arguments, gates: arguments.gates.all().cloned().collect(), pairs }
    }

    /// Whether another repetition may decide a gate. A number of repetitions that was asked for is
    /// made, and no other.
    pub fn is_open(&self, header: &RunHeader, trials: &[TrialRecord], made: u32) -> bool {
        if self.arguments.repeat.is_some() || self.gates.is_empty() {
            return false;
        }
        let repetitions = made.max(header.plan.repetitions);
        let planned = Planned { repetitions, is_whole: true };
        let is_judged = |trial: &&TrialRecord| self.base_of(&trial.spec.target).is_some();
        let judged: Vec<TrialRecord> = trials.iter().filter(is_judged).cloned().collect();
        let outcomes =
            judge(&self.gates, &judged, planned, &InOneRun { pairs: self, trials, planned });
        may_be_decided(&outcomes, made, header.plan.repetitions)
    }

    fn base_of(&self, target: &TargetId) -> Option<&TargetId> {
        self.pairs.iter().find(|(_, b)| b == target).map(|(a, _)| a)
    }
}

struct InOneRun<'a> {
    pairs: &'a Deciding<'a>,
    trials: &'a [TrialRecord],
    planned: Planned,
}

impl Bases for InOneRun<'_> {
    fn of(
        &self,
        _: &Condition,
        target: &TargetId,
        step: Option<Step>,
    ) -> Result<Option<Base<'_>>, String> {
        let Some(base) = self.pairs.base_of(target) else { return Ok(None) };
        let is_base = |trial: &&TrialRecord| trial.spec.step == step && trial.spec.target == *base;
        let group = Group::new(self.trials.iter().filter(is_base), self.planned);
        Ok(Some(Base { group, name: base.to_string(), origin: Origin::OneRun }))
    }
}

/// Targets of one run against others of it. The verdicts are those of its report.
pub fn within(view: &View, a: &[TrialRecord], b: &[TrialRecord]) -> Comparison {
    let verdict = |target: &TargetId, step| view.verdict_of(target, step);
    let side = |trials| Side { trials, verdict: &verdict };
    compare(side(a), side(b), Origin::OneRun, &mut seeded())
}

/// The trials of some targets.
pub fn trials_of(record: &RunRecord, ids: &[TargetId]) -> Vec<TrialRecord> {
    record.trials.iter().filter(|trial| ids.contains(&trial.spec.target)).cloned().collect()
}

/// Whether a target has a result.
pub fn has_result(record: &RunRecord, id: &TargetId) -> bool {
    let mut trials = record.trials.iter().filter(|trial| trial.spec.target == *id);
    trials.any(|trial| trial.load.is_some() && trial.failure.is_none())
}

/// Whether a target has no result. Prints the reason on standard error, with the name of the
/// target's side.
pub fn tell_missing(record: &RunRecord, id: &TargetId, side: impl Display) -> bool {
    if has_result(record, id) {
        return false;
    }
    let unavailable = record.header.targets.get(id).and_then(|info| info.unavailable.clone());
    let mut trials = trials_of(record, std::slice::from_ref(id)).into_iter();
    let why = unavailable.or_else(|| trials.find_map(|trial| trial.failure));
    let why = why.map_or(String::new(), |why| format!(": {}: {}", why.stage.name(), why.message));
    output::say(format_args!("{side}: no result{why}"));
    true
}

/// Endings that tell the names of two revisions apart. `a/b` and `a-b` have the same label. So does
/// a branch that is compared with itself.
pub fn endings(a: &Revision, b: &Revision) -> [&'static str; 2] {
    if a.label() == b.label() { ["-a", "-b"] } else { ["", ""] }
}

/// Refuses two revisions with the same files, because any difference would be noise.
pub fn must_differ(what: impl Display, a: &Revision, b: &Revision) -> Result<(), CliError> {
    if a.tree != b.tree {
        return Ok(());
    }
    Err(CliError::User(format!(
        "{what} has the same files in `{}` ({}) and `{}` ({}): there is nothing to compare; --force measures both anyway, which shows the noise",
        a.name,
        a.short_commit(),
        b.name,
        b.short_commit()
    )))
}

/// A side in words.
pub fn words(revision: &Revision) -> String {
    format!("{} (commit {})", revision.name, revision.short_commit())
}
