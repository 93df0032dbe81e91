//! Sweeps: throughput and response time over connections, with the law, the knee and the
//! predictions. Capacity searches: over the offered rate.
use pippin_model::plan::profile::Searched;

use super::axis::{Axis, short, time};
use super::canvas::{Form, Line};
use super::compose::span;
use super::palette::{AXIS, Stroke, series, stroke};
use super::plot::Unit;
use super::{Chart, DataTable, coloured, rates, targets};
use crate::terminal::{parameter, signed};
use crate::view::View;
use crate::view::row::Row;
use crate::view::sweep::{Point, Sweep};
use crate::words;

/// A target with the place that decides its colour, and its points.
pub(super) type Shown<'a> = (usize, &'a Row, &'a Sweep);

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<Shown<'_>> =
        coloured(view).filter_map(|(place, row)| Some((place, row, row.sweep.as_ref()?))).collect();
    let Some((_, _, first)) = rows.first() else { return Vec::new() };
    if first.ladder.is_some() {
        return rates::charts(&rows);
    }
    if first.points.iter().any(|point| point.at.tried().is_some()) {
        return vec![search(&rows)];
    }
    let mut charts = vec![throughput(&rows)];
    charts.extend(response(&rows));
    charts
}

/// The least and the most of a figure.
pub(super) fn range(rows: &[Shown<'_>], figure: fn(&Point) -> Option<f64>) -> (f64, f64) {
    let figures = rows.iter().flat_map(|(_, _, sweep)| &sweep.points).filter_map(figure);
    span(figures, (f64::MAX, 0.0))
}

/// The steps on an axis.
pub(super) fn by_step(rows: &[Shown<'_>], title: &str, form: Form) -> Axis {
    let values: Vec<f64> =
        rows.iter().flat_map(|(_, _, sweep)| &sweep.points).map(|point| point.at.size()).collect();
    Axis::log_at(title, &values, 2 * form.ticks() + 2, short)
}

/// A figure over the steps, where it is known.
pub(super) fn points(sweep: &Sweep, figure: fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    sweep.points.iter().filter_map(|point| Some((point.at.size(), figure(point)?))).collect()
}

/// What was measured of a target, the law through it, its knee, and what was predicted.
fn curves((place, row, sweep): &Shown<'_>, most: f64) -> impl Iterator<Item = Line> {
    let colour = series(*place);
    let measured = Line {
        name: Some(row.target.to_string()),
        marks: true,
        joined: sweep.fit.is_none(),
        ..Line::joined(colour, stroke(*place), points(sweep, |point| point.goodput_per_s))
    };
    let law = sweep.fit.as_ref().map(|fit| Line::joined(colour, Stroke::Solid, fit.curve.clone()));
    let knee = sweep
        .knee
        .map(|knee| Line::joined(colour, Stroke::Dotted, vec![(knee.n, 0.0), (knee.n, most)]));
    let foretold =
        points(sweep, |point| point.prediction.map(|prediction| prediction.throughput_per_s));
    let foretold =
        Line { marks: true, joined: false, ..Line::joined(AXIS, Stroke::Solid, foretold) };
    [Some(measured), law, knee, Some(foretold)].into_iter().flatten()
}

fn throughput(rows: &[Shown<'_>]) -> Chart {
    let (_, most) = range(rows, |point| point.goodput_per_s);
    let drawn: Vec<Line> = rows.iter().flat_map(|shown| curves(shown, most)).collect();
    let x = |form: Form| by_step(rows, "connections", form);
    let y = Axis::linear("requests/s", 0.0, most, 5, short);
    let columns = [
        "target",
        "connections",
        "requests/s",
        "predicted",
        "error",
        "mean response",
        "predicted",
        "error",
        "p99",
        "CPU",
        "verdict",
    ];
    let law = |(_, row, sweep): &Shown<'_>| Some(format!("{}: {}", row.target, law(sweep)?));
    let laws = rows.iter().filter_map(law).collect::<Vec<_>>().join(" ");
    Chart {
        name: "sweep".into(),
        title: "Throughput by connections".into(),
        alternative: format!(
            "Requests per second by number of connections for {}, with fitted curves. {laws}",
            targets(rows.len()),
        ),
        caption: format!(
            "Coloured dots: measured. Curves: the Universal Scalability Law through them. Dashed verticals: the knee. Grey dots: what was predicted \
             for a point from the points before it, by the law or by the best throughput so far, whichever missed the latest points by less. {laws}"
        ),
        table: table(columns, rows, table_row),
        ..Chart::of_lines((x, Unit::Count), (&y, Unit::Count), &drawn)
    }
}

/// A row for each point of each target.
fn table<const N: usize>(
    columns: [&str; N],
    rows: &[Shown<'_>],
    cells: fn(&Row, &Point) -> Vec<String>,
) -> DataTable {
    let of_target =
        |(_, row, sweep): &Shown<'_>| sweep.points.iter().map(|point| cells(row, point)).collect();
    DataTable::from_rows(columns, rows.iter().flat_map::<Vec<_>, _>(of_target))
}

fn law(sweep: &Sweep) -> Option<String> {
    let law = &sweep.fit.as_ref()?.law;
    let peak = law.peak_n.map(|n| format!(", highest at {n:.0} connections")).unwrap_or_default();
    let knee = sweep.knee.map(|knee| format!(", knee at {}", knee.words())).unwrap_or_default();
    let (lambda, sigma, kappa) =
        (parameter(law.lambda, 0), parameter(law.sigma, 4), parameter(law.kappa, 6));
    let doubts: String = sweep.doubts().iter().map(|doubt| format!("{doubt} ")).collect();
    Some(format!("{doubts}λ {lambda}, σ {sigma}, κ {kappa}{peak}{knee}."))
}

fn table_row(row: &Row, point: &Point) -> Vec<String> {
    let prediction = point.prediction;
    vec![
        row.target.to_string(),
        words::whole(point.at.size() as u64),
        words::count(point.goodput_per_s),
        words::count(prediction.map(|p| p.throughput_per_s)),
        signed(prediction.and_then(|p| p.throughput_error)),
        words::ns_f(point.response_time.mean_ns),
        words::ns_f(prediction.map(|p| p.response_ns)),
        signed(prediction.and_then(|p| p.response_error)),
        words::ns(point.response_time.p99_ns),
        words::cores(point.target_cores),
        if point.reasons.is_empty() {
            point.verdict.to_string()
        } else {
            format!("{}: {}", point.verdict, point.reasons.join(", "))
        },
    ]
}

fn p99(point: &Point) -> Option<f64> {
    point.response_time.p99_ns.map(|ns| ns as f64)
}

fn p50(point: &Point) -> Option<f64> {
    point.response_time.p50_ns.map(|ns| ns as f64)
}

/// Lines of the median and the 99th percentile, with the knee of several rates; `None` without
/// figures.
pub(super) fn times(rows: &[Shown<'_>], title: &str) -> Option<Chart> {
    let (least, _) = range(rows, p50);
    let (_, most) = range(rows, p99);
    if most <= 0.0 {
        return None;
    }
    let both = |(place, row, sweep): &Shown<'_>| {
        let of = |stroke, figure| Line {
            marks: true,
            ..Line::joined(series(*place), stroke, points(sweep, figure))
        };
        let median = Line { name: Some(row.target.to_string()), ..of(Stroke::Solid, p50) };
        let knee = sweep.ladder.and_then(|ladder| ladder.knee).map(|knee| {
            let ends = vec![(knee.per_s, least), (knee.per_s, most)];
            Line::joined(series(*place), Stroke::Dotted, ends)
        });
        [Some(median), Some(of(Stroke::Dashed, p99)), knee].into_iter().flatten()
    };
    let drawn: Vec<Line> = rows.iter().flat_map(both).collect();
    let y = Axis::log("response time", least, most, time);
    let x = |form: Form| by_step(rows, title, form);
    Some(Chart::of_lines((x, Unit::Count), (&y, Unit::Ns), &drawn))
}

fn response(rows: &[Shown<'_>]) -> Option<Chart> {
    let cells = |row: &Row, point: &Point| {
        let s = &point.response_time;
        vec![
            row.target.to_string(),
            words::whole(point.at.size() as u64),
            words::ns(s.p50_ns),
            words::ns(s.p90_ns),
            words::ns(s.p99_ns),
            words::ns(s.max_ns),
        ]
    };
    Some(Chart {
        name: "sweep-response".into(),
        title: "Response time by connections".into(),
        alternative: format!(
            "Median and 99th percentile of the response time by number of connections for {}.",
            targets(rows.len())
        ),
        caption: "Solid: the median. Dashed: the 99th percentile.".into(),
        table: table(["target", "connections", "p50", "p90", "p99", "max"], rows, cells),
        ..times(rows, "connections")?
    })
}

fn search(rows: &[Shown<'_>]) -> Chart {
    let capacities: Vec<String> = rows
        .iter()
        .map(|(_, row, sweep)| format!("{}: {}", row.target, sweep.outcome().join(" ")))
        .collect();
    let capacities = capacities.join(" ");
    let searched = rows.first().map(|(_, _, sweep)| sweep.searched()).unwrap_or_default();
    let tried = rows.first().map(|(_, _, sweep)| sweep.tried_title()).unwrap_or_default();
    let (by, axis) = match searched {
        Searched::Requests => ("offered rate", "offered requests/s"),
        Searched::Walks => ("offered rate", "offered walks/s"),
        Searched::Devices => ("number of devices", "devices"),
    };
    let cells = |row: &Row, point: &Point| {
        let s = &point.response_time;
        vec![
            row.target.to_string(),
            words::count(Some(point.at.size())),
            words::count(point.goodput_per_s),
            words::ns(s.p50_ns),
            words::ns(s.p99_ns),
            point.kept(),
        ]
    };
    Chart {
        name: "capacity".into(),
        title: format!("Response time by {by}"),
        alternative: format!(
            "Median and 99th percentile of the response time by {by}. {capacities}"
        ),
        caption: format!("Solid: the median. Dashed: the 99th percentile. {capacities}"),
        lines_by_target: true,
        table: table(["target", tried, "answered/s", "p50", "p99", "objective"], rows, cells),
        ..times(rows, axis).unwrap_or_default()
    }
}
