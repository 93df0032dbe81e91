//! Targets that are measured in turn, one slice at a time. The others wait, and keep what was seen
//! of them.
use pippin_model::result::Window;
use pippin_model::target::TargetId;
use pippin_model::trial::TrialSpec;
use std::collections::BTreeMap;
use std::time::Duration;

use super::eta::Progress;
use super::state::{Current, State};

/// The rounds under way.
#[derive(Debug, Default)]
pub struct Turns {
    /// The targets that wait for their turn.
    waiting: BTreeMap<TargetId, Current>,
    rounds: Option<Rounds>,
}

#[derive(Debug, Clone, Copy)]
struct Rounds {
    began: Duration,
    /// Counted from 1. Higher than the last round when slices are replaced.
    round: u32,
    of: u32,
    /// The number of slices of this round that have begun.
    begun: u32,
}

impl Turns {
    /// Keeps this target while another one is measured.
    pub fn park(&mut self, current: Current) {
        if !current.over {
            self.waiting.insert(current.spec.target.clone(), current);
        }
    }

    /// The number of targets that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A trial begins or has ended, so its rounds have not begun.
    pub fn forget(&mut self, target: &TargetId) -> Option<Current> {
        self.rounds = None;
        self.waiting.remove(target)
    }

    /// The progress of the rounds; `None` outside of them.
    pub fn progress(&self, now: Duration) -> Option<Progress> {
        let Rounds { began, round, of, begun } = self.rounds?;
        let targets = self.waiting.len() as f64 + 1.0;
        let of_round = f64::from(begun.saturating_sub(1)) / targets;
        let done = f64::from(round.saturating_sub(1)) + of_round.min(1.0);
        let fraction = (done / f64::from(of.max(1))).clamp(0.0, 1.0);
        let spent = now.saturating_sub(began);
        let left =
            (fraction > 0.0 && fraction < 1.0).then(|| spent.mul_f64((1.0 - fraction) / fraction));
        Some(Progress { fraction, left, warming_up: false, spent })
    }

    fn note(&mut self, round: u32, of: u32, now: Duration) {
        let rounds = self.rounds.get_or_insert(Rounds { began: now, round, of, begun: 0 });
        if rounds.round != round {
            (rounds.round, rounds.begun) = (round, 0);
        }
        rounds.begun += 1;
    }
}

impl State {
    /// A slice of a target begins.
    pub fn slice(&mut self, spec: &TrialSpec, round: u32, of: u32, now: Duration) {
        let is_current =
            self.current.as_ref().is_some_and(|current| current.spec.target == spec.target);
        if !is_current
            && let Some(next) = self.turns.waiting.remove(&spec.target)
            && let Some(other) = self.current.replace(next)
        {
            self.turns.park(other);
        }
        self.turns.note(round, of, now);
        if let Some(current) = &mut self.current {
            current.begin_slice(now);
        }
    }
}

/// A window of a slice, placed after the existing ones; `None` if it lies before the measured part.
pub fn placed(windows: &[Window], window: &Window) -> Option<Window> {
    let end_ns = windows.last().map_or(0, |last| last.from_ns + last.duration_ns as i64);
    (window.from_ns >= 0).then(|| Window { from_ns: end_ns.max(0), ..window.clone() })
}
