//! Streams of server-sent events.
use maud::{Markup, html};

use crate::view::View;
use crate::view::events::{FIGURES, rows};

pub fn section(view: &View) -> Markup {
    if rows(view).next().is_none() {
        return html! {};
    }
    html! {
        section id="events" {
            h2 { "Server-sent events" }
            p.hint { "All repetitions together. Events are counted and timed as they come, also those of streams that had not ended when the load did." }
            details { summary { "What each column is" } ul { @for figure in &FIGURES { li { b { (figure.title) } ": " (figure.about) "." } } } }
            div.scroll tabindex="0" role="region" aria-label="Server-sent events, scrolls sideways" {
                table {
                    thead { tr {
                        th scope="col" { "Target" }
                        @for figure in &FIGURES { th.number scope="col" title=(figure.about) { (figure.title) } }
                    } }
                    tbody { @for row in rows(view) { tr {
                        th scope="row" { (super::breakable(&row.target)) }
                        @for figure in &FIGURES { td.number { ((figure.words)(row)) } }
                    } } }
                }
            }
        }
    }
}
