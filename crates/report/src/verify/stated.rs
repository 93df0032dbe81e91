//! The report in the file, value by value, beside the one that follows from the slices.
use serde_json::{Map, Number, Value};

use super::Findings;
use crate::view::View;

/// How far two figures of one formula may be apart: machines round its logarithms differently.
const SAME: f64 = 1e-9;

/// Compares all values. Returns how many there are.
pub(super) fn check(
    stated: &Value,
    view: &View,
    found: &mut Findings,
) -> serde_json::Result<usize> {
    let follows = serde_json::to_value(view)?;
    Ok(compare("report", stated, &follows, found))
}

fn compare(place: &str, stated: &Value, follows: &Value, found: &mut Findings) -> usize {
    match (stated, follows) {
        (Value::Object(own), Value::Object(other)) => {
            let mut keys: Vec<&String> = own.keys().chain(other.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            let value = |of: &Map<String, Value>, key| of.get(key).cloned().unwrap_or_default();
            keys.into_iter()
                .map(|key| {
                    compare(&format!("{place}.{key}"), &value(own, key), &value(other, key), found)
                })
                .sum()
        }
        (Value::Array(own), Value::Array(other)) if own.len() == other.len() => own
            .iter()
            .zip(other)
            .enumerate()
            .map(|(at, (one, two))| {
                let name = name(two).map(|name| format!(" ({name})")).unwrap_or_default();
                compare(&format!("{place}[{at}]{name}"), one, two, found)
            })
            .sum(),
        _ => {
            found.holds(is_same(stated, follows), place, short(stated), short(follows));
            1
        }
    }
}

/// What an entry of a list is called.
fn name(entry: &Value) -> Option<&str> {
    ["target", "id", "name"].iter().find_map(|key| entry.get(key)?.as_str())
}

fn is_same(stated: &Value, follows: &Value) -> bool {
    match (stated, follows) {
        (Value::Number(own), Value::Number(other)) => are_near(own, other),
        _ => stated == follows,
    }
}

fn are_near(own: &Number, other: &Number) -> bool {
    let (Some(one), Some(two)) = (own.as_f64(), other.as_f64()) else { return own == other };
    // Whole numbers are exact.
    if own.is_f64() || other.is_f64() {
        (one - two).abs() <= SAME * one.abs().max(two.abs())
    } else {
        own == other
    }
}

/// A value on one line.
fn short(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::String(text) => text.clone(),
        Value::Array(all) => format!("{} entries", all.len()),
        Value::Object(all) => format!("{} keys", all.len()),
        other => other.to_string(),
    }
}
