//! The load generator: schedule x protocol x stop rule over an event loop a core.
//!
//! [`run()`] takes a [`LoadSpec`] and returns what was measured. It knows nothing of targets, plans
//! or files.
//!
//! The way of a load: `validate` -> `run` starts one `worker` a thread, each built of an `io` event
//! loop, a `transport` (TCP, or TLS over it) and a `protocol` (`http1`, `http2`, `websocket`), all
//! chosen at compile time. `users` say when a request is due, a `check` says whether its answer is
//! right, and a `recorder` counts. Where no answer may come from a table, a part of each request is
//! `drawn` anew, and `surprises` come at
//! places that no server can foresee. In a scenario each user has values and cookies of its own (`scenario`). The
//! `coordinator` tells all workers when measuring starts and ends (`timeline`) and merges what they
//! have counted.
pub mod blocking;
mod digest;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod io;
mod pace;
mod protocol;
mod record;
mod request;
mod run;
mod scenario;

mod shared;
mod time;
mod tls;
mod transport;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pippin_model::load::tls::{Negotiated, TlsSpec};
use pippin_model::load::{Limits, LoadSpec, Protocol, Request};
use pippin_model::result::{LoadResult, Window};

pub use blocking::Place;
pub use error::{EngineError, Remedy};
pub use protocol::{http1, http2, http3, websocket};
pub use request::referee::{Briefing, Exchange, Referee};
pub use run::gate::Gate;
pub use run::validate::bounds;
pub use run::watchdog::{Longest, longest};

/// How the caller takes part in a load while it runs.
pub struct Control<'a> {
    /// Ends the load early; what was measured is returned with `interrupted` set. Noticed within
    /// some 20 ms.
    pub stop: &'a AtomicBool,
    /// Nobody serves any more. It ends the load as `stop` does.
    pub is_over: Option<&'a AtomicBool>,
    /// Gets each window of a second as soon as all threads have delivered it. In a warm-up of
    /// unknown length its `from_ns` counts from the latest possible start of measuring; in the
    /// result it is exact.
    pub on_window: Option<&'a (dyn Fn(&Window) + Send + Sync)>,
    /// Told when it is known when the measured part begins and, if time ends it, when it ends
    /// (CLOCK_MONOTONIC, nanoseconds): some time before it begins.
    pub on_measuring: Option<&'a (dyn Fn(u64, Option<u64>) + Send + Sync)>,
    /// Whether the warm-up can end, given the completed requests per second of each short window
    /// (200 ms) so far. Asked once for each of them, as soon as it is over.
    pub steady: &'a (dyn Fn(&[f64]) -> bool + Send + Sync),
    /// Holds the schedule back until the caller has said when it starts. `None` starts it as soon
    /// as the connections are open.
    pub gate: Option<&'a Gate>,
    /// Gets what happens to a generator of several machines. The engine itself has nothing to tell.
    pub on_note: Option<&'a (dyn Fn(&str) + Send + Sync)>,
    /// Whether windows carry their histograms, so that those of peers can be merged.
    pub histograms: bool,
    /// Judges the bodies of requests whose check says so; without one, such a load is refused.
    pub referee: Option<Arc<dyn Referee>>,
}

impl<'a> Control<'a> {
    /// Nobody listens, and the load starts at once.
    #[must_use]
    pub const fn new(
        stop: &'a AtomicBool,
        steady: &'a (dyn Fn(&[f64]) -> bool + Send + Sync),
    ) -> Self {
        Self {
            stop,
            is_over: None,
            on_window: None,
            on_measuring: None,
            steady,
            gate: None,
            on_note: None,
            histograms: false,
            referee: None,
        }
    }

    /// Whether the load is to end early.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let is_over = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        is_over(self.stop) || self.is_over.is_some_and(is_over)
    }
}

/// Opens one connection as a load would, as far as both sides have greeted each other, and closes
/// it: whether a load would get through, before it begins. What TLS has agreed on, if there is TLS.
///
/// # Errors
/// If the source address cannot be used, there is no such server name, no root to trust, the
/// handshake fails, or the server does not speak the protocol; or all of it together takes longer
/// than `timeout`.
pub fn try_connection<'a>(
    place: impl Into<Place<'a>>,
    tls: Option<&TlsSpec>,
    protocol: Protocol,
    timeout: Duration,
) -> Result<Option<Negotiated>, EngineError> {
    let place = place.into();
    if protocol == Protocol::Http3 {
        return try_quic(&place, tls, timeout).map(Some);
    }
    let stream = blocking::Stream::connect(place, tls, protocol, timeout)?;
    let negotiated = stream.negotiated().cloned();
    match protocol {
        Protocol::Http1 => {
            let mut stream = stream;
            stream.say_goodbye();
        }
        Protocol::Http2 => {
            http2::client::Client::new(stream, Limits::default()).map_err(|why| {
                EngineError::NoHttp2 { address: place.to_string(), why: why.to_string() }
            })?;
        }
        Protocol::Http3 | Protocol::WebSocket => {}
    }
    Ok(negotiated)
}

