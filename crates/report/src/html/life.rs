//! The life of the targets: starts, memory, and their end.
use maud::{Markup, html};

use super::figures;
use crate::chart::Chart;
use crate::view::View;
use crate::view::life::{FIGURES, legend};

pub fn section(view: &View, charts: &[Chart]) -> Markup {
    if view.lives.is_empty() {
        return html! {};
    }
    html! {
        section id="life" {
            h2 { "Life: start, memory, end" }
            p.hint { "Each target was started twice more for this, after the measurement. It is one start, without an interval." }
            details { summary { "What each column is" } p.hint { (legend(&FIGURES)) } }
            div.scroll tabindex="0" role="region" aria-label="Life of the targets, scrolls sideways" { (table(view)) }
            (figures::render(charts, &["life-start", "life-memory"]))
            @for life in &view.lives { @if let Some(failure) = &life.failure {
                p.notice { (life.target) ": not complete: " (failure) }
            } }
        }
    }
}

fn table(view: &View) -> Markup {
    html! {
        table {
            thead { tr {
                th scope="col" { "Target" }
                @for figure in &FIGURES { th.number scope="col" title=(figure.about) { (figure.title) } }
            } }
            tbody { @for life in &view.lives { tr {
                th scope="row" { (super::breakable(&life.target)) }
                @for figure in &FIGURES { td.number { (figure.words(life)) } }
            } } }
        }
    }
}
