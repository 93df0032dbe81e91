//! Verdicts with evidence, failures, explanations.
use maud::{Markup, html};
use pippin_model::caveat::Severity;

use crate::view::View;
use crate::view::doubts::Doubt;

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
            summary { span class=(format!("badge {class}")) { (word) } " " (doubt.id.replace('_', " ")) " " span.count { (doubt.seen.len()) @if doubt.seen.len() == 1 { " target" } @else { " targets" } } }
            dl { @for seen in &doubt.seen { dt { (seen.target) } @for evidence in &seen.evidence { dd { (evidence) } } } }
            @if !doubt.advice.is_empty() { p.advice { "What to do: " (doubt.advice) "." } }
        }
    }
}

pub fn without_result(view: &View) -> Markup {
    let rows: Vec<_> = view
        .rows
        .iter()
        .filter(|row| row.goodput_per_s.is_none() || row.failure.is_some())
        .collect();
    html! {
        @if !rows.is_empty() {
            section id="missing" {
                h2 { "Without a result" }
                @for row in rows {
                    div.missing {
                        h3 { (row.target) }
                        @match &row.failure {
                            None => p { "Not measured." },
                            Some(failure) => {
                                p {
                                    @if row.unavailable { "Unavailable on this machine: " }
                                    @else if row.goodput_per_s.is_some() { "At the stage “" (failure.stage.name()) "” " (row.failed_in_words(view.run.repetitions)) ": " }
                                    @else { "Failed at the stage “" (failure.stage.name()) "”: " }
                                    (failure.message)
                                }
                                @if !failure.log_tail.is_empty() { pre tabindex="0" aria-label="The last lines of its log" { (failure.log_tail.join("\n")) } }
                            }
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
                dl.facts { @for row in &view.rows { @if let Some(explanation) = &row.explanation { dt { (row.target) } dd { (explanation.text) } } } }
            }
        }
    }
}
