//! SUSPECT: the repetitions differ.
use pippin_model::figure::Figure;
use pippin_model::text::units::format_count;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Severity;

use crate::interval::bootstrap::Basis;
use crate::judge::asked::Asked;
use crate::judge::evidence::{caveat, percent};
use crate::judge::run::{RunCaveats, note, repetitions};
use crate::rounds::paired;
use crate::series::quantile::median;

/// The fraction of the median by which the best and the worst repetition may differ.
const LIMIT: f64 = 0.05;
/// How far the 95 % interval of a figure from rounds of slices may reach.
const REACH_LIMIT: f64 = 0.10;

/// Whether a target's repetitions differ so much that its figure says little. Steps of a capacity
/// search are left out, because they differ beyond the capacity.
///
/// In rounds of slices, the 95 % interval of the goodput reaches more than 10 %. Elsewhere, best and
/// worst goodput differ by more than 5 % of their median. That difference grows with the number of
/// repetitions, so it would punish whoever makes more of them
/// (docs/decisions/caveat-thresholds.md).
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    for (target, step, group) in repetitions(records) {
        if matches!(step, Some(Step::Rate { .. })) {
            continue;
        }
        let at = match step {
            Some(Step::Connections { count }) => format!(" at {count} connections"),
            _ => String::new(),
        };
        let Some(seen) = in_rounds(&group, &at).unwrap_or_else(|| in_stretches(&group, &at)) else {
            continue;
        };
        let how = Asked::of(&group[0].spec).words("--repeat, -d", "repetitions, duration");
        let advice = format!(
            "make more or longer repetitions ({how}) on a quieter machine, and trust the interval, not the median"
        );
        note(found, target, caveat("spread", Severity::Suspect, seen, advice));
    }
}

/// What is wrong with repetitions that were measured in rounds; `None` if they were not, and
/// `Some(None)` if nothing is wrong.
fn in_rounds(group: &[&TrialRecord], at: &str) -> Option<Option<String>> {
    let (factor, basis) = paired::factor(group, Figure::Goodput)?;
    if basis != Basis::Trials {
        return None;
    }
    let reach = factor - 1.0;
    // Beyond a factor of two, the number itself says nothing.
    let reaches = if reach > 1.0 { "more than 100 %".into() } else { percent(reach) };
    Some((reach > REACH_LIMIT).then(|| {
        format!(
            "the 95 % interval of goodput{at} over {} repetitions reaches {reaches} to either side (limit 10 %)",
            group.len()
        )
    }))
}

/// What is wrong with repetitions of one stretch each.
fn in_stretches(group: &[&TrialRecord], at: &str) -> Option<String> {
    let figures: Vec<f64> =
        group.iter().filter_map(|record| record.load.as_ref()?.measured.goodput_per_s()).collect();
    let centre = median(&figures).filter(|centre| *centre > 0.0 && figures.len() > 1)?;
    let (worst, best) =
        figures.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    let spread = (best - worst) / centre;
    (spread > LIMIT).then(|| {
        format!(
            "goodput{at} of {} repetitions from {} to {} requests/s: {} of the median (limit 5 %)",
            figures.len(),
            format_count(worst),
            format_count(best),
            percent(spread)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::slices::Rounds;

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
    fn rounds_are_judged_by_how_well_the_figure_is_known() {
        let judged = |rounds: Rounds| {
            let mut found = RunCaveats::new();
            judge_run(&rounds.trials("a/a", 10_000.0, 20.0), &mut found);
            found.into_values().flatten().map(|caveat| caveat.evidence).collect::<Vec<_>>()
        };
        // Best and worst of eight differ by three standard deviations, some 15 %, and their mean is
        // known to some 4 %.
        let many = Rounds { repetitions: 8, start: 0.05, host: 0.0, ..Rounds::default() };
        assert!(judged(many).is_empty());
        let few = judged(Rounds { repetitions: 3, start: 0.1, ..many });
        assert!(few[0].contains("over 3 repetitions reaches"), "{few:?}");
        assert!(few[0].ends_with("to either side (limit 10 %)"), "{few:?}");
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
