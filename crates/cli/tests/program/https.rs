//! `pippin load https://...` against a scripted server behind TLS.
use super::support::{Outcome, pippin};
use pippin_testing::Running;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use serde_json::Value;
use std::time::Duration;
use tempfile::TempDir;

pippin_testing::patient_tests!(every_kind_of_load);

/// A server behind TLS, and the folder with its authority's certificate.
struct Https {
    server: Running<Account>,
    front: Front,
    folder: TempDir,
}

impl Https {
    fn new(certified: &Certified) -> Self {
        let server =
            spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(5)))).unwrap();
        let authority = Authority::new();
        let front =
            Front::spawn(server.address(), authority.server(certified), FrontBehaviour::default())
                .unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("root.pem"), authority.pem()).unwrap();
        Self { server, front, folder }
    }

    fn load(&self, arguments: &[&str]) -> Outcome {
        let url = format!("https://{}/", self.front.address());
        pippin(self.folder.path(), &[&["load", url.as_str()], arguments].concat())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let outcome =
            self.load(&[&["--ca", "root.pem", "--quiet", "--json", "-"], arguments].concat());
        // A busy machine may make a short load invalid. Its counts are right all the same.
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"))
    }

    #[track_caller]
    fn refused(&self, arguments: &[&str], texts: &[&str]) {
        let outcome = self.load(&[arguments, &["-n", "10"]].concat());
        assert_eq!(outcome.code, Some(2), "{outcome}");
        outcome.is_a_user_error(texts);
        assert_eq!(self.server.account().requests, 0);
    }
}

#[test]
fn handshakes_are_measured_and_what_they_agreed_on_is_said() {
    let https = Https::new(&Certified::default());
    let json = https.json(&["-c", "3", "-n", "60", "--expect-body", "hello"]);
    assert_eq!(
        (&json["requests"]["completed"], &json["requests"]["good"]),
        (&60.into(), &60.into())
    );
    assert_eq!(
        (&json["tls"]["count"], &json["connect"]["count"], &json["connections"]["opened"]),
        (&3.into(), &3.into(), &3.into())
    );
    assert!(json["tls"]["p50_ns"].as_u64().unwrap() > 0, "{}", json["tls"]);
    let sessions = &json["tls_sessions"];
    assert_eq!(
        (&sessions["verified"], &sessions["resumption"], &sessions["server_name"]),
        (&true.into(), &false.into(), &"127.0.0.1".into())
    );
    let one = &sessions["negotiated"][0];
    assert_eq!(
        (&one["version"], &one["alpn"], &one["handshakes"], &one["resumed"]),
        (&"TLSv1.3".into(), &"http/1.1".into(), &3.into(), &0.into())
    );
    assert!(one["cipher_suite"].as_str().unwrap().starts_with("TLS13_"), "{one}");
    assert_eq!(https.server.account().requests, 60);
    // Plus the handshake before the load.
    assert_eq!(https.front.stop().handshakes, 4);
}

#[test]
fn the_text_shows_tls_between_connect_and_headers() {
    let https = Https::new(&Certified { only_tls12: true, ..Certified::default() });
    let outcome = https.load(&["-c", "2", "-n", "20", "--insecure", "-v"]);
    outcome.says(&[
        "TLS          TLSv1.2, TLS_",
        "2 handshakes, 0 of them resumed",
        "the server's certificate was not verified",
    ]);
    let rows: Vec<&str> =
        outcome.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let place = |name| {
        rows.iter()
            .rposition(|row| *row == name)
            .unwrap_or_else(|| panic!("no row {name}: {outcome}"))
    };
    assert!(place("connect") < place("tls") && place("tls") < place("headers"), "{outcome}");
}

#[test]
fn without_tls_there_is_none() {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let url = format!("http://{}/", server.address());
    let outcome = pippin(
        &std::env::temp_dir(),
        &["load", &url, "-c", "2", "-n", "20", "--quiet", "--no-store", "--json", "-"],
    );
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert!(json["tls"].is_null() && json["tls_sessions"].is_null(), "{json:#}");
    assert!(json.as_object().unwrap().contains_key("tls"));
}

fn every_kind_of_load() {
    let https = Https::new(&Certified::default());
    let json = https.json(&["-c", "2", "-n", "20", "--no-keep-alive"]);
    assert_eq!((&json["tls"]["count"], &json["requests"]["completed"]), (&20.into(), &20.into()));
    let json = https.json(&["-c", "2", "-n", "20", "--no-keep-alive", "--tls-resume"]);
    let resumed: u64 = json["tls_sessions"]["negotiated"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["resumed"].as_u64().unwrap())
        .sum();
    assert!((18..20).contains(&resumed), "{}", json["tls_sessions"]);
    let json = https.json(&["-c", "4", "-R", "100", "-d", "300ms"]);
    assert_eq!((&json["requests"]["scheduled"], &json["tls"]["count"]), (&30.into(), &4.into()));
    let json = https.json(&[
        "--devices",
        "5",
        "--think",
        "20ms",
        "--ramp",
        "200ms,300ms,200ms",
        "--requests-per-device",
        "3",
    ]);
    assert!(json["tls"]["count"].as_u64().unwrap() > 0, "{json:#}");
    assert!(json["phases"][0]["tls"]["count"].as_u64().unwrap() >= 5, "{}", json["phases"]);
    let json = https.json(&["--sweep", "1,2", "-d", "200ms", "--warm-up", "none"]);
    let handshakes: Vec<u64> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|load| load["tls"]["count"].as_u64().unwrap())
        .collect();
    assert_eq!(handshakes, [1, 2]);
    for event_loop in ["epoll", "io_uring"] {
        let json = https.json(&["-c", "2", "-n", "64", "--pipeline", "8", "--io", event_loop]);
        assert_eq!((&json["requests"]["good"], &json["io"]), (&64.into(), &event_loop.into()));
    }
}

#[test]
fn certificates_that_cannot_be_trusted_are_refused_with_the_fix() {
    let https = Https::new(&Certified::default());
    https.refused(
        &[],
        &["the certificate is not signed by a trusted authority", "--ca FILE", "--insecure"],
    );
    https.refused(&["--ca", "none.pem"], &["--ca: none.pem: No such file"]);
    std::fs::write(https.folder.path().join("empty.pem"), "nothing").unwrap();
    https.refused(
        &["--ca", "empty.pem"],
        &["there is no `-----BEGIN CERTIFICATE-----` in it", "--ca"],
    );
    https.refused(
        &["--ca", "root.pem", "--server-name", "example.org"],
        &["the certificate is for 127.0.0.1, localhost, not for example.org", "--server-name NAME"],
    );
    https.refused(
        &["--ca", "root.pem", "--server-name", "no name"],
        &["the server name `no name` is neither a host name nor an IP address"],
    );
    let expired = Https::new(&Certified { has_expired: true, ..Certified::default() });
    expired.refused(&["--ca", "root.pem"], &["the certificate has expired", "--insecure"]);
    https.load(&["--ca", "root.pem", "--server-name", "localhost", "-n", "10"]).says(&["200: 10"]);
}

#[test]
fn a_server_of_plain_http_is_told_apart() {
    use std::io::{Read as _, Write as _};
    // Like nginx, answers 400 to anything that is not a request.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let outcome = pippin(&std::env::temp_dir(), &["load", &url, "-n", "10", "--no-store"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    outcome.is_a_user_error(&[
        "the server's bytes are not TLS: the port may speak plain HTTP; if so, write http://",
    ]);
}
