//! Gates as judges: passed, failed, or undecided.
//!
//! A gate looks at the verdict before the figure: it passes and fails only on results of all planned
//! repetitions, none of them INVALID. All but counts and memory need a target that was warm, on both
//! sides of a change: none is decided while a compiler was at work. Those without a
//! base need a host that was calm too; changes within one run do not, because a disturbance reaches
//! both sides of a round. A change within one run leaves out the starts that were not warm, and is
//! decided on the others if they are at least half; of fewer, all decide a failure, at a handicap. Every other limit needs all of them.
//!
//! | limit | decided by |
//! |---|---|
//! | a count | the worst repetition |
//! | a share of the requests | all repetitions together |
//! | another value | all repetitions if they agree; otherwise [`crate::interval::anytime`] |
//! | a change within one run | [`crate::interval::anytime`] over the ratio of each start, against the limit |
//! | a change between two runs | [`apart`] |
//!
//! | module | what it holds |
//! |---|---|
//! | [`comparing`] | the gates of a comparison while it is measured |
//! | `usable` | which trials a gate may decide on |
//! | `warmth` | whether a target was warm in a start |
//! | [`left_out`] | starts that do not count, by reason |
//! | `figures` | the figure of a trial |
//! | `change` | how far each start is from the limit of a change |
//! | `cold` | changes so great that starts which were not warm show them |
//! | `apart` | the starts of two runs |
//! | [`lost`] | gates that cannot be passed any more while a load is in progress |
mod apart;
mod change;
mod cold;
pub mod comparing;
mod figures;
pub mod left_out;
pub mod lost;
mod usable;
mod warmth;

use pippin_model::figure::{Figure, Unit};
use pippin_model::target::TargetId;
use pippin_model::text::units;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::gate::{Condition, Gate, Limit};
use serde::{Deserialize, Serialize};

use crate::compare::Origin;
use crate::interval::anytime::{self, Levels, Side, Start};
use crate::judge::answers_differ::AnswerKind;
use crate::judge::repetitions;
use crate::series::quantile::median;
use crate::summary::sample::value;
pub use change::Change;
use figures::Counted;
use left_out::LeftOut;
use usable::{Both, Needs};
pub use usable::{Group, Planned};

/// What a gate says of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The figure keeps the limit.
    Passed,
    /// The measurement cannot tell.
    Undecided,
    /// The figure does not keep the limit, or there is none at all.
    Failed,
}

/// Why a gate is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The run did not come to its end.
    Interrupted,
    /// A result is INVALID.
    Invalid,
    /// A planned repetition has no result.
    Missing,
    /// The host was not calm, or that is unknown.
    NotCalm,
    /// The target was not warm, or that is unknown.
    NotWarm,
    /// Too few starts.
    TooFewStarts,
    /// The starts lie on both sides of the limit, or too near to it.
    TooNear,
    /// There is no base, or not this one.
    NoBase,
    /// A target from a revision runs other files than its own.
    OtherFiles,
    /// The answers are of another kind than those of the base.
    OtherAnswers,
    /// The figure is unknown.
    Unknown,
    /// The target was not measured.
    NotMeasured,
}

/// Why a gate is undecided, or failed without a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The kind of doubt.
    pub doubt: Doubt,
    /// In words.
    pub text: String,
}

impl Reason {
    pub(crate) fn new(doubt: Doubt, text: impl Into<String>) -> Self {
        Self { doubt, text: text.into() }
    }
}

/// The outcome of one gate for one target at one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The gate.
    pub gate: Gate,
    /// The target.
    pub target: TargetId,
    /// The point of a sweep or of a capacity search.
    pub step: Option<Step>,
    /// The figure, in its own unit or, for a percentage of the requests, as a fraction: the worst
    /// repetition of a count, the share of all repetitions, otherwise the median.
    pub value: Option<f64>,
    /// The change from the base, if the limit is a change.
    pub change: Option<Change>,
    /// The base, in words.
    pub base: Option<String>,
    /// The outcome.
    pub standing: Standing,
    /// Why it is undecided, or failed without a figure.
    pub reason: Option<Reason>,
    /// The starts that do not count; `None` if all do, or it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// The change that a target that passed surely keeps, where it is wider than the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surely: Option<f64>,
}

/// The trials that a change is measured from.
#[derive(Debug, Clone)]
pub struct Base<'a> {
    /// The trials of the base at the step in question.
    pub group: Group<'a>,
    /// What it is, in words: `own/shop@main`, `run 20261121-203539-ci`.
    pub name: String,
    /// Whether they are of the same run as the ones that are judged.
    pub origin: Origin,
}

