//! How many repetitions a run needs until its figures are known to a precision, what it expects on the
//! way, and what came of it. Looked at after each repetition, with intervals that may be looked at so
//! often ([`crate::interval::sequence`]).
//!
//! The law: less evidence never gives a better claim. A run reaches its goal at the first look at which
//! every figure is known well enough *from all repetitions so far*. A repetition that a target lacks, or
//! in which its slices were not all made, is unknown, and then this target's figure is never known well
//! enough. It does not hold the run either, because more repetitions cannot mend it; but a run that
//! leaves such a target behind has not reached its goal.
//!
//! | module | what it does |
//! |---|---|
//! | [`starts`] | what the starts of each ranked row show |
//! | [`choice`] | whether the rest of the time is spent on more starts or on more rounds in each, and which differences are told apart then |
//! | [`forecast`] | how many more repetitions are needed, what they cost, and whether longer loads would cost less |
//! | [`words`] | all of it in sentences |
pub mod choice;
pub mod forecast;
pub mod starts;
pub mod words;

use pippin_model::plan::goal::{FEWEST_REPETITIONS, Goal, MOST_REPETITIONS};
use pippin_model::run::{RunHeader, RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use serde::{Deserialize, Serialize};

use crate::planning::choice::{Choice, told_apart};
use crate::planning::forecast::{Costs, Forecast};
use crate::planning::starts::{Change, Starts, changes, starts};

/// How well the figures of a run are known after some repetitions, as its goal asks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The goal.
    #[serde(flatten)]
    pub goal: Goal,
    /// Repetitions that were made.
    pub repetitions: u32,
    /// Whether every figure is known as well as the goal asks for; `None` if it only names a time.
    pub reached: Option<bool>,
    /// How long a repetition of all targets takes, in nanoseconds; `None` after the first.
    pub repetition_ns: Option<f64>,
    /// By how much two targets must differ to be told apart with a power of 90 %, as
    /// [`choice::told_apart`] says it.
    pub told_apart: Option<f64>,
    /// What the rest was to be spent on, chosen at the first look, and what was expected of it. `None`
    /// before, and if nothing more was needed, there was no time, or too little was known.
    pub choice: Option<Choice>,
    /// Each target at each step.
    pub rows: Vec<Row>,
}

/// How well one figure is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The target.
    pub target: TargetId,
    /// The point of a sweep or of several rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Step>,
    /// The change that is to be known; absent if it is the figure by which the target is ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// How far the interval of its figure reaches, as a fraction of it, or that of its change as a
    /// fraction of the base; `None` if that is unknown.
    pub reach: Option<f64>,
    /// By how much its starts differ: the standard deviation of the logarithm of its figure.
    pub starts_differ: Option<f64>,
    /// The part of that which the scatter within a start explains; `None` if it is unknown.
    pub within_a_start: Option<f64>,
    /// How many more repetitions it needs, and whether longer loads would cost less; `None` where it
    /// needs none, or nothing can be said.
    pub forecast: Option<Forecast>,
    /// Why more repetitions are no help; `None` if they are, or none are needed.
    pub stuck: Option<String>,
}

impl Row {
    /// Whether it is known as well as that.
    fn is_within(&self, within: f64) -> bool {
        self.stuck.is_none() && self.reach.is_some_and(|reach| reach <= within)
    }

    /// Whether more repetitions may make it known as well as that.
    fn is_open(&self, within: f64) -> bool {
        self.stuck.is_none() && !self.is_within(within)
    }
}

impl Progress {
    /// The progress of a run after so many repetitions; `None` if it has no goal.
    #[must_use]
    pub fn from_trials(header: &RunHeader, trials: &[TrialRecord], made: u32) -> Option<Self> {
        let goal = header.plan.goal.clone()?;
        let starts = starts_of_goal(header, &goal, trials, made);
        let costs = Costs::from_trials(trials, made);
        let rows: Vec<Row> = starts.iter().map(|one| row(one, made, goal.within, &costs)).collect();
        // Who is not there is left behind. Before the first look nothing is known.
        let is_whole =
            made >= FEWEST_REPETITIONS && header.plan.targets.iter().all(|id| is_there(header, id));
        let is_all =
            |within| is_whole && !rows.is_empty() && rows.iter().all(|row| row.is_within(within));
        let reached = goal.within.map(is_all);
        let at_first = || {
            let starts = starts_of_goal(header, &goal, trials, FEWEST_REPETITIONS);
            let costs = Costs::from_trials(trials, FEWEST_REPETITIONS);
            Choice::from_starts(&starts, FEWEST_REPETITIONS, &goal, &costs)
        };
        Some(Self {
            repetitions: made,
            reached,
            repetition_ns: costs.repetition_ns,
            told_apart: told_apart(&starts, made),
            choice: (made >= FEWEST_REPETITIONS).then(at_first).flatten(),
            rows,
            goal,
        })
    }

