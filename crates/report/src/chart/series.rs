//! Figures over time: throughput, response time, CPU, memory.
use super::axis::{self, Axis};
use super::canvas::{Form, Line, lines};
use super::palette::{series, stroke};
use super::{Chart, DataTable, coloured, label};
use crate::view::View;
use crate::view::series::Series;
use crate::words;

/// One of the figures.
struct Quantity {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    points: fn(&Series) -> Vec<(f64, f64)>,
    label: fn(f64) -> String,
    scale: Scale,
}

/// The vertical axis.
#[derive(PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
    Bytes,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "throughput-over-time",
        title: "Throughput over time",
        unit: "requests/s",
        points: throughput,
        label: axis::short,
        scale: Scale::Linear,
    },
    Quantity {
        name: "response-over-time",
        title: "Response time over time",
        unit: "p99 of each second",
        points: response,
        label: axis::time,
        scale: Scale::Log,
    },
    Quantity {
        name: "cpu-over-time",
        title: "CPU of the target over time",
        unit: "100 % is one core",
        points: cpu,
        label: axis::core_percent,
        scale: Scale::Linear,
    },
    Quantity {
        name: "memory-over-time",
        title: "Memory of the target over time",
        unit: "resident set of the tree",
        points: memory,
        label: axis::size,
        scale: Scale::Bytes,
    },
];

pub fn charts(view: &View) -> Vec<Chart> {
    QUANTITIES.iter().filter_map(|quantity| chart(view, quantity)).collect()
}

fn chart(view: &View, quantity: &Quantity) -> Option<Chart> {
    let mut drawn = Vec::new();
    let mut rows = Vec::new();
    for (place, row) in coloured(view) {
        for (index, one) in row.series.iter().enumerate() {
            let points = (quantity.points)(one);
            if points.is_empty() {
                continue;
            }
            rows.push(summary(&row.target.to_string(), one, &points, quantity));
            let name = (index == 0).then(|| label(row));
            drawn.push(Line {
                name,
                colour: series(place),
                stroke: stroke(place),
                points,
                marks: false,
                joined: true,
            });
        }
    }
    let all = || drawn.iter().flat_map(|line| &line.points);
    let (first, last) = all().fold((0.0_f64, 0.0_f64), |(f, l), (x, _)| (f.min(*x), l.max(*x)));
    let (least, most) = all().fold((f64::MAX, 0.0_f64), |(l, m), (_, y)| (l.min(*y), m.max(*y)));
    if drawn.is_empty() || most <= 0.0 {
        return None;
    }
    let y = match quantity.scale {
        Scale::Log if least > 0.0 => Axis::log(quantity.unit, least, most, quantity.label),
        Scale::Bytes if least > 0.0 => Axis::log_bytes(quantity.unit, least, most),
        _ => Axis::linear(quantity.unit, 0.0, most, 5, quantity.label),
    };
    let before = if view.run.profile == "devices" { "the ramp up" } else { "the warm-up" };
    let x = |form: Form| {
        Axis::linear(&format!("seconds after {before}"), first, last, form.ticks() + 2, axis::short)
    };
    Some(Chart {
        name: quantity.name.into(),
        title: quantity.title.into(),
        alternative: format!(
            "{} of {} trials, a point a second, from {first:.0} s to {last:.0} s.",
            quantity.title,
            drawn.len()
        ),
        caption: format!(
            "A line for each repetition; left of 0 is {before}, which the headline does not count."
        ),
        lines_by_target: true,
        wide: lines(Form::Wide, &x(Form::Wide), &y, &drawn),
        narrow: lines(Form::Narrow, &x(Form::Narrow), &y, &drawn),
        table: DataTable {
            columns: ["target", "repetition", "seconds", "lowest", "highest", "last"]
                .map(Into::into)
                .into(),
            rows,
        },
    })
}

fn summary(target: &str, one: &Series, points: &[(f64, f64)], quantity: &Quantity) -> Vec<String> {
    let measured: Vec<f64> = points.iter().filter(|(at, _)| *at >= 0.0).map(|(_, y)| *y).collect();
    let show = |value: Option<f64>| {
        value.map_or_else(|| words::UNKNOWN.into(), |v| (quantity.label)((v * 10.0).round() / 10.0))
    };
    let (least, most) =
        (measured.iter().copied().reduce(f64::min), measured.iter().copied().reduce(f64::max));
    vec![
        target.into(),
        one.repetition.to_string(),
        measured.len().to_string(),
        show(least),
        show(most),
        show(measured.last().copied()),
    ]
}

fn throughput(series: &Series) -> Vec<(f64, f64)> {
    series.load.iter().map(|point| (point.at_s, point.throughput_per_s)).collect()
}

fn response(series: &Series) -> Vec<(f64, f64)> {
    series
        .load
        .iter()
        .filter_map(|point| Some((point.at_s, point.response_p99_ns? as f64)))
        .collect()
}

fn cpu(series: &Series) -> Vec<(f64, f64)> {
    series.usage.iter().filter_map(|point| Some((point.at_s, point.target_cores?))).collect()
}

fn memory(series: &Series) -> Vec<(f64, f64)> {
    series
        .usage
        .iter()
        .filter_map(|point| Some((point.at_s, point.target_rss_bytes? as f64)))
        .collect()
}
