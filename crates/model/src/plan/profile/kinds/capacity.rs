//! `kind = "capacity"`
use super::value::{connections_of, positive_rate, required_duration};
use super::{Profile, RawProfile};
use crate::plan::objective::Objective;
use crate::text::units::parse_percent;

pub const KEYS: &[&str] = &[
    "objective",
    "start_rate",
    "connections",
    "duration",
    "precision",
    "protocol",
    "streams",
    "network",
];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let text = raw.objective.as_deref();
    let objective = text
        .ok_or("profile.objective is missing: \"p99 < 50ms, errors < 0.1%\"".to_string())
        .and_then(|text| {
            Objective::parse(text).map_err(|error| format!("profile.objective: {error}"))
        })?;
    let duration_ns = required_duration("duration", raw.duration.as_deref())?;
    objective.fits_steps_of(duration_ns).map_err(|error| format!("profile.duration: {error}"))?;
    Ok(Profile::capacity(
        objective,
        positive_rate("start_rate", raw.start_rate)?,
        connections_of(raw)?.count,
        duration_ns,
        precision(raw.precision.as_deref().unwrap_or("2%"))?,
    ))
}

/// A precision of 0 % would never be reached.
fn precision(text: &str) -> Result<f64, String> {
    let precision = parse_percent(text).map_err(|error| format!("profile.precision: {error}"))?;
    if precision > 0.0 && precision < 1.0 {
        Ok(precision)
    } else {
        Err(format!("profile.precision must be above 0 % and below 100 %, not `{text}`"))
    }
}
