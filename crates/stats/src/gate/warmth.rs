//! Whether a target was warm in a start.
//!
//! A throughput without a trend shows it. On a busy machine the throughput of a warm target changes too,
//! because other programs take time from it, but what each request costs changes little. So for gates on
//! CPU time per request, a cost without a trend from slice to slice shows it as well.
use pippin_model::figure::Figure;
use pippin_model::result::{LoadResult, Window};
use pippin_model::text::units::format_ns;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Severity;

use super::Doubt;
use super::left_out::Why;
use super::usable::Lacking;
use crate::judge::compiling;
use crate::series::steady::{can_tell, measured_rates, unsteady};

/// What the target's compiler did while it was measured, if that makes the result doubtful. A plan
/// that measures cold servers asked for it.
pub(super) fn compiled(trial: &TrialRecord) -> Option<String> {
    let found = compiling::find(trial).filter(|it| it.severity > Severity::Note)?;
    Some(found.evidence)
}

/// Whether the target was warm, as far as this figure is concerned: its compiler rested, and its
/// throughput or the figure itself had no trend. Otherwise why not, or why that is unknown.
pub(super) fn warmth(trial: &TrialRecord, figure: Figure) -> Result<(), Lacking> {
    let Some(load) = &trial.load else {
        return Err(Lacking::Unknown(Doubt::NotWarm, "no load".into()));
    };
    if let Some(compiled) = compiled(trial) {
        return Err(Lacking::known(Why::Compiler, compiled));
    }
    // A rate, or a number of users, that changes by plan has no steady state.
    if trial.spec.profile.at(trial.spec.step).changes() {
        return Ok(());
    }
    if figure == Figure::Cpu && has_steady_cost(trial) {
        return Ok(());
    }
    steady_throughput(load)
}

fn has_steady_cost(trial: &TrialRecord) -> bool {
    costs(trial).is_some_and(|costs| can_tell(&costs) && unsteady(&costs).is_none())
}

/// The CPU time of each slice per right answer, in nanoseconds, oldest first; `None` if it is unknown of
/// one of them.
fn costs(trial: &TrialRecord) -> Option<Vec<f64>> {
    let one = |cpu_ns: u64, right: u64| (right > 0).then(|| cpu_ns as f64 / right as f64);
    let slices = trial.slices.iter().map(|slice| &slice.figures);
    slices.map(|figures| one(figures.target_cpu_ns?, figures.right)).collect()
}

/// By the throughput while it was measured, or by that of the warm-up.
fn steady_throughput(load: &LoadResult) -> Result<(), Lacking> {
    let rates = measured_rates(load, |window: &Window| window.completed);
    match (can_tell(&rates), load.warm_up.steady) {
        (true, _) if unsteady(&rates).is_some() => {
            Err(Lacking::known(Why::Unsteady, "the throughput still changed while it was measured"))
        }
        (_, Some(false)) => {
            Err(Lacking::known(Why::Unsteady, "the warm-up ended before the throughput was steady"))
        }
        (true, _) | (_, Some(true)) => Ok(()),
        (false, None) => Err(Lacking::Unknown(
            Doubt::NotWarm,
            format!(
                "{} of measuring cannot show whether the target was warm; measure for at least 8 s, or leave the warm-up to Pippin (auto)",
                format_ns(load.measured.duration_ns)
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::slices::Rounds;

    /// A trial whose warm-up ended unsteady, with a slice for each of these CPU times per request.
    fn with_costs(costs: &[Option<u64>]) -> TrialRecord {
        let rounds = Rounds { rounds: costs.len() as u32, repetitions: 1, ..Rounds::default() };
        let mut trial = rounds.trials("test/it", 1_000.0, 100.0).remove(0);
        trial.load.as_mut().unwrap().warm_up.steady = Some(false);
        for (slice, cost_ns) in trial.slices.iter_mut().zip(costs) {
            slice.figures.target_cpu_ns = cost_ns.map(|ns| ns * slice.figures.right);
        }
        trial
    }

    fn why(trial: &TrialRecord, figure: Figure) -> Option<Why> {
        match warmth(trial, figure) {
            Err(Lacking::Known(obstacle)) => Some(obstacle.why),
            Err(Lacking::Unknown(_, why)) => panic!("{why}"),
            Ok(()) => None,
        }
    }

    #[test]
    fn a_steady_cost_is_enough_for_gates_on_cost_and_for_no_others() {
        let flat = with_costs(&[900, 1_010, 1_000, 990, 1_020, 1_000, 980, 1_010].map(Some));
        assert_eq!(why(&flat, Figure::Cpu), None, "only the throughput changed");
        assert_eq!(why(&flat, Figure::Goodput), Some(Why::Unsteady));
        let falling: Vec<Option<u64>> = (0..12).map(|nth| Some(2_000 - 90 * nth)).collect();
        assert_eq!(why(&with_costs(&falling), Figure::Cpu), Some(Why::Unsteady));
    }

    #[test]
    fn costs_that_are_unknown_or_few_are_not_taken_for_steady() {
        let mut unknown = [Some(1_000); 8];
        unknown[3] = None;
        assert_eq!(why(&with_costs(&unknown), Figure::Cpu), Some(Why::Unsteady));
        assert_eq!(why(&with_costs(&[Some(1_000); 7]), Figure::Cpu), Some(Why::Unsteady));
    }
}
