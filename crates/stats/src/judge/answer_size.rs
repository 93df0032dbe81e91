//! SUSPECT: the body size differs between targets. NOTE: heads and framing differ a lot.
use pippin_model::load::BodyCheck;
use pippin_model::result::Successes;
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};
use std::collections::{BTreeMap, BTreeSet};

use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::run::{RunCaveats, note};
use crate::series::quantile::median;
use crate::series::steady::arrived;

/// The relative difference that bodies may have.
const BODY_LIMIT: f64 = 0.10;
/// The relative difference that whole answers may have before it is worth a note. The head is most
/// of a small answer, and every server sends a different one.
const WIRE_LIMIT: f64 = 0.50;

/// If requests ask for different things, such as names of any length, the mean of fewer answers
/// depends on which of them were sent.
const FEWEST_OF_MANY: u64 = 1_000;

/// Bytes per complete answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerSize {
    /// Of the body. One request in a thousand is for an unknown path, and each framework has its
    /// own page for that. So only answers with a status of 200 to 299 count, if there are any.
    pub body: f64,
    /// On the wire: head, body and framing.
    pub wire: f64,
}

impl AnswerSize {
    /// The mean over a trial; `None` if nothing was answered, too little to compare, or only what the
    /// lab knows to the byte.
    #[must_use]
    pub fn from_trial(record: &TrialRecord) -> Option<Self> {
        if is_known(record) {
            return None;
        }
        let load = record.load.as_ref()?;
        let (answers, bytes) = (arrived(load), load.measured.bytes);
        let fewest = if asks_for_many(record) { FEWEST_OF_MANY } else { 1 };
        let successes = load.measured.successes.filter(|successes| successes.completed > 0);
        let all = Successes { completed: answers, body_bytes: bytes.body };
        let counted = successes.unwrap_or(all);
        (answers >= fewest).then(|| Self {
            body: counted.body_bytes as f64 / counted.completed as f64,
            wire: bytes.received as f64 / answers as f64,
        })
    }
}

/// Whether every right answer is known to the byte by its digest, so that no target chooses its size.
/// The mean then says which of few long ones were asked for, and how many came in parts.
fn is_known(record: &TrialRecord) -> bool {
    let mut requests = record.load_spec.iter().flat_map(|spec| spec.requests.iter());
    requests.any(|request| matches!(request.check.body, BodyCheck::Digested { .. }))
}

/// Whether requests ask for different things. Two different ones do not show it: one may be of
/// another kind.
fn asks_for_many(record: &TrialRecord) -> bool {
    let requests = record.load_spec.iter().flat_map(|spec| spec.requests.iter());
    requests.map(|request| &request.target).collect::<BTreeSet<_>>().len() > 2
}

/// Each target's answer size in its first trial that has one.
pub(crate) fn sizes_by_target(records: &[TrialRecord]) -> BTreeMap<TargetId, AnswerSize> {
    let mut sizes = BTreeMap::new();
    for record in records {
        if let Some(size) = AnswerSize::from_trial(record) {
            sizes.entry(record.spec.target.clone()).or_insert(size);
        }
    }
    sizes
}

/// Whether this target's bodies differ by more than 10 % from the median of all targets so far.
/// With two targets, it compares with the other one.
///
/// Heads are compared over the whole run only: in the first repetition, the first targets would be
/// compared with too few others.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    different_body(AnswerSize::from_trial(evidence.record)?, &evidence.context.other_answers)
}

/// Compares bodies over all trials and, if they are alike, whole answers.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    let sizes = sizes_by_target(records);
    for (target, size) in &sizes {
        let others: Vec<AnswerSize> =
            sizes.iter().filter(|(other, _)| *other != target).map(|(_, size)| *size).collect();
        let caveat = different_body(*size, &others).or_else(|| different_head(*size, &others));
        if let Some(caveat) = caveat {
            note(found, target, caveat);
        }
    }
}

/// The usual size and how far the own one differs, if that is beyond the limit.
fn off(
    own: AnswerSize,
    others: &[AnswerSize],
    what: fn(&AnswerSize) -> f64,
    limit: f64,
) -> Option<(f64, f64)> {
    // With two targets, compare with the other one. With more, the median says what is usual.
    let own_too = (others.len() > 1).then_some(&own);
    let compared: Vec<f64> = others.iter().chain(own_too).map(what).collect();
    let usual = median(&compared).filter(|usual| *usual > 0.0)?;
    let off = what(&own) / usual - 1.0;
    (off.abs() > limit).then_some((usual, off))
}

fn different_body(own: AnswerSize, others: &[AnswerSize]) -> Option<Caveat> {
    let (usual, off) = off(own, others, |size| size.body, BODY_LIMIT)?;
    let seen = format!(
        "bodies of {:.0} bytes where the other targets have {usual:.0} ({}; limit 10 %)",
        own.body,
        percent(off)
    );
    let advice = "make the targets give the same answer: a smaller one is less work";
    Some(caveat("answer_size", Severity::Suspect, seen, advice))
}

