//! Devices: live connections over the ramps, with the phases as a table.
use super::axis::{Axis, short};
use super::canvas::{Form, Line, lines};
use super::palette::{AXIS, Stroke, series, stroke};
use super::plot::{Plot, TIME, Unit};
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<_> = coloured(view).filter(|(_, row)| !row.phases.is_empty()).collect();
    let mut drawn: Vec<Line> = Vec::new();
    for (place, row) in &rows {
        let live =
            |point: &crate::view::series::LoadPoint| (point.at_s, point.live_connections as f64);
        for (index, one) in row.series.iter().enumerate() {
            let points = one.load.iter().map(live).collect();
            drawn.push(Line {
                name: (index == 0).then(|| label(row)),
                colour: series(*place),
                stroke: stroke(*place),
                points,
                marks: false,
                joined: true,
                band: Vec::new(),
            });
        }
    }
    let all = || drawn.iter().flat_map(|line| &line.points);
    let (first, last) = all().fold((0.0_f64, 0.0_f64), |(f, l), (x, _)| (f.min(*x), l.max(*x)));
    let most = all().map(|(_, y)| *y).fold(0.0, f64::max);
    if drawn.is_empty() || most <= 0.0 {
        return Vec::new();
    }
    for phase in rows.iter().take(1).flat_map(|(_, row)| &row.phases).skip(1) {
        drawn.push(Line {
            name: None,
            colour: AXIS,
            stroke: Stroke::Dotted,
            points: vec![(phase.from_s, 0.0), (phase.from_s, most)],
            marks: false,
            joined: true,
            band: Vec::new(),
        });
    }
    let y = Axis::linear("devices alive", 0.0, most, 5, short);
    let x = |form: Form| {
        Axis::linear("seconds, 0 where all are alive", first, last, form.ticks() + 2, short)
    };
    let draw = |form: Form| lines(form, &x(form), &y, &drawn);
    let columns = [
        "target",
        "phase",
        "seconds",
        "peak",
        "opened",
        "requests/s",
        "connect p99",
        "headers p50",
        "headers p99",
        "errors",
    ];
    let cells = rows.iter().flat_map(|(_, row)| {
        row.phases.iter().map(|phase| {
            vec![
                row.target.to_string(),
                phase.name.replace('_', " "),
                format!("{:.0}", phase.length_s),
                words::whole(phase.connections.peak),
                words::whole(phase.connections.opened),
                words::count(phase.goodput_per_s),
                words::ns(phase.connect.p99_ns),
                words::ns(phase.headers.p50_ns),
                words::ns(phase.headers.p99_ns),
                words::whole(phase.errors.values().sum()),
            ]
        })
    });
    vec![Chart {
        name: "devices".into(),
        title: "Devices over the ramps".into(),
        alternative: format!("Live connections over time for {}: ramp up, sustained part, ramp down; up to {}.", targets(rows.len()), short(most)),
        caption: "Dashed verticals part ramp up, sustained part and ramp down; the headline counts the sustained part alone.".into(),
        lines_by_target: true,
        drawings: Drawings::by(draw),
        plot: Some(Plot::of((&x(Form::Wide), Unit::Seconds), (&y, Unit::Count), &drawn).linked(TIME)),
        table: DataTable { columns: columns.map(Into::into).into(), rows: cells.collect() },
    }]
}
