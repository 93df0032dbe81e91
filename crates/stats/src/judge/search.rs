//! INVALID, SUSPECT: a capacity search that has no answer.
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity, Verdict};

use crate::capacity::Outcome;
use crate::capacity::found::searches;
use crate::judge::evidence::caveat;
use crate::judge::run::{RunCaveats, note};

/// The names of its caveats.
pub const IDS: &[&str] = &["search_invalid", "search_unsettled"];

/// Whether the search of a repetition could not be decided: its steps stayed INVALID when repeated,
/// or the same rates both held and missed.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    let mut targets: Vec<&TargetId> = Vec::new();
    for record in records.iter().filter(|record| record.spec.profile.is_search()) {
        if !targets.contains(&&record.spec.target) {
            targets.push(&record.spec.target);
        }
    }
    for target in targets {
        let own: Vec<&TrialRecord> =
            records.iter().filter(|record| record.spec.target == *target).collect();
        for search in searches(&own) {
            let seen = format!("repetition {}: {}", search.repetition, search.words());
            let judged = match search.outcome {
                Outcome::Invalid { .. } => of_invalid(&own, search.repetition, seen),
                Outcome::Unsettled { .. } => caveat(
                    "search_unsettled",
                    Severity::Suspect,
                    seen,
                    "measure on a quieter machine, with longer steps, or with a bound that the target does not touch by chance",
                ),
                _ => continue,
            };
            note(found, target, judged);
        }
    }
}

/// A search whose steps stayed INVALID: why most of them are, and what helps against that.
fn of_invalid(own: &[&TrialRecord], repetition: u32, seen: String) -> Caveat {
    let is_invalid = |trial: &&&TrialRecord| {
        trial.spec.repetition + 1 == repetition && trial.verdict == Verdict::Invalid
    };
    let mut reasons: Vec<(&Caveat, usize)> = Vec::new();
    let steps: Vec<&&TrialRecord> = own.iter().filter(is_invalid).collect();
    for reason in steps.iter().flat_map(|trial| &trial.caveats) {
        if reason.severity < Severity::Invalid {
            continue;
        }
        match reasons.iter_mut().find(|(known, _)| known.id == reason.id) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<String> = reasons
        .iter()
        .map(|(reason, count)| format!("{} in {count} of {}", reason.name(), steps.len()))
        .collect();
    let advice = reasons.first().map_or("see why its steps are INVALID", |(most, _)| &most.advice);
    let seen = if named.is_empty() {
        seen
    } else {
        format!("{seen}; INVALID steps: {}", named.join(", "))
    };
    caveat("search_invalid", Severity::Invalid, seen, advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::{Search, StepOutcome};
    use pippin_model::example::ExampleTrial;

    fn judged(verdict: impl Fn(f64) -> Verdict) -> Vec<(String, String)> {
        let mut search = Search::new(100.0, 0.02);
        let mut records = Vec::new();
        while let Some(rate) = search.next() {
            let ms = if rate > 1_000.0 { 90.0 } else { 1.0 };
            let mut record = ExampleTrial::search_step(rate).response_ms(ms).build();
            record.verdict = verdict(rate);
            search.observe(rate, StepOutcome::from_trial(&record).unwrap());
            records.push(record);
        }
        let mut found = RunCaveats::new();
        judge_run(&records, &mut found);
        found.into_values().flatten().map(|caveat| (caveat.id, caveat.evidence)).collect()
    }

    #[test]
    fn a_search_that_found_a_rate_is_not_doubted_because_a_step_was_invalid() {
        assert_eq!(judged(|_| Verdict::Valid), []);
        let beyond = |rate| if rate > 1_500.0 { Verdict::Invalid } else { Verdict::Valid };
        assert_eq!(judged(beyond), []);
    }

    #[test]
    fn a_search_whose_steps_stay_invalid_is_invalid() {
        let found = judged(|rate| if rate > 300.0 { Verdict::Invalid } else { Verdict::Valid });
        assert_eq!(found[0].0, "search_invalid");
        assert!(found[0].1.contains("could not be measured"), "{found:?}");
    }

    #[test]
    fn its_advice_is_that_of_most_of_its_steps() {
        let caveats = |id: &str, advice: &str| {
            vec![caveat(id, Severity::Invalid, "seen".to_string(), advice.to_string())]
        };
        let step = |caveats| ExampleTrial::search_step(500.0).caveats(caveats).build();
        let steps = [
            step(caveats("send_lag", "more processors")),
            step(caveats("wrong_answers", "fix the target")),
            step(caveats("wrong_answers", "fix the target")),
        ];
        let found = of_invalid(&steps.iter().collect::<Vec<_>>(), 1, "repetition 1".into());
        assert_eq!(
            (found.evidence.as_str(), found.advice.as_str()),
            (
                "repetition 1; INVALID steps: wrong answers in 2 of 3, send lag in 1 of 3",
                "fix the target"
            )
        );
    }
}