fn different_head(own: AnswerSize, others: &[AnswerSize]) -> Option<Caveat> {
    let (usual, off) = off(own, others, |size| size.wire, WIRE_LIMIT)?;
    let seen = format!(
        "{:.0} bytes per answer on the wire where the other targets have {usual:.0} ({}), with bodies alike",
        own.wire,
        percent(off)
    );
    let advice = "the heads differ: see which header fields the server adds by default";
    Some(caveat("answer_overhead", Severity::Note, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::judged_in;
    use pippin_model::example::ExampleTrial;
    use pippin_model::load::{LoadSpec, Request};

    fn against(body: f64, wire: f64) -> Option<Caveat> {
        // The record's answers have 12 bytes of body and 150 on the wire.
        let others = vec![AnswerSize { body, wire }; 3];
        judged_in(
            judge,
            &ExampleTrial::hello().build(),
            &Context { other_answers: others, ..Context::default() },
        )
    }

    #[test]
    fn a_body_a_fifth_larger_is_seen() {
        assert_eq!(against(10.0, 148.0).unwrap().severity, Severity::Suspect);
        assert_eq!(against(12.0, 80.0), None, "heads are compared over the run");
    }

    #[test]
    fn nearly_equal_bodies_and_usual_heads_are_silent() {
        assert_eq!(against(11.0, 149.0), None);
        assert_eq!(against(12.0, 110.0), None);
    }

    #[test]
    fn answers_to_requests_from_before_do_not_enlarge_the_others() {
        // 587 answers came, of which 100 belong to requests of the warm-up.
        let mut slow = ExampleTrial::hello()
            .connections(100)
            .seconds(60)
            .completed(487)
            .windows(|s| if s % 5 == 0 { 9.0 } else { 10.0 })
            .build();
        slow.load.as_mut().unwrap().measured.bytes.body = 588 * 12;
        assert!((AnswerSize::from_trial(&slow).unwrap().body - 12.0).abs() < 0.1);
    }

    #[test]
    fn the_page_of_an_unknown_path_does_not_enlarge_the_others() {
        // 370 answers, of which one is a page of 740 bytes: 14 bytes in the mean.
        let mut few = ExampleTrial::hello().completed(370).build();
        let measured = &mut few.load.as_mut().unwrap().measured;
        measured.bytes.body = 369 * 12 + 740;
        assert!(AnswerSize::from_trial(&few).unwrap().body > 13.9);
        let measured = &mut few.load.as_mut().unwrap().measured;
        measured.successes = Some(Successes { completed: 369, body_bytes: 369 * 12 });
        assert!((AnswerSize::from_trial(&few).unwrap().body - 12.0).abs() < 1e-9);
        // Where no status is a success, every answer counts.
        let measured = &mut few.load.as_mut().unwrap().measured;
        measured.successes = Some(Successes::default());
        assert!(AnswerSize::from_trial(&few).unwrap().body > 13.9);
    }

    #[test]
    fn few_answers_to_different_requests_are_not_compared() {
        let of = |targets: &[&str], answers| {
            let mut record = ExampleTrial::hello().seconds(1).completed(answers).build();
            let requests = targets.iter().map(|target| Request::get(target, "a")).collect();
            record.load_spec = Some(LoadSpec { requests, ..LoadSpec::default() });
            AnswerSize::from_trial(&record).is_some()
        };
        let names = ["/hola/Ana", "/hola/Luis", "/hola/Eva"];
        assert!(!of(&names, 900));
        assert!(of(&names, 1_100));
        assert!(of(&["/", "/no-such-page"], 900));
    }

    #[test]
    fn over_a_run_the_odd_one_out_is_named() {
        let mut records: Vec<_> = ["a/a", "b/b", "c/c"]
            .iter()
            .map(|target| ExampleTrial::hello().target(target).build())
            .collect();
        records[2].load.as_mut().unwrap().measured.bytes.body *= 2;
        let mut found = RunCaveats::new();
        judge_run(&records, &mut found);
        assert_eq!(found.keys().map(ToString::to_string).collect::<Vec<_>>(), ["c/c"]);
    }

    #[test]
    fn the_long_head_is_named_and_not_whoever_came_first() {
        // The first target of the run has a usual head of 129 bytes; the second adds 200.
        let mut records: Vec<_> = ["a/a", "b/b", "c/c", "d/d"]
            .iter()
            .map(|target| ExampleTrial::hello().target(target).build())
            .collect();
        let load = records[1].load.as_mut().unwrap();
        load.measured.bytes.received += 200 * load.measured.requests.completed;
        let mut found = RunCaveats::new();
        judge_run(&records, &mut found);
        let [(target, caveats)] = found.iter().collect::<Vec<_>>()[..] else { panic!("{found:?}") };
        assert_eq!(
            (target.to_string().as_str(), caveats[0].id.as_str()),
            ("b/b", "answer_overhead")
        );
        let all: Vec<AnswerSize> = records.iter().filter_map(AnswerSize::from_trial).collect();
        let context = Context { other_answers: all[1..2].to_vec(), ..Context::default() };
        assert_eq!(judged_in(judge, &records[0], &context), None);
    }
}
