//! Load beyond the capacity: right answers over the offered rate, and over time. Both are multiples
//! of each target's own capacity, so that fast and slow targets can be compared.
use super::axis::{Axis, short, time};
use super::canvas::{Form, Line, lines};
use super::palette::{FAINT, Stroke, series, stroke};
use super::plot::{Plot, TIME, Unit};
use super::series::merged;
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::view::overload::OverloadView;
use crate::view::row::Row;
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

fn line(place: usize, row: &Row, points: Vec<(f64, f64)>, marks: bool) -> Line {
    Line {
        name: Some(label(row)),
        colour: series(place),
        stroke: stroke(place),
        points,
        marks,
        joined: true,
        band: Vec::new(),
    }
}

/// What a target without a limit would answer.
fn asked(points: Vec<(f64, f64)>) -> Line {
    Line {
        name: Some("offered".into()),
        colour: FAINT,
        stroke: Stroke::Dotted,
        points,
        marks: false,
        joined: true,
        band: Vec::new(),
    }
}

fn highest(drawn: &[Line]) -> f64 {
    drawn.iter().flat_map(|line| &line.points).map(|(_, y)| *y).fold(1.0, f64::max)
}

fn by_rate(rows: &[Shown<'_>]) -> Chart {
    let mut drawn: Vec<Line> = rows
        .iter()
        .map(|(place, row, overload)| {
            let capacity = overload.seen.capacity_per_s;
            let levels = overload.seen.levels.iter();
            let points = levels.map(|level| (level.multiple, level.goodput_per_s / capacity));
            line(*place, row, points.collect(), true)
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
    let draw = |form: Form| lines(form, &x(form), &y, &drawn);
    Chart {
        name: "overload".into(),
        title: "Right answers beyond the capacity".into(),
        alternative: alternative(rows),
        caption: "Each point is one rate, without its first second. A target that keeps its level sheds or queues what it cannot answer; one that falls collapses."
            .into(),
        lines_by_target: true,
        drawings: Drawings::by(draw),
        plot: Some(Plot::of((&x(Form::Wide), Unit::Count), (&y, Unit::Count), &drawn)),
        table: DataTable {
            columns: ["target", "offered/s", "times the capacity", "right answers/s", "errors/s", "p50", "p99", "memory"]
                .map(Into::into)
                .into(),
            rows: rows.iter().flat_map(|(_, row, overload)| cells(row, overload)).collect(),
        },
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
            words::bytes(level.target_rss_bytes),
        ]
    })
}

fn over_time(rows: &[Shown<'_>]) -> Chart {
    let over_capacity =
        |row: &Row, capacity: f64, figure: fn(&crate::view::series::LoadPoint) -> Option<f64>| {
            let repetitions: Vec<Vec<(f64, f64)>> = row
                .series
                .iter()
                .map(|one| {
                    let points = one.load.iter();
                    points
                        .filter_map(|point| Some((point.at_s, figure(point)? / capacity)))
                        .collect()
                })
                .filter(|points: &Vec<_>| !points.is_empty())
                .collect();
            merged(&repetitions).into_iter().map(|moment| (moment.at, moment.median)).collect()
        };
    let mut drawn: Vec<Line> = rows
        .iter()
        .map(|(place, row, overload)| {
            let capacity = overload.seen.capacity_per_s;
            line(*place, row, over_capacity(row, capacity, |point| point.goodput_per_s), false)
        })
        .collect();
    // All targets get the same multiples at the same time, so the first one shows them.
    if let Some((_, row, overload)) = rows.first() {
        let capacity = overload.seen.capacity_per_s;
        drawn.push(asked(over_capacity(row, capacity, |point| point.offered_per_s)));
    }
    let most = highest(&drawn);
    let last = drawn.iter().flat_map(|line| &line.points).map(|(x, _)| *x).fold(1.0, f64::max);
    let x = |form: Form| Axis::linear("seconds", 0.0, last, form.ticks() + 2, short);
    let y = Axis::linear("multiples of the capacity", 0.0, most, 5, short);
    let draw = |form: Form| lines(form, &x(form), &y, &drawn);
    let rows_of_table = rows.iter().map(|(_, row, overload)| {
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
        lines_by_target: true,
        drawings: Drawings::by(draw),
        plot: Some(
            Plot::of((&x(Form::Wide), Unit::Seconds), (&y, Unit::Count), &drawn).linked(TIME),
        ),
        table: DataTable {
            columns: ["target", "capacity/s", "recovery"].map(Into::into).into(),
            rows: rows_of_table.collect(),
        },
    }
}
