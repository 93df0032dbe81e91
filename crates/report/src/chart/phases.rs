//! Devices: live connections over the ramps, with the phases as a table.
use super::axis::{Axis, short};
use super::canvas::{Form, Line};
use super::compose::{line_of, points, span};
use super::palette::{AXIS, Stroke};
use super::plot::Unit;
use super::{Chart, DataTable, coloured, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<_> = coloured(view).filter(|(_, row)| !row.phases.is_empty()).collect();
    let mut drawn: Vec<Line> = Vec::new();
    for (place, row) in &rows {
        for (index, one) in row.series.iter().enumerate() {
            let live = one.load.iter().map(|point| (point.at_s, point.live_connections as f64));
            let line = line_of(*place, row, live.collect());
            drawn.push(Line { name: line.name.filter(|_| index == 0), ..line });
        }
    }
    let (first, last) = span(points(&drawn).map(|(x, _)| x), (0.0, 0.0));
    let (_, most) = span(points(&drawn).map(|(_, y)| y), (0.0, 0.0));
    if most <= 0.0 {
        return Vec::new();
    }
    for phase in rows.iter().take(1).flat_map(|(_, row)| &row.phases).skip(1) {
        let upright = vec![(phase.from_s, 0.0), (phase.from_s, most)];
        drawn.push(Line::joined(AXIS, Stroke::Dotted, upright));
    }
    let y = Axis::linear("devices alive", 0.0, most, 5, short);
    let x = |form: Form| {
        Axis::linear("seconds, 0 where all are alive", first, last, form.ticks() + 2, short)
    };
    let columns = [
        "target",
        "phase",
        "seconds",
        "peak",
        "opened",
        "right",
        "right/s",
        "connect p99",
        "headers p50",
        "headers p99",
        "errors",
    ];
    vec![Chart {
        name: "devices".into(),
        title: "Devices over the ramps".into(),
        alternative: format!("Live connections over time for {}: ramp up, sustained part, ramp down; up to {}.", targets(rows.len()), short(most)),
        caption: "Dashed verticals part ramp up, sustained part and ramp down; the headline counts the sustained part alone.".into(),
        table: DataTable::from_rows(columns, rows.iter().flat_map(|(_, row)| cells(row))),
        ..Chart::over_time(x, (&y, Unit::Count), &drawn)
    }]
}

fn cells(row: &Row) -> impl Iterator<Item = Vec<String>> + '_ {
    row.phases.iter().map(|phase| {
        vec![
            row.target.to_string(),
            phase.name.replace('_', " "),
            format!("{:.0}", phase.length_s),
            words::whole(phase.connections.peak),
            words::whole(phase.connections.opened),
            words::whole(phase.requests.good),
            words::count(phase.goodput_per_s),
            words::ns(phase.connect.p99_ns),
            words::ns(phase.headers.p50_ns),
            words::ns(phase.headers.p99_ns),
            words::whole(phase.errors.values().sum()),
        ]
    })
}