/// Makes one handshake of QUIC as a load would, and says goodbye.
fn try_quic(
    place: &Place<'_>,
    tls: Option<&TlsSpec>,
    timeout: Duration,
) -> Result<Negotiated, EngineError> {
    let tls = tls.ok_or_else(|| EngineError::NoHttp3 {
        address: place.to_string(),
        why: "QUIC has TLS in it: write https://".into(),
    })?;
    let client = http3::client::Client::connect(place, tls, Limits::default(), timeout)?;
    Ok(client.negotiated())
}

/// Opens a connection to each place of a load as the load will, and closes it. So a wrong
/// certificate, or a server of another protocol, gives one message instead of a load of failures.
/// HTTP/1.1 without TLS needs no such look.
///
/// # Errors
/// As [`try_connection`]'s; or if the server does not agree to the WebSocket of the first request.
pub fn try_places(spec: &LoadSpec, timeout: Duration) -> Result<(), EngineError> {
    let tls = spec.tls.as_ref();
    Place::all_of(spec).try_for_each(|place| match spec.protocol {
        Protocol::Http1 if tls.is_none() => Ok(()),
        Protocol::Http1 | Protocol::Http2 | Protocol::Http3 => {
            try_connection(place, tls, spec.protocol, timeout).map(drop)
        }
        Protocol::WebSocket => spec
            .requests
            .iter()
            .take(1)
            .try_for_each(|request| try_websocket(place, tls, request, timeout)),
    })
}

/// Opens one WebSocket as a load would, and closes it.
fn try_websocket(
    place: Place<'_>,
    tls: Option<&TlsSpec>,
    request: &Request,
    timeout: Duration,
) -> Result<(), EngineError> {
    let stream = blocking::Stream::connect(place, tls, Protocol::WebSocket, timeout)?;
    // As a load does, it does not wait for the server's Close (docs/decisions/websocket.md).
    let opened = websocket::client::Client::open(stream, request);
    opened.map(websocket::client::Client::leave).map_err(|why| EngineError::NoWebSocket {
        address: place.to_string(),
        is_http: is_http(&why),
        why: why.to_string(),
    })
}

/// Whether a server asks for a digest (RFC 7616), and takes the name and the password of a load; it
/// does nothing for a load without them. It sends up to 16 requests of the load without their bodies
/// until one is refused with 401, and that one again with the digest if its method changes nothing
/// (GET, HEAD, OPTIONS). `timeout` bounds each exchange.
///
/// # Errors
/// [`EngineError::Digest`] if the server asks for nothing, or for what cannot be answered, or refuses
/// name and password; or if it cannot be reached.
pub fn try_digest(spec: &LoadSpec, timeout: Duration) -> Result<(), EngineError> {
    let authorized = run::with_credentials(spec);
    digest::asking::try_credentials(authorized.as_ref().unwrap_or(spec), timeout)
}

/// Whether servers refuse by this status a request that is in another protocol than they expect: Bad
/// Request, Upgrade Required, HTTP Version Not Supported (RFC 9110 section 15).
#[must_use]
pub const fn refuses_protocol(status: u16) -> bool {
    matches!(status, 400 | 426 | 505)
}

/// Whether a server answered in HTTP/1.1, and not that it does not understand the request.
const fn is_http(why: &websocket::client::ClientError) -> bool {
    use websocket::{Refusal, client::ClientError};
    match why {
        ClientError::Refused(Refusal::Status(status)) => !refuses_protocol(*status),
        ClientError::Refused(Refusal::Header(_)) => true,
        _ => false,
    }
}

/// Whether a request can be written in a protocol.
///
/// # Errors
/// What part of it is wrong, and what is right.
pub fn check_request(request: &Request, protocol: Protocol) -> Result<(), String> {
    match protocol {
        Protocol::Http1 => http1::request::check(request).map_err(|why| why.to_string()),
        Protocol::Http2 => http2::check(request),
        Protocol::Http3 => http3::check(request),
        Protocol::WebSocket => websocket::check(request),
    }
}

/// Whether a load can run as it is asked for, as far as that shows before a connection is opened.
///
/// # Errors
/// As [`run()`]'s, with the fix.
pub fn check(spec: &LoadSpec) -> Result<(), EngineError> {
    run::validate::validate(spec)
}

/// Applies one load and blocks until it is over.
///
/// # Errors
/// If the load cannot run as it was asked for, with the fix; what goes wrong with single requests
/// is counted and no error. [`EngineError::Died`] if a part of the engine dies while the load runs;
/// it carries what was measured until then.
pub fn run(spec: &LoadSpec, control: &Control<'_>) -> Result<LoadResult, EngineError> {
    run::run(spec, control)
}
