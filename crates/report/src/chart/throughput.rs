//! Requests per second with intervals.
use pippin_model::verdict::Verdict;
use pippin_stats::summary::Estimate;

use super::axis::{Axis, short};
use super::canvas::{Bar, Form, bars};
use super::palette::{INVALID, series};
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::ranked::end_of_bars;
use crate::view::View;
use crate::view::row::Row;
use crate::words;

type Shown<'a> = (usize, &'a Row, Estimate);

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<Shown<'_>> =
        coloured(view).filter_map(|(place, row)| Some((place, row, row.goodput_per_s?))).collect();
    let Some((_, best, most)) = rows.first() else { return Vec::new() };
    let figures: Vec<Estimate> = rows.iter().map(|(_, _, figure)| *figure).collect();
    let highest = end_of_bars(&figures);
    let drawn: Vec<Bar> = rows.iter().map(bar).collect();
    let draw = |form: Form| {
        bars(form, &Axis::linear("requests/s", 0.0, highest, form.ticks(), short), &[], &drawn)
    };
    vec![Chart {
        name: "throughput".into(),
        title: "Requests per second".into(),
        alternative: format!(
            "Horizontal bars of requests per second for {}; the first is {} with {}.",
            targets(rows.len()),
            best.target,
            words::count(Some(most.median))
        ),
        caption: "Bars: the median of the repetitions. Whiskers: its 95 % interval, without an end mark where it leaves the chart. Dots: single repetitions. Grey and struck through: INVALID, not ranked."
            .into(),
        drawings: Drawings::by(draw),
        table: DataTable::from_rows(
            ["target", "requests/s", "95 % low", "95 % high", "lowest", "highest", "verdict"],
            rows.iter().map(cells),
        ),
        ..Chart::default()
    }]
}

fn bar((place, row, figure): &Shown<'_>) -> Bar {
    let struck = row.verdict == Some(Verdict::Invalid);
    Bar {
        name: label(row),
        figure: words::count(Some(figure.median)),
        parts: vec![(figure.median, if struck { INVALID } else { series(*place) })],
        interval: figure.interval.map(|i| (i.low, i.high)),
        singles: row.goodput_of_repetitions.clone(),
        struck,
        dot: None,
    }
}

fn cells((_, row, figure): &Shown<'_>) -> Vec<String> {
    vec![
        row.target.to_string(),
        words::count(Some(figure.median)),
        words::count(figure.interval.map(|i| i.low)),
        words::count(figure.interval.map(|i| i.high)),
        words::count(Some(figure.worst)),
        words::count(Some(figure.best)),
        row.verdict.map_or_else(String::new, |verdict| verdict.to_string()),
    ]
}
