//! WebSocket: every message has its right fate and its right times, and a hostile server gets no
//! further than one error.
//!
//! | module | what it has |
//! |---|---|
//! | [`library`] | loads against a server by other hands than ours (the crate `tungstenite`) |
//! | [`broadcasts`] | messages that must come to all connections |
//! | [`echoes`] | loads against right answers |
//! | [`opening`] | handshakes that succeed, fail or take long |
//! | [`first_words`] | protocols above WebSocket, which begin with words and have pings of their own |
//! | [`hostile`] | answers that are wrong, and servers that break the rules |
//!
//! Times, and servers that close or do not answer, are tested in virtual time (`worker/sim`).
//!
//! Servers whose frames are written by hand are in `pippin_testing::messages`.
mod broadcasts;
mod echoes;
mod first_words;
mod hostile;
mod library;
mod opening;

use pippin_model::load::websocket::{Messages, WebSocketUse};
use pippin_model::load::{BodyCheck, LoadSpec, Protocol, Request};
use pippin_model::result::LoadResult;
use pippin_testing::messages::{Connection, Server};

use crate::support::get;

/// A message with this payload. Its answer must be its echo.
fn message(payload: Vec<u8>) -> Request {
    let mut request = Request { body: payload.clone(), ..get(BodyCheck::Exact(payload)) };
    request.check.status.clear();
    request
}

/// This load over WebSocket: numbered texts of 64 bytes.
pub fn messages(spec: LoadSpec) -> LoadSpec {
    LoadSpec {
        protocol: Protocol::WebSocket,
        messages: Some(Messages { binary: false, numbered: true, broadcast: false }),
        requests: vec![message(Messages::payload(64))].into(),
        ..spec
    }
}

fn seen(result: &LoadResult) -> &WebSocketUse {
    result.websocket.as_ref().unwrap()
}

/// A server that does this after each handshake.
fn serving(script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static) -> Server {
    Server::new(script).unwrap()
}

/// A server that does this from the first byte on.
fn serving_raw(script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static) -> Server {
    Server::raw(script).unwrap()
}

/// A right server.
fn echoing() -> Server {
    Server::echo().unwrap()
}
