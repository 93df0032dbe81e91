//! SUSPECT: answers of one load, or of neighbouring steps, are of different kinds. INVALID: a target
//! redirects where the others answer.
use pippin_model::result::Window;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::answer_size::AnswerSize;
use crate::judge::evidence::{Evidence, caveat, percent, whole};
use crate::judge::redirects;
use crate::judge::run::{RunCaveats, note, repetitions};
use crate::series::steady::measured_windows;

/// The name of its caveats.
pub const ID: &str = "answers_differ";

/// The share of the answers above which a status is a kind of its own.
const SHARE: f64 = 0.01;
/// The relative difference of sizes above which answers are of different kinds.
const SIZE_LIMIT: f64 = 0.10;
/// The fewest answers of a second whose mean size is compared.
const FEWEST: u64 = 200;

/// The usual answer of a load, among those that are no refusals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerKind {
    /// The most frequent status code below 400.
    pub status: u16,
    /// The mean size of the bodies, if that status is a success; `None` if too little was answered.
    pub body: Option<f64>,
}

impl AnswerKind {
    /// That of a trial; `None` if it has no answer with a status below 400.
    #[must_use]
    pub fn from_trial(record: &TrialRecord) -> Option<Self> {
        let codes = &record.load.as_ref()?.measured.status.codes;
        let passed = codes.range(200..400).filter(|(_, count)| **count > 0);
        let status = *passed.max_by_key(|(_, count)| **count)?.0;
        let size = AnswerSize::from_trial(record).filter(|_| status < 300);
        Some(Self { status, body: size.map(|size| size.body) })
    }

    /// Whether another answer is of another kind: another class of status, or a body whose size
    /// differs by more than a tenth.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let sizes = self.body.zip(other.body);
        self.is_redirection() != other.is_redirection()
            || sizes.is_some_and(|(a, b)| a.max(b) > a.min(b) * (1.0 + SIZE_LIMIT))
    }

    /// Whether it sends the client elsewhere, or says that nothing has changed.
    #[must_use]
    pub const fn is_redirection(&self) -> bool {
        self.status >= 300
    }

    /// `200 with 12 bytes`, `302`.
    #[must_use]
    pub fn words(&self) -> String {
        match self.body {
            Some(bytes) => format!("{} with {} bytes", self.status, whole(bytes.round())),
            None => self.status.to_string(),
        }
    }
}

/// Whether the answers of one load are of different kinds, although all requests are alike: of two
/// status codes that pass the check, or of sizes that change in the course of the load.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    if evidence.has_kinds_of_requests() || !evidence.measured()?.steps.is_empty() {
        return None;
    }
    let seen = of_status(evidence).or_else(|| of_size(evidence))?;
    let severity = if evidence.goes_beyond() { Severity::Note } else { Severity::Suspect };
    let advice = "answers of different kinds are different work: check the answer (`--expect-status`, `--expect-body`), or load one kind at a time";
    Some(caveat(ID, severity, seen, advice))
}

/// Redirections have a caveat of their own.
fn of_status(evidence: &Evidence) -> Option<String> {
    let measured = evidence.measured()?;
    let limit = SHARE * measured.requests.completed as f64;
    let usual = measured.status.codes.range(200..300);
    let often: Vec<(u16, u64)> = usual
        .filter(|(_, count)| **count as f64 > limit)
        .map(|(code, count)| (*code, *count))
        .collect();
    let share = |count: u64| percent(count as f64 / measured.requests.completed.max(1) as f64);
    let each: Vec<String> =
        often.iter().map(|(code, count)| format!("{} are {code}", share(*count))).collect();
    (often.len() > 1).then(|| format!("of the answers to equal requests, {}", each.join(", ")))
}

/// Of the seconds, the second largest and second smallest count: one may hold a part of an answer.
fn of_size(evidence: &Evidence) -> Option<String> {
    let mut sizes: Vec<f64> = measured_windows(evidence.load()?)
        .filter(|window| window.completed >= FEWEST && is_right(window))
        .map(|window| window.bytes_in as f64 / window.completed as f64)
        .collect();
    sizes.sort_by(f64::total_cmp);
    let [_, least, .., most, _] = sizes.as_slice() else { return None };
    (*least > 0.0 && *most > least * (1.0 + SIZE_LIMIT)).then(|| {
        format!(
            "the answers to equal requests change in the course of the load: {} bytes each in some seconds, {} in others",
            whole(least.round()),
            whole(most.round())
        )
    })
}

/// Errors have a caveat of their own, and their pages another size.
fn is_right(window: &Window) -> bool {
    window.good == window.completed && window.errors == 0
}

/// Whether neighbouring steps of a sweep or a search were answered in different ways, and whether a
/// target redirects where another one answers.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    let kinds: Vec<(&TargetId, Option<Step>, AnswerKind)> = repetitions(records)
        .into_iter()
        .filter_map(|(target, step, trials)| {
            Some((target, step, trials.iter().find_map(|trial| AnswerKind::from_trial(trial))?))
        })
        .collect();
    between_steps(&kinds, found);
    between_targets(records, &kinds, found);
}

