//! TLS in virtual time: its handshake takes as long as the server lets it take, and changes nothing
//! else. Both ends are real; only the time between them is not.
use pippin_model::load::tls::TlsSpec;
use pippin_model::load::{Connections, LoadSpec, Protocol};
use pippin_model::result::ErrorKind;
use pippin_testing::frames::kind::SETTINGS;
use pippin_testing::frames::{answer, frame};
use pippin_testing::tls::{Authority, Certified};

use super::framing::Framing;
use super::times::{assert_ms, counts, errors, open};
use super::world::{Act, Script};
use super::{MS, Played, closed, devices, play_on};
use crate::protocol::Protocol as Speaks;
use crate::protocol::http1::Http1;
use crate::protocol::http2::Http2;
use crate::transport::Tls;
use crate::worker::seats::Seating;

/// A load over TLS to a server that takes so many milliseconds for its part of the handshake. Both
/// versions of TLS come to the same.
fn each_version<P: Speaks<Order: Seating>>(
    spec: &LoadSpec,
    handshake_ms: u64,
    framing: Framing,
    script: impl Fn() -> Script,
    check: impl Fn(Played),
) {
    let authority = Authority::new();
    let tls = TlsSpec {
        server_name: "127.0.0.1".into(),
        extra_roots_pem: Some(authority.pem()),
        verify: true,
        resume: false,
        client: None,
    };
    let spec = LoadSpec { tls: Some(tls), ..spec.clone() };
    for only_tls12 in [false, true] {
        let certified =
            Certified { only_tls12, alpn: vec!["h2", "http/1.1"], ..Certified::default() };
        let script = script().secured(authority.server(&certified), handshake_ms * MS);
        check(play_on::<Tls, P>(&spec, script, framing));
    }
}

/// A connection for each request: 5 ms until it is open, 30 ms for the handshake, and 10 ms for the
/// answer. The user waits for all of that, the service time is that of the answer.
#[test]
fn a_handshake_is_a_span_of_its_own() {
    let mut spec = closed(2, 60_000);
    spec.stop.requests = Some(10);
    spec.connections.requests_per_connection = Some(1);
    let script = || Script::after(10 * MS).connecting(|_| vec![(5 * MS, Act::Accept)]);
    each_version::<Http1>(&spec, 30, Framing::Heads, script, |played| {
        assert_eq!((counts(&played), errors(&played)), ([10, 10, 10, 0, 0, 0], vec![]));
        let spans = &played.measured().spans;
        assert_ms(&spans.connect, [5; 10]);
        assert_ms(&spans.tls, [30; 10]);
        assert_ms(&spans.service_time, [10; 10]);
        assert_ms(&spans.response_time, [45; 10]);
    });
}

/// 20/s on two connections that are open before the load: TLS takes no time of any request.
#[test]
fn an_open_loop_over_tls_is_on_time() {
    each_version::<Http1>(
        &open(2, 20.0, 1_000),
        30,
        Framing::Heads,
        || Script::after(10 * MS),
        |played| {
            assert_eq!((counts(&played), errors(&played)), ([20, 20, 20, 0, 0, 0], vec![]));
            assert_ms(&played.measured().spans.response_time, [10; 20]);
            assert_ms(&played.measured().spans.own_lag, [0; 20]);
        },
    );
}

/// A body that ends with the connection, which nobody has closed in TLS: anybody could have cut it.
#[test]
fn an_end_that_is_not_the_servers_ends_no_body() {
    let mut spec = closed(1, 60_000);
    spec.stop.requests = Some(3);
    let script = || {
        let cut = || Act::Send(b"HTTP/1.1 200 OK\r\n\r\nuntil".to_vec());
        Script::answering(move |_| vec![(MS, cut()), (2 * MS, Act::Close)])
    };
    each_version::<Http1>(&spec, 30, Framing::Heads, script, |played| {
        assert_eq!(counts(&played), [3, 3, 0, 3, 0, 0]);
        assert_eq!(errors(&played), [(ErrorKind::CloseInBody, 3)]);
    });
}

