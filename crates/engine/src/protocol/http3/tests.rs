//! A connection to a server of `quinn-proto`'s, in memory and in virtual time.
use bytes::BytesMut;
use pippin_model::load::Protocol;
use pippin_model::load::tls::TlsSpec;
use pippin_testing::tls::{Authority, Certified};
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, ServerConfig,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::datagrams::Datagrams;
use super::frame::{kind, put_frame};
use super::protocol::settings;
use super::qpack::Section;
use super::session::Session;
use crate::protocol::collected::Collected;
use crate::protocol::http2::Limits;
use crate::protocol::{Bytes, Outgoing as _, Step};
use crate::tls;

/// The server's side.
struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

impl Peer {
    fn new(authority: &Authority) -> Self {
        let certified = Certified { alpn: vec!["h3"], ..Certified::default() };
        let tls = QuicServerConfig::try_from(authority.server(&certified)).unwrap();
        let config = Arc::new(ServerConfig::with_crypto(Arc::new(tls)));
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), Some(config), true, None);
        Self { endpoint, connection: None }
    }

    fn take(&mut self, datagram: &[u8], now: Instant) {
        let client = SocketAddr::from(([127, 0, 0, 1], 1_000));
        let mut buffer = Vec::new();
        let bytes = BytesMut::from(datagram);
        match self.endpoint.handle(now, client, None, None, bytes, &mut buffer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut buffer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection.as_mut().unwrap().1.handle_event(event);
            }
            _ => {}
        }
        let (handle, connection) = self.connection.as_mut().unwrap();
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while connection.poll().is_some() {}
    }

    /// All datagrams that may go out now.
    fn flight(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let Some((_, connection)) = &mut self.connection else { return Vec::new() };
        std::iter::from_fn(|| {
            let mut datagram = Vec::new();
            connection.poll_transmit(now, 1, &mut datagram).map(|_| datagram)
        })
        .collect()
    }

    /// Answers the only request.
    fn answer(&mut self, body: &[u8]) {
        let Some((_, connection)) = &mut self.connection else { return };
        let id = connection.streams().accept(Dir::Bi).unwrap();
        let mut answer = Vec::new();
        // `:status 200`.
        put_frame(&mut answer, kind::HEADERS, &[0, 0, 0xD9]);
        put_frame(&mut answer, kind::DATA, body);
        assert_eq!(connection.send_stream(id).write(&answer).unwrap(), answer.len());
        connection.send_stream(id).finish().unwrap();
    }
}

fn session(authority: &Authority, now: Instant) -> Session {
    let spec = TlsSpec {
        server_name: "127.0.0.1".into(),
        extra_roots_pem: Some(authority.pem()),
        verify: true,
        resume: false,
        client: None,
    };
    let client = tls::Client::new(&spec, Protocol::Http3).unwrap();
    let limits = Limits { head_bytes: 16 * 1024, body_bytes: 1 << 20 };
    Session::new(&settings(&client, limits, 1).unwrap(), now).unwrap()
}

/// Hands all datagrams over, and returns how many there were.
fn deliver(out: &mut Datagrams, peer: &mut Peer, now: Instant) -> usize {
    let mut count = 0;
    while !out.is_empty() {
        let Bytes::Own(bytes) = out.bytes() else { panic!("own bytes") };
        let (datagram, length) = (bytes.to_vec(), bytes.len() as u32);
        peer.take(&datagram, now);
        out.took(length);
        count += 1;
    }
    count
}

/// Datagrams that come together are acknowledged together: else a body of 60 kB costs 20 datagrams of ours.
#[test]
fn what_comes_together_is_acknowledged_by_one_datagram() {
    const STEP: Duration = Duration::from_millis(1);
    let authority = Authority::new();
    let mut now = Instant::now();
    let (mut peer, mut session) = (Peer::new(&authority), session(&authority, now));
    let mut out = Datagrams::default();
    session.transmit(now, &mut out);
    let mut is_greeted = false;
    while !is_greeted {
        now += STEP;
        deliver(&mut out, &mut peer, now);
        for datagram in peer.flight(now) {
            is_greeted |= session.greet(&datagram, now, &mut out).unwrap();
        }
    }
    // What else the greeting leads to.
    for _ in 0..5 {
        now += STEP;
        session.transmit(now, &mut out);
        deliver(&mut out, &mut peer, now);
        for datagram in peer.flight(now) {
            let step = session.decode(&datagram, now, &mut Collected::default(), &mut out);
            assert_eq!(step, Ok(Step::More));
        }
    }
    let section = Section::new(&[(":method".into(), "GET".into())], None);
    session.open(0, 0, false).unwrap().put_head(&section, &[], 0);
    assert!(!session.may_wait(), "a request waits for nothing");
    session.write(0, &[]);
    session.transmit(now, &mut out);
    deliver(&mut out, &mut peer, now);
    let body = vec![b'x'; 60_000];
    peer.answer(&body);
    let mut answers = Collected::default();
    let (mut received, mut sent, mut flights) = (0, 0, 0);
    let mut is_complete = false;
    while !is_complete {
        now += STEP;
        let flight = peer.flight(now);
        assert!(!flight.is_empty(), "the server waits after {received} datagrams");
        (received, flights) = (received + flight.len(), flights + 1);
        for datagram in flight {
            while let Ok(step) = session.decode(&datagram, now, &mut answers, &mut out) {
                match step {
                    Step::Complete { .. } => is_complete = true,
                    _ => break,
                }
            }
            assert!(session.may_wait() && out.is_empty());
            assert_eq!(session.due(now), Some(now), "asked at the end of the turn");
        }
        assert_eq!(session.decode(&[], now, &mut answers, &mut out), Ok(Step::More));
        assert!(!session.may_wait());
        session.transmit(now, &mut out);
        sent += deliver(&mut out, &mut peer, now);
    }
    assert_eq!(answers.into_response().body, body);
    assert!(received > 40 && sent <= flights, "{received} came, {sent} went in {flights} flights");
}
