//! The slowest requests of loads.
use maud::{Markup, html};

use super::figures::data;
use crate::chart::DataTable;
use crate::terminal::slowest::cells;
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
                    (data(&DataTable {
                        columns: ["sent at", "response", "service", "connection", "status", "request"].map(Into::into).into(),
                        rows: load.slowest.iter().map(|one| cells(one).into()).collect(),
                    }))
                }
            }
        }
    }
}
