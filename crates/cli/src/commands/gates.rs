//! Gates of `run`, `load` and `compare`: the bases they compare with, their outcomes, and the files
//! that report them.
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::gate::{Condition, Gate, Limit};
use pippin_report::form::markdown;
use pippin_report::gates::{junit, lines, summary};
use pippin_report::view::View;
use pippin_stats::compare::{Origin, differences};
use pippin_stats::gate::{self, Bases, Outcome, judge};
use pippin_store::StoreError;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::path::Path;

use super::Shared;
use super::revision_bases::{RevisionBases, is_named};
use crate::arguments::GateArguments;
use crate::exit::{self, CliError};
use crate::output::{print_text, say};
use crate::writable::must_be_writable;

/// The gates of a run or a load, with the stored runs that they compare with.
pub struct Gates<'a> {
    arguments: &'a GateArguments,
    /// Those of the plan, then those of the command line.
    gates: Vec<Gate>,
    stored: BTreeMap<String, RunRecord>,
    revisions: &'a RevisionBases,
}

impl<'a> Gates<'a> {
    /// Finds the bases of the gates before anything is measured, so that `latest` is the run
    /// before.
    ///
    /// # Errors
    /// If a change has no base, or its base is neither one of these targets nor a stored run.
    pub fn prepare(
        shared: &Shared,
        arguments: &'a GateArguments,
        targets: &[TargetId],
        of_plan: &[Gate],
        revisions: &'a RevisionBases,
    ) -> Result<Self, CliError> {
        let gates: Vec<Gate> = of_plan.iter().chain(&arguments.fail_if).cloned().collect();
        let mut stored = BTreeMap::new();
        for gate @ Gate { condition, .. } in &gates {
            let base = match (&condition.base, condition.limit) {
                (Some(base), _) => base,
                (None, Limit::Change(_)) => {
                    return Err(CliError::User(format!(
                        "{gate}: a change needs a base: add `vs RUN` or `vs TARGET`"
                    )));
                }
                (None, _) => continue,
            };
            let is_target = targets.iter().any(|target| is_named(target, base));
            if is_target || revisions.of(base).is_some() {
                continue;
            }
            let loaded = shared.store()?.load(base);
            let record = loaded.map_err(|error| no_base(gate, error, revisions))?;
            stored.insert(base.clone(), record);
        }
        Ok(Self { arguments, gates, stored, revisions })
    }

    /// All gates.
    pub fn all(&self) -> &[Gate] {
        &self.gates
    }

    /// Judges a run, writes the files and prints the outcome of each gate. Returns whether all
    /// gates passed.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn conclude(&self, record: &RunRecord, is_text: bool) -> Result<bool, CliError> {
        let comparable = |(_, base): &(&String, &RunRecord)| self.is_comparable(base, record);
        let bases = RunBases {
            own: &record.trials,
            stored: self.stored.iter().filter(comparable).collect(),
            revisions: self.revisions,
        };
        let trials = &record.trials;
        let mut outcomes = judge(&self.gates, trials, &bases, &mut seeded());
        for (target, why) in unmeasured(record) {
            outcomes.extend(gate::unmeasured(&self.gates, target, &why));
        }
        // Only a target that has a revision can be compared with one. The revision itself is not
        // judged.
        outcomes.retain(|Outcome { gate, target, .. }| {
            let named = gate.condition.base.as_ref().and_then(|base| self.revisions.of(base));
            !self.revisions.holds(target) && named.is_none_or(|then| then.contains_key(target))
        });
        let title = record.header.plan.title.clone();
        let details = || markdown::of(&View::of(record));
        tell(self.arguments, &outcomes, is_text, &Told { title, trials, details: &details })
    }

    fn is_comparable(&self, base: &RunRecord, record: &RunRecord) -> bool {
        let differing = differences(&base.header, &record.header);
        let refusing: Vec<String> = differing
            .iter()
            .filter(|difference| difference.refuses)
            .map(|difference| difference.what.clone())
            .collect();
        if !refusing.is_empty() {
            say(format_args!(
                "gates: run {} cannot be compared fairly: {} differ",
                base.header.id,
                refusing.join(", ")
            ));
        }
        refusing.is_empty()
    }
}

