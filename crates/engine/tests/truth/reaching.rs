//! Ways to a server beside plain TCP over IPv4: unix sockets, IPv6, PROXY headers, client
//! certificates. A door stands before the servers, which sees each connection from its first byte.
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use pippin_engine::{EngineError, Place};
use pippin_model::load::tls::{ClientCertificate, TlsSpec};
use pippin_model::load::{BodyCheck, Connections, IoChoice, LoadSpec, Protocol, ProxyHeader};
use pippin_model::result::LoadResult;
use pippin_testing::Running;
use pippin_testing::door::{Door, Header, Visitor};
use pippin_testing::frames;
use pippin_testing::messages;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use crate::support::{
    assert_stamped, closed, errors, get, ms, on_each_loop, run, trusting, within,
};
use pippin_testing::patient_tests;

on_each_loop!(
    a_unix_socket,
    ipv6_with_an_own_address,
    headers_of_the_proxy_protocol,
    every_protocol_goes_every_way,
    a_client_proves_who_it_is,
);

patient_tests!(a_full_queue_is_named);

/// All requests are answered rightly, over `least` connections or more. Users share the requests,
/// so that the last connection of each may carry fewer than it could.
fn assert_all_good(result: &LoadResult, requests: u64, least: u64, users: u64) {
    let measured = &result.measured;
    assert_eq!((measured.requests.good, measured.errors.len()), (requests, 0));
    let opened = measured.connections.opened;
    assert!((least..=least + users).contains(&opened), "{opened}");
    assert_eq!(measured.spans.connect.count(), opened);
}

/// A server of HTTP/1.1 that answers each request with `hello`.
fn hello() -> Running<Account> {
    spawn(Script::always(Answer::ok(b"hello"))).unwrap()
}

/// 8 connections, a new one after each 10 requests. The kernel stamps nothing on a unix socket.
fn a_unix_socket(io: IoChoice) {
    let folder = tempfile::tempdir().unwrap();
    let (path, server) = (folder.path().join("server.sock"), hello());
    Door::unix(&path, server.address()).unwrap();
    let load = LoadSpec {
        addresses: Vec::new(),
        unix_socket: Some(path),
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        connections: Connections { requests_per_connection: Some(10), ..Connections::kept(8) },
        ..closed(server.address(), io, 8, 400)
    };
    let result = run(&load);
    assert_all_good(&result, 400, 40, 8);
    assert_eq!((result.measured.stamps.kernel, result.measured.stamps.user_space), (0, 400));
}

const fn kind_of(header: Option<ProxyHeader>) -> Header {
    match header {
        None => Header::None,
        Some(ProxyHeader::V1) => Header::Line,
        Some(ProxyHeader::V2) => Header::Bytes,
    }
}

/// The header has the addresses of the connection itself.
fn assert_introduced(visitor: &Visitor, version: Option<ProxyHeader>, to: SocketAddr) {
    let (header, from) = (&visitor.header, visitor.from.unwrap());
    let (ip, port, to_port) = (from.ip(), from.port(), to.port());
    let family = if ip.is_ipv4() { "TCP4" } else { "TCP6" };
    match version {
        None => assert_eq!(header, b""),
        Some(ProxyHeader::V1) => {
            let line = format!("PROXY {family} {ip} {ip} {port} {to_port}\r\n");
            assert_eq!(String::from_utf8_lossy(header), line);
        }
        Some(ProxyHeader::V2) => {
            let ports = [port.to_be_bytes(), to_port.to_be_bytes()].concat();
            assert_eq!(header.len(), if ip.is_ipv4() { 16 + 12 } else { 16 + 36 });
            assert!(header.starts_with(b"\r\n\r\n\0\r\nQUIT\n\x21"), "{header:?}");
            assert!(header.ends_with(&ports), "{header:?}");
        }
    }
}

