//! Load beyond the capacity: right answers over the offered rate, and over time. Both are multiples
//! of each target's own capacity, so that fast and slow targets can be compared.
use super::axis::{Axis, short, time};
use super::canvas::{Form, Line};
use super::compose::{line_of, points};
use super::palette::{FAINT, Stroke};
use super::plot::Unit;
use super::series::{merged, repetitions};
use super::{Chart, DataTable, coloured, targets};
use crate::view::View;
use crate::view::overload::OverloadView;
use crate::view::row::Row;
use crate::view::series::{LoadPoint, Series};
use crate::words;

type Shown<'a> = (usize, &'a Row, &'a OverloadView);

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<Shown<'_>> = coloured(view)
        .filter_map(|(place, row)| Some((place, row, row.overload.as_ref()?)))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![by_rate(&rows), over_time(&rows)]
}

/// What a target without a limit would answer.
fn asked(points: Vec<(f64, f64)>) -> Line {
    Line { name: Some("offered".into()), ..Line::joined(FAINT, Stroke::Dotted, points) }
}

fn highest(drawn: &[Line]) -> f64 {
    points(drawn).map(|(_, y)| y).fold(1.0, f64::max)
}

fn by_rate(rows: &[Shown<'_>]) -> Chart {
    let mut drawn: Vec<Line> = rows
        .iter()
        .map(|(place, row, overload)| {
            let capacity = overload.seen.capacity_per_s;
            let levels = overload.seen.levels.iter();
            let points = levels.map(|level| (level.multiple, level.goodput_per_s / capacity));
            Line { marks: true, ..line_of(*place, row, points.collect()) }
        })
        .collect();
    // The line of the offered rate ends a little above the best target.
    let most = highest(&drawn) * 1.1;
    drawn.push(asked(vec![(0.0, 0.0), (most, most)]));
    let last = rows
        .iter()
        .flat_map(|(_, _, overload)| &overload.seen.levels)
        .map(|level| level.multiple)
        .fold(1.0, f64::max);
    let x = |form: Form| {
        Axis::linear("offered, multiples of the capacity", 0.0, last, form.ticks() + 2, short)
    };
    let y = Axis::linear("right answers, multiples of the capacity", 0.0, most, 5, short);
    Chart {
        name: "overload".into(),
        title: "Right answers beyond the capacity".into(),
        alternative: alternative(rows),
        caption: "Each point is one rate, without its first second. A target that keeps its level sheds or queues what it cannot answer; one that falls collapses."
            .into(),
        table: DataTable::from_rows(
            ["target", "offered/s", "times the capacity", "right answers/s", "errors/s", "p50", "p99", "memory"],
            rows.iter().flat_map(|(_, row, overload)| cells(row, overload)),
        ),
        ..Chart::of_lines((x, Unit::Count), (&y, Unit::Count), &drawn)
    }
}

fn alternative(rows: &[Shown<'_>]) -> String {
    let said: Vec<String> =
        rows.iter().map(|(_, row, overload)| overload.sentences(&row.target.to_string())).collect();
    format!("Right answers of {} by the offered rate. {}", targets(rows.len()), said.join(" "))
}

fn cells<'a>(row: &'a Row, overload: &'a OverloadView) -> impl Iterator<Item = Vec<String>> + 'a {
    overload.seen.levels.iter().map(|level| {
        vec![
            row.target.to_string(),
            words::count(Some(level.offered_per_s)),
            short(level.multiple),
            words::count(Some(level.goodput_per_s)),
            words::count(Some(level.errors_per_s)),
            words::ns(level.response_p50_ns),
            words::ns(level.response_p99_ns),
            words::bytes(level.target_memory_bytes),
        ]
    })
}

/// Rates of a target over time, as multiples of its capacity.
fn course(
    (_, row, overload): &Shown<'_>,
    figure: fn(&LoadPoint) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let capacity = overload.seen.capacity_per_s;
    let multiple = |point: &LoadPoint| Some((point.at_s, figure(point)? / capacity));
    let of = |one: &Series| one.load.iter().filter_map(multiple).collect();
    let moments = merged(&repetitions(&row.series, of));
    moments.into_iter().map(|moment| (moment.at, moment.median)).collect()
}

fn over_time(rows: &[Shown<'_>]) -> Chart {
    let target =
        |shown: &Shown<'_>| line_of(shown.0, shown.1, course(shown, |point| point.goodput_per_s));
    let mut drawn: Vec<Line> = rows.iter().map(target).collect();
    // All targets get the same multiples at the same time, so the first one shows them.
    drawn.extend(rows.first().map(|shown| asked(course(shown, |point| point.offered_per_s))));
    let most = highest(&drawn);
    let last = points(&drawn).map(|(x, _)| x).fold(1.0, f64::max);
    let x = |form: Form| Axis::linear("seconds", 0.0, last, form.ticks() + 2, short);
    let y = Axis::linear("multiples of the capacity", 0.0, most, 5, short);
    let cells = rows.iter().map(|(_, row, overload)| {
        vec![
            row.target.to_string(),
            words::count(Some(overload.seen.capacity_per_s)),
            overload.recovered.clone(),
        ]
    });
    Chart {
        name: "overload-over-time".into(),
        title: "Right answers through the overload and after it".into(),
        alternative: format!(
            "Right answers of {} over {}, as multiples of their capacity, beside what was offered.",
            targets(rows.len()),
            time(last * 1e9)
        ),
        caption: "Dotted: what was offered. At the end it is half of the capacity again: above the dotted line are answers to what had waited."
            .into(),
        table: DataTable::from_rows(["target", "capacity/s", "recovery"], cells),
        ..Chart::over_time(x, (&y, Unit::Count), &drawn)
    }
}
