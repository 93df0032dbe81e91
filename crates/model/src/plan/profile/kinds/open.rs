//! `kind = "open"`
use super::value::{connections_of, duration, positive_rate, required_duration};
use super::{Profile, RawProfile};
use crate::schedule::Arrivals;
use crate::schedule::{stages, users};

pub const KEYS: &[&str] = &[
    "rate",
    "arrivals",
    "connections",
    "ramp",
    "stages",
    "duration",
    "keep_alive",
    "protocol",
    "streams",
    "network",
];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let arrivals = arrivals(raw)?;
    let connections = connections_of(raw)?;
    let open = match raw.stages.as_deref() {
        Some(text) => staged(raw, text, arrivals, connections.count)?,
        None => {
            let rate = positive_rate("rate", raw.rate)?;
            let ramp_ns = raw.ramp.as_deref().map_or(Ok(0), |text| duration("ramp", text))?;
            let duration_ns = required_duration("duration", raw.duration.as_deref())?;
            Profile::open(rate, arrivals, connections.count, ramp_ns, duration_ns)
        }
    };
    Ok(Profile { connections, ..open })
}

/// `arrivals`.
pub fn arrivals(raw: &RawProfile) -> Result<Arrivals, String> {
    match raw.arrivals.as_deref() {
        None | Some("constant") => Ok(Arrivals::Constant),
        Some("jittered") => Ok(Arrivals::Jittered),
        Some("poisson") => Ok(Arrivals::Poisson),
        Some(other) => Err(format!(
            "profile.arrivals `{other}` is not \"constant\", \"jittered\" or \"poisson\""
        )),
    }
}

/// An open loop with stages, which set its length and its ramps.
fn staged(
    raw: &RawProfile,
    text: &str,
    arrivals: Arrivals,
    connections: u32,
) -> Result<Profile, String> {
    let others = [
        ("rate", raw.rate.is_some()),
        ("ramp", raw.ramp.is_some()),
        ("duration", raw.duration.is_some()),
    ];
    if let Some((key, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
        return Err(format!("profile.stages and profile.{key} exclude each other; keep one"));
    }
    if text.trim_start().starts_with(users::PREFIX) {
        return Err(
            "profile.stages are users over time: write kind = \"users\", without connections"
                .into(),
        );
    }
    let stages = stages::parse(text).map_err(|error| format!("profile.stages: {error}"))?;
    Ok(Profile::staged(stages, arrivals, connections))
}
