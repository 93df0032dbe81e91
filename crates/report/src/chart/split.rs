//! Where the time of a request goes: connect, headers, body.
use super::axis::{Axis, time};
use super::canvas::{Bar, Form, bars};
use super::palette::series;
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::words;

const PARTS: [&str; 3] = ["connect, shared by the requests of a connection", "headers", "body"];

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<(&Row, [f64; 3])> =
        coloured(view).filter_map(|(_, row)| Some((row, parts(row)?))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let colours = [series(4), series(0), series(2)];
    let most = rows.iter().map(|(_, parts)| parts.iter().sum::<f64>()).fold(0.0, f64::max);
    let drawn: Vec<Bar> = rows
        .iter()
        .map(|(row, parts)| Bar {
            name: label(row),
            figure: words::ns_f(Some(parts.iter().sum())),
            parts: parts.iter().copied().zip(colours).collect(),
            ..Bar::default()
        })
        .collect();
    let legend: Vec<_> = PARTS.iter().map(|part| (*part).to_string()).zip(colours).collect();
    let draw = |form: Form| {
        bars(
            form,
            &Axis::linear("mean time of a request", 0.0, most, form.ticks(), time),
            &legend,
            &drawn,
        )
    };
    let cells = rows.iter().map(|(row, parts)| {
        let s = &row.spans;
        let shared = words::ns_f(Some(parts[0]));
        vec![
            row.target.to_string(),
            words::ns(s.connect.p50_ns),
            shared,
            words::ns(s.headers.p50_ns),
            words::ns(s.headers.p99_ns),
            words::ns(s.body.p50_ns),
            words::ns(s.body.p99_ns),
        ]
    });
    let columns = [
        "target",
        "connect p50",
        "connect a request",
        "headers p50",
        "headers p99",
        "body p50",
        "body p99",
    ]
    .map(Into::into)
    .into();
    vec![Chart {
        name: "split".into(),
        title: "Where the time goes".into(),
        alternative: format!("Stacked bars of the mean time to connect, to the last header and to the last byte of the body for {}.", targets(rows.len())),
        caption: "Means, so that the parts add up. Headers: from handing the request to the kernel to the last byte of the header block; body: from there to its last byte."
            .into(),
        lines_by_target: false,
        drawings: Drawings::by(draw),
        plot: None,
        table: DataTable { columns, rows: cells.collect() },
    }]
}

/// Mean nanoseconds of each part. The cost of a connection is divided among its requests.
fn parts(row: &Row) -> Option<[f64; 3]> {
    let s = &row.spans;
    let requests = row.requests.completed.max(1) as f64;
    let connect = s.connect.mean_ns.map_or(0.0, |mean| mean * s.connect.count as f64 / requests);
    Some([connect, s.headers.mean_ns?, s.body.mean_ns.unwrap_or(0.0)])
}
