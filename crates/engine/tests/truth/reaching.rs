//! Ways to a server beside plain TCP over IPv4: unix sockets, IPv6, PROXY headers, client
//! certificates. The servers are of this file, so that they see each connection from its first byte
//! on.
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};

use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{BodyCheck, Connections, IoChoice, LoadSpec, ProxyHeader};
use pippin_model::tls::{ClientCertificate, TlsSpec};
use pippin_reference::scripted::{Answer, Script, spawn};
use pippin_reference::tls::{Authority, Certified, Front, Manner};

use crate::patience::in_time;
use crate::support::{closed, get, ms, on_each_loop, run, trusting};

on_each_loop!(
    a_unix_socket,
    ipv6_with_an_own_address,
    headers_of_the_proxy_protocol,
    a_header_comes_before_tls,
    a_client_proves_who_it_is,
);

/// Answers each request with `hello` until the client closes.
fn answer(mut stream: impl Read + Write) -> io::Result<()> {
    let mut head = Vec::new();
    loop {
        let mut byte = [0; 1];
        if stream.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.push(byte[0]);
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")?;
        }
    }
}

/// All requests are answered rightly, over `least` connections or more. Users share the requests,
/// so that the last connection of each may carry fewer than it could.
fn assert_all_good(result: &LoadResult, requests: u64, least: u64, users: u64) {
    let measured = &result.measured;
    assert_eq!((measured.requests.good, measured.errors.len()), (requests, 0));
    let opened = measured.connections.opened;
    assert!((least..=least + users).contains(&opened), "{opened}");
    assert_eq!(measured.spans.connect.count(), opened);
}

/// 8 connections, a new one after each 10 requests. The kernel stamps nothing on a unix socket.
fn a_unix_socket(io: IoChoice) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(|| answer(stream));
        }
    });
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    let load = LoadSpec {
        addresses: Vec::new(),
        unix_socket: Some(path),
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        connections: Connections { requests_per_connection: Some(10), ..Connections::kept(8) },
        ..closed(address, io, 8, 400)
    };
    let result = run(&load);
    assert_all_good(&result, 400, 40, 8);
    assert_eq!((result.measured.stamps.kernel, result.measured.stamps.user_space), (0, 400));
}

/// What each connection said before its first request, and where it came from.
type Heads = Arc<Mutex<Vec<(Vec<u8>, SocketAddr)>>>;

/// Accepts connections whose first bytes are a header: a line, or a number of bytes.
fn with_header(
    address: &str,
    version: ProxyHeader,
    then: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> (SocketAddr, Heads) {
    let (listener, heads) = (TcpListener::bind(address).unwrap(), Heads::default());
    let address = listener.local_addr().unwrap();
    let length = if address.is_ipv4() { 16 + 12 } else { 16 + 36 };
    let (seen, then) = (Arc::clone(&heads), Arc::new(then));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (seen, then) = (Arc::clone(&seen), Arc::clone(&then));
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let is_over = |head: &[u8]| match version {
                    ProxyHeader::V1 => head.ends_with(b"\r\n"),
                    ProxyHeader::V2 => head.len() == length,
                };
                while !is_over(&head) {
                    let mut byte = [0; 1];
                    stream.read_exact(&mut byte)?;
                    head.push(byte[0]);
                }
                seen.lock().unwrap().push((head, stream.peer_addr()?));
                then(stream)
            });
        }
    });
    (address, heads)
}

