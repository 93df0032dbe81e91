//! `kind = "closed"`
use super::value::{connections_of, positive_duration, think, warm_up};
use super::{Profile, RawProfile};
use crate::load::{StopRule, WarmUp};
use crate::schedule::Schedule;

pub const KEYS: &[&str] = &[
    "connections",
    "duration",
    "requests",
    "keep_alive",
    "warm_up",
    "think",
    "protocol",
    "streams",
    "network",
];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let stop = match (&raw.duration, raw.requests) {
        (Some(_), Some(_)) => {
            return Err("profile.duration and profile.requests exclude each other; keep one".into());
        }
        (None, None) => {
            return Err("profile needs `duration = \"30s\"` or `requests = 5000`".into());
        }
        (Some(text), None) => StopRule::after(positive_duration("duration", text)?),
        (None, Some(0)) => return Err("profile.requests must be at least 1".into()),
        (None, Some(count)) => StopRule::requests(count),
    };
    let warm_up = match (warm_up(raw)?, stop.requests) {
        (Some(WarmUp::None), _) | (None, Some(_)) => WarmUp::None,
        (Some(_), Some(_)) => return Err("profile.warm_up has no effect with a number of requests; take it out or set it to \"none\"".into()),
        (warm_up, None) => warm_up.unwrap_or(WarmUp::AUTO),
    };
    let think = raw.think.as_deref().map(think).transpose()?;
    Ok(Profile {
        schedule: Schedule::Closed { think },
        connections: connections_of(raw)?,
        warm_up,
        ..Profile::closed(1, stop)
    })
}
