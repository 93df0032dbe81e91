//! `kind = "sweep"`
use super::Profile;
use super::raw::{OneOrMany, RawProfile};
use super::value::{keep_alive, required_duration, warm_up};

pub const KEYS: &[&str] = &["connections", "duration", "keep_alive", "warm_up"];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let connections = match &raw.connections {
        Some(OneOrMany::Many(list)) if !list.is_empty() => list.clone(),
        _ => return Err("profile.connections must be a list: [1, 2, 4, 8]".into()),
    };
    if connections.contains(&0) || !connections.is_sorted_by(|a, b| a < b) {
        return Err("profile.connections must be ascending numbers from 1 on, each once".into());
    }
    Ok(Profile::Sweep {
        connections,
        duration_ns: required_duration("duration", raw.duration.as_deref())?,
        keep_alive: keep_alive(raw)?,
        warm_up: warm_up(raw)?,
    })
}