/// The bases that changes are measured from.
pub trait Bases {
    /// The base of a target at a step; `None` if the gate says nothing about this target, because
    /// the target is the base itself.
    ///
    /// # Errors
    /// Why there is no base, in words.
    fn base_for(
        &self,
        condition: &Condition,
        target: &TargetId,
        step: Option<Step>,
    ) -> Result<Option<Base<'_>>, String>;

    /// How often changes may be judged wrongly.
    fn levels(&self) -> Levels {
        Levels::default()
    }
}

/// Judges every gate for every target at every step.
pub fn judge<'a>(
    gates: &[Gate],
    trials: impl IntoIterator<Item = &'a TrialRecord>,
    planned: Planned,
    bases: &dyn Bases,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (target, step, trials) in repetitions(trials) {
        let group = Group::new(trials, planned);
        for gate in gates {
            let mut outcome = Outcome {
                gate: gate.clone(),
                target: target.clone(),
                step,
                value: None,
                change: None,
                base: None,
                standing: Standing::Undecided,
                reason: None,
                left_out: None,
                surely: None,
            };
            let judged = if let Limit::Change(limit) = gate.condition.limit {
                match bases.base_for(&gate.condition, target, step) {
                    Ok(None) => continue,
                    Ok(Some(base)) => {
                        against_base(&mut outcome, limit, (&group, &base), bases.levels())
                    }
                    Err(why) => Err(Reason::new(Doubt::NoBase, why)),
                }
            } else {
                alone(&mut outcome, &group)
            };
            match judged {
                Ok(standing) => outcome.standing = standing,
                Err(reason) => outcome.reason = Some(reason),
            }
            outcomes.push(outcome);
        }
    }
    outcomes
}

/// The outcomes of the gates for a target that was not measured: each is failed. `why` is the
/// reason, in words.
pub fn unmeasured<'a>(
    gates: &'a [Gate],
    target: &'a TargetId,
    why: &'a str,
) -> impl Iterator<Item = Outcome> + 'a {
    gates.iter().map(move |gate| Outcome {
        gate: gate.clone(),
        target: target.clone(),
        step: None,
        value: None,
        change: None,
        base: None,
        standing: Standing::Failed,
        reason: Some(Reason::new(Doubt::NotMeasured, format!("not measured: {why}"))),
        left_out: None,
        surely: None,
    })
}

/// The most repetitions that are made to decide gates, for this many planned ones.
#[must_use]
pub const fn most_repetitions(planned: u32) -> u32 {
    let thrice = planned.saturating_mul(3);
    if thrice > 10 { thrice } else { 10 }
}

/// Whether another repetition may decide a gate that is undecided after `made` of `planned`.
#[must_use]
pub fn may_be_decided(outcomes: &[Outcome], made: u32, planned: u32) -> bool {
    made < most_repetitions(planned) && outcomes.iter().any(needs_more_starts)
}

/// Whether more starts may decide this gate. A target that was warm in one start may be so in others.
#[must_use]
pub fn needs_more_starts(outcome: &Outcome) -> bool {
    let was_warm = outcome.left_out.as_ref().is_some_and(|left_out| left_out.counting() > 0);
    let helps = |doubt| match doubt {
        Doubt::NotCalm | Doubt::TooFewStarts | Doubt::TooNear => true,
        Doubt::NotWarm => was_warm,
        _ => false,
    };
    outcome.reason.as_ref().is_some_and(|reason| helps(reason.doubt))
}

/// Whether other programs and a cold start change a figure: all but counts and memory.
pub(crate) fn depends_on_time(figure: Figure) -> bool {
    !matches!(figure.unit(), Unit::Count | Unit::Bytes)
}

/// What becomes of a gate that was lost while the load was under way, whose trials these are: it has
/// failed, because no further answer could save it. But a target that still compiled is slower than
/// it is, so a limit on times and rates stays undecided.
pub fn lose(outcome: &mut Outcome, trials: &[TrialRecord]) {
    let mut own = trials.iter().filter(|trial| trial.spec.target == outcome.target);
    let compiled = own.find_map(warmth::compiled);
    let doubt = compiled.filter(|_| depends_on_time(outcome.gate.condition.figure));
    (outcome.standing, outcome.reason) = match doubt {
        Some(text) => (Standing::Undecided, Some(Reason::new(Doubt::NotWarm, text))),
        None => (Standing::Failed, None),
    };
}

