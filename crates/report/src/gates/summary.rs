//! A summary for a pull request, in Markdown: the gates first, then the whole result, folded.
use pippin_model::text::units::counted;
use pippin_stats::gate::{Outcome, Standing};
use std::fmt::Write as _;

use super::{found, subject, word};
use crate::form::markdown::text as cell;

/// The gates as a table, and `details` (the result as Markdown) folded below it.
#[must_use]
pub fn of(title: &str, outcomes: &[Outcome], details: &str) -> String {
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
    if !outcomes.is_empty() {
        out.push_str("| gate | target | found | |\n| --- | --- | ---: | --- |\n");
    }
    for outcome in outcomes {
        let word = word(outcome.standing);
        let bold = if outcome.standing == Standing::Passed { "" } else { "**" };
        // Writing into a String cannot fail.
        let _ = writeln!(
            out,
            "| {} | {} | {} | {bold}{word}{bold} |",
            cell(&outcome.gate.to_string()),
            cell(&subject(outcome)),
            cell(&found(outcome))
        );
    }
    let _ = write!(
        out,
        "\n<details>\n<summary>The whole result</summary>\n\n{}\n</details>\n",
        details.trim_end()
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_come_first_and_the_rest_is_folded() {
        let text = of("hello", &super::super::tests::outcomes(), "| table |\n\n");
        let expected = "### hello: 1 of 3 gates FAILED, 1 UNDECIDED\n\n\
             | gate | target | found | |\n| --- | --- | ---: | --- |\n\
             | fail if p99 &gt; 50ms | go/net-http | 12.3 ms | passed |\n\
             | fail if errors &gt; 0.1% | go/net-http | 0.42 % | **FAILED** |\n\
             | fail if goodput &lt; -5% vs main | go/net-http | -6.10 % compared with own/shop@main: 3 starts | **UNDECIDED** |\n\n\
             <details>\n<summary>The whole result</summary>\n\n| table |\n</details>\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn without_gates_there_is_no_table_of_them() {
        assert!(of("hello", &[], "x").starts_with("### hello\n\n\n<details>"));
    }
}
