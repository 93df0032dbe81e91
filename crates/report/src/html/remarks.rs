//! Verdicts with evidence, failures, explanations.
use maud::{Markup, html};
use pippin_model::text::units::counted;
use pippin_model::verdict::Severity;

use super::with_code;
use crate::view::View;
use crate::view::doubts::Doubt;
use crate::view::missing;

pub fn verdicts(view: &View) -> Markup {
    if view.doubts.is_empty() {
        return html! {};
    }
    html! {
        section id="verdicts" {
            h2 { "Verdicts and their evidence" }
            div.doubts { @for doubt in &view.doubts { (one(doubt)) } }
        }
    }
}

fn one(doubt: &Doubt) -> Markup {
    let (class, word) = match doubt.severity {
        Severity::Invalid => ("invalid", "INVALID"),
        Severity::Suspect => ("suspect", "SUSPECT"),
        Severity::Note => ("note", "Note"),
    };
    html! {
        details class=(format!("doubt {class}")) open[doubt.severity > Severity::Note] {
            summary { span class=(format!("badge {class}")) { (word) } " " (doubt.name()) " " span.count { (counted(doubt.seen.len() as u64, "target")) } }
            dl { @for seen in &doubt.seen { dt { (seen.target) } @for evidence in &seen.evidence { dd { (evidence) } } } }
            @if !doubt.advice.is_empty() { p.advice { "What to do: " (with_code(&doubt.advice)) "." } }
        }
    }
}

pub fn without_result(view: &View) -> Markup {
    let missing = missing::from_view(view);
    let nothing_measured = view.measured().next().is_none();
    html! {
        @if !missing.is_empty() {
            section id="missing" {
                h2 { "Without a result" }
                @for one in missing {
                    div.missing {
                        p { strong { (one.targets.join(", ")) } ": " (one.what) @if !one.cause.is_empty() { ": " (with_code(&one.cause)) } }
                        @if !one.log_tail.is_empty() {
                            details open[nothing_measured] { summary { "The last lines of its log" } pre tabindex="0" aria-label="The last lines of its log" { (one.log_tail.join("\n")) } }
                        }
                    }
                }
            }
        }
    }
}

pub fn explanations(view: &View) -> Markup {
    html! {
        @if view.rows.iter().any(|row| row.explanation.is_some()) {
            section id="explanations" {
                h2 { "What the figures say" }
                dl.facts { @for row in &view.rows { @if let Some(said) = row.explained() { dt { (row.target) } dd { (said) } } } }
            }
        }
    }
}
