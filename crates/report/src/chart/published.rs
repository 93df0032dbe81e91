//! Published figures beside your own, both as ratios to the same target.
use super::axis::{Axis, short};
use super::canvas::{Bar, Form, bars};
use super::palette::{FAINT, series};
use super::{Chart, DataTable, Drawings};
use crate::view::View;
use crate::view::published::PublishedTable;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let Some(table) = &view.published else { return Vec::new() };
    let reference = table.reference_name.as_deref().unwrap_or("the reference");
    let rows: Vec<_> = table
        .rows
        .iter()
        .filter(|row| row.published_ratio.is_some() || row.own_ratio.is_some())
        .collect();
    let most = rows
        .iter()
        .flat_map(|row| [row.published_ratio, row.own_ratio])
        .flatten()
        .fold(0.0, f64::max);
    if rows.is_empty() || most <= 0.0 {
        return Vec::new();
    }
    let colours = [FAINT, series(0)];
    let mut drawn = Vec::new();
    for row in &rows {
        for (index, (what, ratio)) in
            [("published", row.published_ratio), ("here", row.own_ratio)].into_iter().enumerate()
        {
            drawn.push(Bar {
                name: format!("{}, {what}", row.name),
                figure: words::ratio(ratio),
                parts: ratio.map(|ratio| (ratio, colours[index])).into_iter().collect(),
                ..Bar::default()
            });
        }
    }
    let draw = |form: Form| {
        bars(
            form,
            &Axis::linear(&format!("requests/s ÷ {reference}"), 0.0, most, form.ticks(), short),
            &[],
            &drawn,
        )
    };
    vec![Chart {
        name: "published".into(),
        title: "Beside the published figures".into(),
        alternative: format!(
            "Requests per second as ratios to {reference}, published and here, for {} rows.",
            rows.len()
        ),
        caption: "Only ratios are comparable: machines and versions differ.".into(),
        lines_by_target: false,
        drawings: Drawings::by(draw),
        plot: None,
        table: figures(table),
    }]
}

fn figures(table: &PublishedTable) -> DataTable {
    let cells = table.rows.iter().map(|row| {
        let target = row.target.as_ref().map_or_else(|| words::UNKNOWN.into(), ToString::to_string);
        let published = row.published_word.clone().unwrap_or_else(|| words::count(row.published));
        vec![
            row.name.clone(),
            target,
            published,
            words::ratio(row.published_ratio),
            words::count(row.own),
            words::ratio(row.own_ratio),
        ]
    });
    let columns =
        ["name", "target", "published", "published ÷ reference", "here", "here ÷ reference"];
    DataTable { columns: columns.map(Into::into).into(), rows: cells.collect() }
}
