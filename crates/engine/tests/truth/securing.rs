//! HTTPS: the handshake has its own span, everything else is as without TLS, and what fails says
//! why.
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};

use pippin_model::load::tls::{TlsSpec, TlsUse};
use pippin_model::load::{BodyCheck, Connections, IoChoice, LoadSpec, Request, Schedule};
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_model::text::units::Spread;
use pippin_testing::Running;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use crate::support::{
    MS, assert_takes, assert_within, closed, errors, get, ms, on_each_loop, quantile_ms, run,
    trusting,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    the_handshake_is_a_span_of_its_own,
    a_connection_per_request_is_a_handshake_per_request,
    sessions_are_resumed_if_asked_for,
    bytes_may_come_one_at_a_time,
    large_bodies_and_large_requests,
    only_a_goodbye_ends_a_body_without_length,
    keys_may_change,
    bytes_that_are_no_tls_behind_an_answer,
    rows_of_requests,
    both_versions,
);

/// A scripted server, TLS before it, and the authority that certified it.
struct Secured {
    server: Running<Account>,
    front: Front,
    authority: Authority,
}

impl Secured {
    fn new(script: Script, certified: &Certified, manner: FrontBehaviour) -> Self {
        let authority = Authority::new();
        let server = spawn(script).unwrap();
        let front = Front::spawn(server.address(), authority.server(certified), manner).unwrap();
        Self { server, front, authority }
    }

    fn hello() -> Self {
        Self::new(
            Script::always(Answer::ok(b"hello")),
            &Certified::default(),
            FrontBehaviour::default(),
        )
    }

    fn tls(&self) -> Option<TlsSpec> {
        Some(trusting(&self.authority))
    }

    /// A closed loop with this number of requests.
    fn closed(&self, io: IoChoice, connections: u32, requests: u64) -> LoadSpec {
        LoadSpec { tls: self.tls(), ..closed(self.front.address(), io, connections, requests) }
    }
}

fn tls_use(result: &LoadResult) -> &TlsUse {
    result.tls.as_ref().unwrap()
}

const fn per_connection(requests: u32, connections: u32) -> Connections {
    Connections {
        count: connections,
        requests_per_connection: Some(requests),
        pipeline: 1,
        streams: 1,
    }
}

/// The server waits 30 ms before it answers the first message of the handshake: that is in `tls`,
/// not in `connect`, not in the requests.
fn the_handshake_is_a_span_of_its_own(io: IoChoice) {
    let manner = FrontBehaviour { handshake_delay: ms(30), ..FrontBehaviour::default() };
    let secured = Secured::new(Script::always(Answer::ok(b"hello")), &Certified::default(), manner);
    let result = run(&secured.closed(io, 4, 200));
    let spans = &result.measured.spans;
    assert_eq!(
        (spans.connect.count(), spans.tls.count(), result.measured.requests.good),
        (4, 4, 200)
    );
    assert_takes("the shortest handshake", quantile_ms(&spans.tls, 0.0), 30.0, 60.0);
    assert_within("connect", quantile_ms(&spans.connect, 0.5), 0.0, 10.0);
    assert_within("the median service time", quantile_ms(&spans.service_time, 0.5), 0.0, 20.0);
    let TlsUse { server_name, verified, resumption, negotiated, failures } = tls_use(&result);
    assert_eq!(
        (server_name.as_str(), *verified, *resumption, failures.len()),
        ("127.0.0.1", true, false, 0)
    );
    let [one] = negotiated.as_slice() else { panic!("{negotiated:?}") };
    assert_eq!(
        (one.version.as_str(), one.alpn.as_deref(), one.handshakes, one.resumed),
        ("TLSv1.3", Some("http/1.1"), 4, 0)
    );
    // What went over the wire, handshakes included, byte for byte as the server counted it, but for
    // its tickets' arrival at the end.
    let account = secured.front.stop();
    assert_eq!(
        (result.measured.bytes.sent, result.measured.bytes.received),
        (account.bytes_in, account.bytes_out)
    );
}

