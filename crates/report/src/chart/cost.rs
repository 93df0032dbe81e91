//! CPU-seconds per million requests by role, and money.
use super::axis::short;
use super::compose::Parts;
use super::palette::{AXIS, series};
use super::{Chart, DataTable, coloured, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<&Row> = coloured(view)
        .filter(|(_, row)| row.cost.target_cpu_s_per_million.is_some())
        .map(|(_, row)| row)
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let parts = Parts {
        axis: ("CPU-seconds per million requests", short),
        names: [("target", series(0)), ("services", series(2)), ("generator", AXIS)],
    };
    let bars = rows.iter().map(|row| {
        let figure = format!("{} s", words::count(row.cost.target_cpu_s_per_million));
        (*row, figure, seconds(row).map(|part| part.unwrap_or(0.0)))
    });
    vec![Chart {
        name: "cost".into(),
        title: "Cost of a million requests".into(),
        alternative: format!("Stacked bars of CPU-seconds per million requests of target, services and generator for {}.", targets(rows.len())),
        caption: "The figure behind a bar is the target's own. Money: target and services at the plan's price of a core, as if the rest of the machine were put to use."
            .into(),
        table: DataTable::from_rows(
            ["target", "target CPU s", "services CPU s", "generator CPU s", "money a million"],
            rows.iter().map(|row| cells(row)),
        ),
        ..Chart::of_parts(parts, bars)
    }]
}

/// CPU-seconds per million requests of target, services and generator.
fn seconds(row: &Row) -> [Option<f64>; 3] {
    let cost = &row.cost;
    [
        cost.target_cpu_s_per_million,
        cost.services_cpu_s_per_million,
        cost.generator_cpu_s_per_million,
    ]
}

fn cells(row: &Row) -> Vec<String> {
    let money = match (row.cost.money_per_million, &row.cost.currency) {
        (Some(money), Some(currency)) => format!("{money:.4} {currency}"),
        _ => words::UNKNOWN.into(),
    };
    let seconds = seconds(row).map(words::count);
    [row.target.to_string()].into_iter().chain(seconds).chain([money]).collect()
}
