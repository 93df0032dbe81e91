//! Whether the server speaks HTTP/2: over TLS it is agreed on, and without TLS one has to know.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Protocol};
use pippin_model::result::ErrorKind;
use pippin_testing::frames::{Connection, Server, kind};
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use super::library::Library;
use super::streams;
use crate::support::{closed, closed_for, errors, get, ms, on_each_loop, run, trusting, within};
use pippin_testing::patient_tests;

on_each_loop!(
    over_tls_it_is_agreed_on,
    over_tls_answers_come_in_parts,
    a_server_that_offers_something_else,
    a_server_of_http1,
    a_server_that_says_nothing
);

patient_tests!(the_look_ends_where_the_settings_come_byte_by_byte);

fn over_tls_it_is_agreed_on(io: IoChoice) {
    let (server, authority) = (Library::new(h2::server::Builder::new()), Authority::new());
    for only_tls12 in [false, true] {
        let certified = Certified { alpn: vec!["h2"], only_tls12, ..Certified::default() };
        let config = authority.server(&certified);
        let front = Front::spawn(server.address, config, FrontBehaviour::default()).unwrap();
        let tls = trusting(&authority);
        let agreed =
            pippin_engine::try_connection(front.address(), Some(&tls), Protocol::Http2, ms(5_000));
        assert_eq!(agreed.unwrap().unwrap().alpn.as_deref(), Some("h2"));
        let spec = LoadSpec {
            tls: Some(tls),
            requests: vec![get(BodyCheck::Exact(b"/".to_vec()))].into(),
            ..closed(front.address(), io, 3, 600)
        };
        let result = run(&streams(spec, 8));
        assert_eq!((result.measured.requests.good, errors(&result)), (600, vec![]));
        let negotiated = &result.tls.as_ref().unwrap().negotiated;
        assert_eq!(negotiated[0].alpn.as_deref(), Some("h2"), "{negotiated:?}");
    }
}

/// Most of what arrives ends no record, so that it holds nothing that could be read: 4 users of
/// each of 2 connections have one request under way each, and no more.
fn over_tls_answers_come_in_parts(io: IoChoice) {
    let (server, authority) = (Server::new(Connection::serve).unwrap(), Authority::new());
    let certified = Certified { alpn: vec!["h2"], record_bytes: Some(64), ..Certified::default() };
    let manner = FrontBehaviour { bytes_per_write: Some(7), ..FrontBehaviour::default() };
    let front = Front::spawn(server.address, authority.server(&certified), manner).unwrap();
    let spec = LoadSpec { tls: Some(trusting(&authority)), ..closed(front.address(), io, 2, 200) };
    let result = run(&streams(spec, 4));
    assert_eq!((result.measured.requests.good, errors(&result)), (200, vec![]));
    assert_eq!(server.account.read(|account| &account.requests), 200);
    assert_eq!(result.measured.connections.opened, 2);
}

/// The server chooses no protocol, or has none in common: no request is sent, and the reason is
/// named.
fn a_server_that_offers_something_else(io: IoChoice) {
    let authority = Authority::new();
    for alpn in [vec![], vec!["http/1.1"]] {
        let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
        let certified = Certified { alpn, ..Certified::default() };
        let config = authority.server(&certified);
        let front = Front::spawn(server.address(), config, FrontBehaviour::default()).unwrap();
        let tls = trusting(&authority);
        let refused =
            pippin_engine::try_connection(front.address(), Some(&tls), Protocol::Http2, ms(5_000))
                .unwrap_err()
                .to_string();
        assert!(refused.contains("does not offer the protocol"), "{refused}");
        let spec = LoadSpec { tls: Some(tls), ..closed_for(front.address(), io, 2, 300) };
        let result = run(&streams(spec, 3));
        assert_eq!(result.measured.requests.sent, 0);
        assert!(errors(&result).iter().all(|(kind, _)| *kind == ErrorKind::Tls));
        let failures = &result.tls.as_ref().unwrap().failures;
        assert!(failures.keys().all(|why| why.contains("does not offer")), "{failures:?}");
    }
}

/// A server of HTTP/1.1 answers with text.
fn a_server_of_http1(io: IoChoice) {
    let server = Server::raw(|connection| {
        connection.send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")?;
        connection.drain();
        None
    })
    .unwrap();
    let address = server.address;
    let refused = pippin_engine::try_connection(address, None, Protocol::Http2, ms(5_000))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("does not speak HTTP/2") && refused.contains("HTTP/1.1 400"),
        "{refused}"
    );
    let result = run(&streams(closed(address, io, 2, 12), 3));
    let requests = result.measured.requests;
    assert_eq!((requests.good, requests.failed), (0, 12), "{:?}", errors(&result));
    assert!(
        errors(&result)
            .iter()
            .all(|(kind, _)| matches!(kind, ErrorKind::Malformed | ErrorKind::CloseBeforeAnswer)),
        "{:?}",
        errors(&result)
    );
}

fn a_server_that_says_nothing(_: IoChoice) {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let refused = pippin_engine::try_connection(address, None, Protocol::Http2, ms(100));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("HTTP/2") && refused.contains(LATE), "{refused}");
}

const LATE: &str = "the server did not answer in time";

/// Each read is in time, and all of them together are not.
fn the_look_ends_where_the_settings_come_byte_by_byte() {
    let server = Server::raw(|connection| {
        let length = [0, 0x3F, 0xFC];
        connection.send(&[&length[..], &[kind::SETTINGS, 0, 0, 0, 0, 0]].concat())?;
        loop {
            connection.send(&[0])?;
            std::thread::sleep(ms(20));
        }
    });
    let address = server.unwrap().address;
    let refused = within(ms(15_000), move || {
        pippin_engine::try_connection(address, None, Protocol::Http2, ms(200))
    });
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains(LATE), "{refused}");
}
