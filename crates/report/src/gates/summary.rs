//! A summary for a pull request, in Markdown: what changed and the gates first, then the whole result,
//! folded. What is not folded has at most [`MOST_LINES`] lines, and the whole fits into a comment.
use pippin_model::text::units::counted;
use pippin_stats::gate::{Outcome, Standing};
use std::fmt::Write as _;

use super::{found, subject, word};
use crate::form::markdown::text as cell;

/// The most lines that are not folded, without empty ones.
const MOST_LINES: usize = 12;
/// The most characters of a comment: GitHub takes 65,536, and a job adds a line or two of its own.
const MOST_CHARACTERS: usize = 64_000;

/// What a comparison found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// A sentence for each target.
    pub sentences: Vec<String>,
    /// For each figure: its name, before, after, the change, its interval, better or worse.
    pub rows: Vec<[String; 6]>,
}

/// What changed, the gates as a table, and `details` (the result as Markdown) folded below.
#[must_use]
pub fn render(title: &str, outcomes: &[Outcome], changes: &Changes, details: &str) -> String {
    let count = |standing| outcomes.iter().filter(|it| it.standing == standing).count();
    let (failed, open) = (count(Standing::Failed), count(Standing::Undecided));
    let of = counted(outcomes.len() as u64, "gate");
    let said = match (outcomes.len(), failed, open) {
        (0, ..) => String::new(),
        (all, 0, 0) => format!(": {all} of {of} passed"),
        (_, 0, open) => format!(": {open} of {of} UNDECIDED"),
        (_, failed, 0) => format!(": {failed} of {of} FAILED"),
        (_, failed, open) => format!(": {failed} of {of} FAILED, {open} UNDECIDED"),
    };
    let mut out = format!("### {}{said}\n\n", cell(title));
    let mut left = MOST_LINES - 1;
    let mut folded = String::new();
    // One sentence stands for all in a comment; the others are below.
    for (index, sentence) in changes.sentences.iter().enumerate() {
        let into = if index == 0 { &mut out } else { &mut folded };
        left -= usize::from(index == 0);
        let _ = write!(into, "{}\n\n", cell(sentence));
    }
    // Gates that did not pass come first, and leave room for the changes.
    let mut gates: Vec<&Outcome> = outcomes.iter().collect();
    gates.sort_by_key(|outcome| std::cmp::Reverse(outcome.standing));
    let gates = gates.into_iter().map(|outcome| {
        let word = word(outcome.standing);
        let bold = if outcome.standing == Standing::Passed { "" } else { "**" };
        [outcome.gate.to_string(), subject(outcome), found(outcome)]
            .map(|it| cell(&it))
            .into_iter()
            .chain([format!("{bold}{word}{bold}")])
            .collect()
    });
    let of_gates = if changes.rows.is_empty() { left } else { left / 2 };
    let head = ["gate", "target", "found", ""];
    left -= table(&head, gates.collect(), of_gates, &mut out, &mut folded);
    let rows = changes.rows.iter().map(|row| row.iter().map(|it| cell(it)).collect()).collect();
    let head = ["figure", "before", "after", "change", "95 % interval", ""];
    table(&head, rows, left, &mut out, &mut folded);
    folded.push_str(details.trim_end());
    let (before, after) = ("<details>\n<summary>The whole result</summary>\n\n", "\n</details>\n");
    let room =
        MOST_CHARACTERS.saturating_sub([&out, before, after].map(|it| it.len()).iter().sum());
    out.push_str(before);
    out.push_str(&shortened(&folded, room));
    out.push_str(after);
    out
}

/// Writes a table of at most `most` lines, and what is left as one that is folded. Returns how many
/// lines were written.
fn table(
    head: &[&str],
    rows: Vec<Vec<String>>,
    most: usize,
    out: &mut String,
    folded: &mut String,
) -> usize {
    let fit = rows.len().min(most.saturating_sub(2));
    let (shown, rest) = rows.split_at(fit);
    for (into, rows) in [(out, shown), (folded, rest)] {
        if rows.is_empty() {
            continue;
        }
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        into.push_str(&line(&head.iter().map(ToString::to_string).collect::<Vec<_>>()));
        into.push_str(&line(&vec!["---".to_string(); head.len()]));
        rows.iter().for_each(|row| into.push_str(&line(row)));
        into.push('\n');
    }
    if shown.is_empty() { 0 } else { fit + 2 }
}

