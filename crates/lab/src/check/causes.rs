//! Failures of many targets, grouped by what they have in common.
use std::collections::BTreeMap;

use super::Checked;

/// Each cause with its targets and their variants; the most frequent cause first.
#[must_use]
pub fn group(results: &[Checked]) -> Vec<(String, Vec<String>)> {
    let mut causes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for checked in results {
        for cause in causes_of(checked) {
            let targets = causes.entry(cause).or_default();
            let name = checked.target.to_string();
            if targets.last() != Some(&name) {
                targets.push(name);
            }
        }
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, targets)| std::cmp::Reverse(targets.len()));
    causes
}

fn causes_of(checked: &Checked) -> Vec<String> {
    if let Some(skipped) = checked.skipped {
        return vec![format!("not checked: {}", skipped.words())];
    }
    if let Some(failure) = &checked.failure {
        let word = if checked.is_unavailable() { "unavailable" } else { "failed" };
        return vec![format!("{word}: {}: {}", failure.stage.name(), general(&failure.message))];
    }
    let wrong = checked.workloads.iter();
    wrong
        .flat_map(|(workload, reasons)| {
            reasons.iter().map(move |reason| format!("failed: {workload}: {}", general(reason)))
        })
        .collect()
}

/// A message without the parts that differ between targets: text in backticks, text after the
/// second colon, and digits.
fn general(message: &str) -> String {
    let outside: Vec<&str> = message.split('`').step_by(2).collect();
    let text = outside.join("...");
    let parts: Vec<&str> = text.split(": ").take(2).collect();
    let mut short = String::new();
    for letter in parts.join(": ").chars().take(100) {
        let letter = if letter.is_ascii_digit() { '#' } else { letter };
        if !(letter == '#' && short.ends_with('#')) {
            short.push(letter);
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::trial::{Failure, Stage};

    fn unavailable(name: &str, message: &str) -> Checked {
        let failure =
            Failure { stage: Stage::Install, message: message.into(), log_tail: Vec::new() };
        Checked { failure: Some(failure), ..Checked::new(name.parse().unwrap()) }
    }

    #[test]
    fn the_same_reason_of_several_targets_is_one_cause_and_comes_first() {
        let causes = group(&[
            unavailable("a/one", "`mix deps.get` exited with code 1: no such host"),
            unavailable("b/two", "missing: ruby >= 3.2 (found 3.1.7); apt-get install ruby"),
            unavailable("b/two:x", "missing: ruby >= 3.2 (found 3.1.7); apt-get install ruby"),
        ]);
        assert_eq!(causes[0].1, ["b/two", "b/two:x"]);
        assert!(
            causes[0].0.starts_with("unavailable: install: missing: ruby >= #.#"),
            "{causes:?}"
        );
        assert_eq!(causes[1].1, ["a/one"]);
    }
}
