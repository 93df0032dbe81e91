//! Response time by percentile on an HDR axis.
use super::axis::{Axis, time};
use super::canvas::{Form, Line};
use super::compose::{line_of, span};
use super::plot::Unit;
use super::{Chart, DataTable, coloured, targets};
use crate::view::View;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<_> = coloured(view).filter(|(_, row)| row.response_quantiles.len() > 1).collect();
    let points = || rows.iter().flat_map(|(_, row)| &row.response_quantiles);
    let (least, most) = span(points().map(|point| point.ns as f64), (f64::MAX, 0.0));
    let farthest = points().map(|point| point.q).fold(0.9, f64::max);
    if rows.is_empty() {
        return Vec::new();
    }
    let drawn: Vec<Line> = rows
        .iter()
        .map(|(place, row)| {
            let points = row.response_quantiles.iter().map(|point| (point.q, point.ns as f64));
            line_of(*place, row, points.collect())
        })
        .collect();
    let x = |form: Form| Axis::hdr("fraction of requests", farthest, !form.is_wide());
    let y = Axis::log("response time", least, most, time);
    let cells = rows.iter().map(|(_, row)| {
        let s = &row.spans.response_time;
        let figures = [s.p50_ns, s.p75_ns, s.p90_ns, s.p95_ns, s.p99_ns, s.p999_ns, s.max_ns];
        [row.target.to_string()].into_iter().chain(figures.map(words::ns)).collect()
    });
    vec![Chart {
        name: "percentiles".into(),
        title: "Response time by percentile".into(),
        alternative: format!(
            "Response time against the fraction of requests that were at least as fast, for {}, from {} to {}.",
            targets(rows.len()),
            time(least.round()),
            time(most.round())
        ),
        caption: "The axis gives every further nine the same room, as HdrHistogram does: the right half is what one request in ten and fewer suffers. \
                  All repetitions together; the last point is the maximum. A line ends where so many of the requests that were due had no right answer."
            .into(),
        table: DataTable::from_rows(
            ["target", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"],
            cells,
        ),
        ..Chart::of_lines((x, Unit::Quantile), (&y, Unit::Ns), &drawn)
    }]
}
