//! Requests that have names: what `--slowest` and `--samples` call them is what the server's log calls
//! them.
use super::support::{Outcome, pippin};
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Answer, Script, spawn};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pippin_testing::patient_tests!(the_slowest_requests_are_those_that_the_server_delayed);

/// What a server has seen.
#[derive(Default)]
struct Log {
    requests: AtomicU64,
    /// The values of the header that names requests, and those of requests that it delayed.
    names: Mutex<Vec<String>>,
    delayed: Mutex<Vec<String>>,
}

/// A server that delays every 50th request by 200 ms, and logs the names of those.
fn server(header: &'static str) -> (SocketAddr, Arc<Log>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let log = Arc::new(Log::default());
    let seen = Arc::clone(&log);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let log = Arc::clone(&seen);
            std::thread::spawn(move || serve(stream, header, &log));
        }
    });
    (address, log)
}

fn serve(mut stream: TcpStream, header: &str, log: &Log) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut name = String::new();
    while let Some(Ok(line)) = lines.next() {
        if let Some((field, value)) = line.split_once(": ")
            && field.eq_ignore_ascii_case(header)
        {
            name = value.to_string();
        }
        if !line.is_empty() {
            continue;
        }
        let name = std::mem::take(&mut name);
        if log.requests.fetch_add(1, Ordering::Relaxed) % 50 == 7 {
            std::thread::sleep(Duration::from_millis(200));
            log.delayed.lock().unwrap().push(name.clone());
        }
        log.names.lock().unwrap().push(name);
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}

fn load(folder: &Path, address: SocketAddr, arguments: &[&str]) -> Outcome {
    let url = format!("http://{address}");
    pippin(folder, &[&["load", url.as_str(), "--no-store"], arguments].concat())
}

fn sorted(log: &Mutex<Vec<String>>) -> BTreeSet<String> {
    log.lock().unwrap().iter().cloned().collect()
}

/// Of 1,000 requests the server delays 20, and those are the 20 slowest, by the names that it logged.
fn the_slowest_requests_are_those_that_the_server_delayed() {
    let folder = tempfile::tempdir().unwrap();
    let (address, log) = server("x-request-id");
    let arguments =
        ["-n", "1000", "-c", "4", "--slowest", "20", "--request-id", "--json", "a.json"];
    let more = ["--samples", "rows.csv"];
    load(folder.path(), address, &[&arguments[..], &more].concat()).says(&["id"]);
    let text = std::fs::read_to_string(folder.path().join("a.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    let slowest = result["slowest"].as_array().unwrap().iter();
    let slowest: BTreeSet<String> =
        slowest.map(|one| one["id"].as_str().unwrap().to_string()).collect();
    let delayed = sorted(&log.delayed);
    assert_eq!((slowest.len(), delayed.len()), (20, 20));
    in_time(slowest == delayed, || "the machine delayed a request for longer than 200 ms".into());
    // Each request has a name of its own, and the rows have all of them.
    let rows = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    let mut rows = rows.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let place = rows.next().unwrap().iter().position(|title| *title == "id").unwrap();
    let rows: BTreeSet<String> = rows.map(|row| row[place].to_string()).collect();
    assert_eq!(rows.len(), 1_000);
    assert!(rows.is_subset(&sorted(&log.names)), "the rows have names that the server never saw");
}

/// Steps have names too, each time anew: `00-TRACE-CALLER-01`, of which the log has the trace.
#[test]
fn steps_of_a_scenario_are_traced() {
    let folder = tempfile::tempdir().unwrap();
    let steps = "[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    std::fs::write(folder.path().join("walk.toml"), steps).unwrap();
    let (address, log) = server("traceparent");
    let arguments = ["--scenario", "walk.toml", "-n", "200", "-c", "2", "--request-id=traceparent"];
    let more = ["--samples", "rows.jsonl"];
    load(folder.path(), address, &[&arguments[..], &more].concat());
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let rows: BTreeSet<String> =
        rows.lines().map(|line| row(line)["id"].as_str().unwrap().to_string()).collect();
    let mut traces = BTreeSet::new();
    for name in sorted(&log.names).into_iter().filter(|name| !name.is_empty()) {
        let parts: Vec<&str> = name.split('-').collect();
        assert_eq!(
            parts.iter().map(|part| part.len()).collect::<Vec<_>>(),
            [2, 32, 16, 2],
            "{name}"
        );
        traces.insert(parts[1].to_string());
    }
    assert_eq!(rows.len(), 200);
    assert!(rows.is_subset(&traces));
}

#[test]
fn requests_that_cannot_have_a_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = spawn(Script::always(Answer::ok(b"ok"))).unwrap();
    let address = server.address();
    load(folder.path(), address, &["--slowest", "5", "--request-id", "-H", "X-Request-ID: 7"])
        .is_a_user_error(&[
            "--request-id: the request GET / has a header `X-Request-Id` of its own",
        ]);
    load(folder.path(), address, &["--request-id"])
        .is_a_user_error(&["--request-id: its names are shown by --slowest and --samples"]);
    load(folder.path(), address, &["--slowest", "5", "--request-id=span"])
        .is_a_user_error(&["possible values: x-request-id, traceparent"]);
    assert_eq!(server.stop().unwrap().requests, 0, "nothing was sent");
}

/// A full disk under one file: the others are whole, and the end says which one is not.
#[test]
fn an_outlet_that_fails_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = spawn(Script::always(Answer::ok(b"ok"))).unwrap();
    let arguments =
        ["-n", "50", "--samples", "rows.csv", "--junit", "gates.xml", "--json", "a.json"];
    let full = ["--html", "/dev/full", "--timeseries", "/dev/full", "--fail-if", "errors > 0"];
    let outcome = load(folder.path(), server.address(), &[&arguments[..], &full].concat());
    assert_ne!(outcome.code, Some(0), "{outcome}");
    outcome.says(&["/dev/full", "requests/s", "gate passed"]);
    for (file, has) in [("rows.csv", "GET /"), ("gates.xml", "<testsuite"), ("a.json", "requests")]
    {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        assert!(text.contains(has), "{file}: {text}");
    }
    let rows = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    assert_eq!(rows.lines().count(), 51);
}
