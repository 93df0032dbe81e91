//! HTTP/3 as a worker uses it.
use std::sync::Arc;
use std::time::Duration;

use pippin_model::load::tls::{Negotiated, TlsUse};
use pippin_model::load::{LoadSpec, Request};
use pippin_model::result::ErrorKind;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ClientConfig, EndpointConfig, TransportConfig, VarInt};

use super::datagrams::Datagrams;
use super::qpack::Section;
use super::session::{Origin, Session, Settings};
use crate::error::EngineError;
use crate::protocol::http2::{self, Http2, Limits};
use crate::protocol::order::ByTag;
use crate::protocol::{
    Alike, Answers, Asker, End, Greeted, Greeting, Greets, Outgoing as _, Protocol, Step,
};
use crate::request::drawn::Value;
use crate::request::wire::Wire;
use crate::tls::{Client, config};

/// HTTP/3: each user of a connection has a stream for each of its requests, and answers come in any
/// order.
pub(crate) struct Http3 {
    /// Has the bodies of requests; their heads are in `sections`.
    wire: Arc<Wire>,
    sections: Vec<Section>,
    /// Which request is sent in which turn.
    turns: Vec<u32>,
    limits: Limits,
    most_streams: u32,
    /// `None` in a load without TLS, which HTTP/3 does not have.
    settings: Option<Settings>,
    origin: Origin,
    now: u64,
    seen: TlsUse,
}

/// A connection; `None` before its first datagram.
#[derive(Debug, Default)]
pub(crate) struct Connection(Option<Box<Session>>);

/// Whether a request can be written.
pub(crate) fn check(request: &Request) -> Result<(), String> {
    http2::check(request).map_err(|why| why.replace("HTTP/2", "HTTP/3"))
}

/// How connections behave that carry requests of a load.
fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(16))
        // Requests that wait for a server are late by its doing, as over other protocols: the load's own
        // timeouts end them.
        .max_idle_timeout(Some(VarInt::from_u32(30_000).into()))
        .initial_rtt(Duration::from_millis(100))
        .enable_segmentation_offload(false);
    transport
}

/// What connections to a server have in common.
///
/// # Errors
/// If its TLS cannot be used with QUIC.
pub(super) fn settings(
    client: &Client,
    limits: Limits,
    most_streams: u32,
) -> Result<Settings, String> {
    let crypto = QuicClientConfig::try_from(Arc::clone(&client.config))
        .map_err(|error| error.to_string())?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport()));
    Ok(Settings {
        endpoint: Arc::new(EndpointConfig::default()),
        client: config,
        server_name: client.server_name.to_str().into_owned(),
        limits,
        most_streams,
        counters: Arc::default(),
    })
}

/// What a handshake agreed on. QUIC has no other version of TLS (RFC 9001 section 4.2).
pub(super) fn negotiated(session: &Session) -> Negotiated {
    Negotiated {
        version: "TLSv1.3".into(),
        cipher_suite: "unknown".into(),
        key_exchange: None,
        alpn: session.alpn(),
        handshakes: 1,
        resumed: 0,
    }
}

