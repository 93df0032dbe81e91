//! Where the connections of a closed loop were: with the target, or held by the generator.
use super::axis::short;
use super::compose::Parts;
use super::palette::{AXIS, series};
use super::{Chart, DataTable, coloured, targets};
use crate::view::View;
use crate::view::row::{Held, Row};
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<(&Row, Held)> =
        coloured(view).filter_map(|(_, row)| Some((row, row.held?))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let parts = Parts {
        axis: ("connections, on average", short),
        names: [("with the target", series(0)), ("with the generator", AXIS)],
    };
    let bars = rows.iter().map(|(row, held)| {
        let users = words::whole(held.users.round() as u64);
        let figure = format!("{:.1} of {users}", held.with_target);
        (*row, figure, [held.with_target, held.users - held.with_target])
    });
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
        table: DataTable::from_rows(["target", "with the target", "with the generator"], cells),
        ..Chart::of_parts(parts, bars)
    }]
}
