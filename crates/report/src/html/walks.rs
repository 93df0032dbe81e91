//! The steps of scenarios, by target.
use maud::{Markup, html};
use pippin_model::text::units::counted;

use super::figures::data;
use crate::chart::DataTable;
use crate::view::View;
use crate::view::row::Row;
use crate::view::walks::{self, WayView};
use crate::words;

/// The section of a scenario; nothing for other loads.
pub fn section(view: &View) -> Markup {
    let rows: Vec<&Row> = view.rows.iter().filter(|row| !row.scenario.is_empty()).collect();
    html! {
        @if !rows.is_empty() {
            section id="scenario" {
                h2 { "Steps of the scenario" }
                p.hint { "Response times. After an error the user begins at the first step again." }
                @for row in &rows {
                    @if view.rows.len() > 1 { h3 { (row.target) } }
                    @if !row.mix.is_empty() { (data(&mix(row))) }
                    (data(&table(row)))
                    p { (walks::whole_walks(&row.scenario)) "." }
                    (examples(row))
                }
            }
        }
    }
}

fn mix(row: &Row) -> DataTable {
    let rows = row.mix.iter().map(|way| way.cells().to_vec());
    DataTable { columns: WayView::TITLES.map(Into::into).to_vec(), rows: rows.collect() }
}

fn table(row: &Row) -> DataTable {
    let titles = ["step", "requests", "right", "errors", "p50", "p99", "max"];
    let cells = row.scenario.iter().chain(&row.followed).map(|step| {
        let times = &step.response_time;
        vec![
            step.title(),
            words::whole(step.requests),
            words::whole(step.good),
            words::whole(step.errors_total()),
            words::ns(times.p50_ns),
            words::ns(times.p99_ns),
            words::ns(times.max_ns),
        ]
    });
    DataTable { columns: titles.map(Into::into).to_vec(), rows: cells.collect() }
}

/// The errors by kind, and the first error of each step in words.
fn examples(row: &Row) -> Markup {
    html! {
        @if row.scenario.iter().any(|step| step.errors_total() > 0) {
            ul {
                @for step in row.scenario.iter().filter(|step| step.errors_total() > 0) {
                    li {
                        (step.title()) ": "
                        @for (nth, (kind, count)) in step.errors.iter().enumerate() {
                            @if nth > 0 { ", " }
                            (counted(*count, "error")) " of the kind " (kind.name())
                        }
                        @if let Some(example) = &step.example { "; the first: " code { (example) } }
                    }
                }
            }
        }
    }
}
