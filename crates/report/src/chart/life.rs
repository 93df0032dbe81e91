//! The life of the targets: their starts, and their memory without and under a load.
use pippin_model::run::life::TargetLife;

use super::axis::{Axis, size, time};
use super::canvas::{Bar, Form, bars};
use super::palette::series;
use super::{Chart, DataTable, Drawings, targets};
use crate::view::View;

/// What a part of a bar is called, and how long it is.
type Part = (&'static str, fn(&TargetLife) -> Option<f64>);

/// A chart of one bar for each target, whose parts add up.
struct Kind {
    name: &'static str,
    title: &'static str,
    caption: &'static str,
    /// Up to the longest bar.
    axis: fn(f64, Form) -> Axis,
    write: fn(f64) -> String,
    parts: &'static [Part],
}

const KINDS: [Kind; 2] = [
    Kind {
        name: "life-start",
        title: "From the start to the first right answer",
        caption: "One start each, without an interval. It is asked every 5 ms.",
        axis: |most, form| Axis::linear("time", 0.0, most, form.ticks(), time),
        write: time,
        parts: &[("start", |life| Some(life.start_ns? as f64))],
    },
    Kind {
        name: "life-memory",
        title: "Memory idle and under a load",
        caption: "Idle: a second after the first answer, without requests. Under load: the highest in 2 s with the plan's connections, at most 256. Shared pages count once.",
        axis: |most, _| Axis::linear_bytes("memory", most),
        write: size,
        parts: &[
            ("idle", |life| Some(life.memory.idle_bytes? as f64)),
            ("more under load", |life| {
                let (idle, loaded) = (life.memory.idle_bytes?, life.memory.loaded_bytes?);
                // A collection between the two leaves nothing to stack.
                Some(loaded.checked_sub(idle)? as f64)
            }),
        ],
    },
];

pub fn charts(view: &View) -> Vec<Chart> {
    KINDS.iter().filter_map(|kind| chart(view, kind)).collect()
}

fn chart(view: &View, kind: &Kind) -> Option<Chart> {
    let known = |life: &TargetLife| -> Option<Vec<f64>> {
        kind.parts.iter().map(|(_, length)| length(life)).collect()
    };
    let lives: Vec<(String, Vec<f64>)> = view
        .lives
        .iter()
        .filter_map(|life| Some((life.target.to_string(), known(life)?)))
        .collect();
    // One bar says no more than its figure.
    if lives.len() < 2 {
        return None;
    }
    let figure = |lengths: &[f64]| (kind.write)(lengths.iter().sum());
    let colours = || [series(0), series(2)].into_iter();
    let drawn: Vec<Bar> = lives
        .iter()
        .map(|(name, lengths)| Bar {
            name: name.clone(),
            figure: figure(lengths),
            parts: lengths.iter().copied().zip(colours()).collect(),
            ..Bar::default()
        })
        .collect();
    let most = lives.iter().map(|(_, lengths)| lengths.iter().sum()).fold(0.0, f64::max);
    // One part needs no legend.
    let names = kind.parts.iter().map(|(name, _)| (*name).to_string()).zip(colours());
    let legend: Vec<_> = names.filter(|_| kind.parts.len() > 1).collect();
    let draw = |form: Form| bars(form, &(kind.axis)(most, form), &legend, &drawn);
    let mut columns = vec!["target".to_string()];
    columns.extend(kind.parts.iter().map(|(name, _)| (*name).to_string()));
    let row = |(name, lengths): &(String, Vec<f64>)| -> Vec<String> {
        [name.clone()].into_iter().chain(lengths.iter().map(|it| (kind.write)(*it))).collect()
    };
    Some(Chart {
        name: kind.name.into(),
        title: kind.title.into(),
        alternative: format!("Horizontal bars for {}: {}.", targets(lives.len()), kind.title),
        caption: kind.caption.into(),
        drawings: Drawings::by(draw),
        table: DataTable { columns, rows: lives.iter().map(row).collect() },
        ..Chart::default()
    })
}
