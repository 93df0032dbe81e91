//! The gates of a comparison while it is measured: each target against another of the same run, until
//! every change is decided. `pippin ci` and `pippin compare` decide by this, and `make alarms` measures
//! how often it is wrong.
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::gate::{Condition, Gate, Limit};
use std::time::Duration;

use super::{
    Base, Bases, Group, Outcome, Planned, Standing, depends_on_time, judge, needs_more_starts,
};
use crate::compare::Origin;
use crate::interval::anytime::{LEVEL, Levels};

/// What decides in `pippin ci` where the project file names no change. CPU time per request depends
/// least on what else the machine does, so its limit is narrow.
pub const USUAL_GATES: [&str; 3] =
    ["cpu > 2% vs base", "goodput < -10% vs base", "p99 > 50% vs base"];

/// By how much a change may exceed its limit and pass, as a factor: with a limit of 2 %, what passes is
/// surely below 5.06 %. To tell a change of 2 % from none takes five times as many starts.
const UNSEEN: f64 = 1.03;

/// A start that is beyond its limit by more than this factor is far off. Servers of which each start has
/// one of two states differ by that much in one start of four at most.
const FAR: f64 = 2.0;

/// The part of the error of passing that is kept for the look when the time is over.
const LAST_LOOK: f64 = 0.4;

/// The gates of a comparison within one run, and which target is compared with which.
#[derive(Debug, Clone)]
pub struct Comparing {
    /// The gates. Their changes are from the first of each pair to the second.
    pub gates: Vec<Gate>,
    /// How often changes may be judged wrongly.
    pub levels: Levels,
    /// The target that is the base, and the one that is judged.
    pub pairs: Vec<(TargetId, TargetId)>,
}

/// Whether a limit is one on a change.
#[must_use]
pub fn is_change(gate: &Gate) -> bool {
    matches!(gate.condition.limit, Limit::Change(_))
}

/// Whether a limit is decided only on a calm host.
#[must_use]
pub fn needs_calm(gate: &Gate) -> bool {
    !is_change(gate) && depends_on_time(gate.condition.figure)
}

impl Levels {
    /// The share of false alarms of one comparison, over all its changes. That one passes wrongly only
    /// leaves a change unseen, as a comparison does in one of twenty; and what exceeds its limit by less
    /// than 3 % may pass.
    #[must_use]
    pub fn of_comparison(false_alarms: f64, gates: &[Gate], targets: usize) -> Self {
        let changes = gates.iter().filter(|gate| is_change(gate)).count() * targets;
        Self {
            within: LEVEL * (1.0 - LAST_LOOK),
            beyond: false_alarms / changes.max(1) as f64,
            unseen: UNSEEN.ln(),
            far: FAR.ln(),
            last_look: LEVEL * LAST_LOOK,
        }
    }
}

impl Comparing {
    /// What the gates say after so many repetitions, of which `planned` are made in any case. More may
    /// follow.
    #[must_use]
    pub fn outcomes(&self, trials: &[TrialRecord], made: u32, planned: u32) -> Vec<Outcome> {
        let levels = self.levels.before_the_end();
        Self { levels, ..self.clone() }.at_the_end(trials, made, planned)
    }

    /// What they say after the last repetition.
    #[must_use]
    pub fn at_the_end(&self, trials: &[TrialRecord], made: u32, planned: u32) -> Vec<Outcome> {
        let planned = Planned { repetitions: made.max(planned), is_whole: true };
        let is_judged = |trial: &&TrialRecord| self.base_of(&trial.spec.target).is_some();
        let judged = trials.iter().filter(is_judged);
        judge(&self.gates, judged, planned, &InOneRun { comparing: self, trials, planned })
    }

    /// The target with which this one is compared.
    #[must_use]
    pub fn base_of(&self, target: &TargetId) -> Option<&TargetId> {
        self.pairs.iter().find(|(_, b)| b == target).map(|(a, _)| a)
    }
}

/// Whether a comparison goes on: no change has failed, and more starts may decide one. A limit
/// without a base needs a calm host, for which more starts are no help.
#[must_use]
pub fn is_open(outcomes: &[Outcome]) -> bool {
    let mut changes = outcomes.iter().filter(|outcome| is_change(&outcome.gate));
    let has_failed = changes.clone().any(|outcome| outcome.standing == Standing::Failed);
    !has_failed && changes.any(needs_more_starts)
}

/// Whether the changes need no more repetitions: one has failed, or all have passed.
#[must_use]
pub fn is_decided(outcomes: &[Outcome]) -> bool {
    let changes: Vec<Standing> = outcomes
        .iter()
        .filter(|outcome| is_change(&outcome.gate))
        .map(|outcome| outcome.standing)
        .collect();
    let has_failed = changes.contains(&Standing::Failed);
    has_failed || (!changes.is_empty() && changes.iter().all(|it| *it == Standing::Passed))
}

/// Whether there is time for another repetition, which takes about as long as each before.
#[must_use]
pub fn has_time(spent: Duration, made: u32, length: Duration) -> bool {
    spent.mul_f64(f64::from(made + 1) / f64::from(made.max(1))) <= length
}

struct InOneRun<'a> {
    comparing: &'a Comparing,
    trials: &'a [TrialRecord],
    planned: Planned,
}

impl Bases for InOneRun<'_> {
    fn base_for(
        &self,
        _: &Condition,
        target: &TargetId,
        step: Option<Step>,
    ) -> Result<Option<Base<'_>>, String> {
        let Some(base) = self.comparing.base_of(target) else { return Ok(None) };
        let group = Group::of_target(self.trials, (base, step), self.planned);
        Ok(Some(Base { group, name: base.to_string(), origin: Origin::OneRun }))
    }

    fn levels(&self) -> Levels {
        self.comparing.levels
    }
}
