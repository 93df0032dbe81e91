//! `pippin load` to other places than the URL's host: unix sockets, `--connect-to`, client
//! certificates, PROXY headers, IPv6.
use super::support::{Outcome, pippin};
use pippin_testing::door::{Door, Header};
use pippin_testing::frames;
use pippin_testing::messages;
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

fn load(folder: &Path, arguments: &[&str]) -> Outcome {
    pippin(folder, &[&["load", "--no-store", "-n", "20", "-c", "2"], arguments].concat())
}

const JSON: [&str; 3] = ["--quiet", "--json", "-"];

#[test]
fn a_unix_socket_takes_the_place_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join("s")).unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {
                    let request = String::from_utf8_lossy(&buffer).into_owned();
                    let status = if request.contains("Host: example.org\r\n") { 200 } else { 400 };
                    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 2\r\n\r\nok");
                    if stream.write_all(head.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    // This host needs no consent, because nothing is sent to it.
    let flags = [&["http://example.org/", "--unix-socket", "s"][..], &JSON].concat();
    load(folder.path(), &flags).all_good(20);
    let refused = |flags: &[&str], texts: &[&str]| {
        let flags = [&["http://example.org/", "--unix-socket", "s"], flags].concat();
        load(folder.path(), &flags).is_a_user_error(texts);
    };
    refused(&["--proxy-protocol", "v1"], &["--proxy-protocol"]);
    refused(&["--bind", "127.0.0.1"], &["--source-ips"]);
    refused(&["--connect-to", "::a:"], &["--connect-to"]);
    refused(&["--agents", "2"], &["--agents"]);
    load(folder.path(), &["http://a/", "--unix-socket", "none"]).is_a_user_error(&[
        "--unix-socket: nobody answers at",
        "/none",
        "is the server running?",
    ]);
    load(folder.path(), &["http://a/", "--unix-socket", &"x".repeat(200)])
        .is_a_user_error(&["--unix-socket: the unix socket", "its path must have 1 to 107 bytes"]);
}

/// The kernel queues one connection (listen(2)), and lets the next one wait.
#[test]
fn a_server_that_accepts_no_connections_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
    let _queued = UnixStream::connect(&path).unwrap();
    load(folder.path(), &["http://a/", "--unix-socket", "s", "--timeout", "200ms"])
        .is_a_user_error(&["/s: its queue is full: the server accepts no connections"]);
}

#[test]
fn a_connection_may_go_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let to = |from: &str| format!("{from}:{}", server.address());
    let to_here = to("example.org:80");
    let flags = [&["http://example.org/", "--connect-to", &to_here][..], &JSON].concat();
    load(folder.path(), &flags).all_good(20);
    load(folder.path(), &["http://example.org/", "--connect-to", &to("example.com:80")])
        .is_a_user_error(&["--connect-to has no effect", "example.org:80"]);
    load(folder.path(), &["http://localhost/", "--connect-to", "localhost:80:192.0.2.1:80"])
        .is_a_user_error(&["`192.0.2.1` is not this machine", "--allow-host 192.0.2.1"]);
    load(folder.path(), &["http://a/", "--connect-to", "a:80"])
        .is_a_user_error(&["example.org:443:127.0.0.1:8443"]);
}

