//! Handshakes that fail: no request is ever sent, each is counted as unsent under the error `tls`,
//! and the reason is named.
use pippin_model::load::tls::TlsSpec;
use pippin_model::load::{IoChoice, LoadSpec, Protocol, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use std::net::SocketAddr;

use crate::support::{MS, closed, errors, ms, on_each_loop, run, trusting};
use pippin_testing::patience::in_time;

on_each_loop!(
    certificates_that_cannot_be_trusted,
    the_user_may_trust_whoever_answers,
    servers_that_do_not_get_through_the_handshake
);

/// The reason of a handshake that nobody answers.
const LATE: &str = "the handshake did not end in time";

/// 2 users try 3 requests each; every one fails for this reason.
fn assert_fails(address: SocketAddr, tls: TlsSpec, io: IoChoice, reason: &str) {
    // On a busy machine a handshake takes long; only a silent server makes this test wait.
    let limit_ms = if reason == LATE { 400 } else { 10_000 };
    let timeouts =
        Timeouts { connect_ns: limit_ms * MS, request_ns: 20_000 * MS, ..Timeouts::default() };
    let probed = pippin_engine::try_connection(address, Some(&tls), Protocol::Http1, ms(limit_ms))
        .unwrap_err()
        .to_string();
    assert!(probed.contains(reason), "`{probed}` does not say `{reason}`");
    let result = run(&LoadSpec { timeouts, tls: Some(tls), ..closed(address, io, 2, 6) });
    // Connecting has the same limit, and the kernel of a busy machine may miss it.
    let unconnected = result.measured.errors.get(&ErrorKind::ConnectTimeout);
    in_time(unconnected.is_none(), || "the kernel was late with a connection".into());
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, requests.unsent, requests.sent), (6, 6, 0), "{reason}");
    assert_eq!(errors(&result), [(ErrorKind::Tls, 6)], "{reason}");
    let seen = result.tls.unwrap();
    assert_eq!(seen.negotiated, []);
    let failures: Vec<&String> = seen.failures.keys().collect();
    assert!(
        matches!(failures.as_slice(), [one] if one.contains(reason)),
        "{failures:?} instead of `{reason}`"
    );
    // The first handshakes come before the load and are tried again within it.
    assert!(seen.failures.values().all(|count| (6..=8).contains(count)), "{:?}", seen.failures);
    assert_eq!((result.measured.connections.opened, result.measured.spans.tls.count()), (0, 0));
}

fn certificates_that_cannot_be_trusted(io: IoChoice) {
    let authority = Authority::new();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let front = |certified| {
        Front::spawn(server.address(), authority.server(&certified), FrontBehaviour::default())
            .unwrap()
    };
    let unknown = front(Certified::default());
    assert_fails(
        unknown.address(),
        trusting(&Authority::new()),
        io,
        "the certificate is not signed by a trusted authority",
    );
    let expired = front(Certified { has_expired: true, ..Certified::default() });
    assert_fails(expired.address(), trusting(&authority), io, "the certificate has expired");
    let other = front(Certified { names: vec!["example.org".into()], ..Certified::default() });
    assert_fails(other.address(), trusting(&authority), io, "example.org");
    assert_eq!(server.stop().unwrap().requests, 0);
}

fn the_user_may_trust_whoever_answers(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let worst =
        Certified { names: vec!["example.org".into()], has_expired: true, ..Certified::default() };
    let front =
        Front::spawn(server.address(), Authority::new().server(&worst), FrontBehaviour::default())
            .unwrap();
    let tls = TlsSpec {
        server_name: "127.0.0.1".into(),
        extra_roots_pem: None,
        verify: false,
        resume: false,
        client: None,
    };
    let result = run(&LoadSpec { tls: Some(tls), ..closed(front.address(), io, 2, 20) });
    assert_eq!((result.measured.requests.good, errors(&result)), (20, vec![]));
    assert!(!result.tls.unwrap().verified);
}

fn servers_that_do_not_get_through_the_handshake(io: IoChoice) {
    let authority = Authority::new();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let front = |certified, manner| {
        Front::spawn(server.address(), authority.server(&certified), manner).unwrap()
    };
    let silent = front(
        Certified::default(),
        FrontBehaviour { is_silent: true, ..FrontBehaviour::default() },
    );
    assert_fails(silent.address(), trusting(&authority), io, LATE);
    let rude =
        front(Certified::default(), FrontBehaviour { hangs_up: true, ..FrontBehaviour::default() });
    assert_fails(
        rude.address(),
        trusting(&authority),
        io,
        "the server closed the connection during the handshake",
    );
    let other_protocol =
        front(Certified { alpn: vec!["h2"], ..Certified::default() }, FrontBehaviour::default());
    assert_fails(other_protocol.address(), trusting(&authority), io, "does not offer the protocol");
    // A server of plain HTTP that answers what it cannot read, as nginx does.
    let plain = plaintext();
    assert_fails(plain, trusting(&authority), io, "not TLS");
}

/// Answers everything with a 400 in plain text.
fn plaintext() -> SocketAddr {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    address
}
