//! `pippin load --h2c` and `--http2`.
use super::support::{Outcome, pippin};
use pippin_testing::frames::{Connection, Server};
use pippin_testing::patience::in_time;
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use serde_json::Value;

pippin_testing::patient_tests!(every_kind_of_load);

fn load(url: &str, arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    pippin(folder.path(), &[&["load", url, "--no-store"], arguments].concat())
}

#[test]
fn each_connection_has_so_many_users() {
    let server = Server::new(Connection::serve).unwrap();
    let url = format!("http://{}/", server.address);
    let flags = ["--h2c", "-c", "3", "--streams", "5", "-n", "300", "--expect-body", "hello"];
    for event_loop in ["epoll", "io_uring"] {
        let arguments = [&flags[..], &["--quiet", "--json", "-", "--io", event_loop]].concat();
        let outcome = load(&url, &arguments);
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(json["requests"]["good"], 300, "{outcome}");
        assert_eq!((&json["protocol"], &json["io"]), (&"h2".into(), &event_loop.into()));
        assert_eq!(json["profile"]["connections"]["streams"], 5);
        assert_eq!(json["connections"]["peak"], 3);
    }
    load(&url, &flags).says(&["closed loop, 3 connections with 5 streams each, HTTP/2"]);
}

/// The servers speak nothing but HTTP/2.
#[test]
fn two_servers_are_compared_over_streams() {
    let servers = [(); 2].map(|()| Server::new(Connection::serve).unwrap());
    let urls = servers.each_ref().map(|server| format!("http://{}/", server.address));
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--h2c", "-c", "2", "--streams", "3", "-d", "300ms", "--warm-up", "none"];
    let compare = ["compare", urls[0].as_str(), &urls[1], "--repeat", "2"];
    let outcome = pippin(folder.path(), &[&compare[..], &flags].concat());
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    outcome.says(&["closed loop, 2 connections, 3 streams per connection"]);
}

/// A closed loop, a rate, a rate that changes, devices and a sweep, each over streams.
fn every_kind_of_load() {
    let server = Server::new(Connection::serve).unwrap();
    let url = format!("http://{}/", server.address);
    let shared = ["-c", "2", "--streams", "4"];
    let kinds: [(&[&str], &[&str]); 5] = [
        (&shared, &["-d", "300ms"]),
        (&shared, &["-R", "200/s", "-d", "500ms"]),
        (&shared, &["--stages", "200ms:100,200ms:300"]),
        (&[], &["--devices", "10", "--think", "20ms", "--ramp", "100ms,400ms,100ms"]),
        (&["--streams", "4"], &["--sweep", "1,2", "-d", "300ms"]),
    ];
    for (users, kind) in kinds {
        let flags = ["--h2c", "--expect-body", "hello", "--quiet", "--json", "-"];
        let outcome = load(&url, &[&flags[..], users, kind].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{kind:?}: {outcome}");
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let steps = json.as_array().cloned().unwrap_or_else(|| vec![json]);
        for step in steps {
            in_time(step["requests"]["good"].as_u64() > Some(0), || format!("{kind:?}: {outcome}"));
            assert_eq!(
                (&step["protocol"], &step["errors"]),
                (&"h2".into(), &serde_json::json!({}))
            );
        }
    }
}

#[test]
fn over_tls_the_server_is_asked() {
    let (server, authority) = (Server::new(Connection::serve).unwrap(), Authority::new());
    let front = |alpn| {
        let config = authority.server(&Certified { alpn: vec![alpn], ..Certified::default() });
        Front::spawn(server.address, config, FrontBehaviour::default()).unwrap()
    };
    let (right, other) = (front("h2"), front("http/1.1"));
    let url = |front: &Front| format!("https://{}/", front.address());
    let flags = ["--http2", "--insecure", "-n", "20"];
    load(&url(&right), &[&flags[..], &["-v"]].concat()).says(&["HTTP/2", ", h2: 10 handshakes"]);
    let refused = load(&url(&other), &flags);
    refused.is_a_user_error(&["does not offer the protocol", "leave --http2 out"]);
    load(&url(&right), &["--h2c"]).is_a_user_error(&["--h2c is HTTP/2 without TLS", "--http2"]);
}

/// One clear error instead of a load of failures.
#[test]
fn a_server_of_http1_is_named() {
    let server = Server::raw(|connection| {
        connection.send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")?;
        connection.drain();
        None
    })
    .unwrap();
    let outcome = load(&format!("http://{}/", server.address), &["--h2c", "-n", "100"]);
    outcome.is_a_user_error(&[
        "the server answers HTTP/2 with HTTP/1 (`HTTP/1.1 400 Bad Request`)",
        "leave --h2c or --http2 out",
    ]);
}
