//! What comparisons share that measure both sides now, as targets of one run.
use pippin_lab::run::explaining::Explaining;
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::revision::Revision;
use pippin_model::figure::{Figure, RankedBy};
use pippin_model::plan::goal::{Changed, Goal};
use pippin_model::plan::profile::Profile;
use pippin_model::plan::{Plan, PlanOptions};
use pippin_model::run::{RunHeader, RunRecord};
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::gate::{Gate, Undecided};
use pippin_report::view::View;
use pippin_stats::compare::{Comparison, Origin, Side, compare};
use pippin_stats::gate::comparing::{self, Comparing};
use pippin_stats::gate::may_be_decided;
use pippin_stats::interval::anytime::Levels;
use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};

use super::sides::Sides;
use crate::arguments::{CompareArguments, GateArguments, JsonArguments};
use crate::commands::Shared;
use crate::commands::gates::seeded;
use crate::commands::run::{RunOptions, explaining, measure, write_pages};
use crate::exit::CliError;
use crate::output;

/// What a comparison decides, and where its result goes.
pub struct Decision<'a> {
    /// The gates. Their changes are from A to B.
    pub gates: Vec<Gate>,
    /// What a gate does that could not be decided.
    pub undecided: Undecided,
    /// How often changes may be judged wrongly.
    pub levels: Levels,
    /// Whether an INVALID side changes no exit code.
    pub force: bool,
    /// The files of the gates.
    pub files: &'a GateArguments,
    /// The result for programs.
    pub json: &'a JsonArguments,
}

impl<'a> From<&'a CompareArguments> for Decision<'a> {
    fn from(arguments: &'a CompareArguments) -> Self {
        Self {
            gates: arguments.gates.all().cloned().collect(),
            undecided: arguments.gates.undecided().unwrap_or_default(),
            levels: Levels::default(),
            force: arguments.force,
            files: &arguments.gates,
            json: &arguments.json,
        }
    }
}

/// How many repetitions a comparison makes.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// As many as were asked for.
    Fixed,
    /// Those of the plan, and a number beyond them while a gate is undecided.
    Planned,
    /// Until all changes are decided, or this much time is over.
    For(Instant, Duration),
}

impl Patience {
    /// As the command line says.
    pub fn from_repeat(repeat: Option<u32>) -> Self {
        if repeat.is_some() { Self::Fixed } else { Self::Planned }
    }
}

/// A comparison while it is measured.
pub struct Deciding {
    comparing: Comparing,
    patience: Patience,
}

/// What the command line of a comparison changes in its plan. A life is no part of a comparison.
///
/// # Errors
/// If it says in two ways how often is measured.
pub fn plan_options(arguments: &CompareArguments) -> Result<PlanOptions, CliError> {
    Ok(PlanOptions {
        quick: arguments.quick,
        repetitions: arguments.repeat,
        goal: arguments.goal.goal(arguments.repeat)?,
        limits: arguments.limits.limits(),
        life: Some(false),
        instructions: arguments.instructions,
        ..PlanOptions::default()
    })
}

impl Deciding {
    pub fn new(decision: &Decision<'_>, patience: Patience, sides: &Sides) -> Self {
        let (gates, levels) = (decision.gates.clone(), decision.levels);
        let pairs = sides.pairs().map(|(a, b)| (a.clone(), b.clone())).collect();
        Self { comparing: Comparing { gates, levels, pairs }, patience }
    }

    /// Measures a plan as the command line of a comparison says, and writes its page. Returns also what is
    /// shown of the run, with what a profiler saw.
    pub fn measured(
        &self,
        shared: &Shared,
        arguments: &CompareArguments,
        (catalog, plan): (&Catalog, Plan),
        folder: &Path,
    ) -> Result<(RunRecord, View), CliError> {
        let labels = arguments.labels.with(arguments.run_name.as_ref())?;
        let explaining = arguments.explain.then(|| explaining(&plan, folder)).transpose()?;
        let how = RunOptions {
            keep_requests: arguments.kept.keep_requests,
            labels: Some(&labels),
            explaining: explaining.as_ref(),
            ..RunOptions::here(folder, arguments.install, arguments.yes, arguments.seed)
        };
        let record = self.measure(shared, catalog, plan, &how)?;
        let explained = explaining.map(Explaining::into_found).unwrap_or_default();
        let view = View { explained, ..View::of(&record) };
        write_pages(shared, &view, None, (folder, arguments.html.as_deref()))?;
        Ok((record, view))
    }

