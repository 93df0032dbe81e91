//! CPU-seconds per million requests by role, and money.
use super::axis::{Axis, short};
use super::canvas::{Bar, Form, bars};
use super::palette::{AXIS, series};
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<_> = coloured(view)
        .filter(|(_, row)| row.cost.target_cpu_s_per_million.is_some())
        .map(|(_, row)| row)
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let colours = [series(0), series(2), AXIS];
    let parts = |row: &crate::view::row::Row| {
        let cost = &row.cost;
        [
            cost.target_cpu_s_per_million,
            cost.services_cpu_s_per_million,
            cost.generator_cpu_s_per_million,
        ]
        .map(|part| part.unwrap_or(0.0))
    };
    let most = rows.iter().map(|row| parts(row).iter().sum::<f64>()).fold(0.0, f64::max);
    let money = |row: &crate::view::row::Row| match (row.cost.money_per_million, &row.cost.currency)
    {
        (Some(money), Some(currency)) => format!("{money:.4} {currency}"),
        _ => words::UNKNOWN.into(),
    };
    let drawn: Vec<Bar> = rows
        .iter()
        .map(|row| Bar {
            name: label(row),
            figure: format!("{} s", words::count(row.cost.target_cpu_s_per_million)),
            parts: parts(row).into_iter().zip(colours).collect(),
            ..Bar::default()
        })
        .collect();
    let legend: Vec<_> =
        ["target", "services", "generator"].into_iter().map(String::from).zip(colours).collect();
    let draw = |form: Form| {
        bars(
            form,
            &Axis::linear("CPU-seconds per million requests", 0.0, most, form.ticks(), short),
            &legend,
            &drawn,
        )
    };
    let cells = rows.iter().map(|row| {
        let cost = &row.cost;
        let s = |value: Option<f64>| words::count(value);
        vec![
            row.target.to_string(),
            s(cost.target_cpu_s_per_million),
            s(cost.services_cpu_s_per_million),
            s(cost.generator_cpu_s_per_million),
            money(row),
        ]
    });
    let columns =
        ["target", "target CPU s", "services CPU s", "generator CPU s", "money a million"]
            .map(Into::into)
            .into();
    vec![Chart {
        name: "cost".into(),
        title: "Cost of a million requests".into(),
        alternative: format!("Stacked bars of CPU-seconds per million requests of target, services and generator for {}.", targets(rows.len())),
        caption: "The figure behind a bar is the target's own. Money: target and services at the plan's price of a core, as if the rest of the machine were put to use."
            .into(),
        lines_by_target: false,
        drawings: Drawings::by(draw),
        plot: None,
        table: DataTable { columns, rows: cells.collect() },
    }]
}
