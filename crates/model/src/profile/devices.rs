//! `kind = "devices"`
use super::Profile;
use super::raw::RawProfile;
use super::value::{at_least_one, required_duration, think};

pub const KEYS: &[&str] =
    &["devices", "requests_per_device", "think", "ramp_up", "sustain", "ramp_down"];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let devices = raw.devices.ok_or("profile.devices is missing: how many at the same time")?;
    Ok(Profile::Devices {
        devices: at_least_one("devices", devices)?,
        requests_per_device: at_least_one(
            "requests_per_device",
            raw.requests_per_device.unwrap_or(100),
        )?,
        think: think(raw.think.as_deref().unwrap_or("900ms +-5%"))?,
        ramp_up_ns: required_duration("ramp_up", raw.ramp_up.as_deref())?,
        sustain_ns: required_duration("sustain", raw.sustain.as_deref())?,
        ramp_down_ns: required_duration("ramp_down", raw.ramp_down.as_deref())?,
    })
}
