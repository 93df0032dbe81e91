//! JUnit XML: a test suite for each target, with a test case for its verdict and for each gate.
use pippin_model::text::printable::printable;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::gate::Undecided;
use pippin_model::verdict::{Severity, Verdict};
use pippin_stats::gate::{Outcome, Standing};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;

use super::{found, subject};

/// The trials and gates of a run as JUnit XML. JUnit has no state for what is undecided: it is an
/// error of the type `undecided`, or skipped if that is only a warning.
#[must_use]
pub fn render(
    name: &str,
    trials: &[TrialRecord],
    outcomes: &[Outcome],
    undecided: Undecided,
) -> String {
    let mut cases: BTreeMap<String, Vec<TestCase>> = BTreeMap::new();
    for trial in trials {
        let case = TestCase::new(
            format!("measured, repetition {}", trial.spec.repetition + 1),
            verdict(trial),
        );
        cases.entry(trial.spec.target.to_string()).or_default().push(case);
    }
    for outcome in outcomes {
        let mut case = TestCase::new(
            format!("{}: {}", subject(outcome), outcome.gate),
            status(outcome, undecided),
        );
        case.set_system_out(found(outcome));
        cases.entry(outcome.target.to_string()).or_default().push(case);
    }
    let mut report = Report::new(name);
    for (target, cases) in cases {
        let mut suite = TestSuite::new(target);
        suite.add_test_cases(cases);
        report.add_test_suite(suite);
    }
    // Writing to memory cannot fail.
    printable(&report.to_string().unwrap_or_default())
}

fn status(outcome: &Outcome, undecided: Undecided) -> TestCaseStatus {
    let (mut status, kind) = match (outcome.standing, undecided) {
        (Standing::Passed, _) => return TestCaseStatus::success(),
        (Standing::Failed, _) => (TestCaseStatus::non_success(NonSuccessKind::Failure), "failed"),
        (Standing::Undecided, Undecided::Fail) => {
            (TestCaseStatus::non_success(NonSuccessKind::Error), "undecided")
        }
        (Standing::Undecided, Undecided::Warn) => (TestCaseStatus::skipped(), "undecided"),
    };
    status.set_type(kind);
    status.set_message(format!("{}: {}", outcome.gate, found(outcome)));
    status
}

/// The result of a trial: an error if it has no result, a failure if it is INVALID.
fn verdict(trial: &TrialRecord) -> TestCaseStatus {
    let (kind, message) = match &trial.failure {
        Some(failure) => (NonSuccessKind::Error, failure.message.clone()),
        None if trial.verdict == Verdict::Invalid => {
            let grave = trial.caveats.iter().filter(|one| one.severity == Severity::Invalid);
            let all: Vec<String> =
                grave.map(|caveat| format!("{}: {}", caveat.name(), caveat.evidence)).collect();
            (NonSuccessKind::Failure, format!("INVALID: {}", all.join("; ")))
        }
        None => return TestCaseStatus::success(),
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message);
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn targets_are_suites_and_gates_are_cases() {
        let mut broken = ExampleTrial::hello().target("rust/axum").build();
        broken.failure = Some(pippin_model::trial::Failure {
            stage: pippin_model::trial::Stage::Start,
            message: "it <exited>".into(),
            log_tail: vec![],
        });
        let trials = [ExampleTrial::hello().target("go/net-http").build(), broken];
        let xml = render("hello", &trials, &super::super::tests::outcomes(), Undecided::Fail);
        for part in [
            "<testsuites name=\"hello\" tests=\"5\" failures=\"1\" errors=\"2\"",
            "<testsuite name=\"go/net-http\" tests=\"4\" disabled=\"0\" errors=\"1\" failures=\"1\"",
            "<testcase name=\"measured, repetition 1\"",
            "name=\"go/net-http: fail if p99 &gt; 50ms\"",
            "message=\"fail if errors &gt; 0.1%: 0.42 %\"",
            "message=\"it &lt;exited&gt;\"",
            "<error message=\"fail if goodput &lt; -5% vs main: -6.10 % compared with own/shop@main: 3 starts\" type=\"undecided\"",
        ] {
            assert!(xml.contains(part), "{part} is not in {xml}");
        }
        let outcomes = super::super::tests::outcomes();
        let warned = render("hello", &trials, &outcomes, Undecided::Warn);
        assert!(warned.contains("<skipped message=\"fail if goodput"), "{warned}");
    }
}
