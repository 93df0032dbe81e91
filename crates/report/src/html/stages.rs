//! The stages of loads that change by plan, by target.
use maud::{Markup, html};

use super::figures::data;
use crate::chart::DataTable;
use crate::view::View;
use crate::view::row::Row;
use crate::view::stages::StageRow;

/// The section of stages; nothing for other loads.
pub fn section(view: &View) -> Markup {
    let rows: Vec<&Row> = view.rows.iter().filter(|row| !row.stages.is_empty()).collect();
    html! {
        @if !rows.is_empty() {
            section id="stages" {
                h2 { "Stage by stage" }
                p.hint { "Response times are the medians of the seconds that lie within the stage." }
                @for row in &rows {
                    @if view.rows.len() > 1 { h3 { (row.target) } }
                    (data(&table(row)))
                }
            }
        }
    }
}

fn table(row: &Row) -> DataTable {
    DataTable {
        columns: StageRow::TITLES.map(Into::into).to_vec(),
        rows: row.stages.iter().map(|stage| stage.cells().to_vec()).collect(),
    }
}
