//! Values that several kinds of profile share. Every error names the key.
use super::{BoolOrNumber, OneOrMany, Profile, RawProfile};
use crate::load::{Connections, Protocol, WarmUp};
use crate::text::units::{Spread, parse_duration_ns};

pub fn duration(key: &str, text: &str) -> Result<u64, String> {
    parse_duration_ns(text).map_err(|error| format!("profile.{key}: {error}"))
}

pub fn positive_duration(key: &str, text: &str) -> Result<u64, String> {
    match duration(key, text)? {
        0 => Err(format!("profile.{key} must be longer than 0")),
        ns => Ok(ns),
    }
}

pub fn required_duration(key: &str, text: Option<&str>) -> Result<u64, String> {
    positive_duration(
        key,
        text.ok_or_else(|| format!("profile.{key} is missing, for example \"30s\""))?,
    )
}

pub fn positive_rate(key: &str, rate: Option<f64>) -> Result<f64, String> {
    match rate {
        Some(rate) if rate > 0.0 && rate <= 1e8 => Ok(rate),
        Some(rate) => Err(format!(
            "profile.{key} = {rate} must be above 0 and at most 100 million requests per second"
        )),
        None => Err(format!("profile.{key} is missing: requests per second")),
    }
}

pub fn at_least_one(key: &str, count: u32) -> Result<u32, String> {
    if count == 0 { Err(format!("profile.{key} must be at least 1")) } else { Ok(count) }
}

pub fn think(text: &str) -> Result<Spread, String> {
    Spread::parse(text).map_err(|error| format!("profile.think: {error}"))
}

/// `connections` and `keep_alive`.
pub fn connections_of(raw: &RawProfile) -> Result<Connections, String> {
    let count = match &raw.connections {
        Some(OneOrMany::One(count)) => at_least_one("connections", *count)?,
        Some(OneOrMany::Many(_)) => {
            return Err("profile.connections is a list, which only kind = \"sweep\" takes".into());
        }
        None => return Err("profile.connections is missing".into()),
    };
    Ok(Connections {
        requests_per_connection: requests_per_connection(raw)?,
        ..Connections::kept(count)
    })
}

/// `keep_alive`.
pub fn requests_per_connection(raw: &RawProfile) -> Result<Option<u32>, String> {
    match raw.keep_alive {
        None | Some(BoolOrNumber::Bool(true)) => Ok(None),
        Some(BoolOrNumber::Bool(false)) => Ok(Some(1)),
        Some(BoolOrNumber::Number(0)) => {
            Err("profile.keep_alive = 0 has no meaning; false is one request per connection".into())
        }
        Some(BoolOrNumber::Number(requests)) => Ok(Some(requests)),
    }
}

/// The maximum number of users on a connection.
const MOST_STREAMS: u32 = 1_024;

/// Adds `protocol`, `streams` and `network` to the profile.
pub fn spoken(raw: &RawProfile, profile: Profile) -> Result<Profile, String> {
    let streams = raw.streams.map_or(Ok(1), |count| at_least_one("streams", count))?;
    if streams > MOST_STREAMS {
        return Err(format!("profile.streams must be at most {MOST_STREAMS}"));
    }
    if let Some(spoken) = raw.protocol.filter(|it| it.protocol() == Protocol::Http1 && streams > 1)
    {
        return Err(format!(
            "profile.streams has no effect over {spoken}, whose connections carry one request after the other; take it out, or write protocol = \"h2\", \"h2c\" or \"h3\""
        ));
    }
    if streams > 1 && profile.connections.requests_per_connection.is_some() {
        return Err(
            "profile.streams does not go with profile.keep_alive; leave one of them out".into()
        );
    }
    let connections = Connections { streams, ..profile.connections };
    Ok(Profile { protocol: raw.protocol, network: raw.network, connections, ..profile })
}

/// `warm_up`; `None` if it is absent.
pub fn warm_up(raw: &RawProfile) -> Result<Option<WarmUp>, String> {
    raw.warm_up
        .as_deref()
        .map(|text| {
            WarmUp::parse(text)
                .map_err(|error| format!("profile.warm_up: {error} (or \"auto\", \"none\")"))
        })
        .transpose()
}
