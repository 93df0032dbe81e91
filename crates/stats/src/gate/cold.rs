//! Changes so great that starts which were not warm show them.
//!
//! A target that still compiles costs more than a warm one. So a start that was not warm tells little of
//! a small change, and nothing passes by it. But warmth does not explain what costs ten times as much in every
//! start, warm or not. Where too few starts were warm, those in which neither side was warm count too,
//! at a handicap: only what they show beyond a factor of two. Only a failure can come of it. A start in
//! which one side alone compiled never counts: a compiler that makes a server faster in the end may cost it
//! many times as much at first.
use super::change::Sides;
use super::usable::Both;
use super::{Doubt, Outcome, Reason, Standing};
use crate::compare::Origin;
use crate::interval::anytime::{self, Levels, Side};

/// By which factor a start that was not warm must be further from its limit. In recorded starts of .NET
/// and of a JVM, a compiler that still worked cost up to a factor of two (`example::starts`).
pub(super) const HANDICAP: f64 = 2.0;

/// The failure that all starts together show, with what it rests on; `None` if they do not show one.
pub(super) fn judge(
    outcome: &mut Outcome,
    limit: f64,
    (both, origin): (&Both<'_>, Origin),
    levels: Levels,
) -> Option<Standing> {
    let with_cold = both.with_cold()?;
    let sides = Sides::from_starts(outcome.gate.condition.figure, &with_cold, origin);
    let starts = sides.starts(&outcome.gate, limit)?;
    if anytime::side(&starts, levels) != Some(Side::Beyond) {
        return None;
    }
    let text = format!(
        "{}, so that their ratio is halved, and the gate still fails",
        both.left_out.not_warm()
    );
    outcome.change = sides.change();
    outcome.left_out = None;
    outcome.reason = Some(Reason::new(Doubt::NotWarm, text));
    Some(Standing::Failed)
}
