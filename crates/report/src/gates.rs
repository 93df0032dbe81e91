//! The outcomes of gates: as lines of text, as JUnit XML, and as a summary for a pull request.
pub mod junit;
pub mod summary;

use pippin_model::text::units::format_count;
use pippin_model::trial::Step;
use pippin_model::verdict::gate::Limit;
use pippin_stats::gate::{Outcome, Standing};

/// One line for each gate of each target at each step. Targets are named if there are several.
#[must_use]
pub fn lines(outcomes: &[Outcome]) -> String {
    let subjects: Vec<String> = outcomes.iter().map(subject).collect();
    let names_subject = subjects.windows(2).any(|pair| pair[0] != pair[1]);
    let line = |(outcome, subject): (&Outcome, &String)| {
        let of = if names_subject { format!("{subject}: ") } else { String::new() };
        format!("gate {:<6}  {}  {of}{}\n", word(outcome.standing), outcome.gate, found(outcome))
    };
    outcomes.iter().zip(&subjects).map(line).collect()
}

/// Target and step: `go/net-http @64`.
fn subject(outcome: &Outcome) -> String {
    match outcome.step {
        Some(Step::Connections { count }) => format!("{} @{count}", outcome.target),
        Some(Step::Rate { per_s }) => format!("{} @{}/s", outcome.target, format_count(per_s)),
        None => outcome.target.to_string(),
    }
}

const fn word(standing: Standing) -> &'static str {
    if standing.is_passed() { "passed" } else { "FAILED" }
}

/// The measured value as text: `12.3 ms`, `-6.10 % (may be chance)`; or why there is none.
fn found(outcome: &Outcome) -> String {
    if let Some(why) = &outcome.unmeasured {
        return format!("not measured: {why}");
    }
    let condition = &outcome.gate.condition;
    let figure = match condition.limit {
        Limit::Value(_) => outcome.value.map(|value| condition.figure.unit().format(value)),
        Limit::Share(_) => outcome.value.map(|share| format!("{} %", format_count(share * 100.0))),
        Limit::Change(_) => outcome.change.map(|change| format!("{:+.2} %", change * 100.0)),
    };
    let figure = figure.unwrap_or_else(|| match (condition.limit, outcome.value) {
        (Limit::Change(_), Some(_)) => "there is nothing to compare with".into(),
        _ => "unknown".into(),
    });
    let chance = if outcome.standing == Standing::NotSignificant { " (may be chance)" } else { "" };
    figure + chance
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use pippin_model::verdict::gate::Gate;

    /// Three outcomes: one passed, one failed, one may be chance.
    pub fn outcomes() -> Vec<Outcome> {
        let of = |gate: &str, value, change, standing| Outcome {
            gate: Gate::fail_if(gate).unwrap(),
            target: "go/net-http".parse().unwrap(),
            step: None,
            value: Some(value),
            change,
            standing,
            unmeasured: None,
        };
        vec![
            of("p99 > 50ms", 12_300_000.0, None, Standing::Passed),
            of("errors > 0.1%", 0.0042, None, Standing::Failed),
            of("goodput < -5% vs main", 940.0, Some(-0.061), Standing::NotSignificant),
        ]
    }

    #[test]
    fn each_gate_has_a_line() {
        assert_eq!(
            lines(&outcomes()),
            "gate passed  fail if p99 > 50ms  12.3 ms\n\
             gate FAILED  fail if errors > 0.1%  0.42 %\n\
             gate passed  fail if goodput < -5% vs main  -6.10 % (may be chance)\n"
        );
    }

    #[test]
    fn a_target_that_was_not_measured_has_a_line_with_the_reason() {
        let gates = [Gate::must_hold("errors < 1%").unwrap()];
        let target = "own/shop".parse().unwrap();
        let outcomes: Vec<Outcome> =
            pippin_stats::gate::unmeasured(&gates, &target, "install: make failed").collect();
        assert_eq!(
            lines(&outcomes),
            "gate FAILED  require errors < 1%  not measured: install: make failed\n"
        );
        let xml = junit::of("ci", &[], &outcomes);
        for part in [
            "tests=\"1\" failures=\"1\"",
            "<testsuite name=\"own/shop\"",
            "message=\"require errors &lt; 1%: not measured: install: make failed\"",
        ] {
            assert!(xml.contains(part), "{part} is not in {xml}");
        }
        let text = summary::of("ci", &outcomes, "x");
        assert!(text.starts_with("### ci: 1 of 1 gates FAILED\n"), "{text}");
        assert!(text.contains("not measured: install: make failed"), "{text}");
    }

    #[test]
    fn several_targets_are_named_and_what_is_unknown_is_said() {
        let mut two = outcomes();
        two.truncate(2);
        two[1].target = "rust/axum".parse().unwrap();
        two[1].step = Some(Step::Connections { count: 64 });
        (two[1].value, two[1].standing) = (None, Standing::Unknown);
        assert_eq!(
            lines(&two),
            "gate passed  fail if p99 > 50ms  go/net-http: 12.3 ms\n\
             gate FAILED  fail if errors > 0.1%  rust/axum @64: unknown\n"
        );
    }
}
