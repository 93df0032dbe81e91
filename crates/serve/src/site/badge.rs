//! A badge for each target in each plan, from the newest round, as shields.io reads it
//! (<https://shields.io/badges/endpoint-badge>).
use pippin_model::run::digest::TargetDigest;
use pippin_model::verdict::Verdict;
use pippin_report::digest;
use serde::Serialize;
use std::collections::BTreeMap;

use super::SiteError;
use super::entry::{Board, Entry};
use super::files::Files;
use super::names;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: String,
    message: String,
    color: &'static str,
}

pub(super) fn write(entries: &[Entry], files: &mut Files) -> Result<(), SiteError> {
    let rounds = entries.iter().filter_map(|entry| Some((entry.board.as_ref()?, entry)));
    // Later rounds replace earlier ones.
    let newest: BTreeMap<&Board, &Entry> = rounds.collect();
    for ((plan, quick), entry) in newest {
        for target in &entry.digest.targets {
            let name = target.target.to_string();
            let mut text = serde_json::to_vec(&badge(plan, entry, target))?;
            text.push(b'\n');
            files.write(&names::badge(plan, *quick, &name), &text)?;
        }
    }
    Ok(())
}

/// INVALID figures are on no badge.
fn badge(plan: &str, entry: &Entry, target: &TargetDigest) -> Badge {
    let is_shown = target.verdict.is_some_and(|verdict| verdict != Verdict::Invalid);
    let figure = target.figure.filter(|_| is_shown);
    let figure = figure.map(|figure| digest::figure(&entry.digest, Some(figure)));
    let (message, color) = match (figure, target.verdict) {
        (Some(figure), Some(Verdict::Valid)) => (figure, "brightgreen"),
        (Some(figure), Some(verdict)) => (format!("{figure}, {verdict}"), "yellow"),
        (_, Some(Verdict::Invalid)) => ("INVALID".into(), "red"),
        _ => ("no result".into(), "lightgrey"),
    };
    Badge { schema_version: 1, label: format!("{} · {plan}", target.target), message, color }
}
