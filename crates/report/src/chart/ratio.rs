//! The ratio of every target to the reference, with its interval. Paired rounds measure this best.
use pippin_model::figure::Figure;
use pippin_stats::interval::ratio::Ratio;

use super::axis::Axis;
use super::canvas::{Bar, Form, bars_about};
use super::palette::{FAINT, series};
use super::{Chart, DataTable, Drawings, coloured, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// An interval is cut off beyond this many times the outermost ratio, so that it does not squeeze
/// the others together.
const ROOM: f64 = 2.0;

pub fn charts(view: &View) -> Vec<Chart> {
    let (ranked, title) = match view.run.ranked_by.figure() {
        Figure::P99 => (Figure::P99, "p99 of the response time"),
        figure => (figure, "Requests per second"),
    };
    let of = |name: &str, title: &str, figure| chart(view, name, title, figure);
    of("ratio", title, ranked)
        .into_iter()
        .chain(of("cpu-ratio", "CPU per request", Figure::Cpu))
        .collect()
}

/// A target with its ratio; `None` is the reference itself.
type Entry<'a> = (usize, &'a Row, Option<Ratio>);

fn chart(view: &View, name: &str, title: &str, figure: Figure) -> Option<Chart> {
    let reference = view.run.reference.as_ref()?;
    let entries: Vec<Entry<'_>> = coloured(view)
        .filter_map(|(place, row)| {
            if row.target == *reference {
                return Some((place, row, None));
            }
            Some((place, row, Some(row.standing.to_reference?.ratio(figure)?)))
        })
        .collect();
    let ratios = || entries.iter().filter_map(|(.., ratio)| *ratio);
    ratios().next()?;
    let (least, most) =
        ratios().fold((1.0_f64, 1.0_f64), |(l, m), ratio| (l.min(ratio.value), m.max(ratio.value)));
    let axis = axis(&format!("÷ {reference}"), ratios());
    let drawn: Vec<Bar> = entries
        .iter()
        .map(|(place, row, ratio)| Bar {
            name: row.target.to_string(),
            figure: ratio
                .map_or_else(|| "1, the reference".into(), |ratio| words::ratio_within(&ratio)),
            interval: ratio.map(|ratio| (ratio.interval.low, ratio.interval.high)),
            dot: Some(ratio.map_or((1.0, FAINT), |ratio| (ratio.value, series(*place)))),
            ..Bar::default()
        })
        .collect();
    let draw = |form: Form| bars_about(form, &axis, &[], &drawn, Some(1.0));
    let apart = ratios().filter(Ratio::is_significant).count();
    Some(Chart {
        name: name.into(),
        title: format!("{title} compared with {reference}"),
        alternative: format!(
            "Ratios of {} to {reference} with their 95 % intervals, from {} to {}; those that surely differ: {apart}.",
            targets(ratios().count()),
            words::ratio(Some(least)),
            words::ratio(Some(most)),
        ),
        caption: "A dot is the ratio, its line the 95 % interval, without an end mark where it leaves the chart. An interval that crosses the line at 1 shows no difference."
            .into(),
        lines_by_target: false,
        drawings: Drawings::by(draw),
        plot: None,
        table: table(&entries),
    })
}

/// An axis with room for these ratios, their intervals and 1.
pub(super) fn axis(title: &str, ratios: impl Iterator<Item = Ratio> + Clone) -> Axis {
    let (least, most) = ratios
        .clone()
        .fold((1.0_f64, 1.0_f64), |(l, m), ratio| (l.min(ratio.value), m.max(ratio.value)));
    let (low, high) = ratios.fold((least, most), |(low, high), ratio| {
        (low.min(ratio.interval.low), high.max(ratio.interval.high))
    });
    Axis::log(title, low.max(least / ROOM) / 1.02, high.min(most * ROOM) * 1.02, |value| {
        words::ratio(Some(value))
    })
}

fn table(entries: &[Entry<'_>]) -> DataTable {
    let cells = entries.iter().map(|(_, row, ratio)| {
        let interval = ratio.map(|ratio| ratio.interval);
        vec![
            row.target.to_string(),
            words::ratio(ratio.map_or(Some(1.0), |ratio| Some(ratio.value))),
            words::ratio(interval.map(|interval| interval.low)),
            words::ratio(interval.map(|interval| interval.high)),
        ]
    });
    DataTable {
        columns: ["target", "ratio", "95 % low", "95 % high"].map(Into::into).into(),
        rows: cells.collect(),
    }
}
