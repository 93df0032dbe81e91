//! The first thing on a page: the answer, and whether it can be trusted.
use maud::{Markup, html};
use pippin_stats::summary::trust::{Answer, Trust};

use crate::view::View;
use crate::view::lead::Lead;
use crate::words;

/// Both blocks, side by side where there is room.
pub fn section(view: &View) -> Markup {
    let Lead { label, head, more } = Lead::from_view(view);
    html! {
        section.answer id="answer" aria-label="The answer" {
            div.block {
                p.label { (label) }
                p.head { (head) }
                @for line in more { p.conclusion { (line) } }
            }
            (trust(&view.trust))
        }
    }
}

/// Whether the run can be trusted: the answer, one reason, what still holds, what to do.
fn trust(trust: &Trust) -> Markup {
    let class = match trust.answer {
        Answer::Yes => "block good",
        Answer::Partly => "block warn",
        Answer::No => "block bad",
    };
    html! {
        div class=(class) role="status" {
            p.label { "Can you trust it?" }
            p.head { (trust.answer.word()) }
            p { (super::with_code(&words::sentence(&trust.because))) }
            @if let Some(holds) = trust.what_holds() { p { (holds) } }
            @if let Some(advice) = &trust.advice { p { b { "Do: " } (super::with_code(&words::sentence(advice))) } }
        }
    }
}