/// Judges a limit that is no change.
fn alone(outcome: &mut Outcome, group: &Group<'_>) -> Result<Standing, Reason> {
    let gate = &outcome.gate;
    let figure = gate.condition.figure;
    let all = values(figure, &group.trials);
    let counted: Option<Vec<Counted>> =
        group.trials.iter().map(|trial| Counted::from_trial(figure, trial)).collect();
    let counted = counted.map(|counted| Counted::all(&counted));
    outcome.value = match gate.condition.limit {
        Limit::Share(_) => counted.map(Counted::share),
        _ => median(&all),
    };
    if let Some(reason) = group.doubt("") {
        return Err(reason);
    }
    let unknown = || Reason::new(Doubt::Unknown, "the figure is unknown");
    let standing =
        |value, limit| if gate.keeps(value, limit) { Standing::Passed } else { Standing::Failed };
    match gate.condition.limit {
        Limit::Share(limit) => {
            let counted = counted.ok_or_else(unknown)?;
            let at_most = counted.at_most() / counted.of;
            if gate.keeps(counted.share(), limit) && !gate.keeps(at_most, limit) {
                return Err(without_answer(counted.open));
            }
            Ok(standing(counted.share(), limit))
        }
        Limit::Value(limit) if matches!(figure.unit(), Unit::Count) => {
            let worst = if gate.lower_passes() { f64::max } else { f64::min };
            let worst = all.iter().copied().reduce(worst);
            let worst = worst.filter(|_| all.len() == group.trials.len()).ok_or_else(unknown)?;
            outcome.value = Some(worst);
            let each = group.trials.iter().filter_map(|trial| Counted::from_trial(figure, trial));
            let open = each.filter(|it| !gate.keeps(it.at_most(), limit)).map(|it| it.open);
            let open = open.reduce(f64::max).filter(|open| *open > 0.0 && figure.can_be_share());
            match open {
                Some(open) if gate.keeps(worst, limit) => Err(without_answer(open)),
                _ => Ok(standing(worst, limit)),
            }
        }
        Limit::Value(limit) => {
            let trials = if depends_on_time(figure) {
                group.counting(Needs::WarmAndCalm(figure), "")?
            } else {
                group.trials.clone()
            };
            let all = values(figure, &trials);
            outcome.value = median(&all);
            if all.len() < trials.len() {
                return Err(unknown());
            }
            of_values(gate, &all, limit)
        }
        // Changes have their own function.
        Limit::Change(_) => Err(unknown()),
    }
}

/// Requests that never had an answer may each be what a gate counts.
fn without_answer(count: f64) -> Reason {
    let requests = units::counted(count as u64, "request");
    Reason::new(Doubt::Unknown, format!("{requests} had no answer at the end of the load"))
}

fn values(figure: Figure, trials: &[&TrialRecord]) -> Vec<f64> {
    trials.iter().filter_map(|trial| value(figure, trial)).collect()
}

/// Repetitions that agree decide. Otherwise each is one look at the target.
fn of_values(gate: &Gate, values: &[f64], limit: f64) -> Result<Standing, Reason> {
    let kept = values.iter().filter(|value| gate.keeps(**value, limit)).count();
    if kept == values.len() {
        return Ok(Standing::Passed);
    }
    if kept == 0 {
        return Ok(Standing::Failed);
    }
    let sign = if gate.lower_passes() { 1.0 } else { -1.0 };
    let starts: Vec<Start> = values
        .iter()
        .map(|value| Start {
            distance: sign * (value / limit).ln(),
            is_beyond: !gate.keeps(*value, limit),
        })
        .collect();
    by_starts(&starts, Levels::default(), || {
        format!("{kept} of {} repetitions keep it", values.len())
    })
}

