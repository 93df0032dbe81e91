//! Figures over dates, with marks where they changed.
use crate::chart::axis::{Axis, short, size, time};
use crate::chart::calendar;
use crate::chart::canvas::{Form, Line, Mark, marked_lines};
use crate::chart::palette::{INVALID, Stroke, series};
use crate::chart::{Chart, DataTable, Drawings};
use crate::history::{Change, Figure, History, Run};
use crate::words;

const fn seconds(unix_ns: u64) -> f64 {
    unix_ns as f64 / 1e9
}

/// How the charts are read.
const CAPTION: &str = "A dot for each run; shaded: its 95 % interval; grey: INVALID. Dotted verticals: statistically significant changes (E-divisive, permutation test at 2 %), between the last run before and the first after; level lines: the medians around them. The table of runs has the figures.";

/// The fewest runs that a curve shows anything of.
const FEWEST: usize = 3;

/// The chart of a figure and its changes; `None` for fewer than three runs.
pub fn chart(history: &History, figure: Figure, changes: &[Change]) -> Option<Chart> {
    let all: Vec<(&Run, f64)> =
        history.runs.iter().filter_map(|run| Some((run, figure.read(run)?))).collect();
    let ((first, _), (last, _)) = (all.first()?, all.last()?);
    if all.len() < FEWEST {
        return None;
    }
    let most = all.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    // An interval that reaches far beyond all values is cut off, so that these stay apart.
    let highest = all.iter().filter_map(|(run, _)| figure.within(run)).map(|(_, high)| high);
    let most = highest.filter(|high| *high < 2.0 * most).fold(most, f64::max);
    let (name, title, unit, label): (_, _, _, fn(f64) -> String) = match figure {
        Figure::Goodput => ("requests", "Requests per second", "right answers/s", short),
        Figure::P99 => ("p99", "Response time, 99th percentile", "p99", time),
        Figure::Cpu => ("cpu", "CPU time per request", "of the target", time),
        Figure::Memory => ("memory", "Memory", "highest of the process tree", size),
    };
    let drawn = series_of(history, figure, changes);
    let marks: Vec<Mark> = changes.iter().map(mark).collect();
    let draw = |form: Form| {
        let dates = calendar::dates(
            seconds(first.started_unix_ns),
            seconds(last.started_unix_ns),
            form.ticks(),
        );
        // Room for the words at the marks.
        let most = most * 1.08;
        let axis = match figure {
            Figure::Memory => Axis::linear_bytes(unit, most),
            _ => Axis::linear(unit, 0.0, most, 5, label),
        };
        marked_lines(form, &dates, &axis, &drawn, &marks)
    };
    let day = |run: &Run| words::date(run.started_unix_ns);
    let count = match changes.len() {
        0 => "without a statistically significant change".into(),
        1 => format!("with 1 change ({})", changes[0].relative()),
        more => format!(
            "with {more} changes ({})",
            changes.iter().map(Change::relative).collect::<Vec<_>>().join(", ")
        ),
    };
    Some(Chart {
        name: format!("history-{name}-{}", history.slug()),
        title: title.into(),
        alternative: format!(
            "{title} over {} runs from {} to {}, {count}.",
            all.len(),
            day(first),
            day(last)
        ),
        // The charts of a history stand beside each other, and one of them says how they are read.
        caption: if figure == Figure::Goodput { CAPTION.into() } else { String::new() },
        lines_by_target: false,
        drawings: Drawings::by(draw),
        plot: None,
        // The page has a table of the runs with the figures of all their charts.
        table: DataTable::default(),
    })
}

/// Valid runs as a line, the others as grey dots, and a level for each stretch between changes.
fn series_of(history: &History, figure: Figure, changes: &[Change]) -> Vec<Line> {
    let line = |points, colour, marks, stroke| Line {
        marks,
        joined: !marks || colour != INVALID,
        ..Line::joined(colour, stroke, points)
    };
    let within = |(run, _): &(&Run, f64)| {
        let (low, high) = figure.within(run)?;
        Some((seconds(run.started_unix_ns), low, high))
    };
    let band = history.believed(figure).iter().filter_map(within).collect();
    let believed: Vec<(f64, f64)> = history
        .believed(figure)
        .iter()
        .map(|(run, value)| (seconds(run.started_unix_ns), *value))
        .collect();
    let invalid = history
        .runs
        .iter()
        .filter(|run| run.invalid)
        .filter_map(|run| Some((seconds(run.started_unix_ns), figure.read(run)?)))
        .collect();
    let (begin, end) = (
        believed.first().map_or(0.0, |point| point.0),
        believed.last().map_or(0.0, |point| point.0),
    );
    let mut levels = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        let at = middle(change);
        if index == 0 {
            levels.push(vec![(begin, change.point.before), (at, change.point.before)]);
        }
        let until = changes.get(index + 1).map_or(end, middle);
        levels.push(vec![(at, change.point.after), (until, change.point.after)]);
    }
    let levels = levels.into_iter().map(|points| line(points, series(1), false, Stroke::Dashed));
    levels
        .chain([
            line(invalid, INVALID, true, Stroke::Solid),
            Line { band, ..line(believed, series(0), true, Stroke::Solid) },
        ])
        .collect()
}

/// Half way between the runs around it, because nobody knows when exactly it happened.
fn middle(change: &Change) -> f64 {
    let (before, after) = change.between_unix_ns;
    f64::midpoint(seconds(before), seconds(after))
}

fn mark(change: &Change) -> Mark {
    Mark { at: middle(change), words: change.relative() }
}