impl Protocol for Http3 {
    type Session = Connection;
    type Out = Datagrams;
    type Order = ByTag;
    type Greeting = Handshake;
    type Variation = Alike;
    type Reach = Asker;
    const DRAWS: bool = true;
    const HAS_TIMERS: bool = true;
    const IN_DATAGRAMS: bool = true;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        Http2::wire(spec)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        let section = |request: &Request| {
            Section::new(&http2::fields(request, "https"), request.drawn.as_deref())
        };
        Self {
            wire: Arc::clone(wire),
            sections: spec.requests.iter().map(section).collect(),
            turns: spec.requests.turns().map(|request| request as u32).collect(),
            limits: Limits::from_spec(spec),
            most_streams: spec.connections.streams,
            settings: None,
            origin: Origin::new(),
            now: 0,
            seen: spec.tls.as_ref().map(config::nothing_yet).unwrap_or_default(),
        }
    }

    fn secured_by(&mut self, client: &Client) {
        self.settings = settings(client, self.limits, self.most_streams).ok();
    }

    #[inline]
    fn at(&mut self, now: u64) {
        self.now = now;
    }

    #[inline]
    fn due(&self, connection: &mut Connection) -> Option<u64> {
        let now = self.origin.instant(self.now);
        Some(self.origin.ns(connection.0.as_mut()?.due(now)?))
    }

    fn begin(&self, connection: &mut Connection, out: &mut Datagrams) {
        let Some(settings) = &self.settings else { return };
        let now = self.origin.instant(self.now);
        connection.0 = Session::new(settings, now).ok().map(Box::new);
        if let Some(session) = &mut connection.0 {
            session.transmit(now, out);
        }
    }

    #[inline]
    fn room(connection: &Connection, _under_way: u32) -> u32 {
        connection.0.as_ref().map_or(0, |session| session.spare.len() as u32)
    }

    #[inline]
    fn render(
        &mut self,
        connection: &mut Connection,
        template: u32,
        tag: u32,
        value: Value,
        _: &mut Datagrams,
    ) {
        let Some(session) = &mut connection.0 else { return };
        let section = &self.sections[self.turns[template as usize] as usize];
        let body = self.wire.bytes(self.wire.slice(template));
        let head_only = self.wire.template(template).head_only;
        let Some(stream) = session.open(tag, template, head_only) else { return };
        stream.put_head(section, &value, body.len());
        session.write(tag, body);
    }

    #[inline]
    fn refill(&self, connection: &mut Connection, out: &mut Datagrams) {
        let Some(session) = &mut connection.0 else { return };
        // What is written meanwhile follows when these datagrams have gone.
        if !out.is_empty() {
            return;
        }
        for (tag, template) in session.unwritten() {
            session.write(tag, self.wire.bytes(self.wire.slice(template)));
        }
        if !session.may_wait() {
            session.transmit(self.origin.instant(self.now), out);
        }
    }

    fn cancel(&mut self, connection: &mut Connection, tag: u32, _: &mut Datagrams) {
        if let Some(session) = &mut connection.0 {
            session.give_up(tag);
        }
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        connection: &mut Connection,
        input: &[u8],
        answers: &mut A,
        out: &mut Datagrams,
    ) -> Result<Step, ErrorKind> {
        let Some(session) = &mut connection.0 else { return Err(ErrorKind::Malformed) };
        match session.decode(input, self.origin.instant(self.now), answers, out) {
            Err(wrong) => {
                answers.refused(wrong.why);
                Err(wrong.kind)
            }
            Ok(step) => {
                if let Step::Failed { .. } = step {
                    answers.refused(session.why);
                }
                Ok(step)
            }
        }
    }

    fn end(connection: &mut Connection) -> End {
        let untouched = connection.0.as_ref().is_none_or(|session| !session.has_begun());
        if untouched { End::BeforeHead { untouched } } else { End::InBody }
    }
}

/// The handshake of QUIC, which is that of TLS 1.3 (RFC 9001).
pub(crate) struct Handshake;

impl Greets<Http3> for Handshake {
    const SECURES: bool = true;
    const CLOSED: &'static str = "nobody answers on the server's UDP port: does it speak HTTP/3?";

    fn greet(
        protocol: &mut Http3,
        connection: &mut Connection,
        input: &[u8],
        out: &mut Datagrams,
    ) -> Greeting {
        let now = protocol.origin.instant(protocol.now);
        let Some(session) = &mut connection.0 else {
            return Greeting::Failed("TLS is not set up for QUIC".into());
        };
        match session.greet(input, now, out) {
            Ok(false) => Greeting::UnderWay,
            Ok(true) => {
                protocol.seen.add(&negotiated(session));
                Greeting::Done { used: input.len() }
            }
            Err(error) => Greeting::Failed(format!("the handshake of QUIC failed: {error}")),
        }
    }

    fn late(_: &Http3, _: &Connection) -> String {
        "the handshake of QUIC took too long: does the server speak HTTP/3 on this UDP port?".into()
    }

    fn leave(protocol: &Http3, connection: &mut Connection, out: &mut Datagrams) {
        if let Some(session) = &mut connection.0 {
            session.leave(protocol.origin.instant(protocol.now), out);
        }
    }

    fn note_failure(protocol: &mut Http3, why: &str) {
        protocol.seen.fail(why);
    }

    fn into_seen(protocol: Http3) -> Greeted {
        let quic = protocol.settings.map(|settings| settings.counters.get());
        Greeted { tls: Some(protocol.seen), quic, ..Greeted::default() }
    }
}
