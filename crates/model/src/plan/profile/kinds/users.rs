//! `kind = "users"`
use super::value::{requests_per_connection, think};
use super::{Profile, RawProfile};
use crate::load::Connections;
use crate::schedule::users;

pub const KEYS: &[&str] = &["stages", "think", "keep_alive", "protocol", "network"];

pub fn read(raw: &RawProfile) -> Result<Profile, String> {
    let text = raw.stages.as_deref().ok_or(
        "profile.stages is missing: the users over time, for example \"10@30s,100@2m,0@30s\"",
    )?;
    let stages = users::parse(text).map_err(|error| format!("profile.stages: {error}"))?;
    let think = raw.think.as_deref().map(think).transpose()?;
    let profile = Profile::users(stages, think);
    let requests_per_connection = requests_per_connection(raw)?;
    let connections = Connections { requests_per_connection, ..profile.connections };
    Ok(Profile { connections, ..profile })
}
