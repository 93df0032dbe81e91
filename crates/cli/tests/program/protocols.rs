//! Plans that use several protocols for their targets.
use super::support::pippin;
use pippin_testing::frames::{Connection, Server};
use pippin_testing::scripted::{Answer, Script, spawn};
use std::path::Path;

fn write(folder: &Path, targets: &str, profile: &str) {
    let text = format!(
        "{targets}[workload.home]\nrequest = {{ path = \"/\" }}\nanswer = {{ body = \"hello\" }}\n[plan.both]\nworkload = \"home\"\ntargets = [\"one\", \"two\"]\nrepetitions = 1\nprofile = {{ kind = \"closed\", connections = 2, duration = \"300ms\", warm_up = \"100ms\"{profile} }}\ncpus = {{ share = true }}\n"
    );
    std::fs::write(folder.join("pippin.toml"), text).unwrap();
}

#[test]
fn users_of_a_connection_have_one_each_over_http1() {
    let folder = tempfile::tempdir().unwrap();
    let old = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let new = Server::new(Connection::serve).unwrap();
    let target = |name: &str, address: std::net::SocketAddr, more: &str| {
        format!("[target.{name}]\nurl = \"http://{address}/\"\n{more}")
    };
    let one = target("one", old.address(), "");
    let two = target("two", new.address, "protocol = \"h2c\"\n");
    write(folder.path(), &format!("{one}{two}"), ", streams = 3");
    let outcome = pippin(folder.path(), &["run", "both"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    outcome.says(&["own/one", "own/two"]).keeps_quiet_about(&["failed at"]);
    let store = pippin_store::Store::open(&folder.path().join(".pippin/pippin.db")).unwrap();
    let run = store.load("latest").unwrap();
    for trial in &run.trials {
        let asked = trial.load_spec.as_ref().unwrap().connections;
        let expected = if trial.spec.target.name == "one" { (6, 1) } else { (2, 3) };
        assert_eq!((asked.count, asked.streams), expected, "{}", trial.spec.target);
        let load = trial.load.as_ref().unwrap();
        assert!(load.measured.requests.good > 0, "{}", trial.spec.target);
        assert_eq!(load.measured.errors_total(), 0, "{}", trial.spec.target);
    }

    let refused = |targets: &str, profile: &str, texts: &[&str]| {
        write(folder.path(), targets, profile);
        pippin(folder.path(), &["run", "both"]).is_a_user_error(texts);
    };
    let both = format!("{one}{two}");
    refused(&both, ", protocol = \"http1\"", &["own/two", "it speaks h2c", "asks for http1"]);
    refused(&both, ", protocol = \"h2\"", &["own/one", "its URL is http"]);
    refused(&both, ", protocol = \"spdy\"", &["`spdy` (known here: http1, https, h2c, h2"]);
    let plain = format!("{one}{}", target("two", new.address, ""));
    refused(&plain, ", streams = 3", &["profile.streams has no effect", "h2c"]);
}

/// One clear error for a target that does not speak what its manifest says, and no load of failures.
#[test]
fn a_target_that_does_not_speak_its_protocol_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let old = Server::raw(|connection| {
        connection.send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")?;
        connection.drain();
        None
    })
    .unwrap();
    let new = Server::new(Connection::serve).unwrap();
    let target = |name: &str, address: std::net::SocketAddr| {
        format!("[target.{name}]\nurl = \"http://{address}/\"\nprotocol = \"h2c\"\n")
    };
    let both = format!("{}{}", target("one", old.address), target("two", new.address));
    write(folder.path(), &both, ", streams = 2");
    let outcome = pippin(folder.path(), &["run", "both"]);
    outcome.says(&["own/one", "it does not speak HTTP/2 here"]);
    let connections = old.account.read(|account| &account.connections);
    assert!(connections < 10, "{connections}");
    let store = pippin_store::Store::open(&folder.path().join(".pippin/pippin.db")).unwrap();
    let run = store.load("latest").unwrap();
    let measured = |name: &str| {
        run.trials.iter().any(|trial| trial.spec.target.name == name && trial.load.is_some())
    };
    assert!(measured("two") && !measured("one"), "{outcome}");
}
