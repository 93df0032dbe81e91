//! `pippin load --http3`, and targets that speak HTTP/3.
use super::support::{Outcome, pippin};
use pippin_testing::patience::in_time;
use pippin_testing::tls::Authority;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pippin_testing::patient_tests!(
    a_target_of_a_plan_speaks_http3,
    each_connection_has_so_many_users_and_the_server_is_measured,
    every_kind_of_load,
);

/// A server of HTTP/3 by other hands than ours, in a process of its own.
struct Server {
    process: Child,
    url: String,
    /// Has the certificate of its authority.
    folder: TempDir,
}

/// A program beside the tests.
fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_pippin")).with_file_name("examples/http3_server")
}

impl Server {
    fn new() -> Self {
        let authority = Authority::new();
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).unwrap();
            folder.path().join(name)
        };
        let (chain, key) = authority.certificate_pem(vec!["127.0.0.1".into()]);
        file("ca.pem", authority.pem());
        let mut process = Command::new(program())
            .args([file("chain.pem", chain), file("key.pem", key)])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { process, url: format!("https://{}/", address.trim()), folder }
    }

    fn load(&self, arguments: &[&str]) -> Outcome {
        let load = ["load", self.url.as_str(), "--http3", "--ca", "ca.pem", "--no-store"];
        pippin(self.folder.path(), &[&load[..], arguments].concat())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn each_connection_has_so_many_users_and_the_server_is_measured() {
    let server = Server::new();
    let flags = ["-c", "3", "--streams", "5", "-d", "1s", "--expect-body", "Hello World"];
    for event_loop in ["epoll", "io_uring"] {
        let outcome =
            server.load(&[&flags[..], &["--quiet", "--json", "-", "--io", event_loop]].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        in_time(json["requests"]["good"].as_u64() > Some(100), || outcome.to_string());
        assert_eq!(
            (&json["requests"]["failed"], &json["errors"]),
            (&0.into(), &serde_json::json!({}))
        );
        assert_eq!((&json["protocol"], &json["io"]), (&"h3".into(), &event_loop.into()));
        assert_eq!(
            (&json["connections"]["peak"], &json["connect"]["count"]),
            (&3.into(), &0.into())
        );
        assert_eq!(json["tls_sessions"]["negotiated"][0]["alpn"], "h3");
        // Its process is found by the UDP socket.
        assert_eq!(json["server"]["processes"][0]["name"], "http3_server");
        assert!(json["server"]["cpu_per_request_ns"].as_f64() > Some(1_000.0), "{outcome}");
    }
    server.load(&flags).says(&["closed loop, 3 connections with 5 streams each", "HTTP/3"]);
}

fn every_kind_of_load() {
    let server = Server::new();
    let kinds: [&[&str]; 6] = [
        &["-c", "2", "--streams", "4", "-d", "300ms", "--warm-up", "100ms"],
        &["-c", "2", "--streams", "4", "-R", "200/s", "-d", "500ms"],
        &["-c", "2", "--streams", "4", "--stages", "200ms:100,200ms:300"],
        &["--devices", "10", "--think", "20ms", "--ramp", "100ms,400ms,100ms"],
        &["--streams", "4", "--sweep", "1,2", "-d", "300ms", "--warm-up", "100ms"],
        &["-c", "2", "--streams", "4", "--network", "10ms,2%", "-d", "1s", "--warm-up", "100ms"],
    ];
    for kind in kinds {
        let outcome = server.load(&[&["--quiet", "--json", "-"], kind].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{kind:?}: {outcome}");
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        for step in json.as_array().cloned().unwrap_or_else(|| vec![json]) {
            assert_eq!(step["errors"], serde_json::json!({}), "{kind:?}");
            in_time(step["requests"]["good"].as_u64() > Some(0), || format!("{kind:?}: {outcome}"));
        }
    }
}

/// A target that is started, proved, measured in slices, asked while it is stopped, and proved again.
fn a_target_of_a_plan_speaks_http3() {
    let folder = tempfile::tempdir().unwrap();
    let project = |body: &str, more: &str| {
        let program = program();
        let text = format!(
            "[target.quic]\ncommand = [{program:?}, \"{{TLS_CERTIFICATE}}\", \"{{TLS_KEY}}\", \"{{HOST}}:{{PORT}}\"]\nprotocol = \"h3\"\n[workload.home]\nrequest = {{ path = \"/\" }}\nanswer = {{ body = \"{body}\" }}\n[plan.home]\nworkload = \"home\"\ntargets = [\"quic\"]\nrepetitions = 2\nlife = true\nprofile = {{ kind = \"closed\", connections = 2, streams = 3, duration = \"600ms\", warm_up = \"100ms\"{more} }}\n"
        );
        std::fs::write(folder.path().join("pippin.toml"), text).unwrap();
    };
    project("Hello World", "");
    let outcome = pippin(folder.path(), &["run", "home"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    outcome.says(&["own/quic"]).keeps_quiet_about(&["failed at"]);
    let store = pippin_store::Store::open(&folder.path().join(".pippin/pippin.db")).unwrap();
    let run = store.load("latest").unwrap();
    assert_eq!(run.trials.len(), 2);
    for trial in &run.trials {
        let load = trial.load.as_ref().unwrap();
        let good = load.measured.requests.good;
        in_time(good > 100, || good.to_string());
        assert_eq!(load.measured.errors_total(), 0);
        assert_eq!(load.tls.as_ref().unwrap().negotiated[0].alpn.as_deref(), Some("h3"));
        assert!(trial.proofs.iter().all(|proof| proof.failure.is_none()), "{:?}", trial.proofs);
        assert!(!trial.proofs.is_empty());
    }
    project("Hello Moon", "");
    pippin(folder.path(), &["run", "home"]).says(&["own/quic", "Hello World"]);
    project("Hello World", ", protocol = \"h2\"");
    pippin(folder.path(), &["run", "home"]).is_a_user_error(&["it speaks h3", "asks for h2"]);
}

/// A wrong flag, a server that is not there, and one that speaks no QUIC give one message.
#[test]
fn mistakes_are_named_before_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |url: &str, arguments: &[&str], why: &str| {
        let all = [&["load", url, "--http3", "--no-store", "-n", "1"], arguments].concat();
        pippin(folder.path(), &all).is_a_user_error(&[why]);
    };
    refused("http://127.0.0.1:1/", &[], "--http3 is QUIC, which has TLS in it; write https://");
    refused("https://127.0.0.1:1/", &["--pipeline", "4"], "cannot be used with");
    refused(
        "https://127.0.0.1:1/",
        &[],
        "nobody answers at 127.0.0.1:1: the connection was refused",
    );
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    refused(&url, &["--timeout", "500ms"], "the server did not answer in time");
    // Somebody whose certificate nobody trusts.
    let server = Server::new();
    refused(&server.url, &[], "; trust its root with --ca FILE");
}
