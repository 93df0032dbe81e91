//! Servers that compile while they serve, without any runtime: a script says what a thread of that
//! name uses, and the server counts what it answered meanwhile.
use super::support::{Outcome, pippin};
use pippin_testing::shapes::Shape;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

/// Loads a server with such a thread. Returns what was said, and the result.
fn load(folder: &Path, server: &Shape, arguments: &[&str]) -> (Outcome, Value) {
    let url = format!("http://{}/", server.address());
    let common = ["load", &url, "-c", "2", "--no-store", "--json", "result.json"];
    let outcome = pippin(folder, &[&common, arguments].concat());
    let text = std::fs::read_to_string(folder.join("result.json"))
        .unwrap_or_else(|error| panic!("{error}: {outcome}"));
    (outcome, serde_json::from_str(&text).unwrap())
}

/// Answers until the thread last worked, and since.
fn account(server: &Shape) -> (u64, u64) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"GET /account HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (before, since) = text.rsplit("\r\n").next().unwrap().split_once(' ').unwrap();
    (before.parse().unwrap(), since.parse().unwrap())
}

fn caveats(result: &Value) -> Vec<&str> {
    let all = result["caveats"].as_array().unwrap();
    all.iter().map(|caveat| caveat["id"].as_str().unwrap()).collect()
}

/// It compiles for three seconds. Whatever is measured was answered after these.
#[test]
fn a_compiler_is_waited_for_and_only_warm_answers_count() {
    // Its process is a child of this one, which other tests load as their server.
    let _turn = pippin_testing::patience::turn();
    let folder = tempfile::tempdir().unwrap();
    let script = [".NET Tiered Compilation Worker", "300:0.3", "300:0.3", "300:0.3", "100:0"];
    let server = Shape::start("compiling", &script).unwrap().unwrap();
    let (outcome, result) = load(folder.path(), &server, &["-d", "1s"]);
    let (before, since) = account(&server);
    let measured = result["requests"]["completed"].as_u64().unwrap();
    assert!(before > 0 && measured > 0, "{result}");
    assert!(measured <= since, "{measured} measured, {since} since the end: {outcome}");
    assert!(!caveats(&result).contains(&"compiling"), "{outcome}");
}

/// An explicit warm-up is obeyed, and then the result says that it was too short.
#[test]
fn a_warm_up_that_was_asked_for_is_obeyed_and_a_compiler_at_work_is_said() {
    // Its process is a child of this one, which other tests load as their server.
    let _turn = pippin_testing::patience::turn();
    let folder = tempfile::tempdir().unwrap();
    let server = Shape::start("compiling", &["C2 CompilerThread0", "100:0.4"]).unwrap().unwrap();
    let (outcome, result) = load(folder.path(), &server, &["-d", "1s", "--warm-up", "500ms"]);
    assert!(caveats(&result).contains(&"compiling"), "{outcome}");
    // Lines are broken to the width of the terminal.
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("the JVM compiled for"), "{outcome}");
    assert!(said.contains("(--warm-up 30s)"), "{outcome}");
}

/// A native server has threads that work too. They are no compiler.
#[test]
fn a_busy_helper_of_another_name_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = Shape::start("compiling", &["GC Thread#0", "100:0.3"]).unwrap().unwrap();
    let (outcome, result) = load(folder.path(), &server, &["-d", "1s"]);
    assert!(!caveats(&result).contains(&"compiling"), "{outcome}");
    assert_eq!(result["warm_up"]["steady"], true, "{outcome}");
    outcome.keeps_quiet_about(&["compiles", "the compiler of"]);
}
