//! `kind = "closed"`
use super::raw::RawProfile;
use super::value::{keep_alive, one_connection_count, positive_duration, think, warm_up};
use super::{Profile, Stop, WarmUpChoice};

pub const KEYS: &[&str] =
    &["connections", "duration", "requests", "keep_alive", "warm_up", "think"];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let stop = match (&raw.duration, raw.requests) {
        (Some(_), Some(_)) => {
            return Err("profile.duration and profile.requests exclude each other; keep one".into());
        }
        (None, None) => {
            return Err("profile needs `duration = \"30s\"` or `requests = 5000`".into());
        }
        (Some(text), None) => Stop::DurationNs(positive_duration("duration", text)?),
        (None, Some(0)) => return Err("profile.requests must be at least 1".into()),
        (None, Some(count)) => Stop::Requests(count),
    };
    let warm_up = match (warm_up(raw)?, stop) {
        (WarmUpChoice::Auto, Stop::Requests(_)) if raw.warm_up.is_none() => WarmUpChoice::None,
        (WarmUpChoice::None, _) => WarmUpChoice::None,
        (_, Stop::Requests(_)) => return Err("profile.warm_up has no effect where requests are counted; take it out or set it to \"none\"".into()),
        (warm_up, Stop::DurationNs(_)) => warm_up,
    };
    let think = raw.think.as_deref().map(think).transpose()?;
    Ok(Profile::Closed {
        connections: one_connection_count(raw)?,
        stop,
        think,
        keep_alive: keep_alive(raw)?,
        warm_up,
    })
}
