//! `--request-id`: a header in each request that the server can write to its log.
use pippin_model::load::RequestId;
use pippin_model::workload::draw::Draw;
use std::time::{SystemTime, UNIX_EPOCH};

use super::request::LoadRequests;
use crate::arguments::LoadArguments;
use crate::exit::CliError;

/// What each request is called; `None` unless that is asked for. Names of two loads differ.
///
/// # Errors
/// If requests of this load cannot have the header.
pub fn from_arguments(
    arguments: &LoadArguments,
    asked: &LoadRequests,
) -> Result<Option<RequestId>, CliError> {
    let Some(form) = arguments.request_id else { return Ok(None) };
    let refuse = |why: &str| Err(CliError::User(format!("--request-id: {why}")));
    if asked.messages.is_some() {
        return refuse("messages of a WebSocket have no headers: leave it out");
    }
    if arguments.slowest.is_none() && arguments.samples.is_none() {
        return refuse("its names are shown by --slowest and --samples: add one of them");
    }
    let id = RequestId { form: form.into(), prefix: prefix(arguments.seed) };
    match id.fits(&asked.requests) {
        Ok(()) => Ok(Some(id)),
        Err(why) => refuse(&why),
    }
}

/// 24 hexadecimal digits that no other load has.
fn prefix(seed: u64) -> String {
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let mut draw = Draw::new(now ^ seed.rotate_left(32) ^ u64::from(std::process::id()));
    format!("{:016x}{:08x}", draw.bits(), draw.bits() as u32 | 1)
}
