//! What a server speaks, if a load is about to speak something else with it.
//!
//! Where no single request was answered before a load, one connection sends a request, if that may
//! be done, or else only its first bytes. If the server does not take these, other ways to speak are
//! tried: TLS and its protocols (ALPN), HTTP/2 without TLS, the header of the PROXY protocol.
use pippin_engine::blocking::Stream;
use pippin_engine::http1::request::render;
use pippin_engine::{Place, refuses_protocol, try_connection, try_places};
use pippin_model::load::tls::TlsSpec;
use pippin_model::load::{LoadSpec, Protocol, ProxyHeader};
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

/// How long a whole request may wait for its answer. A slow server is the load's to show.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the beginning of a request waits for an answer that should not come.
const SILENCE: Duration = Duration::from_millis(100);
/// So much of a request makes a server show that it expects something else: what connections of
/// HTTP/2 begin with is as long (RFC 9113 section 3.4), and headers of TLS records and of the PROXY
/// protocol are shorter. No server can act on it, because the request's head goes on.
const BEGINNING: usize = 24;

/// What a server speaks instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// The load's own protocol, but over TLS.
    Tls,
    /// HTTP/2 over TLS.
    TlsWithHttp2,
    /// HTTP/2 without TLS.
    Http2,
    /// HTTP/1.1 without TLS.
    Http1,
    /// The load's own protocol, behind a header of the PROXY protocol.
    ProxyHeader(ProxyHeader),
    /// The load's own protocol, without a header of the PROXY protocol.
    NoProxyHeader,
}

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls => "it answers in TLS: use https:// (wss:// for a WebSocket)",
            Self::TlsWithHttp2 => "it speaks only HTTP/2 over TLS: use https:// and --http2",
            Self::Http2 => "it speaks only HTTP/2: use --h2c",
            Self::Http1 => {
                "it speaks HTTP/1.1, not HTTP/2: leave --h2c or --grpc out (gRPC needs HTTP/2)"
            }
            Self::ProxyHeader(ProxyHeader::V1) => {
                "it expects a header of the PROXY protocol: use --proxy-protocol v1"
            }
            Self::ProxyHeader(ProxyHeader::V2) => {
                "it expects a header of the PROXY protocol: use --proxy-protocol v2"
            }
            Self::NoProxyHeader => {
                "it expects no header of the PROXY protocol: leave --proxy-protocol out"
            }
        })
    }
}

/// What the server of a load over HTTP/1.1 without TLS speaks instead; `None` if it answers, or if
/// nothing that was tried fits better. It opens one connection to a server that answers. Whole
/// requests are sent only if they `may` be.
#[must_use]
pub fn other_than_http1(load: &LoadSpec, may_ask: bool) -> Option<Instead> {
    let is_http1 = load.protocol == Protocol::Http1 && load.tls.is_none();
    // A proxy reads HTTP/1.1, whatever the server behind it speaks.
    if !is_http1 || load.proxy.is_some() || fits(load, may_ask) {
        return None;
    }
    // Twice: a server may refuse a connection for other reasons.
    instead(load, may_ask).filter(|_| !fits(load, may_ask))
}

/// What fits a server better than what a load speaks, which was seen not to fit.
#[must_use]
pub fn instead(load: &LoadSpec, may_ask: bool) -> Option<Instead> {
    ways(load).into_iter().find_map(|(way, load)| fits(&load, may_ask).then_some(way))
}

/// Other ways to speak.
fn ways(load: &LoadSpec) -> Vec<(Instead, LoadSpec)> {
    let secured = LoadSpec { tls: Some(tls(load)), ..load.clone() };
    let as_http2 = |load: &LoadSpec| LoadSpec { protocol: Protocol::Http2, ..load.clone() };
    let introduced =
        |header: Option<ProxyHeader>| LoadSpec { proxy_header: header, ..load.clone() };
    let mut ways = Vec::new();
    match (load.protocol, load.tls.is_some()) {
        (Protocol::Http1, true) => ways.push((Instead::TlsWithHttp2, as_http2(&secured))),
        (Protocol::Http1, false) => {
            ways.push((Instead::Tls, secured.clone()));
            ways.push((Instead::TlsWithHttp2, as_http2(&secured)));
            ways.push((Instead::Http2, as_http2(load)));
        }
        (Protocol::Http2, false) => {
            ways.push((Instead::TlsWithHttp2, secured));
            let http1 = LoadSpec { protocol: Protocol::Http1, ..load.clone() };
            ways.push((Instead::Http1, http1));
        }
        (Protocol::WebSocket, false) => ways.push((Instead::Tls, secured)),
        (Protocol::Http2 | Protocol::WebSocket, true) | (Protocol::Http3, _) => {}
    }
    match (load.proxy_header, &load.unix_socket) {
        (None, None) => ways.extend(
            [ProxyHeader::V1, ProxyHeader::V2]
                .map(|it| (Instead::ProxyHeader(it), introduced(Some(it)))),
        ),
        (Some(_), _) => ways.push((Instead::NoProxyHeader, introduced(None))),
        (None, Some(_)) => {}
    }
    ways
}

/// TLS that accepts every certificate: it is only asked whether the server has TLS.
fn tls(load: &LoadSpec) -> TlsSpec {
    let host = load.requests.iter().next().map_or("", |request| request.host.as_str());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    };
    let server_name = name.trim_start_matches('[').trim_end_matches(']');
    let server_name = if server_name.is_empty() { "localhost" } else { server_name }.into();
    let none =
        TlsSpec { server_name, extra_roots_pem: None, verify: false, resume: false, client: None };
    load.tls.clone().map_or(none, |given| TlsSpec { verify: false, ..given })
}

