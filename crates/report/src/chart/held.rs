//! Where the connections of a closed loop were: with the target, or held by the generator.
use super::axis::{Axis, short};
use super::canvas::{Bar, Form, bars};
use super::palette::{AXIS, series};
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::view::row::{Held, Row};
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<(&Row, Held)> =
        coloured(view).filter_map(|(_, row)| Some((row, row.held?))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let colours = [series(0), AXIS];
    let most = rows.iter().map(|(_, held)| held.users).fold(0.0, f64::max);
    let drawn: Vec<Bar> = rows
        .iter()
        .map(|(row, held)| Bar {
            name: label(row),
            figure: format!(
                "{:.1} of {}",
                held.with_target,
                words::whole(held.users.round() as u64)
            ),
            parts: [held.with_target, held.users - held.with_target]
                .into_iter()
                .zip(colours)
                .collect(),
            ..Bar::default()
        })
        .collect();
    let legend: Vec<_> = ["with the target", "with the generator"]
        .map(String::from)
        .into_iter()
        .zip(colours)
        .collect();
    let axis = |form: Form| Axis::linear("connections, on average", 0.0, most, form.ticks(), short);
    let draw = |form: Form| bars(form, &axis(form), &legend, &drawn);
    let cells = rows.iter().map(|(row, held)| {
        vec![
            row.target.to_string(),
            format!("{:.1}", held.with_target),
            format!("{:.1}", held.users - held.with_target),
        ]
    });
    vec![Chart {
        name: "held".into(),
        title: "Where the connections were".into(),
        alternative: format!(
            "Stacked bars of the connections that were with the target and with the generator on average, for {}.",
            targets(rows.len())
        ),
        caption: "In a closed loop each connection carries one user at a time. What the generator holds the target does not see: its service times are those of the connections that were with it."
            .into(),
        lines_by_target: false,
        drawings: Drawings::by(draw),
        plot: None,
        table: DataTable {
            columns: ["target", "with the target", "with the generator"].map(Into::into).into(),
            rows: cells.collect(),
        },
    }]
}