    /// The progress of a run that was kept; `None` if it has no goal. Of one that was interrupted,
    /// the last repetition counts only if all targets have it.
    #[must_use]
    pub fn of_run(record: &RunRecord) -> Option<Self> {
        let made = record.trials.iter().map(|trial| trial.spec.repetition + 1).max().unwrap_or(0);
        let whole = Self::from_trials(&record.header, &record.trials, made)?;
        if record.state == RunState::Finished || made < 2 {
            return Some(whole);
        }
        let has_last = |target: &TargetId, step: Option<Step>| {
            record.trials.iter().any(|trial| {
                let is_it = trial.spec.target == *target && trial.spec.step == step;
                let is_over = trial.load.as_ref().is_some_and(|load| !load.interrupted);
                is_it && is_over && trial.spec.repetition + 1 == made
            })
        };
        let has_both = |row: &Row| {
            let base = row.change.as_ref().map(|change| &change.base);
            has_last(&row.target, row.at) && base.is_none_or(|base| has_last(base, row.at))
        };
        let is_whole = whole.rows.iter().all(has_both);
        if is_whole {
            Some(whole)
        } else {
            Self::from_trials(&record.header, &record.trials, made - 1)
        }
    }

    /// Whether this is the first look.
    const fn is_first(&self) -> bool {
        self.repetitions <= FEWEST_REPETITIONS
    }

    /// Whether another repetition may bring the run closer to its goal. Time is not looked at.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let needs_more = match self.goal.within {
            Some(within) => self.rows.iter().any(|row| row.is_open(within)),
            None => self.rows.iter().any(|row| row.stuck.is_none()),
        };
        self.repetitions < MOST_REPETITIONS && needs_more
    }

    /// The row that is known least well among those that more repetitions help; `None` if none is
    /// known at all.
    #[must_use]
    pub fn widest(&self) -> Option<&Row> {
        let free = self.rows.iter().filter(|row| row.stuck.is_none() && row.reach.is_some());
        free.max_by(|a, b| a.reach.unwrap_or(0.0).total_cmp(&b.reach.unwrap_or(0.0)))
    }
}

/// What a new run probably needs for its goal, and which differences it then shows, judged by an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// How many repetitions, and what they show.
    pub choice: Choice,
    /// Targets of which the earlier run does not show it, because they failed there or more starts are no help.
    pub unknown: Vec<String>,
}

impl Expected {
    /// `None` if the new run has no goal, or the earlier run shows nothing.
    #[must_use]
    pub fn from_earlier(header: &RunHeader, earlier: &RunRecord) -> Option<Self> {
        let goal = header.plan.goal.as_ref()?;
        let made = earlier.trials.iter().map(|trial| trial.spec.repetition + 1).max()?;
        // Its later starts may have had more rounds than the plan says.
        let has_longer = |of: Progress| of.choice.is_some_and(|choice| choice.times > 1.0);
        let is_longer = Progress::of_run(earlier).is_some_and(has_longer);
        let made = if is_longer { made.min(FEWEST_REPETITIONS) } else { made };
        let starts = starts_of_goal(header, goal, &earlier.trials, made);
        let choice =
            Choice::of_whole_run(&starts, goal, &Costs::from_trials(&earlier.trials, made))?;
        let unknown = starts.iter().filter(|one| one.useful_scatter().is_none());
        Some(Self { choice, unknown: unknown.map(|one| one.target.to_string()).collect() })
    }
}

/// Whether a target of the plan could be installed.
fn is_there(header: &RunHeader, id: &TargetId) -> bool {
    header.targets.get(id).is_none_or(|info| info.unavailable.is_none())
}

/// The starts of what the goal asks for, after so many repetitions.
fn starts_of_goal(
    header: &RunHeader,
    goal: &Goal,
    trials: &[TrialRecord],
    made: u32,
) -> Vec<Starts> {
    if !goal.changes.is_empty() {
        return changes(trials, &goal.changes, made);
    }
    let there = header.plan.targets.iter().filter(|id| is_there(header, id));
    let targets: Vec<TargetId> = there.cloned().collect();
    starts(trials, &targets, made)
}

fn row(starts: &Starts, made: u32, within: Option<f64>, costs: &Costs) -> Row {
    let reach = starts.reach();
    let needed = within.filter(|within| reach.is_none_or(|reach| reach > *within));
    let helps = needed.filter(|_| starts.stuck.is_none());
    Row {
        target: starts.target.clone(),
        at: starts.step,
        change: starts.change.clone(),
        reach,
        starts_differ: starts.scatter(),
        within_a_start: starts.within_a_start,
        forecast: helps.and_then(|within| Forecast::from_starts(starts, made, within, costs)),
        stuck: starts.stuck.clone(),
    }
}

#[cfg(test)]
mod tests;
