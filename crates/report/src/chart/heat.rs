//! Response times over time as maps: the distribution of the answers of each moment.
use pippin_model::result::bins::ResponseBins;

use super::axis::{Axis, short, time};
use super::canvas::{Cell, Form, Panel, heat};
use super::palette::series;
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// The number of maps: the first targets of the table.
const MAPS: usize = 6;
/// The maximum number of columns of a map.
const COLUMNS: f64 = 60.0;

/// Answers by column and bin of the response time.
struct Map {
    /// Seconds of a column.
    width_s: f64,
    columns: Vec<ResponseBins>,
}

impl Map {
    /// All repetitions of a target, added up; `None` if no window has a distribution.
    fn from_row(row: &Row) -> Option<Self> {
        let points =
            || row.series.iter().flat_map(|one| &one.load).filter(|point| point.at_s >= 0.0);
        let last = points().map(|point| point.at_s).fold(0.0, f64::max);
        if !points().any(|point| !point.response_bins.is_empty()) || last <= 0.0 {
            return None;
        }
        let longest = row
            .series
            .iter()
            .map(|one| one.load.iter().filter(|point| point.at_s >= 0.0).count())
            .max()?;
        let count = (longest as f64).clamp(1.0, COLUMNS);
        let width_s = last * 1.000_001 / count;
        let mut columns = vec![ResponseBins::default(); count as usize];
        for point in points() {
            let column = ((point.at_s / width_s) as usize).min(columns.len() - 1);
            columns[column].merge(&point.response_bins);
        }
        Some(Self { width_s, columns })
    }

    fn bins(&self) -> impl Iterator<Item = u16> {
        self.columns.iter().flat_map(|column| column.iter().map(|(bin, _)| bin))
    }

    /// The cells of the map, row by row.
    fn cells(&self) -> Vec<Cell> {
        let mut cells: Vec<(u16, Cell)> = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            let total: u64 = column.iter().map(|(_, count)| count).sum();
            let from = place as f64 * self.width_s;
            cells.extend(column.iter().map(|(bin, count)| {
                let share = count as f64 / total.max(1) as f64;
                (bin, Cell { x: (from, from + self.width_s), y: ResponseBins::ends_ns(bin), share })
            }));
        }
        cells.sort_by_key(|(bin, _)| *bin);
        // Neighbours must meet exactly so that they can be joined.
        let column = |at: f64| (at / self.width_s).round() * self.width_s;
        cells
            .into_iter()
            .map(|(_, cell)| Cell { x: (column(cell.x.0), column(cell.x.1)), ..cell })
            .collect()
    }
}

pub fn charts(view: &View) -> Vec<Chart> {
    let all: Vec<(usize, &Row, Map)> =
        coloured(view).filter_map(|(place, row)| Some((place, row, Map::from_row(row)?))).collect();
    let shown = &all[..all.len().min(MAPS)];
    let bins = || shown.iter().flat_map(|(.., map)| map.bins());
    let (Some(least), Some(most)) = (bins().min(), bins().max()) else { return Vec::new() };
    let last =
        shown.iter().map(|(.., map)| map.width_s * map.columns.len() as f64).fold(0.0, f64::max);
    let y = Axis::log(
        "response time",
        ResponseBins::ends_ns(least).0,
        ResponseBins::ends_ns(most).1,
        time,
    );
    let before = if view.run.profile == "devices" { "the ramp up" } else { "the warm-up" };
    let panels: Vec<Panel> = shown
        .iter()
        .map(|(place, row, map)| Panel {
            name: label(row),
            colour: series(*place),
            cells: map.cells(),
        })
        .collect();
    let draw = |form: Form| {
        let x =
            Axis::linear(&format!("seconds after {before}"), 0.0, last, form.ticks() + 2, short);
        heat(form, &x, &y, &panels)
    };
    let left_out = match all.len() - shown.len() {
        0 => String::new(),
        more => format!(" The maps of the {more} targets below these in the table are not drawn."),
    };
    let cells = shown.iter().map(|(_, row, _)| {
        let s = &row.spans.response_time;
        vec![row.target.to_string(), words::ns(s.p50_ns), words::ns(s.p99_ns), words::ns(s.max_ns)]
    });
    vec![Chart {
        name: "response-map".into(),
        title: "Response times over time".into(),
        alternative: format!(
            "Maps of the response times of {} over {last:.0} s, all repetitions one on the other, from {} to {}.",
            targets(shown.len()),
            time(ResponseBins::ends_ns(least).0.round()),
            time(ResponseBins::ends_ns(most).1.round())
        ),
        caption: format!(
            "The vertical axis is the response time, in steps of 26 %. A darker cell has a larger share of that moment's answers (on a square-root scale, so that 1 in 100 can be seen). Two bands mean two kinds of answers. A tall column means a pause.{left_out}"
        ),
        lines_by_target: false,
        drawings: Drawings::by(draw),
        plot: None,
        table: DataTable {
            columns: ["target", "p50", "p99", "max"].map(Into::into).into(),
            rows: cells.collect(),
        },
    }]
}
