//! The outcomes of gates: as lines of text, as JUnit XML, and as a summary for a pull request.
pub mod junit;
pub mod summary;

use pippin_model::figure::Unit;
use pippin_model::text::units::format_count;
use pippin_model::trial::Step;
use pippin_model::verdict::gate::Limit;
use pippin_stats::gate::{Outcome, Reason, Standing};

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
        Some(Step::Connections { count } | Step::Devices { count }) => {
            format!("{} @{count}", outcome.target)
        }
        Some(Step::Rate { per_s }) => format!("{} @{}/s", outcome.target, format_count(per_s)),
        None => outcome.target.to_string(),
    }
}

const fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Passed => "passed",
        Standing::Undecided => "UNDECIDED",
        Standing::Failed => "FAILED",
    }
}

/// The measured value as text, with the base, and why nothing follows from it: `12.3 ms`,
/// `-6.10 % compared with own/shop@main: 3 starts of at least 5`.
fn found(outcome: &Outcome) -> String {
    let condition = &outcome.gate.condition;
    let unit = condition.figure.unit();
    let percent = |share: f64| format!("{} %", format_count(share * 100.0));
    let figure = match condition.limit {
        Limit::Value(_) => outcome.value.map(|value| format_value(unit, value)),
        Limit::Share(_) => outcome.value.map(percent),
        Limit::Change(_) => outcome.change.map(|change| {
            let of = if change.is_points { "points" } else { "%" };
            format!("{:+.2} {of}", change.by * 100.0)
        }),
    };
    let base = outcome.base.as_ref().map(|base| format!("compared with {base}"));
    let surely = outcome.surely.map(|by| {
        let side = if outcome.gate.lower_passes() { "below" } else { "above" };
        format!("(surely {side} {:+.1} %)", by * 100.0)
    });
    let known: Vec<String> = figure.into_iter().chain(surely).chain(base).collect();
    let left_out = outcome.left_out.as_ref().map(|left_out| left_out.words());
    match (known.join(" "), &outcome.reason) {
        (known, None) if known.is_empty() => "unknown".into(),
        (known, None) => left_out.map_or_else(|| known.clone(), |out| format!("{known}; {out}")),
        // What stands against the starts is the reason.
        (known, Some(reason)) if !is_about_starts(outcome, reason) => {
            let known = if known.is_empty() { known } else { format!("{known}: ") };
            let out = left_out.map_or_else(String::new, |out| format!("; {out}"));
            format!("{known}{}{out}", reason.text)
        }
        (known, Some(reason)) if known.is_empty() => reason.text.clone(),
        (known, Some(reason)) => format!("{known}: {}", reason.text),
    }
}

/// Whether the reason names the starts that do not count.
fn is_about_starts(outcome: &Outcome, reason: &Reason) -> bool {
    outcome.left_out.as_ref().is_none_or(|left_out| reason.text.contains(&left_out.words()))
}

