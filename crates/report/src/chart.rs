//! Charts as SVG, drawn by `plotters` without a browser: the same text stands in the page, in a
//! README and in a test (docs/decisions/charts.md).
//!
//! | module | what it draws |
//! |---|---|
//! | [`palette`] | colours that colour-blind readers tell apart, in light and dark |
//! | [`axis`], [`calendar`] | linear, logarithmic and HDR axes with round ticks; dates |
//! | [`canvas`] | sizes, legend, the drawing of lines and bars |
//! | the others | one chart each |
//!
//! Every chart has its figures as a table too, for readers who cannot see it and for those who want
//! the numbers.
pub mod axis;
pub mod calendar;
pub mod canvas;
mod cost;
mod distribution;
pub mod palette;
mod percentiles;
mod phases;
mod published;
mod series;
mod split;
mod sweep;
mod throughput;

use serde::Serialize;

use crate::view::View;
use crate::view::row::Row;

/// A chart, drawn for a wide and for a narrow screen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Its name on the command line and in the page: `throughput`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it shows, in a sentence or two with figures: the alternative text.
    pub alternative: String,
    /// How to read it.
    pub caption: String,
    /// Whether its lines are those of targets, in their colours, so that the page may show and hide
    /// them.
    pub lines_by_target: bool,
    /// SVG for a wide screen and for paper.
    pub wide: String,
    /// SVG for a telephone.
    pub narrow: String,
    /// The figures behind it.
    pub table: DataTable,
}

/// The figures behind a chart, as text.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DataTable {
    /// Titles of the columns.
    pub columns: Vec<String>,
    /// Cells; the first of each row names it.
    pub rows: Vec<Vec<String>>,
}

type Draw = fn(&View) -> Vec<Chart>;

/// Every chart in the order of the page; a new one is one more line here.
const CHARTS: [Draw; 9] = [
    throughput::charts,
    percentiles::charts,
    distribution::charts,
    split::charts,
    sweep::charts,
    phases::charts,
    series::charts,
    published::charts,
    cost::charts,
];

/// All charts that this run has figures for.
#[must_use]
pub fn all(view: &View) -> Vec<Chart> {
    CHARTS.iter().flat_map(|draw| draw(view)).collect()
}

/// A row's place among those that have a colour: the measured ones, in the order of the table.
fn coloured(view: &View) -> impl Iterator<Item = (usize, &Row)> {
    view.measured().enumerate()
}

/// The names of the measured targets, with a remark where one is INVALID.
fn label(row: &Row) -> String {
    let invalid = row.verdict == Some(pippin_model::caveat::Verdict::Invalid);
    format!("{}{}", row.target, if invalid { " (INVALID)" } else { "" })
}