/// 2 connections with 8 users each.
#[test]
fn streams_over_tls_wait_beside_each_other() {
    let mut spec = closed(2, 60_000);
    spec.stop.requests = Some(160);
    let connections = Connections { streams: 8, ..spec.connections };
    let spec = LoadSpec { protocol: Protocol::Http2, connections, ..spec };
    let script = || {
        let settings = || Act::Send(frame(SETTINGS, 0, 0, &[]));
        let mut greeted = Vec::new();
        Script::answering(|asked| vec![(40 * MS, Act::Send(answer(asked.tag, b"hello")))]).hearing(
            move |piece| {
                // The preface comes when the handshake is done.
                let is_new = !greeted.contains(&piece.connection);
                greeted.push(piece.connection);
                if is_new { vec![(0, settings())] } else { Vec::new() }
            },
        )
    };
    each_version::<Http2>(&spec, 30, Framing::Http2, script, |played| {
        assert_eq!((counts(&played), errors(&played)), ([160, 160, 160, 0, 0, 0], vec![]));
        assert_ms(&played.measured().spans.service_time, [40; 160]);
        assert_eq!(played.measured().connections.opened, 2);
    });
}

/// The server never answers the handshake: 2 users try at 0, 110 and 220 ms, and the last attempt is
/// under way at the end, as with a server that never accepts.
#[test]
fn a_handshake_that_does_not_end_is_late_as_a_connection_is() {
    let mut spec = closed(2, 240);
    spec.timeouts.connect_ns = 100 * MS;
    each_version::<Http1>(
        &spec,
        10_000,
        Framing::Heads,
        || Script::after(MS),
        |played| {
            assert_eq!(counts(&played), [6, 0, 0, 0, 0, 6]);
            assert_eq!(errors(&played), [(ErrorKind::Tls, 4)]);
        },
    );
}

/// Two users try every 10 ms, as with a server that refuses connections.
#[test]
fn a_server_without_tls_is_an_error_of_the_handshake() {
    let spec = closed(2, 300);
    let script = || {
        Script::after(MS)
            .connecting(|_| vec![(0, Act::Accept), (0, Act::Sealed(b"HTTP/1.1 400 x".to_vec()))])
    };
    each_version::<Http1>(&spec, 10_000, Framing::Heads, script, |played| {
        assert_eq!(counts(&played), [60, 0, 0, 0, 0, 60]);
        assert_eq!(errors(&played), [(ErrorKind::Tls, 60)]);
    });
}

/// 20 ms before the head, and 10 ms within the body.
#[test]
fn delays_are_seen_through_tls() {
    let mut spec = closed(2, 60_000);
    spec.stop.requests = Some(20);
    let script = || {
        let says = |text: &str| Act::Send(text.as_bytes().to_vec());
        Script::answering(move |_| {
            let head = says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
            vec![(20 * MS, head), (30 * MS, says("k"))]
        })
    };
    each_version::<Http1>(&spec, 30, Framing::Heads, script, |played| {
        assert_eq!((counts(&played), errors(&played)), ([20, 20, 20, 0, 0, 0], vec![]));
        assert_ms(&played.measured().spans.headers, [20; 20]);
        assert_ms(&played.measured().spans.body, [10; 20]);
    });
}

/// A device sends 2 requests with 10 ms between, whose answers take 10 ms: with 5 ms until its connection
/// is open and 25 ms for the handshake, it takes 60 ms, of which the first request waits for 40.
#[test]
fn a_device_waits_for_its_handshake() {
    let script = || Script::after(10 * MS).connecting(|_| vec![(5 * MS, Act::Accept)]);
    let spec = devices(1, 10, [60, 600, 60]);
    each_version::<Http1>(&spec, 25, Framing::Heads, script, |played| {
        assert_eq!((counts(&played), errors(&played)), ([20, 20, 20, 0, 0, 0], vec![]));
        let measured = played.measured();
        assert_ms(&measured.spans.response_time, [[40].repeat(10), [10].repeat(10)].concat());
        assert_ms(&measured.spans.service_time, [10; 20]);
        assert_eq!((measured.spans.tls.count(), measured.connections.opened), (10, 10));
    });
}

#[test]
fn a_silent_server_times_out() {
    let mut spec = closed(2, 60_000);
    spec.stop.requests = Some(6);
    spec.timeouts.request_ns = 80 * MS;
    let script = || Script::answering(|_| Vec::new());
    each_version::<Http1>(&spec, 30, Framing::Heads, script, |played| {
        assert_eq!(errors(&played), [(ErrorKind::Timeout, 6)]);
        assert_ms(&played.measured().spans.service_time, [80; 6]);
    });
}
