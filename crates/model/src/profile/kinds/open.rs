//! `kind = "open"`
use super::value::{connections_of, duration, positive_rate, required_duration};
use super::{Profile, RawProfile};
use crate::schedule::Arrivals;

pub const KEYS: &[&str] =
    &["rate", "arrivals", "connections", "ramp", "duration", "keep_alive", "protocol", "streams"];

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
    let rate = positive_rate("rate", raw.rate)?;
    let connections = connections_of(raw)?;
    let ramp_ns = raw.ramp.as_deref().map_or(Ok(0), |text| duration("ramp", text))?;
    let duration_ns = required_duration("duration", raw.duration.as_deref())?;
    let open = Profile::open(rate, arrivals, connections.count, ramp_ns, duration_ns);
    Ok(Profile { connections, ..open })
}
