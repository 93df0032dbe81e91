//! `kind = "rates"`
use super::open::arrivals;
use super::value::{connections_of, required_duration, warm_up};
use super::{Profile, RawProfile};
use crate::load::WarmUp;

pub const KEYS: &[&str] = &[
    "rates",
    "arrivals",
    "connections",
    "duration",
    "keep_alive",
    "warm_up",
    "protocol",
    "streams",
    "network",
];

/// The highest rate that a plan may name, in requests per second.
const HIGHEST_PER_S: f64 = 1e8;

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let rates = raw.rates.clone().unwrap_or_default();
    if rates.is_empty() {
        return Err("profile.rates must be a list of requests per second: [1000, 2000]".into());
    }
    let is_possible = |rate: &f64| *rate > 0.0 && *rate <= HIGHEST_PER_S;
    if !rates.iter().all(is_possible) || !rates.is_sorted_by(|a, b| a < b) {
        return Err(
            "profile.rates must be ascending, each once, above 0 and at most 100 million requests per second; the use at no load is measured anyway"
                .into(),
        );
    }
    let connections = connections_of(raw)?;
    let duration_ns = required_duration("duration", raw.duration.as_deref())?;
    let profile = Profile::rates(rates, arrivals(raw)?, connections.count, duration_ns);
    Ok(Profile { connections, warm_up: warm_up(raw)?.unwrap_or(WarmUp::AUTO), ..profile })
}