/// 60 requests, a connection each: 60 handshakes, and each ends with close_notify.
fn a_connection_per_request_is_a_handshake_per_request(io: IoChoice) {
    let secured = Secured::hello();
    let result = run(&LoadSpec { connections: per_connection(1, 3), ..secured.closed(io, 3, 60) });
    let (connections, spans) = (result.measured.connections, &result.measured.spans);
    assert_eq!(
        (result.measured.requests.good, connections.opened, connections.reconnects),
        (60, 60, 57)
    );
    assert_eq!((spans.connect.count(), spans.tls.count()), (60, 60));
    assert_eq!(
        tls_use(&result)
            .negotiated
            .iter()
            .map(|one| (one.handshakes, one.resumed))
            .collect::<Vec<_>>(),
        [(60, 0)]
    );
    let deadline = std::time::Instant::now() + ms(20_000);
    while secured.front.account().goodbyes < 60 && std::time::Instant::now() < deadline {
        std::thread::sleep(ms(5));
    }
    let account = secured.front.stop();
    assert_eq!(
        (account.connections, account.handshakes, account.resumed, account.goodbyes),
        (60, 60, 0, 60)
    );
}

/// One user, whose connections end after each request: every handshake but the first has a ticket.
/// Server and client count the same.
fn sessions_are_resumed_if_asked_for(io: IoChoice) {
    for only_tls12 in [false, true] {
        let certified = Certified { only_tls12, ..Certified::default() };
        let secured = Secured::new(
            Script::always(Answer::ok(b"hello")),
            &certified,
            FrontBehaviour::default(),
        );
        let tls = secured.tls().map(|tls| TlsSpec { resume: true, ..tls });
        let result =
            run(&LoadSpec { tls, connections: per_connection(1, 1), ..secured.closed(io, 1, 20) });
        assert_eq!(result.measured.requests.good, 20);
        assert!(tls_use(&result).resumption);
        let resumed: u64 = tls_use(&result).negotiated.iter().map(|one| one.resumed).sum();
        assert_eq!((resumed, secured.front.stop().resumed), (19, 19), "TLS 1.2: {only_tls12}");
    }
}

fn bytes_may_come_one_at_a_time(io: IoChoice) {
    let manner = FrontBehaviour { bytes_per_write: Some(1), ..FrontBehaviour::default() };
    let certified = Certified { record_bytes: Some(50), ..Certified::default() };
    let secured = Secured::new(Script::always(Answer::ok(&[b'x'; 300])), &certified, manner);
    let requests = vec![get(BodyCheck::Exact(vec![b'x'; 300]))];
    let result = run(&LoadSpec { requests: requests.into(), ..secured.closed(io, 2, 40) });
    assert_eq!((result.measured.requests.good, errors(&result)), (40, vec![]));
}

/// Bodies of 3 MB in records of 16 KiB and of 1,000 bytes, then requests of 8 MB to a server that
/// reads late: they do not fit into the buffers between, so that the kernel takes them in parts.
fn large_bodies_and_large_requests(io: IoChoice) {
    let body: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    for record_bytes in [None, Some(1_000)] {
        let certified = Certified { record_bytes, ..Certified::default() };
        let secured =
            Secured::new(Script::always(Answer::ok(&body)), &certified, FrontBehaviour::default());
        let result = run(&LoadSpec {
            requests: vec![get(BodyCheck::Exact(body.clone()))].into(),
            ..secured.closed(io, 2, 6)
        });
        assert_eq!(
            (result.measured.requests.good, result.measured.bytes.body, errors(&result)),
            (6, 18_000_000, vec![])
        );
        assert!(result.measured.bytes.received > 18_000_000);
    }
    let authority = Authority::new();
    let body = body[..2_000_000].repeat(4);
    let head = b"POST / HTTP/1.1\r\nHost: truth\r\nContent-Length: 8000000\r\n\r\n";
    let bytes = [head.as_slice(), &body].concat();
    let front = Front::spawn(
        late_reader(bytes),
        authority.server(&Certified::default()),
        FrontBehaviour::default(),
    )
    .unwrap();
    let requests =
        vec![Request { method: "POST".into(), body, ..get(BodyCheck::Exact(b"as sent".to_vec())) }];
    let result = run(&LoadSpec {
        requests: requests.into(),
        tls: Some(trusting(&authority)),
        ..closed(front.address(), io, 2, 4)
    });
    assert_eq!((result.measured.requests.good, errors(&result)), (4, vec![]));
}

/// Waits for 50 ms, reads as many bytes as it expects, and says whether they are those.
pub(crate) fn late_reader(expected: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, expected) = (stream.unwrap(), expected.clone());
            std::thread::spawn(move || {
                let mut bytes = vec![0; expected.len()];
                loop {
                    std::thread::sleep(ms(50));
                    if stream.read_exact(&mut bytes).is_err() {
                        return;
                    }
                    let word: &[u8] = if bytes == expected {
                        b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nas sent"
                    } else {
                        b"other bytes"
                    };
                    stream.write_all(word).unwrap();
                }
            });
        }
    });
    address
}

