//! The distribution of response times.
use super::axis::{Axis, share, time};
use super::canvas::{Form, Line, lines};
use super::palette::{series, stroke};
use super::plot::{Plot, Unit};
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<_> = coloured(view).filter(|(_, row)| !row.response_bins.is_empty()).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let bins = || rows.iter().flat_map(|(_, row)| &row.response_bins);
    let (least, most) =
        bins().fold((f64::MAX, 0.0_f64), |(l, m), bin| (l.min(bin.from_ns), m.max(bin.to_ns)));
    let highest = bins().map(|bin| bin.fraction).fold(0.0, f64::max);
    let drawn: Vec<Line> = rows
        .iter()
        .map(|(place, row)| {
            let steps = row
                .response_bins
                .iter()
                .flat_map(|bin| [(bin.from_ns, bin.fraction), (bin.to_ns, bin.fraction)]);
            let ends = |ns: Option<f64>| ns.map(|ns| (ns, 0.0));
            let first = ends(row.response_bins.first().map(|bin| bin.from_ns));
            let last = ends(row.response_bins.last().map(|bin| bin.to_ns));
            let points = first.into_iter().chain(steps).chain(last).collect();
            Line {
                name: Some(label(row)),
                colour: series(*place),
                stroke: stroke(*place),
                points,
                marks: false,
                joined: true,
                band: Vec::new(),
            }
        })
        .collect();
    let y = Axis::linear("share of requests", 0.0, highest, 5, share);
    let x = Axis::log("response time", least, most, time);
    let draw = |form: Form| lines(form, &x, &y, &drawn);
    let rows_of_table = rows.iter().map(|(_, row)| {
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
        lines_by_target: true,
        drawings: Drawings::by(draw),
        plot: Some(Plot::of((&x, Unit::Ns), (&y, Unit::Share), &drawn).in_steps()),
        table: DataTable {
            columns: ["target", "requests", "min", "mean", "± sd", "max"].map(Into::into).into(),
            rows: rows_of_table.collect(),
        },
    }]
}
