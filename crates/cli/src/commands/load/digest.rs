//! `--digest`: who asks, for servers that ask by a digest.
use pippin_engine::{EngineError, try_digest};
use pippin_model::load::{Credentials, LoadSpec, Protocol};
use std::time::Duration;

use super::body::who;
use crate::arguments::LoadArguments;
use crate::exit::CliError;

/// The longest time for one exchange before the load.
const PATIENCE: Duration = Duration::from_secs(10);

/// Name and password for digests; `None` unless that is asked for.
///
/// # Errors
/// If this load cannot have them.
pub fn from_arguments(
    arguments: &LoadArguments,
    protocol: Protocol,
) -> Result<Option<Credentials>, CliError> {
    let Some(user) = arguments.request.user.as_deref().filter(|_| arguments.request.digest) else {
        return Ok(None);
    };
    let refuse = |why: &str| Err(CliError::User(format!("--digest: {why}")));
    match protocol {
        Protocol::Http1 => {}
        Protocol::Http2 => {
            return refuse(
                "a nonce counts requests in their order, which the streams of HTTP/2 do not have: leave out --http2, --h2c and --grpc",
            );
        }
        Protocol::Http3 => return refuse("it goes over HTTP/1.1 alone: leave out --http3"),
        Protocol::WebSocket => {
            return refuse("the messages of a WebSocket have no headers: leave it out");
        }
    }
    if arguments.fleet.agents.is_some() {
        return refuse("name and password stay in this process: leave out --agents and --nats");
    }
    let (name, password) = who(user)?;
    let credentials = Credentials::new(name, password);
    credentials.map(Some).map_err(|why| CliError::User(format!("-u: {why}")))
}

/// Whether the server asks for a digest and takes name and password, before a load of nothing but
/// refusals.
///
/// # Errors
/// Why not, with the fix.
pub fn try_it(load: &LoadSpec, timeout: Duration) -> Result<(), CliError> {
    try_digest(load, timeout.min(PATIENCE)).map_err(|error| match error {
        EngineError::Digest { why } => CliError::User(format!("--digest: {why}")),
        other => other.into(),
    })
}