    /// Measures a plan until every gate is decided, or no more repetitions are made. A goal of the plan
    /// is one of the changes here.
    pub fn measure(
        &self,
        shared: &Shared,
        catalog: &Catalog,
        plan: Plan,
        how: &RunOptions<'_>,
    ) -> Result<RunRecord, CliError> {
        let is_open = |header: &RunHeader, trials: &[TrialRecord], made: u32| {
            header.plan.goal.is_none() && self.is_open(header.plan.repetitions, trials, made)
        };
        let is_decided = |header: &RunHeader, trials: &[TrialRecord], made: u32| {
            comparing::is_decided(&self.comparing.outcomes(trials, made, header.plan.repetitions))
        };
        let changes = self.changes(&plan.profile);
        let goal = plan.goal.map(|goal| Goal { changes, ..goal });
        let instructions =
            plan.instructions || self.comparing.gates.iter().any(Gate::is_on_instructions);
        let plan = Plan { instructions, goal, ..plan };
        measure(
            shared,
            catalog,
            plan,
            &RunOptions {
                is_open: Some(&is_open),
                is_decided: Some(&is_decided),
                needs_all: true,
                ..*how
            },
        )
    }

    /// The changes that a goal is about: those that gates judge, or else that of the figure that ranks.
    fn changes(&self, profile: &Profile) -> Vec<Changed> {
        let mut figures: Vec<Figure> = Vec::new();
        for gate in self.comparing.gates.iter().filter(|gate| comparing::is_change(gate)) {
            if !figures.contains(&gate.condition.figure) {
                figures.push(gate.condition.figure);
            }
        }
        if figures.is_empty() {
            figures.push(RankedBy::from_profile(profile).figure());
        }
        let of_pair = |(base, target): &(TargetId, TargetId)| -> Vec<Changed> {
            let changed = |figure: &Figure| Changed {
                base: base.clone(),
                target: target.clone(),
                figure: *figure,
            };
            figures.iter().map(changed).collect()
        };
        self.comparing.pairs.iter().flat_map(of_pair).collect()
    }

    /// Whether another repetition may decide a gate.
    fn is_open(&self, planned: u32, trials: &[TrialRecord], made: u32) -> bool {
        if self.comparing.gates.is_empty() {
            return false;
        }
        let outcomes = || self.comparing.outcomes(trials, made, planned);
        match self.patience {
            Patience::Fixed => false,
            Patience::Planned => may_be_decided(&outcomes(), made, planned),
            Patience::For(since, length) => {
                comparing::has_time(since.elapsed(), made, length)
                    && comparing::is_open(&outcomes())
            }
        }
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

/// Whether a target has no result. Prints the reason on standard error.
pub fn tell_missing(record: &RunRecord, id: &TargetId) -> bool {
    if has_result(record, id) {
        return false;
    }
    output::say(format_args!("{id}: {}", no_result(record, id)));
    true
}

/// Whether a target could not be built, started or measured.
pub fn has_failed(record: &RunRecord, id: &TargetId) -> bool {
    let is_unavailable =
        record.header.targets.get(id).is_some_and(|info| info.unavailable.is_some());
    let mut own = record.trials.iter().filter(|trial| trial.spec.target == *id);
    is_unavailable || own.any(|trial| trial.failure.is_some())
}

/// That there is no result of a target, and why if that is known.
pub fn no_result(record: &RunRecord, id: &TargetId) -> String {
    let unavailable = record.header.targets.get(id).and_then(|info| info.unavailable.clone());
    let mut trials = trials_of(record, std::slice::from_ref(id)).into_iter();
    let why = unavailable.or_else(|| trials.find_map(|trial| trial.failure));
    let why = why.map_or(String::new(), |why| format!(": {}: {}", why.stage.name(), why.message));
    format!("no result{why}")
}

/// What tells the copies from two revisions apart. `a/b` and `a-b` have the same label. So does a branch
/// that is compared with itself.
pub fn labels(a: &Revision, b: &Revision) -> [String; 2] {
    let [of_a, of_b] = [a, b].map(Revision::label);
    if of_a == of_b { [format!("{of_a}-a"), format!("{of_b}-b")] } else { [of_a, of_b] }
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