/// The text, or its first whole lines that fit into so many bytes and a line that says so. A block of
/// code that is cut ends there.
fn shortened(text: &str, most: usize) -> String {
    const CUT: &str = "\nThe rest does not fit into a comment; the page of the run has it.\n";
    if text.len() <= most {
        return text.into();
    }
    let mut kept = String::new();
    for line in text.lines() {
        if kept.len() + line.len() + CUT.len() + 8 > most {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    if kept.lines().filter(|line| line.starts_with("```")).count() % 2 == 1 {
        kept.push_str("```\n");
    }
    kept + CUT
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gates_come_first_and_the_rest_is_folded() {
        let outcomes = super::super::tests::outcomes();
        let text = render("hello", &outcomes, &Changes::default(), "| table |\n\n");
        let expected = "### hello: 1 of 3 gates FAILED, 1 UNDECIDED\n\n\
             | gate | target | found |  |\n| --- | --- | --- | --- |\n\
             | fail if errors &gt; 0.1% | go/net-http | 0.42 % | **FAILED** |\n\
             | fail if goodput &lt; -5% vs main | go/net-http | -6.10 % compared with own/shop@main: 3 starts | **UNDECIDED** |\n\
             | fail if p99 &gt; 50ms | go/net-http | 12.3 ms | passed |\n\n\
             <details>\n<summary>The whole result</summary>\n\n| table |\n</details>\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn without_gates_there_is_no_table_of_them() {
        let text = render("hello", &[], &Changes::default(), "x");
        assert!(text.starts_with("### hello\n\n<details>"), "{text}");
    }

    #[test]
    fn a_comparison_has_its_sentence_and_its_changes() {
        let row = ["cpu", "20.0 µs", "21.0 µs", "+5.00 %", "+4.00 % to +6.00 %", "worse"];
        let changes =
            Changes { sentences: vec!["HEAD needs more.".into()], rows: vec![row.map(Into::into)] };
        let text = render("HEAD against main", &super::super::tests::outcomes(), &changes, "x");
        assert!(text.contains("UNDECIDED\n\nHEAD needs more.\n\n| gate |"), "{text}");
        assert!(text.contains("| figure | before | after | change | 95 % interval |  |"), "{text}");
        assert!(text.contains("| cpu | 20.0 µs | 21.0 µs | +5.00 % |"), "{text}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The law: twelve lines, and one comment, whatever the number of targets.
        #[test]
        fn a_comment_stays_short(
            gates in 0_usize..400,
            targets in 0_usize..200,
            details in 0_usize..4_000,
        ) {
            let outcomes: Vec<Outcome> =
                super::super::tests::outcomes().into_iter().cycle().take(gates).collect();
            let row = |at: usize| std::array::from_fn(|column| format!("{at} of {column}, \u{b5}s"));
            let changes = Changes {
                sentences: (0..targets).map(|at| format!("Target {at} needs more.")).collect(),
                rows: (0..targets * 5).map(row).collect(),
            };
            let details = "```text\n| a line of the whole result, with µ and – in it |\n".repeat(details);
            let text = render("HEAD against main", &outcomes, &changes, &details);
            prop_assert!(text.chars().count() < 65_536 && text.len() < 65_536);
            let (unfolded, folded) = text.split_once("<details>").unwrap();
            let lines = unfolded.lines().filter(|line| !line.is_empty()).count();
            prop_assert!(lines <= MOST_LINES, "{unfolded}");
            prop_assert!(folded.ends_with("</details>\n"));
            prop_assert!(targets == 0 || unfolded.contains("| figure |"), "{unfolded}");
            let failed = unfolded.contains("**FAILED**");
            prop_assert!(failed || !outcomes.iter().any(|it| it.standing == Standing::Failed));
        }
    }
}