#[test]
fn a_client_may_have_to_show_a_certificate() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let config = authority.server(&Certified { asks_clients: true, ..Certified::default() });
    let front = Front::spawn(server.address(), config, FrontBehaviour::default()).unwrap();
    let url = format!("https://{}/", front.address());
    let (certificate, key) = authority.client_pem();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("root.pem", &authority.pem());
    write("cert.pem", &certificate);
    write("key.pem", &key);
    write("both.pem", &format!("{certificate}{key}"));
    let with =
        |flags: &[&str]| load(folder.path(), &[&[&url, "--ca", "root.pem"], flags, &JSON].concat());
    for flags in [&["--cert", "cert.pem", "--key", "key.pem"][..], &["--cert", "both.pem"]] {
        let outcome = with(flags);
        outcome.all_good(20);
        assert!(!outcome.has("PRIVATE KEY"), "{outcome}");
    }
    write("other.pem", &Authority::new().client_pem().1);
    with(&["--cert", "cert.pem", "--key", "other.pem"])
        .is_a_user_error(&["the key does not belong to the certificate", "(--cert, --key)"]);
    with(&["--cert", "cert.pem"]).is_a_user_error(&["its key", "(--cert, --key)"]);
    with(&["--key", "key.pem"]).is_a_user_error(&["--cert"]);
    with(&["--cert", "none.pem"]).is_a_user_error(&["--cert: none.pem"]);
    with(&["--cert", "both.pem", "--agents", "2"]).is_a_user_error(&["its key stays"]);
    let plain = format!("http://{}/", server.address());
    load(folder.path(), &[&plain, "--cert", "both.pem"])
        .is_a_user_error(&["--cert has no effect with http://"]);
}

/// What each protocol needs: the schemes of its URLs in the clear and over TLS, the flags for these,
/// what is agreed on over TLS, and a server.
fn speaking(
    protocol: &str,
) -> ([&'static str; 2], [&'static [&'static str]; 2], &'static str, SocketAddr) {
    match protocol {
        "http/1.1" => {
            let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
            let address = server.address();
            // It serves until the test is over.
            std::mem::forget(server);
            (["http", "https"], [&[], &[]], "http/1.1", address)
        }
        "h2" => {
            let server = frames::Server::new(frames::Connection::serve).unwrap();
            let flags: [&[&str]; 2] = [&["--h2c", "--streams", "3"], &["--http2"]];
            (["http", "https"], flags, "h2", server.address)
        }
        _ => {
            let server = messages::Server::echo().unwrap();
            (["ws", "wss"], [&[], &[]], "http/1.1", server.address)
        }
    }
}

/// Each protocol, in the clear and over TLS, from `::1` to `::1`, introduced by a load balancer's
/// header; and in the clear over a unix socket.
#[test]
fn every_protocol_goes_every_way() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    for protocol in ["http/1.1", "h2", "websocket"] {
        let (schemes, flags, alpn, address) = speaking(protocol);
        let certified = Certified { alpn: vec![alpn], ..Certified::default() };
        let config = authority.server(&certified);
        let front = Front::spawn(address, config, FrontBehaviour::default()).unwrap();
        for (nth, behind) in [address, front.address()].into_iter().enumerate() {
            let (version, header) = [("v1", Header::Line), ("v2", Header::Bytes)][nth];
            let door = Door::open("[::1]:0", header, behind).unwrap();
            let url = format!("{}://{}/", schemes[nth], door.address);
            let to = [&url, "--bind", "::1", "--proxy-protocol", version];
            let insecure: &[&str] = if nth == 1 { &["--insecure"] } else { &[] };
            let outcome = load(folder.path(), &[&to[..], flags[nth], insecure, &JSON[..]].concat());
            assert_eq!(outcome.all_good(20)["protocol"], protocol, "{outcome}");
            // The load's two connections; over some protocols there is one look before.
            let visitors = door.visitors();
            assert!(visitors.len() >= 2, "{visitors:?}");
            assert!(visitors.iter().all(|visitor| visitor.from.is_some_and(|from| from.is_ipv6())));
        }
        let path = folder.path().join(protocol.replace('/', ""));
        Door::unix(&path, address).unwrap();
        let url = format!("{}://example.org/", schemes[0]);
        let to = [url.as_str(), "--unix-socket", path.to_str().unwrap()];
        load(folder.path(), &[&to[..], flags[0], &JSON[..]].concat()).all_good(20);
    }
}

/// The first connection, which shows that somebody listens, too. `localhost` may have addresses of
/// both families.
#[test]
fn all_connections_come_from_the_address_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = messages::Server::echo().unwrap();
    let door = Door::open("127.0.0.1:0", Header::None, server.address).unwrap();
    let url = format!("ws://localhost:{}/", door.address.port());
    load(folder.path(), &[&[&url, "--bind", "127.0.0.2"][..], &JSON].concat()).all_good(20);
    let visitors = door.visitors();
    assert!(visitors.len() >= 3, "{visitors:?}");
    let is_named = |from: SocketAddr| from.ip().to_string() == "127.0.0.2";
    assert!(visitors.iter().all(|visitor| visitor.from.is_some_and(is_named)), "{visitors:?}");
    // No machine has an address of TEST-NET-1 (RFC 5737).
    load(folder.path(), &[&url, "--bind", "192.0.2.1"])
        .is_a_user_error(&["source address 192.0.2.1 cannot be used", "add it to an interface"]);
    assert_eq!(door.visitors().len(), visitors.len());
}

