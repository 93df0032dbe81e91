//! How far each start is from the limit of a change.
use pippin_model::figure::Figure;
use pippin_model::trial::{TrialRecord, instructions};
use pippin_model::verdict::gate::Gate;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::cold::HANDICAP;
use super::usable::Both;
use super::{Counted, Doubt, Reason, Standing, value};
use crate::compare::Origin;
use crate::interval::anytime::Start;
use crate::rounds::{Observed, Resting};
use crate::series::quantile::mean;

/// A change from the base.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// By how much: -0.05 for 5 % less, or for 5 points less.
    pub by: f64,
    /// Whether it is a difference between two shares of the requests, because the base's is 0.
    pub is_points: bool,
}

/// A figure of both sides by repetition.
#[derive(Debug, Clone)]
pub(super) struct Sides {
    pub(super) own: BTreeMap<u32, f64>,
    pub(super) base: BTreeMap<u32, f64>,
    /// What differences are taken relative to, for shares; `None` for figures that have ratios.
    of: Option<f64>,
    /// The repetitions that count at a handicap.
    cold: BTreeSet<u32>,
    /// Whether the figure of a start is unknown. Then nothing passes.
    pub(super) is_unknown: bool,
    /// Whether nothing fails either: more requests of the base may have been what is counted, or two
    /// counters counted instructions.
    is_open: bool,
}

impl Sides {
    /// The figure of both sides on the starts that count.
    pub(super) fn from_starts(figure: Figure, both: &Both<'_>, origin: Origin) -> Self {
        let Both { own, base: others, cold, .. } = both;
        if figure.can_be_share() {
            return Self::shares(figure, own, others);
        }
        let cold = cold.clone();
        let paired = (origin == Origin::OneRun)
            .then(|| within_rounds(figure, own, others))
            .filter(|pairs| !pairs.is_empty());
        // What the rounds show is known, whatever else of a start is not.
        let shown: BTreeSet<u32> = paired.iter().flatten().map(|(at, ..)| *at).collect();
        let is_known = |trial: &TrialRecord| {
            shown.contains(&trial.spec.repetition) || value(figure, trial).is_some()
        };
        let mut all = both.own.iter().chain(others).copied();
        let is_mixed = figure == Figure::Instructions && !instructions::are_alike(all.clone());
        let is_unknown = is_mixed || !all.all(is_known);
        let (own, base) = paired.map_or_else(
            || (by_repetition(figure, own), by_repetition(figure, others)),
            |pairs| pairs.into_iter().map(|(at, own, base)| ((at, own), (at, base))).unzip(),
        );
        Self { own, base, of: None, cold, is_unknown, is_open: is_mixed }
    }

    fn shares(figure: Figure, own: &[&TrialRecord], base: &[&TrialRecord]) -> Self {
        let counted = |trials: &[&TrialRecord]| -> BTreeMap<u32, Counted> {
            let one = |trial: &&TrialRecord| {
                Some((trial.spec.repetition, Counted::from_trial(figure, trial)?))
            };
            trials.iter().filter_map(one).collect()
        };
        let starts = own.len() + base.len();
        let (own, base) = (counted(own), counted(base));
        let is_open = |of: &BTreeMap<u32, Counted>| of.values().any(|it| it.open > 0.0);
        let is_base_open = is_open(&base);
        let is_unknown = own.len() + base.len() < starts || is_open(&own) || is_base_open;
        let all = Counted::all(&base.values().copied().collect::<Vec<_>>());
        let share = |of: BTreeMap<u32, Counted>| {
            of.into_iter().map(|(at, counted)| (at, counted.share())).collect()
        };
        let of = if all.count > 0.0 { all.share() } else { 1.0 };
        let (own, base) = (share(own), share(base));
        Self { own, base, of: Some(of), cold: BTreeSet::new(), is_unknown, is_open: is_base_open }
    }

    /// The change of each repetition that both sides have, as a fraction.
    fn by_repetition(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let both = |(at, own): (&u32, &f64)| Some((*at, self.change_of(*own, *self.base.get(at)?)));
        self.own.iter().filter_map(both)
    }

