//! `kind = "open"`
use super::Profile;
use super::raw::RawProfile;
use super::value::{duration, keep_alive, one_connection_count, positive_rate, required_duration};
use crate::load_spec::Arrivals;

pub const KEYS: &[&str] = &["rate", "arrivals", "connections", "ramp", "duration", "keep_alive"];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let arrivals = match raw.arrivals.as_deref() {
        None | Some("constant") => Arrivals::Constant,
        Some("poisson") => Arrivals::Poisson,
        Some(other) => {
            return Err(format!(
                "profile.arrivals `{other}` is neither \"constant\" nor \"poisson\""
            ));
        }
    };
    Ok(Profile::Open {
        rate_per_s: positive_rate("rate", raw.rate)?,
        arrivals,
        connections: one_connection_count(raw)?,
        ramp_ns: raw.ramp.as_deref().map_or(Ok(0), |text| duration("ramp", text))?,
        duration_ns: required_duration("duration", raw.duration.as_deref())?,
        keep_alive: keep_alive(raw)?,
    })
}