/// Judges a change from the base against its limit.
fn against_base(
    outcome: &mut Outcome,
    limit: f64,
    (group, base): (&Group<'_>, &Base<'_>),
    levels: Levels,
) -> Result<Standing, Reason> {
    let figure = outcome.gate.condition.figure;
    outcome.base = Some(base.name.clone());
    outcome.value = median(&values(figure, &group.trials));
    let of_base = format!("{}: ", base.name);
    let needs = needs(figure, (group, base));
    let both = starts_of((group, base), needs, &of_base);
    outcome.left_out =
        both.as_ref().ok().map(|it| &it.left_out).filter(|it| it.count() > 0).cloned();
    let sides = both.as_ref().map(|both| change::Sides::from_starts(figure, both, base.origin));
    // The change is shown even if nothing can be decided by it.
    outcome.change = sides.as_ref().ok().and_then(change::Sides::change);
    if let Some(reason) = group.doubt("").or_else(|| base.group.doubt(&of_base)) {
        return Err(reason);
    }
    let (sides, both) = (sides.map_err(Clone::clone)?, both?);
    // Shares are compared in points, and one error more may be several times as many.
    let levels = if figure.can_be_share() {
        let within = levels.within + levels.last_look;
        Levels { within, unseen: 0.0, far: f64::INFINITY, last_look: 0.0, ..levels }
    } else {
        levels
    };
    if let Some(reason) = both.doubt() {
        return cold::judge(outcome, limit, (&both, base.origin), levels).ok_or(reason);
    }
    let gate = &outcome.gate;
    let unseen = levels.unseen;
    let mut surely = None;
    let standing = if base.origin == Origin::TwoRuns {
        sides.allow(gate, apart::stand(gate, limit, &sides)?)?
    } else {
        let starts = sides.starts(gate, limit);
        let starts = starts.ok_or_else(|| Reason::new(Doubt::Unknown, "a figure is unknown"))?;
        let standing = sides.allow(gate, by_starts(&starts, levels, || sides.spread())?)?;
        if standing == Standing::Passed && unseen > 0.0 {
            let sign = if gate.lower_passes() { 1.0 } else { -1.0 };
            surely = Some((1.0 + limit) * (sign * unseen).exp() - 1.0);
        }
        standing
    };
    outcome.surely = surely;
    // A target that redirects, or refuses, may be fast.
    match other_answers(group, base).filter(|_| standing == Standing::Passed) {
        Some(reason) if !figure.can_be_share() => Err(reason),
        _ => Ok(standing),
    }
}

/// What a change needs of each start. A disturbance reaches both sides only of a round that both have.
fn needs(figure: Figure, (group, base): (&Group<'_>, &Base<'_>)) -> Needs {
    let is_paired =
        base.origin == Origin::OneRun && !change::share_no_round(&group.trials, &base.group.trials);
    match (depends_on_time(figure), is_paired) {
        (false, _) => Needs::Nothing,
        (true, true) => Needs::Warm(figure),
        (true, false) => Needs::WarmAndCalm(figure),
    }
}

/// The starts of both sides that count. Those of two runs are no pairs, so all of them must.
fn starts_of<'a>(
    (group, base): (&Group<'a>, &Base<'a>),
    needs: Needs,
    of_base: &str,
) -> Result<Both<'a>, Reason> {
    if base.origin == Origin::OneRun {
        return Both::from_groups(group, (&base.group, of_base), needs);
    }
    Ok(Both::all(group.counting(needs, "")?, base.group.counting(needs, of_base)?))
}

/// The doubt about a target that redirects where its base answers, or the other way round.
fn other_answers(group: &Group<'_>, base: &Base<'_>) -> Option<Reason> {
    let kinds = |group: &Group<'_>| -> Vec<Option<AnswerKind>> {
        group.trials.iter().map(|trial| AnswerKind::from_trial(trial)).collect()
    };
    let (own, others) = (kinds(group), kinds(&base.group));
    let is_like = |kind: &Option<AnswerKind>| kind.map(|kind| kind.is_redirection());
    let usual = others.first()?;
    let other = own.iter().chain(&others).find(|kind| is_like(kind) != is_like(usual))?;
    let words = |kind: &Option<AnswerKind>| kind.map_or("unknown".into(), |kind| kind.words());
    let text = format!(
        "its answers and those of {} differ: {} and {}",
        base.name,
        words(other),
        words(usual)
    );
    Some(Reason::new(Doubt::OtherAnswers, text))
}

/// The answer of [`anytime`] about these starts. `seen` says how they lie, if that is too near.
fn by_starts(
    starts: &[Start],
    levels: Levels,
    seen: impl Fn() -> String,
) -> Result<Standing, Reason> {
    let made = || pippin_model::text::units::counted(starts.len() as u64, "start");
    match anytime::side(starts, levels) {
        Some(Side::Within) => Ok(Standing::Passed),
        Some(Side::Beyond) => Ok(Standing::Failed),
        None if starts.len() < anytime::FEWEST_STARTS => Err(Reason::new(
            Doubt::TooFewStarts,
            format!("{} of at least {}, {}", made(), anytime::FEWEST_STARTS, seen()),
        )),
        None => Err(Reason::new(Doubt::TooNear, format!("{}, {}", made(), seen()))),
    }
}

#[cfg(test)]
mod tests;
