//! `kind = "capacity"`
use super::Profile;
use super::raw::RawProfile;
use super::value::{one_connection_count, positive_rate, required_duration};
use crate::objective::{Bound, Objective};
use crate::units::parse_percent;

pub const KEYS: &[&str] = &["objective", "start_rate", "connections", "duration", "precision"];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    Ok(Profile::Capacity {
        objective: objective(
            raw.objective
                .as_deref()
                .ok_or("profile.objective is missing: \"p99 < 50ms, errors < 0.1%\"")?,
        )?,
        start_rate_per_s: positive_rate("start_rate", raw.start_rate)?,
        connections: one_connection_count(raw)?,
        duration_ns: required_duration("duration", raw.duration.as_deref())?,
        precision: precision(raw.precision.as_deref().unwrap_or("2%"))?,
    })
}

fn objective(text: &str) -> Result<Objective, String> {
    let objective =
        Objective::parse(text).map_err(|error| format!("profile.objective: {error}"))?;
    // Bounds are below, not at or below, so that nothing is below 0.
    let is_senseless = |bound: &Bound| {
        matches!(bound, Bound::ResponseTime { below_ns: 0, .. })
            || matches!(bound, Bound::Errors { below } if *below <= 0.0)
    };
    if objective.0.iter().any(is_senseless) {
        return Err(format!(
            "profile.objective: `{text}` can never hold, as nothing is below 0; name a limit above it"
        ));
    }
    Ok(objective)
}

/// A search to within 0 % would never end.
fn precision(text: &str) -> Result<f64, String> {
    let precision = parse_percent(text).map_err(|error| format!("profile.precision: {error}"))?;
    if precision > 0.0 && precision < 1.0 {
        Ok(precision)
    } else {
        Err(format!("profile.precision must be above 0 % and below 100 %, not `{text}`"))
    }
}