fn between_steps(kinds: &[(&TargetId, Option<Step>, AnswerKind)], found: &mut RunCaveats) {
    let mut steps: Vec<(&TargetId, f64, String, AnswerKind)> = kinds
        .iter()
        .filter_map(|(target, step, kind)| {
            let step = (*step)?;
            Some((*target, step.size(), step.in_words(), *kind))
        })
        .collect();
    steps.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
    let neighbours = steps.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    for pair in neighbours.filter(|pair| pair[0].3.differs(&pair[1].3)) {
        let [(target, _, before, first), (_, _, after, second)] = pair else { continue };
        let seen = format!(
            "at {before} the answers are {}, at {after} they are {}",
            first.words(),
            second.words()
        );
        let advice = "the steps measure different work: find out why the answers change, and check them (`--expect-status`, `--expect-body`)";
        note(found, target, caveat(ID, Severity::Suspect, seen, advice));
    }
}

/// A redirection costs a server next to nothing, so it must not stand before an answer.
fn between_targets(
    records: &[TrialRecord],
    kinds: &[(&TargetId, Option<Step>, AnswerKind)],
    found: &mut RunCaveats,
) {
    for (target, step, kind) in kinds.iter().filter(|(_, _, kind)| kind.is_redirection()) {
        let is_meant = records
            .iter()
            .filter(|record| record.spec.target == **target)
            .all(|record| redirects::judge_record(record).is_none());
        let other = kinds
            .iter()
            .find(|(other, of, kind)| other != target && of == step && !kind.is_redirection());
        let Some((other, _, answer)) = other.filter(|_| !is_meant) else { continue };
        let seen = format!(
            "its answers are {}, where those of {other} are {}",
            kind.words(),
            answer.words()
        );
        let advice = "a redirection is other work than an answer: load the place that it leads to";
        note(found, target, caveat(ID, Severity::Invalid, seen, advice));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::load::{LoadSpec, Request};

    fn answered(mut record: TrialRecord, codes: &[(u16, u64)]) -> TrialRecord {
        record.load.as_mut().unwrap().measured.status.codes = codes.iter().copied().collect();
        record
    }

    #[test]
    fn two_status_codes_that_pass_are_two_kinds() {
        let hello = || ExampleTrial::hello().build();
        let found = judged(judge, &answered(hello(), &[(200, 280_000), (204, 20_000)])).unwrap();
        assert_eq!(
            found.evidence,
            "of the answers to equal requests, 93.3 % are 200, 6.7 % are 204"
        );
        assert_eq!(judged(judge, &answered(hello(), &[(200, 299_000), (204, 1_000)])), None);
        let mut two = answered(hello(), &[(200, 280_000), (201, 20_000)]);
        let requests = vec![Request::get("/", "a"), Request::get("/b", "a")].into();
        two.load_spec = Some(LoadSpec { requests, ..LoadSpec::default() });
        assert_eq!(judged(judge, &two), None, "two kinds of requests");
    }

    #[test]
    fn a_size_that_changes_in_the_course_of_the_load_is_seen() {
        let sized = |late: u64| {
            let mut record = ExampleTrial::hello().build();
            let windows = &mut record.load.as_mut().unwrap().windows;
            let half = windows.len() / 2;
            for (nth, window) in windows.iter_mut().enumerate() {
                window.bytes_in = window.completed * if nth < half { 150 } else { late };
            }
            judged(judge, &record)
        };
        assert!(sized(90).unwrap().evidence.contains("90 bytes each in some seconds, 150"));
        assert_eq!(sized(145), None);
    }

    #[test]
    fn neighbouring_steps_with_other_answers_are_named() {
        let steps = [1, 2, 4];
        let mut records: Vec<TrialRecord> =
            steps.iter().map(|n| ExampleTrial::hello().sweep_point(*n, &steps).build()).collect();
        let caveats = |records: &[TrialRecord]| {
            let mut found = RunCaveats::new();
            judge_run(records, &mut found);
            found.into_values().flatten().map(|caveat| caveat.evidence).collect::<Vec<_>>()
        };
        assert_eq!(caveats(&records), [""; 0]);
        records[2] = answered(records[2].clone(), &[(302, 300_000)]);
        assert_eq!(
            caveats(&records),
            ["at 2 connections the answers are 200 with 12 bytes, at 4 connections they are 302"]
        );
        let mut records = records[..2].to_vec();
        records[1].load.as_mut().unwrap().measured.bytes.body *= 2;
        assert!(caveats(&records)[0].ends_with("at 2 connections they are 200 with 24 bytes"));
    }

    #[test]
    fn who_redirects_where_others_answer_is_invalid() {
        let hello = |name| ExampleTrial::hello().target(name).build();
        let records = [hello("a/a"), answered(hello("b/b"), &[(302, 300_000)])];
        let mut found = RunCaveats::new();
        judge_run(&records, &mut found);
        let [(target, caveats)] = found.iter().collect::<Vec<_>>()[..] else { panic!("{found:?}") };
        assert_eq!((target.to_string().as_str(), caveats[0].severity), ("b/b", Severity::Invalid));
        assert_eq!(
            caveats[0].evidence,
            "its answers are 302, where those of a/a are 200 with 12 bytes"
        );
        let both = ["a/a", "b/b"].map(|name| answered(hello(name), &[(302, 300_000)]));
        let mut found = RunCaveats::new();
        judge_run(&both, &mut found);
        assert!(found.is_empty(), "all redirect");
    }
}