#[test]
fn addresses_of_two_families_do_not_go_together() {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/", server.address());
    load(folder.path(), &[&url, "--bind", "::1"])
        .is_a_user_error(&["::1", "one is IPv4 and the other IPv6"]);
    load(folder.path(), &[&url, "--proxy-protocol", "v3"]).is_a_user_error(&["v3", "v1"]);
}

pippin_testing::patient_tests!(what_a_server_speaks_is_said_before_the_load);

/// Each with and without a request that may be sent before the load.
fn what_a_server_speaks_is_said_before_the_load() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let http2 = frames::Server::new(frames::Connection::serve).unwrap();
    let front = |alpn, behind| {
        let config = authority.server(&Certified { alpn: vec![alpn], ..Certified::default() });
        Front::spawn(behind, config, FrontBehaviour::default()).unwrap()
    };
    let [secured, secured2] = [front("http/1.1", server.address()), front("h2", http2.address)];
    let door = Door::open("127.0.0.1:0", Header::Line, server.address()).unwrap();
    let only_v6 = std::net::TcpListener::bind("[::1]:0").unwrap().local_addr().unwrap().port();
    let _held = std::net::TcpListener::bind(("::1", only_v6)).unwrap();
    let said = |url: String, flags: &[&str], text: &str| {
        let ways = [&["-d", "1s"][..], &["-n", "20"], &["-d", "1s", "-X", "POST"]];
        // A WebSocket is always opened by GET.
        for way in &ways[..if url.starts_with("ws") { 2 } else { 3 }] {
            let flags = [&["load", "--no-store", "-c", "2", &url], flags, way].concat();
            let outcome = pippin(folder.path(), &flags);
            // Where no request may be sent, the server has 100 ms to object to the beginning of one.
            in_time(outcome.code == Some(2), || outcome.to_string());
            outcome.is_a_user_error(&[text]);
        }
    };
    let [plain, of_secured, of_secured2] =
        [server.address(), secured.address(), secured2.address()].map(|at| at.to_string());
    said(format!("http://{of_secured}/"), &[], "it answers in TLS: use https://");
    said(format!("ws://{of_secured}/"), &[], "it answers in TLS: use https:// (wss://");
    said(format!("http://{of_secured2}/"), &[], "use https:// and --http2");
    said(format!("https://{of_secured2}/"), &["--insecure"], "use https:// and --http2");
    said(format!("http://{}/", http2.address), &[], "it speaks only HTTP/2: use --h2c");
    said(
        format!("http://{plain}/"),
        &["--h2c"],
        "it speaks HTTP/1.1, not HTTP/2: leave --h2c or --grpc out",
    );
    said(format!("http://{}/", door.address), &[], "use --proxy-protocol v1");
    let elsewhere = format!("something listens on [::1]:{only_v6}");
    said(format!("http://127.0.0.1:{only_v6}/"), &[], &elsewhere);
}