/// Why a base cannot be used.
fn no_base(gate: &Gate, error: StoreError, revisions: &RevisionBases) -> CliError {
    match error {
        StoreError::UnknownRun(..) if revisions.were_looked_for() => CliError::User(format!(
            "{gate}: this repository has no branch, tag or commit of this name, and {error}"
        )),
        StoreError::UnknownRun(..) => CliError::User(format!("{gate}: {error}")),
        other => other.into(),
    }
}

/// The targets of a run that have no trial, each with the reason. A build that fails is one.
fn unmeasured(record: &RunRecord) -> impl Iterator<Item = (&TargetId, String)> {
    let has_trial = |id: &TargetId| record.trials.iter().any(|trial| trial.spec.target == *id);
    record.header.plan.targets.iter().filter(move |id| !has_trial(id)).map(|id| {
        let info = record.header.targets.get(id);
        let why = info.and_then(|info| info.unavailable.as_ref()).map_or_else(
            || "the run ended before it".into(),
            |failure| {
                let message: Vec<&str> = failure.message.split_whitespace().collect();
                format!("{}: {}", failure.stage.name(), message.join(" "))
            },
        );
        (id, why)
    })
}

/// One seed every time, so that comparing the same two always gives the same intervals.
pub fn seeded() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

/// What the files contain besides the gates.
pub struct Told<'a> {
    /// What was measured.
    pub title: String,
    /// The trials whose verdicts are test cases.
    pub trials: &'a [TrialRecord],
    /// The whole result as Markdown.
    pub details: &'a dyn Fn() -> String,
}

/// Refuses files of gates that cannot be written, before anything is measured.
///
/// # Errors
/// If one cannot be written.
pub fn files_must_be_writable(arguments: &GateArguments) -> Result<(), CliError> {
    must_be_writable("--junit", arguments.junit.as_deref())?;
    must_be_writable("--summary", arguments.summary.as_deref())
}

/// Prints the outcome of each gate and writes the files. Returns whether all passed. The lines go
/// to standard output, unless a file goes there (`is_text` is false). They come first, so that a
/// disk that is full by now does not hide them.
///
/// # Errors
/// If a file cannot be written.
pub fn tell(
    arguments: &GateArguments,
    outcomes: &[Outcome],
    is_text: bool,
    told: &Told<'_>,
) -> Result<bool, CliError> {
    let lines = lines(outcomes);
    // Where nobody reads the lines, the files are still written.
    let printed = if is_text {
        print_text(&lines)
    } else {
        lines.lines().for_each(say);
        Ok(exit::OK)
    };
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(CliError::io(format!("write {}", path.display())))
    };
    if let Some(path) = &arguments.junit {
        write(path, junit::of(&told.title, told.trials, outcomes))?;
    }
    if let Some(path) = &arguments.summary {
        write(path, summary::of(&told.title, outcomes, &(told.details)()))?;
    }
    printed?;
    Ok(outcomes.iter().all(|outcome| outcome.standing.is_passed()))
}

/// The bases of a run: its own targets, including copies from revisions, and stored runs.
struct RunBases<'a> {
    own: &'a [TrialRecord],
    stored: BTreeMap<&'a String, &'a RunRecord>,
    revisions: &'a RevisionBases,
}

impl Bases for RunBases<'_> {
    fn of(
        &self,
        condition: &Condition,
        target: &TargetId,
        step: Option<Step>,
    ) -> Vec<&TrialRecord> {
        let Some(base) = &condition.base else { return Vec::new() };
        if let Some(run) = self.stored.get(base) {
            // A load of another URL, or the only target of another run, is also a base for this
            // target.
            let is_only = run.header.targets.len() == 1;
            return run
                .trials
                .iter()
                .filter(|trial| trial.spec.step == step)
                .filter(|trial| is_only || trial.spec.target == *target)
                .collect();
        }
        let then = self.revisions.of(base).map(|then| then.get(target));
        let is_base = |of: &TargetId| match then {
            Some(then) => Some(of) == then,
            None => is_named(of, base),
        };
        self.own
            .iter()
            .filter(|trial| trial.spec.step == step && is_base(&trial.spec.target))
            .collect()
    }

    fn origin(&self, condition: &Condition) -> Origin {
        let is_stored = |base: &String| self.stored.contains_key(base);
        if condition.base.as_ref().is_some_and(is_stored) {
            Origin::TwoRuns
        } else {
            Origin::OneRun
        }
    }
}