    /// The change of each start, as a fraction.
    fn changes(&self) -> impl Iterator<Item = f64> + '_ {
        self.by_repetition().map(|(_, change)| change)
    }

    /// The change of one figure from another.
    pub(super) fn change_of(&self, own: f64, base: f64) -> f64 {
        self.of.map_or_else(|| own / base - 1.0, |of| (own - base) / of)
    }

    /// The mean change: of shares by their differences, else by the geometric mean of the ratios.
    pub(super) fn change(&self) -> Option<Change> {
        let is_points = self.of == Some(1.0) && self.base.values().all(|share| *share == 0.0);
        let changes: Vec<f64> = if self.own.keys().any(|at| self.base.contains_key(at)) {
            self.changes().collect()
        } else {
            let (own, base) = (self.own.values().copied(), self.base.values().copied());
            let centre = |of: Vec<f64>| mean(&of);
            vec![self.change_of(centre(own.collect())?, centre(base.collect())?)]
        };
        let by = match self.of {
            Some(_) => mean(&changes)?,
            None => {
                mean(&changes.iter().map(|change| change.ln_1p()).collect::<Vec<_>>())?.exp_m1()
            }
        };
        (!by.is_nan()).then_some(Change { by, is_points })
    }

    /// Each start, seen from the limit of a gate; `None` if a repetition of a side has no figure.
    pub(super) fn starts(&self, gate: &Gate, limit: f64) -> Option<Vec<Start>> {
        let is_whole = self.own.keys().eq(self.base.keys()) && !self.own.is_empty();
        let sign = if gate.lower_passes() { 1.0 } else { -1.0 };
        let start = |(at, change): (u32, f64)| {
            let distance = sign
                * if self.of.is_some() { change - limit } else { change.ln_1p() - limit.ln_1p() };
            if self.cold.contains(&at) {
                let distance = distance - HANDICAP.ln();
                return Start { distance, is_beyond: distance > 0.0 };
            }
            Start { distance, is_beyond: !gate.keeps(change, limit) }
        };
        let starts: Vec<Start> = self.by_repetition().map(start).collect();
        (is_whole && starts.iter().all(|start| !start.distance.is_nan())).then_some(starts)
    }

    /// What is decided if a figure is unknown: it cannot let a gate pass. It could not save a gate that
    /// the known figures fail, unless it is one of the base's.
    pub(super) fn allow(&self, gate: &Gate, standing: Standing) -> Result<Standing, Reason> {
        let may_be_saved = self.is_open || (!gate.lower_passes() && self.of.is_some());
        if self.is_unknown && (standing == Standing::Passed || may_be_saved) {
            return Err(Reason::new(Doubt::Unknown, "a figure is unknown"));
        }
        Ok(standing)
    }

    /// Between which changes the starts lie.
    pub(super) fn spread(&self) -> String {
        let least = self.changes().fold(f64::INFINITY, f64::min);
        let most = self.changes().fold(f64::NEG_INFINITY, f64::max);
        format!("which lie between {:+.2} % and {:+.2} %", least * 100.0, most * 100.0)
    }
}

/// Whether both sides were measured in slices, and never in the same round.
pub(super) fn share_no_round(own: &[&TrialRecord], base: &[&TrialRecord]) -> bool {
    let rounds = |trials: &[&TrialRecord]| -> BTreeSet<(u32, u32)> {
        let slices = trials.iter().flat_map(|trial| trial.slices.iter().map(move |it| (trial, it)));
        slices.map(|(trial, slice)| (trial.spec.repetition, slice.round)).collect()
    };
    let (own, base) = (rounds(own), rounds(base));
    !own.is_empty() && !base.is_empty() && own.is_disjoint(&base)
}

/// The figure in each repetition, over the rounds that both have: repetition, own, base.
fn within_rounds(
    figure: Figure,
    own: &[&TrialRecord],
    base: &[&TrialRecord],
) -> Vec<(u32, f64, f64)> {
    let resting = Resting::from_trials(own.iter().chain(base).copied());
    let (own, base) =
        (Observed::from_trials(own, figure, resting), Observed::from_trials(base, figure, resting));
    own.levels_by_repetition(&base)
        .into_iter()
        .map(|(at, own, base)| (at, own.log.exp(), base.log.exp()))
        .collect()
}

fn by_repetition(figure: Figure, trials: &[&TrialRecord]) -> BTreeMap<u32, f64> {
    let one = |trial: &&TrialRecord| Some((trial.spec.repetition, value(figure, trial)?));
    trials.iter().filter_map(one).collect()
}
