//! Judges all trials of one target at one step together.
use pippin_model::text::units::counted;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Caveat;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::host::Taker;
use crate::judge::{UNKNOWN, noisy_neighbour, unknown_caveat};

/// Judges all trials of one target at one step.
pub type TargetJudge = fn(&[&TrialRecord]) -> Answer;

/// Every judge of all trials of a target: the name of its caveat, and the function. A judge that
/// cannot tell makes the result `unknown`.
pub const TARGET_JUDGES: &[(&str, TargetJudge)] = &[
    ("steal", |trials| of_slices(trials, Taker::Hypervisor)),
    ("other_programs", |trials| of_slices(trials, Taker::OtherPrograms)),
    ("no_calm_slices", |trials| Ok(noisy_neighbour::no_calm_slices(trials))),
    (UNKNOWN, all_repetitions),
];

/// The caveats of all trials of one target at one step together. They replace those of the same
/// names of the single trials, if these were measured in slices.
#[must_use]
pub fn judge_target(trials: &[&TrialRecord]) -> Vec<Caveat> {
    if trials.iter().all(|record| record.load.is_none()) {
        return Vec::new();
    }
    let answers = TARGET_JUDGES.iter().map(|(id, judge)| (id, judge(trials)));
    let caveats = answers.filter_map(|(id, answer)| match answer {
        Ok(caveat) => caveat,
        Err(reason) if *id == UNKNOWN => Some(unknown_caveat(reason.0)),
        Err(reason) => Some(unknown_caveat(format!(
            "host ({}): {reason}",
            pippin_model::verdict::in_words(id)
        ))),
    });
    caveats.collect()
}

/// Whether the caveat of this name of a single trial gives way to that of all trials together.
#[must_use]
pub fn is_replaced(record: &TrialRecord, id: &str) -> bool {
    !record.slices.is_empty() && noisy_neighbour::IDS.contains(&id)
}

/// Trials in one stretch are judged one by one.
fn of_slices(trials: &[&TrialRecord], by: Taker) -> Answer {
    let sliced: Vec<&TrialRecord> =
        trials.iter().copied().filter(|record| !record.slices.is_empty()).collect();
    if sliced.is_empty() { Ok(None) } else { noisy_neighbour::judge(&sliced, by) }
}

/// Whether a planned repetition is missing. A search repeats its steps as it needs them.
fn all_repetitions(trials: &[&TrialRecord]) -> Answer {
    let Some(first) = trials.first() else { return Ok(None) };
    if first.spec.step.and_then(Step::tried).is_some() {
        return Ok(None);
    }
    let (made, planned) = (trials.len() as u64, u64::from(first.spec.repetitions));
    if made >= planned {
        return Ok(None);
    }
    Err(Unknown::because(format!(
        "statistics: {made} of {} are there",
        counted(planned, "planned repetition")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::slices::Rounds;

    #[test]
    fn a_missing_repetition_is_unknown() {
        let trials = Rounds::default().trials("a/a", 1_000.0, 100.0);
        let all: Vec<&TrialRecord> = trials.iter().collect();
        assert_eq!(judge_target(&all), []);
        let found = judge_target(&all[1..]);
        assert_eq!(found[0].evidence, "statistics: 2 of 3 planned repetitions are there");
    }

    #[test]
    fn repetitions_are_judged_over_all_their_used_slices() {
        let mut trials = Rounds::default().trials("a/a", 1_000.0, 100.0);
        // One repetition is disturbed: 4.5 % of its time is a third of that over all.
        trials[0].slices.iter_mut().for_each(|slice| slice.host.others = Some(0.045));
        let all: Vec<&TrialRecord> = trials.iter().collect();
        assert_eq!(judge_target(&all), []);
        trials[1].slices.iter_mut().for_each(|slice| slice.host.others = Some(0.045));
        let all: Vec<&TrialRecord> = trials.iter().collect();
        assert_eq!(judge_target(&all)[0].id, "other_programs");
    }

    #[test]
    fn no_calm_slice_and_a_missing_counter_are_doubts() {
        let mut trials = Rounds::default().trials("a/a", 1_000.0, 100.0);
        trials.iter_mut().flat_map(|trial| &mut trial.slices).for_each(|slice| slice.calm = false);
        let all: Vec<&TrialRecord> = trials.iter().collect();
        assert_eq!(judge_target(&all)[0].id, "no_calm_slices");
        trials[1].slices[3].host.steal = None;
        let all: Vec<&TrialRecord> = trials.iter().collect();
        assert_eq!(judge_target(&all)[0].id, "unknown");
    }
}
