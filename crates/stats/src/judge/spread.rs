//! SUSPECT: the repetitions differ.
use pippin_model::caveat::Severity;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::units::format_count;

use crate::judge::asked::Asked;
use crate::judge::evidence::{caveat, percent};
use crate::judge::run::{RunCaveats, note, repetitions};
use crate::quantile::median;

/// The fraction of the median by which the best and the worst repetition may differ.
const LIMIT: f64 = 0.05;

/// Whether best and worst goodput of a target's repetitions differ by more than 5 % of their
/// median. Steps of a capacity search are left out, because they differ beyond the capacity.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    for (target, step, group) in repetitions(records) {
        let figures: Vec<f64> = group
            .iter()
            .filter_map(|record| record.load.as_ref()?.measured.goodput_per_s())
            .collect();
        let Some(centre) = median(&figures).filter(|centre| *centre > 0.0 && figures.len() > 1)
        else {
            continue;
        };
        let (worst, best) =
            figures.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        let spread = (best - worst) / centre;
        if spread <= LIMIT || matches!(step, Some(Step::Rate { .. })) {
            continue;
        }
        let at = match step {
            Some(Step::Connections { count }) => format!(" at {count} connections"),
            _ => String::new(),
        };
        let seen = format!(
            "goodput{at} of {} repetitions from {} to {} requests/s: {} of the median (limit 5 %)",
            figures.len(),
            format_count(worst),
            format_count(best),
            percent(spread)
        );
        let how = Asked::of(&group[0].spec).words("--repeat, -d", "repetitions, duration");
        let advice = format!(
            "make more or longer repetitions ({how}) on a quieter machine, and trust the interval, not the median"
        );
        note(found, target, caveat("spread", Severity::Suspect, seen, advice));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;

    fn judged(completed: &[u64]) -> RunCaveats {
        let records: Vec<TrialRecord> =
            completed.iter().map(|n| ExampleTrial::hello().completed(*n).build()).collect();
        let mut found = RunCaveats::new();
        judge_run(&records, &mut found);
        found
    }

    #[test]
    fn six_percent_is_seen_and_four_is_not() {
        let found = judged(&[300_000, 303_000, 285_000]);
        assert!(
            found.values().next().unwrap()[0].evidence.contains("6.0 % of the median"),
            "{found:?}"
        );
        assert!(judged(&[300_000, 303_000, 291_000]).is_empty());
        assert!(judged(&[300_000]).is_empty());
    }

    #[test]
    fn points_of_a_sweep_are_not_repetitions_of_each_other() {
        let mut records = [
            ExampleTrial::hello().completed(100_000).build(),
            ExampleTrial::hello().completed(300_000).build(),
        ];
        records[0].spec.step = Some(Step::Connections { count: 1 });
        records[1].spec.step = Some(Step::Connections { count: 8 });
        let mut found = RunCaveats::new();
        judge_run(&records, &mut found);
        assert!(found.is_empty());
    }
}
