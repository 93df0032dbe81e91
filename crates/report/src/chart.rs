//! Charts as SVG, drawn by `plotters` without a browser. The page, a README and a test all get the
//! same text (docs/decisions/charts.md).
//!
//! | module | what it draws |
//! |---|---|
//! | [`palette`] | colours that colour-blind readers can tell apart, in light and dark |
//! | [`axis`], [`calendar`] | linear, logarithmic and HDR axes with round ticks; dates |
//! | [`canvas`] | sizes, legend, the drawing of lines, bars and maps |
//! | `compose` | lines of targets, bars whose parts add up, tables |
//! | [`plot`] | the data of a chart for the browser, which draws an interactive version |
//! | [`summary`] | the run in one picture, for previews of links |
//! | the others | one chart each |
//!
//! Every chart also has a table with its figures, for readers who cannot see it and for those who
//! want the numbers. Charts of a history share the table of its runs.
pub mod axis;
pub mod calendar;
pub mod canvas;
pub mod change;
mod compose;
mod cost;
mod distribution;
mod heat;
mod held;
mod life;
mod overload;
pub mod palette;
mod percentiles;
mod phases;
pub mod plot;
mod published;
mod rates;
mod ratio;
pub(crate) mod scan;
mod series;
mod split;
pub mod summary;
mod sweep;
mod throughput;

use canvas::Form;
use pippin_model::text::units::counted;
use pippin_model::verdict::Verdict;
use plot::Plot;
use serde::Serialize;

use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// A chart, drawn for screens of three widths.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Chart {
    /// Its name on the command line and in the page: `throughput`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it shows, in a sentence or two with figures: the alternative text.
    pub alternative: String,
    /// How to read it.
    pub caption: String,
    /// Whether each line belongs to a target and has its colour. The page can then show and hide
    /// targets.
    pub lines_by_target: bool,
    /// The chart itself.
    pub drawings: Drawings,
    /// Its data, if a browser can redraw it; `None` for bars and maps.
    pub plot: Option<Plot>,
    /// The figures behind it; without rows, if the page has them elsewhere.
    pub table: DataTable,
}

/// A chart as SVG in each form.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Drawings {
    /// For the full width of the page.
    pub wide: String,
    /// For tablets and small windows.
    pub middle: String,
    /// For telephones and paper.
    pub narrow: String,
}

impl Drawings {
    /// One chart in every form.
    #[must_use]
    pub fn by(draw: impl Fn(Form) -> String) -> Self {
        Self { wide: draw(Form::Wide), middle: draw(Form::Middle), narrow: draw(Form::Narrow) }
    }
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

/// Every chart, in the order of the page. Add a new one here.
const CHARTS: [Draw; 15] = [
    ratio::charts,
    throughput::charts,
    percentiles::charts,
    distribution::charts,
    split::charts,
    scan::charts,
    sweep::charts,
    overload::charts,
    phases::charts,
    series::charts,
    heat::charts,
    held::charts,
    published::charts,
    cost::charts,
    life::charts,
];

/// All charts that this run has figures for.
#[must_use]
pub fn all(view: &View) -> Vec<Chart> {
    CHARTS.iter().flat_map(|draw| draw(view)).collect()
}

/// The measured rows in the order of the table, each with the place that decides its colour.
fn coloured(view: &View) -> impl Iterator<Item = (usize, &Row)> {
    view.measured().enumerate()
}

/// A number of targets, for alternative texts: `1 target`, `20 targets`.
fn targets(count: usize) -> String {
    counted(count as u64, "target")
}

/// The name of a target, with its verdict unless that is VALID.
fn label(row: &Row) -> String {
    let doubt = row.verdict.filter(|verdict| *verdict != Verdict::Valid);
    doubt.map_or_else(|| row.target.to_string(), |verdict| format!("{} ({verdict})", row.target))
}

/// What a picture without its page must say of its run: the machine, when, which form, the run and
/// the program.
#[must_use]
pub fn provenance(view: &View) -> String {
    let (run, host) = (&view.run, &view.host);
    let processors = counted(u64::from(host.cpus), "processor");
    let machine = match &host.cpu_model {
        Some(model) => format!("{model}, {processors}"),
        None => processors,
    };
    // A load of a URL has one form.
    let form = if run.quick { "quick form" } else { "full form" };
    let form = view.loads.is_empty().then(|| form.to_string());
    let parts = [
        Some(machine),
        Some(words::time(run.started_unix_ns)),
        form,
        Some(format!("run {}", run.id)),
        Some(format!("Pippin {}", run.pippin_version)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
