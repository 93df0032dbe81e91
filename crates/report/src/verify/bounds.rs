//! Numbers that no run has: they are found before anything is computed from them.
use serde_json::Value;

use super::Findings;

/// Above every count and every time in nanoseconds of a run, and so far below what 64 bits hold that
/// all of a run can be added up.
const MOST: f64 = (1_u64 << 58) as f64;
/// Instants since 1970 are larger, seeds may be anything, and 0 or infinite limits of the host too.
const NO_AMOUNTS: [&str; 2] = ["seed", "sysctls"];
/// The last instant since 1970 that 64 bits with a sign hold, in nanoseconds.
const LAST_UNIX_NS: f64 = i64::MAX as f64;

/// Finds them in the trials of a run.
pub(super) fn check(text: &str, found: &mut Findings) -> serde_json::Result<()> {
    let whole: Value = serde_json::from_str(text)?;
    for part in ["trials", "ended_unix_ns", "header"] {
        amounts(part, &whole[part], part.ends_with("unix_ns"), found);
    }
    Ok(())
}

fn amounts(place: &str, value: &Value, is_instant: bool, found: &mut Findings) {
    match value {
        Value::Number(number) => {
            let most = if is_instant { LAST_UNIX_NS } else { MOST };
            let is_within = number.as_f64().is_some_and(|it| it.abs() <= most);
            found.holds(
                is_within,
                place,
                number,
                format!("no run has a number above {most:.1e} there"),
            );
        }
        Value::Array(all) => {
            for (at, one) in all.iter().enumerate() {
                amounts(&format!("{place}[{at}]"), one, is_instant, found);
            }
        }
        Value::Object(all) => {
            for (key, one) in all.iter().filter(|(key, _)| !NO_AMOUNTS.contains(&key.as_str())) {
                amounts(&format!("{place}.{key}"), one, key.ends_with("unix_ns"), found);
            }
        }
        _ => {}
    }
}
