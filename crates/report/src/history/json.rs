//! Runs and changes for programs; `docs/schema/history.schema.json` describes them.
use serde::Serialize;

use super::{Change, Figure, History, Run};

/// The version of the form.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    target: &'a str,
    histories: Vec<HistoryEntry<'a>>,
}

#[derive(Serialize)]
struct HistoryEntry<'a> {
    plan: &'a str,
    quick: bool,
    part: Option<usize>,
    runs: &'a [Run],
    changes: Vec<ChangeEntry>,
}

#[derive(Serialize)]
struct ChangeEntry {
    figure: Figure,
    run: String,
    before: f64,
    after: f64,
    p_value: f64,
}

/// The histories of a target as JSON, with all runs that they hold, the oldest first.
///
/// # Errors
/// If a value cannot be written. No value of a history is known to cause this.
pub fn json(target: &str, histories: &[History]) -> serde_json::Result<String> {
    let histories = histories.iter().map(entry).collect();
    serde_json::to_string_pretty(&Document { schema: SCHEMA, target, histories })
}

fn entry(history: &History) -> HistoryEntry<'_> {
    let changes = Figure::ALL.into_iter().flat_map(|figure| history.changes(figure));
    HistoryEntry {
        plan: &history.plan,
        quick: history.quick,
        part: history.part,
        runs: &history.runs,
        changes: changes.map(change).collect(),
    }
}

fn change(Change { figure, run, point, .. }: Change) -> ChangeEntry {
    let (before, after, p_value) = (point.before, point.after, point.p_value);
    ChangeEntry { figure, run, before, after, p_value }
}