/// The header is the first of each connection.
fn headers_of_the_proxy_protocol(io: IoChoice) {
    let server = hello();
    for host in ["127.0.0.1:0", "[::1]:0"] {
        for version in [ProxyHeader::V1, ProxyHeader::V2].map(Some) {
            let door = Door::open(host, kind_of(version), server.address()).unwrap();
            let load = LoadSpec {
                proxy_header: version,
                connections: Connections {
                    requests_per_connection: Some(5),
                    ..Connections::kept(4)
                },
                ..closed(door.address, io, 4, 100)
            };
            let result = run(&load);
            assert_all_good(&result, 100, 20, 4);
            let visitors = door.visitors();
            assert_eq!(visitors.len() as u64, result.measured.connections.opened);
            visitors.iter().for_each(|visitor| assert_introduced(visitor, version, door.address));
        }
    }
}

/// HTTP/1.1, HTTP/2 and WebSocket, in the clear and over TLS: from `::1` to `::1`, with a PROXY
/// header before everything else; and over a unix socket.
fn every_protocol_goes_every_way(io: IoChoice) {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let http1 = hello();
    let http2 = frames::Server::new(frames::Connection::serve).unwrap();
    let websocket = messages::Server::echo().unwrap();
    let speaking = |protocol, address| match protocol {
        Protocol::Http1 => closed(address, io, 3, 60),
        Protocol::Http2 => crate::http2::streams(closed(address, io, 3, 60), 2),
        Protocol::Http3 => unreachable!("it goes over UDP"),
        Protocol::WebSocket => crate::websocket::messages(closed(address, io, 3, 60)),
    };
    for (protocol, alpn, address) in [
        (Protocol::Http1, "http/1.1", http1.address()),
        (Protocol::Http2, "h2", http2.address),
        (Protocol::WebSocket, "http/1.1", websocket.address),
    ] {
        let config = authority.server(&Certified { alpn: vec![alpn], ..Certified::default() });
        let front = Front::spawn(address, config, FrontBehaviour::default()).unwrap();
        let all_good = |load: LoadSpec, what: &str| {
            let result = run(&load);
            let seen = (result.measured.requests.good, errors(&result));
            assert_eq!(seen, (60, vec![]), "{protocol:?} {what}");
            assert_eq!(result.measured.connections.opened, 3);
        };
        for (version, is_secured) in [
            (None, false),
            (None, true),
            (Some(ProxyHeader::V1), false),
            (Some(ProxyHeader::V2), true),
        ] {
            let behind = if is_secured { front.address() } else { address };
            let door = Door::open("[::1]:0", kind_of(version), behind).unwrap();
            let load = LoadSpec {
                tls: is_secured.then(|| trusting(&authority)),
                proxy_header: version,
                source_addresses: vec![IpAddr::V6(Ipv6Addr::LOCALHOST)],
                ..speaking(protocol, door.address)
            };
            all_good(load, &format!("{version:?}, TLS: {is_secured}"));
            let visitors = door.visitors();
            assert_eq!(visitors.len(), 3);
            visitors.iter().for_each(|visitor| assert_introduced(visitor, version, door.address));
        }
        let path = folder.path().join(format!("{protocol:?}"));
        Door::unix(&path, front.address()).unwrap();
        let load = LoadSpec {
            addresses: Vec::new(),
            unix_socket: Some(path),
            tls: Some(trusting(&authority)),
            ..speaking(protocol, address)
        };
        all_good(load, "on a unix socket");
    }
}

fn ipv6_with_an_own_address(io: IoChoice) {
    let server = hello();
    let door = Door::open("[::1]:0", Header::None, server.address()).unwrap();
    let load = LoadSpec {
        source_addresses: vec![IpAddr::V6(Ipv6Addr::LOCALHOST)],
        connections: Connections { requests_per_connection: Some(10), ..Connections::kept(5) },
        ..closed(door.address, io, 5, 200)
    };
    let result = run(&load);
    assert_all_good(&result, 200, 20, 5);
    assert_stamped(&result, 200);
}

