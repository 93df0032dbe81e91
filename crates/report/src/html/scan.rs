//! A scan: the knee, the curve, and a table of the values.
use maud::{Markup, html};

use super::figures;
use crate::chart::{Chart, DataTable, scan};
use crate::view::View;

/// The section of a scan; nothing for other runs.
pub fn section(view: &View, charts: &[Chart]) -> Markup {
    let Some(found) = &view.scan else { return html! {} };
    let table = DataTable {
        columns: found.titles(),
        rows: found.points.iter().map(|point| found.cells(point)).collect(),
    };
    let words = found.words();
    html! {
        section id="scan" {
            h2 { "By " (found.parameter) }
            @if !words.is_empty() { p { (words) } }
            (figures::data(&table))
            p.hint { "Ratios have their 95 % intervals in brackets. They are taken within rounds, where loads were long enough for slices." }
            (figures::render(charts, &scan::NAMES))
        }
    }
}
