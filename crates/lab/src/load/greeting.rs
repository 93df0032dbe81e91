//! What a server says of its own accord on a new WebSocket, before anybody asked.
//!
//! Such a message is no answer. Over a connection that has a message under way it would pass for one,
//! and each answer after it for that of the next message. So two connections listen before the load.
use pippin_engine::Place;
use pippin_engine::blocking::Stream;
use pippin_engine::websocket::client::Client;
use pippin_model::load::{LoadSpec, Protocol};
use std::time::Duration;

/// How long a connection listens for the next message.
const QUIET: Duration = Duration::from_millis(200);
/// A server that says more goes on saying it: that is no greeting.
const MOST: usize = 8;

/// What came on new connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// Nothing, or nobody could listen: the load itself shows why.
    None,
    /// This number of messages on each of them.
    Messages(usize),
    /// It goes on, or differs from one connection to the next.
    Unsteady,
}

/// Listens on two new connections to the first server of a load, one after the other. Nothing is sent
/// but the handshakes.
#[must_use]
pub fn listen(load: &LoadSpec) -> Greeting {
    if load.protocol != Protocol::WebSocket {
        return Greeting::None;
    }
    let Some(first) = heard(load).filter(|first| *first > 0) else { return Greeting::None };
    let is_steady = first < MOST && heard(load).is_none_or(|second| second == first);
    if is_steady { Greeting::Messages(first) } else { Greeting::Unsteady }
}

/// How many messages come on a new connection until it is quiet. `None` if it does not open.
fn heard(load: &LoadSpec) -> Option<usize> {
    let (place, request) = (Place::all_of(load).next()?, load.requests.iter().next()?);
    let limit = Duration::from_nanos(load.timeouts.connect_ns);
    let stream = Stream::connect(place, load.tls.as_ref(), load.protocol, limit).ok()?;
    let mut client = Client::open(stream, request).ok()?;
    let mut next = || {
        client.stream_mut().allow(QUIET);
        client.receive().is_ok()
    };
    let messages = (0..MOST).take_while(|_| next()).count();
    client.leave();
    Some(messages)
}
