//! Several rates: response time, processors, processor time per request and memory over the offered
//! rate.
use super::axis::{Axis, core_percent, size, time};
use super::canvas::{Form, Line};
use super::palette::{series, stroke};
use super::plot::Unit;
use super::sweep::{Shown, by_step, points, range, times};
use super::{Chart, DataTable, targets};
use crate::view::rates::RateCells;
use crate::view::sweep::Point;

const OFFERED: &str = "offered requests/s";
/// A curve needs so many points.
const FEWEST: usize = 3;

/// One picture for each figure; none if no target has enough points for a curve.
pub fn charts(rows: &[Shown<'_>]) -> Vec<Chart> {
    if rows.iter().all(|(_, _, sweep)| sweep.points.len() < FEWEST) {
        return Vec::new();
    }
    let has_knee = |(_, _, sweep): &Shown<'_>| sweep.ladder.is_some_and(|it| it.knee.is_some());
    let knees = if rows.iter().any(has_knee) { " Dotted verticals: the knee." } else { "" };
    let response = times(rows, OFFERED).map(|chart| Chart {
        name: "rates-response".into(),
        title: "Response time by offered rate".into(),
        alternative: format!(
            "Median and 99th percentile of the response time by offered rate for {}.",
            targets(rows.len())
        ),
        caption: format!(
            "Solid: the median. Dashed: the 99th percentile.{knees} {}",
            how_far(rows)
        ),
        table: table(rows),
        ..chart
    });
    let others = FIGURES.iter().filter_map(|of| of.chart(rows));
    response.into_iter().chain(others).collect()
}

/// How far each target kept up.
fn how_far(rows: &[Shown<'_>]) -> String {
    let each = rows.iter().filter_map(|(_, row, sweep)| {
        Some(format!("{}: {}", row.target, sweep.ladder.as_ref()?.words()))
    });
    each.collect::<Vec<_>>().join(" ")
}

/// A line for each rate of each target, and one for its use at no load.
fn table(rows: &[Shown<'_>]) -> DataTable {
    let lines = rows.iter().flat_map(|(_, row, sweep)| {
        let cells = sweep.ladder.iter().flat_map(|ladder| RateCells::all(sweep, ladder));
        cells
            .map(|cells| [row.target.to_string()].into_iter().chain(cells.0).collect())
            .collect::<Vec<Vec<String>>>()
    });
    let [a, b, c, d, e, f, g, h] = RateCells::TITLES;
    DataTable::from_rows(["target", a, b, c, d, e, f, g, h], lines)
}

/// A figure over the rate.
struct Figure {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    unit: Unit,
    write: fn(f64) -> String,
    of: fn(&Point) -> Option<f64>,
}

const FIGURES: [Figure; 3] = [
    Figure {
        name: "rates-cpu",
        title: "Processors by offered rate",
        axis: "CPU, 100 % is one core",
        unit: Unit::Cores,
        write: core_percent,
        of: |point| point.target_cores,
    },
    Figure {
        name: "rates-cpu-per-request",
        title: "CPU time per request by offered rate",
        axis: "CPU time per request",
        unit: Unit::Ns,
        write: time,
        // Seconds per million are microseconds.
        of: |point| point.cpu_s_per_million.map(|us| us * 1e3),
    },
    Figure {
        name: "rates-memory",
        title: "Memory by offered rate",
        axis: "memory",
        unit: Unit::Bytes,
        write: size,
        of: |point| point.memory_bytes,
    },
];

impl Figure {
    /// `None` if it is known of no target.
    fn chart(&self, rows: &[Shown<'_>]) -> Option<Chart> {
        let (_, most) = range(rows, self.of);
        if most <= 0.0 {
            return None;
        }
        let line = |(place, row, sweep): &Shown<'_>| Line {
            name: Some(row.target.to_string()),
            marks: true,
            ..Line::joined(series(*place), stroke(*place), points(sweep, self.of))
        };
        let drawn: Vec<Line> = rows.iter().map(line).collect();
        let x = |form: Form| by_step(rows, OFFERED, form);
        let y = match self.unit {
            Unit::Bytes => {
                let (least, _) = range(rows, self.of);
                Axis::log_bytes(self.axis, least, most)
            }
            _ => Axis::linear(self.axis, 0.0, most, 5, self.write),
        };
        Some(Chart {
            name: self.name.into(),
            title: self.title.into(),
            alternative: format!(
                "{} for {}; the figures are in the table of the response times.",
                self.title,
                targets(rows.len())
            ),
            caption: String::new(),
            ..Chart::of_lines((x, Unit::Count), (&y, self.unit), &drawn)
        })
    }
}
