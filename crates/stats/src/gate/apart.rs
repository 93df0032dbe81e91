//! A change between two runs. Their starts have no rounds in common, so each is one look at its side.
use pippin_model::text::units::counted;
use pippin_model::verdict::gate::Gate;

use super::change::Sides;
use super::{Doubt, Reason, Standing};
use crate::interval::anytime::LEVEL;
use crate::interval::student_t::two_sided_p;
use crate::series::quantile::{mean, variance};

/// Fewest starts of each side. Two states that a target has by chance of its start look like a change
/// as long as no start of the other state was seen.
const FEWEST_STARTS: usize = 4;

/// Judges a change between two runs: decided where all starts of one side lie beyond all of the other
/// by more than the limit, or where Welch's test (1947) shows it. Each may err in half of [`LEVEL`].
pub(super) fn stand(gate: &Gate, limit: f64, sides: &Sides) -> Result<Standing, Reason> {
    let (own, base): (Vec<f64>, Vec<f64>) =
        (sides.own.values().copied().collect(), sides.base.values().copied().collect());
    if own.len().min(base.len()) < FEWEST_STARTS {
        return Err(Reason::new(
            Doubt::TooFewStarts,
            format!(
                "{} against {}: how starts differ between runs is known from {FEWEST_STARTS} each",
                counted(own.len() as u64, "start"),
                counted(base.len() as u64, "start")
            ),
        ));
    }
    let keeps = |own: &f64, base: &f64| gate.keeps(sides.change_of(*own, *base), limit);
    let kept = own.iter().map(|own| base.iter().filter(|base| keeps(own, base)).count());
    let (kept, all) = (kept.sum::<usize>(), own.len() * base.len());
    let is_separate = 1.0 / orders(own.len(), base.len()) <= LEVEL / 2.0;
    let centres = (centre(&own), centre(&base));
    let (Some(own_mean), Some(base_mean)) = centres else {
        return Err(Reason::new(Doubt::Unknown, "a figure is unknown"));
    };
    let is_kept = keeps(&own_mean, &base_mean);
    let is_known = (is_separate && (kept == 0 || kept == all))
        || sides.welch(limit).is_some_and(|p| p / 2.0 <= LEVEL / 2.0);
    match (is_known, is_kept) {
        (true, true) => Ok(Standing::Passed),
        (true, false) => Ok(Standing::Failed),
        (false, _) => Err(Reason::new(
            Doubt::TooNear,
            "the starts of the two runs scatter more than that".to_string(),
        )),
    }
}

/// The geometric mean, or the arithmetic one where a start has nothing.
fn centre(values: &[f64]) -> Option<f64> {
    if values.iter().all(|value| *value > 0.0) {
        return mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).map(f64::exp);
    }
    mean(values)
}

/// In how many ways the starts of two sides can be ordered by side.
fn orders(first: usize, second: usize) -> f64 {
    (1..=first).map(|at| (second + at) as f64 / at as f64).product()
}

impl Sides {
    /// How likely chance alone moves the change this far from the limit, on either side.
    fn welch(&self, limit: f64) -> Option<f64> {
        let logs = |side: &std::collections::BTreeMap<u32, f64>| -> Option<Vec<f64>> {
            let logs: Vec<f64> = side.values().map(|value| value.ln()).collect();
            logs.iter().all(|log| log.is_finite()).then_some(logs)
        };
        let (own, base) = (logs(&self.own)?, logs(&self.base)?);
        let part = |of: &[f64]| Some(variance(of)? / of.len() as f64);
        let (of_own, of_base) = (part(&own)?, part(&base)?);
        let variance = of_own + of_base;
        if variance <= 0.0 {
            return None;
        }
        let spread =
            of_own * of_own / (own.len() - 1) as f64 + of_base * of_base / (base.len() - 1) as f64;
        let distance = mean(&own)? - mean(&base)? - limit.ln_1p();
        Some(two_sided_p(distance / variance.sqrt(), variance * variance / spread))
    }
}

#[cfg(test)]
mod tests {
    use super::orders;

    #[test]
    fn starts_of_two_sides_are_ordered_in_binomially_many_ways() {
        assert_eq!([orders(3, 3), orders(4, 4), orders(5, 5)].map(f64::round), [20.0, 70.0, 252.0]);
    }
}
