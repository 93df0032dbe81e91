//! `kind = "devices"`
use super::value::{at_least_one, required_duration, think};
use super::{Profile, RawProfile};

pub const KEYS: &[&str] = &[
    "devices",
    "requests_per_device",
    "think",
    "ramp_up",
    "sustain",
    "ramp_down",
    "protocol",
    "network",
];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let devices = raw.devices.ok_or("profile.devices is missing: how many at the same time")?;
    Ok(Profile::devices(
        at_least_one("devices", devices)?,
        at_least_one("requests_per_device", raw.requests_per_device.unwrap_or(100))?,
        think(raw.think.as_deref().unwrap_or("900ms +-5%"))?,
        [
            required_duration("ramp_up", raw.ramp_up.as_deref())?,
            required_duration("sustain", raw.sustain.as_deref())?,
            required_duration("ramp_down", raw.ramp_down.as_deref())?,
        ],
    ))
}
