//! Where the time of a request goes: connect, headers, body.
use super::axis::time;
use super::compose::Parts;
use super::palette::series;
use super::{Chart, DataTable, coloured, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<(&Row, [f64; 3])> =
        coloured(view).filter_map(|(_, row)| Some((row, means(row)?))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let parts = Parts {
        axis: ("mean time of a request", time),
        names: [
            ("connect, shared by the requests of a connection", series(4)),
            ("headers", series(0)),
            ("body", series(2)),
        ],
    };
    let bars =
        rows.iter().map(|(row, means)| (*row, words::ns_f(Some(means.iter().sum())), *means));
    let columns = [
        "target",
        "connect p50",
        "connect per request",
        "headers p50",
        "headers p99",
        "body p50",
        "body p99",
    ];
    vec![Chart {
        name: "split".into(),
        title: "Where the time goes".into(),
        alternative: format!("Stacked bars of the mean time to connect, to the last header and to the last byte of the body for {}.", targets(rows.len())),
        caption: "Means, so that the parts add up. Headers: from handing the request to the kernel to the last byte of the header block; body: from there to its last byte."
            .into(),
        table: DataTable::from_rows(columns, rows.iter().map(|(row, means)| cells(row, means))),
        ..Chart::of_parts(parts, bars)
    }]
}

/// Mean nanoseconds of each part. The cost of a connection is divided among its requests.
fn means(row: &Row) -> Option<[f64; 3]> {
    let s = &row.spans;
    let requests = row.requests.completed.max(1) as f64;
    let connect = s.connect.mean_ns.map_or(0.0, |mean| mean * s.connect.count as f64 / requests);
    Some([connect, s.headers.mean_ns?, s.body.mean_ns.unwrap_or(0.0)])
}

fn cells(row: &Row, [connect, ..]: &[f64; 3]) -> Vec<String> {
    let s = &row.spans;
    vec![
        row.target.to_string(),
        words::ns(s.connect.p50_ns),
        words::ns_f(Some(*connect)),
        words::ns(s.headers.p50_ns),
        words::ns(s.headers.p99_ns),
        words::ns(s.body.p50_ns),
        words::ns(s.body.p99_ns),
    ]
}
