//! `kind = "sweep"`
use super::value::{requests_per_connection, required_duration, warm_up};
use super::{OneOrMany, Profile, RawProfile};
use crate::load::{Connections, WarmUp};

pub const KEYS: &[&str] =
    &["connections", "duration", "keep_alive", "warm_up", "protocol", "streams", "network"];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let points = match &raw.connections {
        Some(OneOrMany::Many(list)) if !list.is_empty() => list.clone(),
        _ => return Err("profile.connections must be a list: [1, 2, 4, 8]".into()),
    };
    if points.contains(&0) || !points.is_sorted_by(|a, b| a < b) {
        return Err("profile.connections must be ascending numbers from 1 on, each once".into());
    }
    let sweep = Profile::sweep(points, required_duration("duration", raw.duration.as_deref())?);
    Ok(Profile {
        connections: Connections {
            requests_per_connection: requests_per_connection(raw)?,
            ..sweep.connections
        },
        warm_up: warm_up(raw)?.unwrap_or(WarmUp::AUTO),
        ..sweep
    })
}