/// A body that the end of the connection ends is whole after close_notify and may be cut off
/// without it (RFC 9112 section 9.8); one with a length is whole when it is there.
fn only_a_goodbye_ends_a_body_without_length(io: IoChoice) {
    let rude = FrontBehaviour { ends_rudely: true, ..FrontBehaviour::default() };
    let until_close = || Script::always(Answer::ok(b"hello").until_close());
    let secured = Secured::new(until_close(), &Certified::default(), FrontBehaviour::default());
    let result = run(&secured.closed(io, 2, 10));
    assert_eq!((result.measured.requests.good, errors(&result)), (10, vec![]));
    assert_eq!(result.measured.connections.closed_by_server, 10);

    let secured = Secured::new(until_close(), &Certified::default(), rude);
    let result = run(&secured.closed(io, 2, 10));
    assert_eq!(
        (result.measured.requests.failed, errors(&result)),
        (10, vec![(ErrorKind::CloseInBody, 10)])
    );
    let failures: Vec<(&String, &u64)> = tls_use(&result).failures.iter().collect();
    assert!(
        matches!(failures.as_slice(), [(why, 10)] if why.contains("without close_notify")),
        "{failures:?}"
    );

    let secured = Secured::new(
        Script::always(Answer::ok(b"hello")).close_after(1, false),
        &Certified::default(),
        rude,
    );
    let thinking = Schedule::Closed { think: Some(Spread { mean_ns: 20 * MS, jitter: 0.0 }) };
    let result = run(&LoadSpec { schedule: thinking, ..secured.closed(io, 2, 10) });
    let requests = result.measured.requests;
    in_time(requests.good == 10, || {
        format!("requests that crossed the close: {requests:?} {:?}", errors(&result))
    });
    assert_eq!(errors(&result), vec![]);
}

/// The server changes its keys after each answer and asks for new ones of the client.
fn keys_may_change(io: IoChoice) {
    let manner = FrontBehaviour { updates_keys: true, ..FrontBehaviour::default() };
    let secured = Secured::new(Script::always(Answer::ok(b"hello")), &Certified::default(), manner);
    let result = run(&secured.closed(io, 2, 40));
    assert_eq!((result.measured.requests.good, errors(&result)), (40, vec![]));
}

/// The answer came whole and nobody can have changed it; what follows it concerns no request. The
/// connection is given up and the reason noted: 10 requests, 10 connections.
fn bytes_that_are_no_tls_behind_an_answer(io: IoChoice) {
    let manner =
        FrontBehaviour { speaks_plainly_behind: Some(b"hello"), ..FrontBehaviour::default() };
    let secured = Secured::new(Script::always(Answer::ok(b"hello")), &Certified::default(), manner);
    let result = run(&secured.closed(io, 1, 10));
    let connections = result.measured.connections;
    assert_eq!(
        (
            result.measured.requests.good,
            connections.opened,
            connections.closed_by_server,
            errors(&result)
        ),
        (10, 10, 10, vec![])
    );
    let failures: Vec<(&String, &u64)> = tls_use(&result).failures.iter().collect();
    assert!(matches!(failures.as_slice(), [(why, 10)] if why.contains("not TLS")), "{failures:?}");
}

fn rows_of_requests(io: IoChoice) {
    let secured = Secured::hello();
    let connections =
        Connections { count: 2, requests_per_connection: None, pipeline: 16, streams: 1 };
    let result = run(&LoadSpec { connections, ..secured.closed(io, 2, 1_000) });
    assert_eq!((result.measured.requests.good, errors(&result)), (1_000, vec![]));
    assert_eq!(secured.server.stop().unwrap().requests, 1_000);
}

fn both_versions(io: IoChoice) {
    for (only_tls12, name) in [(true, "TLSv1.2"), (false, "TLSv1.3")] {
        let secured = Secured::new(
            Script::always(Answer::ok(b"hello")),
            &Certified { only_tls12, ..Certified::default() },
            FrontBehaviour::default(),
        );
        let result = run(&secured.closed(io, 2, 100));
        assert_eq!(
            (result.measured.requests.good, tls_use(&result).negotiated[0].version.as_str()),
            (100, name)
        );
    }
}