/// A server that asks for a certificate answers whoever has one, and nobody else.
fn a_client_proves_who_it_is(io: IoChoice) {
    for only_tls12 in [false, true] {
        let (server, authority) = (hello(), Authority::new());
        let certified = Certified { asks_clients: true, only_tls12, ..Certified::default() };
        let config = authority.server(&certified);
        let front = Front::spawn(server.address(), config, FrontBehaviour::default()).unwrap();
        let (chain_pem, key_pem) = authority.client_pem();
        let client = Some(ClientCertificate { chain_pem, key_pem });
        let with = |client| LoadSpec {
            tls: Some(TlsSpec { client, ..trusting(&authority) }),
            ..closed(front.address(), io, 2, 20)
        };
        assert_all_good(&run(&with(client)), 20, 2, 0);
        let nobody = run(&with(None));
        assert_eq!((nobody.measured.requests.good, server.account().requests), (0, 20));
        let failures = nobody.tls.unwrap().failures;
        assert!(
            failures.keys().any(|why| why.to_lowercase().contains("certificate")),
            "{failures:?}"
        );
    }
}

/// One connection before the load takes the same way.
#[test]
fn the_look_before_a_load_takes_the_same_way() {
    let server = hello();
    let door = Door::open("127.0.0.1:0", Header::Line, server.address()).unwrap();
    let load = LoadSpec {
        proxy_header: Some(ProxyHeader::V1),
        ..closed(door.address, IoChoice::Auto, 1, 1)
    };
    let places: Vec<_> = Place::all_of(&load).collect();
    assert_eq!(places.len(), 1);
    pippin_engine::try_connection(places[0], None, load.protocol, ms(2_000)).unwrap();
    // The server reads it some time after the client has sent it.
    while door.visitors().is_empty() {
        std::thread::sleep(ms(1));
    }
}

/// Some machines have several addresses, and a server may know only one of them.
#[test]
fn the_look_comes_from_the_source_address() {
    let server = hello();
    let door = Door::open("127.0.0.1:0", Header::None, server.address()).unwrap();
    let look = |source: &str| {
        let load = LoadSpec {
            source_addresses: vec![source.parse().unwrap()],
            ..closed(door.address, IoChoice::Auto, 1, 1)
        };
        let place = Place::all_of(&load).next().unwrap();
        pippin_engine::try_connection(place, None, load.protocol, ms(2_000))
    };
    look("127.0.0.2").unwrap();
    while door.visitors().is_empty() {
        std::thread::sleep(ms(1));
    }
    assert_eq!(door.visitors()[0].from.unwrap().ip(), IpAddr::from([127, 0, 0, 2]));
    // No machine has an address of TEST-NET-1 (RFC 5737).
    assert!(matches!(look("192.0.2.1").unwrap_err(), EngineError::SourceAddress { .. }));
    assert!(matches!(look("::1").unwrap_err(), EngineError::SourceFamily { .. }));
    assert_eq!(door.visitors().len(), 1);
}

/// A server that accepts nothing: the kernel queues one connection (listen(2)), and lets the next
/// one wait.
fn a_full_queue_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None);
    let listener = listener.unwrap();
    listener.bind(&socket2::SockAddr::unix(&path).unwrap()).unwrap();
    listener.listen(0).unwrap();
    let _queued = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let reached = within(ms(15_000), move || Place::from(path.as_path()).reach(ms(100)));
    let why = reached.unwrap_err().to_string();
    assert!(why.contains("its queue is full: the server accepts no connections"), "{why}");
}

#[test]
fn a_path_that_is_too_long_is_named() {
    let path = std::path::PathBuf::from("x".repeat(200));
    let why = Place::from(path.as_path()).reach(ms(1_000)).unwrap_err().to_string();
    assert!(why.contains("its path must have 1 to 107 bytes"), "{why}");
}

#[test]
fn a_key_of_another_certificate_is_named() {
    let authority = Authority::new();
    let ((chain_pem, _), (_, key_pem)) = (authority.client_pem(), Authority::new().client_pem());
    let client = Some(ClientCertificate { chain_pem, key_pem });
    let tls = TlsSpec { client, ..trusting(&authority) };
    let address: SocketAddr = ([127, 0, 0, 1], 1).into();
    let refused = pippin_engine::try_connection(address, Some(&tls), Protocol::Http1, ms(1_000));
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("the key does not belong to the certificate"), "{why}");
}
