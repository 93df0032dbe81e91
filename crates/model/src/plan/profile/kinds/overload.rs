//! `kind = "overload"`
use super::value::{connections_of, duration, positive_rate, required_duration};
use super::{Profile, RawProfile};
use crate::plan::objective::Objective;
use crate::schedule::overload::Search;

pub const KEYS: &[&str] = &[
    "capacity",
    "objective",
    "start_rate",
    "connections",
    "duration",
    "recovery",
    "patience",
    "keep_alive",
    "protocol",
    "streams",
    "network",
];

/// The default objective that defines the capacity.
const OBJECTIVE: &str = "p99 < 100ms, errors < 1%";
/// The default rate at which the search begins, in requests per second.
const START_RATE_PER_S: f64 = 100.0;
/// Each rate lasts at least this many seconds: the first one is left out, and recovery needs three
/// in a row.
const FEWEST_SECONDS: u64 = 3;
const SECOND_NS: u64 = 1_000_000_000;

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let connections = connections_of(raw)?;
    let step_ns = seconds("duration", required_duration("duration", raw.duration.as_deref())?)?;
    let recovery_ns = match &raw.recovery {
        Some(text) => seconds("recovery", duration("recovery", text)?)?,
        None => 3 * step_ns,
    };
    let patience_ns = duration("patience", raw.patience.as_deref().unwrap_or("2s"))?;
    if !(SECOND_NS / 10..=60 * SECOND_NS).contains(&patience_ns) {
        return Err("profile.patience must be from 100ms to 60s".into());
    }
    let (search, rate) = match (raw.capacity, &raw.objective, raw.start_rate) {
        (Some(rate), None, None) => (None, positive_rate("capacity", Some(rate))?),
        (Some(_), Some(_), _) => return Err(given_and_searched("objective")),
        (Some(_), _, Some(_)) => return Err(given_and_searched("start_rate")),
        (None, objective, start) => {
            let objective = objective.as_deref().unwrap_or(OBJECTIVE);
            let objective = Objective::parse(objective)
                .map_err(|error| format!("profile.objective: {error}"))?;
            let start = positive_rate("start_rate", Some(start.unwrap_or(START_RATE_PER_S)))?;
            (Some(Search { objective }), start)
        }
    };
    let times = [step_ns, recovery_ns];
    let overload = Profile::overload(search, rate, connections.count, times, patience_ns);
    Ok(Profile { connections, ..overload })
}

fn given_and_searched(key: &str) -> String {
    format!(
        "profile.capacity and profile.{key} exclude each other: a capacity that is given is not searched for"
    )
}

/// Windows are whole seconds, and each must belong to one rate.
fn seconds(key: &str, ns: u64) -> Result<u64, String> {
    if ns.is_multiple_of(SECOND_NS) && ns >= FEWEST_SECONDS * SECOND_NS {
        Ok(ns)
    } else {
        Err(format!("profile.{key} must be whole seconds, at least {FEWEST_SECONDS}s"))
    }
}
