//! Loads through an HTTP proxy: absolute form, tunnels, credentials, and proxies that break the
//! rules.
use std::collections::BTreeMap;
use std::net::SocketAddr;

use pippin_model::load::Credentials;
use pippin_model::load::{BodyCheck, Connections, IoChoice, Limits, LoadSpec, Protocol, Proxy};
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_testing::frames;
use pippin_testing::messages;
use pippin_testing::proxy::{HOSTILE, Proxy as ProxyServer, ProxyBehaviour, SILENT};
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use crate::support::{MS, closed, errors, get, on_each_loop, run, trusting};

on_each_loop!(
    a_proxy_reads_requests_in_the_clear,
    every_protocol_goes_through_a_tunnel,
    no_tunnel_is_counted_by_its_reason,
);

/// `Basic` and these credentials are in one field.
const FIELD: &str = "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n";

fn through(proxy: &ProxyServer, tunnel: Option<SocketAddr>, load: LoadSpec) -> LoadSpec {
    let proxy_of_load = Proxy {
        authority: proxy.address.to_string(),
        tunnel: tunnel.map(|to| to.to_string()),
        credentials: Some(Credentials::of_url("Aladdin:open%20sesame").unwrap()),
    };
    LoadSpec { addresses: vec![proxy.address], proxy: Some(proxy_of_load), ..load }
}

#[track_caller]
fn assert_all_good(result: &LoadResult, requests: u64) {
    let measured = &result.measured;
    assert_eq!((measured.requests.good, errors(result)), (requests, vec![]));
}

/// 4 connections, a new one after each 5 requests: each request has the absolute form, and the
/// credentials that only the proxy reads.
fn a_proxy_reads_requests_in_the_clear(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let proxy = ProxyServer::start(ProxyBehaviour::Opens).unwrap();
    let mut request = get(BodyCheck::Exact(b"hello".to_vec()));
    (request.target, request.host) = ("/a?b=c".into(), server.address().to_string());
    let load = LoadSpec {
        requests: vec![request].into(),
        connections: Connections { requests_per_connection: Some(5), ..Connections::kept(4) },
        ..closed(server.address(), io, 4, 100)
    };
    let result = run(&through(&proxy, None, load));
    assert_all_good(&result, 100);
    assert!(result.measured.spans.tunnel.is_empty());
    let host = server.address();
    let right = format!("GET http://{host}/a?b=c HTTP/1.1\r\nHost: {host}\r\n{FIELD}\r\n");
    let heads = proxy.taken();
    assert_eq!(heads.len(), 100);
    assert!(heads.iter().all(|head| *head == right), "{heads:?}");
}

/// Each connection asks for one tunnel, in the same words, whatever goes through it.
fn every_protocol_goes_through_a_tunnel(io: IoChoice) {
    let authority = Authority::new();
    let hello = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let http2 = frames::Server::new(frames::Connection::serve).unwrap();
    let echo = messages::Server::echo().unwrap();
    for (protocol, address, alpn, is_secured) in [
        (Protocol::Http1, hello.address(), "http/1.1", true),
        (Protocol::Http2, http2.address, "h2", true),
        (Protocol::Http2, http2.address, "h2", false),
        (Protocol::WebSocket, echo.address, "http/1.1", true),
        (Protocol::WebSocket, echo.address, "http/1.1", false),
    ] {
        for manner in [ProxyBehaviour::Opens, ProxyBehaviour::OpensOddly] {
            let config = authority.server(&Certified { alpn: vec![alpn], ..Certified::default() });
            let front = Front::spawn(address, config, FrontBehaviour::default()).unwrap();
            let to = if is_secured { front.address() } else { address };
            let proxy = ProxyServer::start(manner).unwrap();
            let load = match protocol {
                Protocol::Http1 => closed(to, io, 3, 60),
                Protocol::Http2 => crate::http2::streams(closed(to, io, 3, 60), 2),
                Protocol::Http3 => unreachable!("it goes over UDP"),
                Protocol::WebSocket => crate::websocket::messages(closed(to, io, 3, 60)),
            };
            let tls = is_secured.then(|| trusting(&authority));
            let load = LoadSpec { tls, ..load };
            let result = run(&through(&proxy, Some(to), load));
            assert_all_good(&result, 60);
            let opened = result.measured.connections.opened;
            let spans = &result.measured.spans;
            assert_eq!((spans.tunnel.count(), spans.connect.count()), (opened, opened));
            assert_eq!(spans.tls.count(), if is_secured { opened } else { 0 });
            let right = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{FIELD}\r\n");
            assert_eq!(proxy.taken(), vec![right; opened as usize], "{protocol:?}");
        }
    }
}

/// A row of the table for each way to open no tunnel. Nothing is sent, every failure has one
/// reason, and the first shows what the proxy said.
fn no_tunnel_is_counted_by_its_reason(io: IoChoice) {
    let authority = Authority::new();
    for (what, manner, why, shown) in HOSTILE {
        let proxy = ProxyServer::start(manner).unwrap();
        let mut load = LoadSpec {
            tls: Some(trusting(&authority)),
            limits: Limits { head_bytes: 48 * 1024, ..Limits::default() },
            ..closed(proxy.address, io, 2, 4)
        };
        // On a busy machine every answer takes long; only a silent proxy makes this test wait.
        load.timeouts.connect_ns = if what == SILENT { 400 * MS } else { 20_000 * MS };
        let result = run(&through(&proxy, Some(proxy.address), load));
        let found = errors(&result);
        let [(ErrorKind::Proxy, count)] = found[..] else { panic!("{what}: {found:?}") };
        assert_eq!((count, result.measured.requests.sent), (4, 0), "{what}");
        let seen = result.proxy.unwrap().failures;
        // A connection before the load, of which no user knows, may have failed too.
        let reasons: BTreeMap<&str, bool> =
            seen.iter().map(|(why, failed)| (why.as_str(), *failed >= count)).collect();
        assert_eq!(reasons, BTreeMap::from([(why, true)]), "{what}");
        let first = &result.measured.firsts[&ErrorKind::Proxy].in_words();
        assert!(first.contains(shown), "{what}: {first}");
    }
    resets(io);
}

/// A reset has no other order of events than a close.
fn resets(io: IoChoice) {
    let proxy = ProxyServer::start(ProxyBehaviour::Resets).unwrap();
    let load =
        LoadSpec { tls: Some(trusting(&Authority::new())), ..closed(proxy.address, io, 2, 4) };
    let result = run(&through(&proxy, Some(proxy.address), load));
    assert_eq!(errors(&result), [(ErrorKind::Proxy, 4)]);
}
