//! The slowest requests of loads.
use maud::{Markup, html};
use pippin_model::result::Exchange;

use super::figures::data;
use crate::chart::DataTable;
use crate::terminal::slowest::row;
use crate::view::View;

/// The section; nothing if they were not asked for.
pub fn section(view: &View) -> Markup {
    let loads: Vec<_> = view.loads.iter().filter(|load| !load.slowest.is_empty()).collect();
    html! {
        @if !loads.is_empty() {
            section id="slowest" {
                h2 { "The slowest requests" }
                p.hint { "When each was sent (UTC), by the clock of the generator's machine, so that the server's log can be searched for it." }
                @for load in loads {
                    @if let Some(step) = load.step.filter(|_| view.loads.len() > 1) { h3 { (step.in_words()) } }
                    (data(&table(&load.slowest)))
                }
            }
        }
    }
}

fn table(slowest: &[Exchange]) -> DataTable {
    let has_ids = slowest.iter().any(|one| one.id.is_some());
    let titles = ["sent at", "response", "service", "connection", "status", "request", "id"];
    DataTable {
        columns: titles.into_iter().take(if has_ids { 7 } else { 6 }).map(Into::into).collect(),
        rows: slowest.iter().map(|one| row(one, has_ids)).collect(),
    }
}