/// A quantile that so many requests never reached has no value.
fn format_value(unit: Unit, value: f64) -> String {
    if value.is_finite() { unit.format(value) } else { "never answered".into() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use pippin_model::verdict::gate::{Gate, Undecided};
    use pippin_stats::gate::left_out::{LeftOut, Why};
    use pippin_stats::gate::{Change, Doubt};

    /// Three outcomes: one passed, one failed, one undecided.
    pub fn outcomes() -> Vec<Outcome> {
        let of = |gate: &str, value, standing| Outcome {
            gate: Gate::fail_if(gate).unwrap(),
            target: "go/net-http".parse().unwrap(),
            step: None,
            value: Some(value),
            change: None,
            base: None,
            standing,
            reason: None,
            left_out: None,
            surely: None,
        };
        vec![
            of("p99 > 50ms", 12_300_000.0, Standing::Passed),
            of("errors > 0.1%", 0.0042, Standing::Failed),
            Outcome {
                change: Some(Change { by: -0.061, is_points: false }),
                base: Some("own/shop@main".into()),
                reason: Some(Reason { doubt: Doubt::TooFewStarts, text: "3 starts".into() }),
                ..of("goodput < -5% vs main", 940.0, Standing::Undecided)
            },
        ]
    }

    #[test]
    fn each_gate_has_a_line() {
        assert_eq!(
            lines(&outcomes()),
            "gate passed  fail if p99 > 50ms  12.3 ms\n\
             gate FAILED  fail if errors > 0.1%  0.42 %\n\
             gate UNDECIDED  fail if goodput < -5% vs main  -6.10 % compared with own/shop@main: 3 starts\n"
        );
    }

    #[test]
    fn starts_that_do_not_count_are_named_wherever_gates_are() {
        let out = LeftOut { made: 16, why: [(Why::Compiler, 9), (Why::OtherPrograms, 5)].into() };
        let words =
            "14 of 16 starts do not count: the compiler worked in 9, other programs ran in 5";
        let mut outcome = outcomes().remove(2);
        outcome.left_out = Some(out);
        for standing in [Standing::Passed, Standing::Undecided] {
            outcome.standing = standing;
            for (said, reason) in [
                ("", None),
                (
                    ": 3 starts",
                    Some(Reason { doubt: Doubt::TooFewStarts, text: "3 starts".into() }),
                ),
                ("", Some(Reason { doubt: Doubt::NotWarm, text: format!("{words} (so)") })),
            ] {
                outcome.reason = reason;
                let one = std::slice::from_ref(&outcome);
                let summary = summary::render("ci", one, &summary::Changes::default(), "x");
                assert_eq!(lines(one).matches(words).count(), 1, "{}", lines(one));
                for text in [lines(one), junit::render("ci", &[], one, Undecided::Warn), summary] {
                    assert!(text.contains(words) && text.contains(said), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_passed_says_what_it_surely_keeps() {
        let mut outcome = outcomes().remove(2);
        (outcome.standing, outcome.reason, outcome.surely) = (Standing::Passed, None, Some(-0.078));
        assert_eq!(
            lines(&[outcome]),
            "gate passed  fail if goodput < -5% vs main  -6.10 % (surely above -7.8 %) compared with own/shop@main\n"
        );
    }

    #[test]
    fn a_target_that_was_not_measured_has_a_line_with_the_reason() {
        let gates = [Gate::require("errors < 1%").unwrap()];
        let target = "own/shop".parse().unwrap();
        let outcomes: Vec<Outcome> =
            pippin_stats::gate::unmeasured(&gates, &target, "install: make failed").collect();
        assert_eq!(
            lines(&outcomes),
            "gate FAILED  require errors < 1%  not measured: install: make failed\n"
        );
        let xml = junit::render("ci", &[], &outcomes, Undecided::Fail);
        for part in [
            "tests=\"1\" failures=\"1\"",
            "<testsuite name=\"own/shop\"",
            "message=\"require errors &lt; 1%: not measured: install: make failed\"",
        ] {
            assert!(xml.contains(part), "{part} is not in {xml}");
        }
        let text = summary::render("ci", &outcomes, &summary::Changes::default(), "x");
        assert!(text.starts_with("### ci: 1 of 1 gate FAILED\n"), "{text}");
        assert!(text.contains("not measured: install: make failed"), "{text}");
    }

    #[test]
    fn several_targets_are_named_and_what_is_unknown_is_said() {
        let mut two = outcomes();
        two.truncate(2);
        two[1].target = "rust/axum".parse().unwrap();
        two[1].step = Some(Step::Connections { count: 64 });
        (two[1].value, two[1].standing) = (None, Standing::Undecided);
        assert_eq!(
            lines(&two),
            "gate passed  fail if p99 > 50ms  go/net-http: 12.3 ms\n\
             gate UNDECIDED  fail if errors > 0.1%  rust/axum @64: unknown\n"
        );
    }
}
