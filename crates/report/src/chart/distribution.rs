//! The distribution of response times.
use super::axis::{Axis, share, time};
use super::canvas::Line;
use super::compose::{line_of, span};
use super::plot::{Plot, Unit};
use super::{Chart, DataTable, coloured, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<_> = coloured(view).filter(|(_, row)| !row.response_bins.is_empty()).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let bins = || rows.iter().flat_map(|(_, row)| &row.response_bins);
    let ends = bins().flat_map(|bin| [bin.from_ns, bin.to_ns]);
    let (least, most) = span(ends, (f64::MAX, 0.0));
    let highest = bins().map(|bin| bin.fraction).fold(0.0, f64::max);
    let drawn: Vec<Line> =
        rows.iter().map(|(place, row)| line_of(*place, row, steps(row))).collect();
    let y = Axis::linear("share of requests", 0.0, highest, 5, share);
    let x = Axis::log("response time", least, most, time);
    let chart = Chart::of_lines((|_| x.clone(), Unit::Ns), (&y, Unit::Share), &drawn);
    let cells = rows.iter().map(|(_, row)| {
        let s = &row.spans.response_time;
        vec![
            row.target.to_string(),
            words::whole(s.count),
            words::ns(s.min_ns),
            words::ns_f(s.mean_ns),
            words::ns_f(s.stdev_ns),
            words::ns(s.max_ns),
        ]
    });
    vec![Chart {
        name: "distribution".into(),
        title: "Distribution of response times".into(),
        alternative: format!(
            "Share of requests by response time for {}, in bins of equal width on a logarithmic axis.",
            targets(rows.len())
        ),
        caption: format!(
            "Each step is a bin {} wide. Two peaks are two kinds of answers: look for a cache, a garbage collector, or a delayed acknowledgement at 40 ms.",
            bins().next().map_or_else(
                || words::UNKNOWN.into(),
                |bin| words::percent(bin.to_ns / bin.from_ns - 1.0)
            )
        ),
        table: DataTable::from_rows(["target", "requests", "min", "mean", "± sd", "max"], cells),
        plot: chart.plot.map(Plot::in_steps),
        ..chart
    }]
}

/// The bins of a target as a line that begins and ends at the bottom.
fn steps(row: &Row) -> Vec<(f64, f64)> {
    let bins = &row.response_bins;
    let steps =
        bins.iter().flat_map(|bin| [(bin.from_ns, bin.fraction), (bin.to_ns, bin.fraction)]);
    let first = bins.first().map(|bin| (bin.from_ns, 0.0));
    let last = bins.last().map(|bin| (bin.to_ns, 0.0));
    first.into_iter().chain(steps).chain(last).collect()
}