/// Whether the server goes along with a load, as far as can be seen without changing anything.
fn fits(load: &LoadSpec, may_ask: bool) -> bool {
    match (load.protocol, &load.tls) {
        (Protocol::Http1, None) => answers_http1(load, may_ask),
        // Whether it is a WebSocket too is for the load's own look.
        (Protocol::WebSocket, Some(tls)) => Place::all_of(load)
            .all(|place| try_connection(place, Some(tls), load.protocol, PATIENCE).is_ok()),
        _ => try_places(load, PATIENCE).is_ok(),
    }
}

fn answers_http1(load: &LoadSpec, may_ask: bool) -> bool {
    let (Some(place), Some(request)) = (Place::all_of(load).next(), load.requests.iter().next())
    else {
        return true;
    };
    let Ok(bytes) = render(request, false) else { return true };
    let (bytes, limit) =
        if may_ask { (&bytes[..], PATIENCE) } else { (&bytes[..BEGINNING], SILENCE) };
    let Ok(mut stream) = Stream::connect(place, None, Protocol::Http1, PATIENCE) else {
        return false;
    };
    stream.allow(limit);
    let mut first = [0; 12];
    let received = stream.write_all(bytes).and_then(|()| stream.read(&mut first));
    match received {
        // A server that waits has nothing against the bytes.
        Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        Ok(length) => is_http1(&first[..length]),
    }
}

/// Whether an answer begins so. A refusal of what was sent does not count.
fn is_http1(first: &[u8]) -> bool {
    let status = first.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    first.starts_with(b"HTTP/1.") && !status.is_some_and(refuses_protocol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::base;
    use pippin_model::load::Request;
    use pippin_testing::door::{Door, Header};
    use pippin_testing::frames;
    use pippin_testing::patience::in_time;
    use pippin_testing::scripted::{Answer, OnConnect, Script, spawn};
    use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
    use std::net::SocketAddr;

    pippin_testing::patient_tests!(what_a_server_speaks_is_named);

    fn get(address: SocketAddr) -> LoadSpec {
        let requests = vec![Request::get("/", &address.to_string())].into();
        LoadSpec { requests, ..base(address, Vec::new(), 1) }
    }

    #[test]
    fn a_server_of_http1_is_asked_at_most_once() {
        let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
        let load = get(server.address());
        assert_eq!(other_than_http1(&load, false), None);
        assert_eq!(server.account().requests, 0, "a part of a request is none");
        assert_eq!(other_than_http1(&load, true), None);
        assert_eq!(server.account().requests, 1);
    }

    /// Whether whole requests may be sent or not.
    #[track_caller]
    fn speaks(address: SocketAddr, right: Instead) {
        for may_ask in [true, false] {
            // Who refuses later than after SILENCE seems to wait for the rest.
            let found = other_than_http1(&get(address), may_ask);
            in_time(found == Some(right), || {
                format!("{found:?} in place of {right:?}, may ask: {may_ask}")
            });
        }
    }

    fn what_a_server_speaks_is_named() {
        let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
        let http2 = frames::Server::new(frames::Connection::serve).unwrap();
        let authority = Authority::new();
        let front = |alpn, behind| {
            let config = authority.server(&Certified { alpn: vec![alpn], ..Certified::default() });
            Front::spawn(behind, config, FrontBehaviour::default()).unwrap()
        };
        let secured = front("http/1.1", server.address());
        let secured_http2 = front("h2", http2.address);
        let door = |header| Door::open("127.0.0.1:0", header, server.address()).unwrap().address;
        speaks(secured.address(), Instead::Tls);
        speaks(secured_http2.address(), Instead::TlsWithHttp2);
        speaks(http2.address, Instead::Http2);
        speaks(door(Header::Line), Instead::ProxyHeader(ProxyHeader::V1));
        speaks(door(Header::Bytes), Instead::ProxyHeader(ProxyHeader::V2));
        let h2c = |at| LoadSpec { protocol: Protocol::Http2, ..get(at) };
        assert_eq!(instead(&h2c(server.address()), true), Some(Instead::Http1));
        assert_eq!(instead(&h2c(secured_http2.address()), true), Some(Instead::TlsWithHttp2));
    }

    #[test]
    fn a_header_that_nobody_expects_is_named() {
        let server = frames::Server::raw(|connection| {
            let first = connection.line()?;
            let status = if first.starts_with("GET") { "200 OK" } else { "400 Bad Request" };
            connection.send(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes())
        })
        .unwrap();
        let introduced = LoadSpec { proxy_header: Some(ProxyHeader::V1), ..get(server.address) };
        assert_eq!(other_than_http1(&introduced, true), Some(Instead::NoProxyHeader));
    }

    #[test]
    fn a_server_that_hangs_up_or_refuses_is_not_given_another_protocol() {
        let closing = spawn(Script::always(Answer::ok(b"")).on_connect(OnConnect::Close)).unwrap();
        let refusing = spawn(Script::always(Answer::new(400, b"no"))).unwrap();
        for may_ask in [true, false] {
            assert_eq!(other_than_http1(&get(closing.address()), may_ask), None);
            assert_eq!(other_than_http1(&get(refusing.address()), may_ask), None);
        }
    }
}