/// The header is the first of each connection, and has its own addresses.
fn headers_of_the_proxy_protocol(io: IoChoice) {
    for (host, version) in [
        ("127.0.0.1:0", ProxyHeader::V1),
        ("127.0.0.1:0", ProxyHeader::V2),
        ("[::1]:0", ProxyHeader::V1),
        ("[::1]:0", ProxyHeader::V2),
    ] {
        let (address, heads) = with_header(host, version, answer);
        let load = LoadSpec {
            proxy_header: Some(version),
            connections: Connections { requests_per_connection: Some(5), ..Connections::kept(4) },
            ..closed(address, io, 4, 100)
        };
        let result = run(&load);
        assert_all_good(&result, 100, 20, 4);
        let heads = heads.lock().unwrap();
        assert_eq!(heads.len() as u64, result.measured.connections.opened);
        for (head, from) in heads.iter() {
            let (ip, port, to_port) = (from.ip(), from.port(), address.port());
            let family = if ip.is_ipv4() { "TCP4" } else { "TCP6" };
            let line = format!("PROXY {family} {ip} {ip} {port} {to_port}\r\n");
            match version {
                ProxyHeader::V1 => assert_eq!(String::from_utf8_lossy(head), line),
                ProxyHeader::V2 => {
                    let ports = [port.to_be_bytes(), to_port.to_be_bytes()].concat();
                    assert!(head.starts_with(b"\r\n\r\n\0\r\nQUIT\n\x21"), "{head:?}");
                    assert!(head.ends_with(&ports), "{head:?}");
                }
            }
        }
    }
}

/// Behind the header the handshake goes on as ever.
fn a_header_comes_before_tls(io: IoChoice) {
    let (server, authority) =
        (spawn(Script::always(Answer::ok(b"hello"))).unwrap(), Authority::new());
    let config = authority.server(&Certified::default());
    let front = Front::spawn(server.address(), config, Manner::default()).unwrap();
    let behind = front.address();
    let pass_on = move |mut client: TcpStream| {
        let mut server = TcpStream::connect(behind)?;
        let (mut from, mut into) = (server.try_clone()?, client.try_clone()?);
        std::thread::spawn(move || io::copy(&mut from, &mut into));
        io::copy(&mut client, &mut server).map(|_| ())
    };
    let (address, heads) = with_header("127.0.0.1:0", ProxyHeader::V2, pass_on);
    let load = LoadSpec {
        proxy_header: Some(ProxyHeader::V2),
        tls: Some(trusting(&authority)),
        ..closed(address, io, 3, 60)
    };
    assert_all_good(&run(&load), 60, 3, 0);
    assert_eq!(heads.lock().unwrap().len(), 3);
}

fn ipv6_with_an_own_address(io: IoChoice) {
    let listener = TcpListener::bind("[::1]:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(|| answer(stream));
        }
    });
    let load = LoadSpec {
        source_addresses: vec!["::1".parse().unwrap()],
        connections: Connections { requests_per_connection: Some(10), ..Connections::kept(5) },
        ..closed(address, io, 5, 200)
    };
    let result = run(&load);
    assert_all_good(&result, 200, 20, 5);
    // The kernel begins to stamp some time after the first socket has asked for it.
    let late = result.measured.stamps.user_space;
    in_time(late == 0, || format!("{late} answers without a stamp of the kernel"));
}

/// A server that asks for a certificate answers whoever has one, and nobody else.
fn a_client_proves_who_it_is(io: IoChoice) {
    for only_tls12 in [false, true] {
        let (server, authority) =
            (spawn(Script::always(Answer::ok(b"hello"))).unwrap(), Authority::new());
        let certified = Certified { asks_clients: true, only_tls12, ..Certified::default() };
        let config = authority.server(&certified);
        let front = Front::spawn(server.address(), config, Manner::default()).unwrap();
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
    let (address, heads) = with_header("127.0.0.1:0", ProxyHeader::V1, answer);
    let load =
        LoadSpec { proxy_header: Some(ProxyHeader::V1), ..closed(address, IoChoice::Auto, 1, 1) };
    let places: Vec<_> = pippin_engine::Place::all_of(&load).collect();
    assert_eq!(places.len(), 1);
    pippin_engine::try_connection(places[0], None, load.protocol, ms(2_000)).unwrap();
    // The server reads it some time after the client has sent it.
    while heads.lock().unwrap().is_empty() {
        std::thread::sleep(ms(1));
    }
}
