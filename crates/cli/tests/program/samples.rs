//! `--samples FILE`: every request as a row, beside the log of the server that answered it.
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use pippin_testing::{Error, Running};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::support::{Outcome, pippin};

/// How often each path was asked for and got this status.
type Log = BTreeMap<(String, u16), usize>;

/// A server with a log, and a folder to write in.
struct Logging {
    server: Running<Account>,
    log: Arc<Mutex<Log>>,
    folder: tempfile::TempDir,
}

impl Logging {
    /// `/gone...` is not there, `/broken...` fails, everything else says hello.
    fn new() -> Self {
        let log = Arc::new(Mutex::new(Log::new()));
        let keeper = Arc::clone(&log);
        let server = spawn(Script::each(move |request, _| {
            let text = String::from_utf8_lossy(request.bytes);
            let path = text.split(' ').nth(1).unwrap_or_default().to_string();
            let (status, body) = match &path {
                path if path.starts_with("/gone") => (404, &b"no"[..]),
                path if path.starts_with("/broken") => (503, &b""[..]),
                _ => (200, &b"hello"[..]),
            };
            *keeper.lock().unwrap().entry((path, status)).or_default() += 1;
            Answer::new(status, body)
        }));
        Self { server: server.unwrap(), log, folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn load(&self, path: &str, arguments: &[&str]) -> Outcome {
        let url = format!("http://{}{path}", self.server.address());
        pippin(self.path(), &[&["load", "--no-store", &url], arguments].concat())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The rows of a file in JSON lines.
    fn rows(&self, name: &str) -> Vec<Value> {
        self.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn log(self) -> Log {
        let Self { server, log, .. } = self;
        server.stop().map(|_| ()).unwrap_or_else(|error: Error| panic!("{error}"));
        let log = log.lock().unwrap();
        log.clone()
    }
}

#[test]
fn each_request_has_a_row_that_the_servers_log_has_too() {
    let logging = Logging::new();
    let requests =
        "{\"path\": \"/a\", \"weight\": 3}\n{\"path\": \"/gone\"}\n{\"path\": \"/broken\"}\n";
    std::fs::write(logging.path().join("requests.jsonl"), requests).unwrap();
    let load = |samples: &str| {
        let outcome = logging.load(
            "/",
            &["--requests", "requests.jsonl", "-n", "500", "-c", "4", "-t", "2"]
                .into_iter()
                .chain(["--samples", samples, "--json", "load.json"])
                .collect::<Vec<_>>(),
        );
        outcome.says(&[&format!("{samples} has the measured part's 500 requests")]);
        let load: Value = serde_json::from_str(&logging.read("load.json")).unwrap();
        assert_eq!(load["requests"]["sent"], 500);
    };
    load("rows.jsonl");
    load("rows.csv");
    let rows = logging.rows("rows.jsonl");
    let mut csv = csv::Reader::from_path(logging.path().join("rows.csv")).unwrap();
    let names = csv.headers().unwrap().clone();
    let keys: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
    let mut columns: Vec<&str> = names.iter().collect();
    columns.sort_unstable();
    assert_eq!(columns, keys, "the same names in both forms");

    let mut seen = Log::new();
    let mut note = |request: &str, status: &str, error: &str, body_bytes: &str| {
        let path = request.strip_prefix("GET ").unwrap().to_string();
        let right = match path.as_str() {
            "/a" => ("200", "", "5"),
            "/gone" => ("404", "wrong_status", "2"),
            _ => ("503", "wrong_status", "0"),
        };
        assert_eq!((status, error, body_bytes), right, "{path}");
        *seen.entry((path, status.parse().unwrap())).or_default() += 1;
    };
    for row in &rows {
        note(
            row["request"].as_str().unwrap(),
            &row["status"].to_string(),
            row["error"].as_str().unwrap_or_default(),
            &row["body_bytes"].to_string(),
        );
        let of = |key: &str| row[key].as_u64().unwrap();
        assert!(of("intended_unix_ns") <= of("sent_unix_ns") && of("connection") < 4, "{row}");
        assert!(of("service_ns") > 0 && of("response_ns") > 0 && of("user") < 4, "{row}");
    }
    let column = |name: &str| names.iter().position(|column| column == name).unwrap();
    let columns = ["request", "status", "error", "body_bytes"].map(column);
    for row in csv.records() {
        let row = row.unwrap();
        let [request, status, error, body_bytes] = columns.map(|nth| &row[nth]);
        note(request, status, error, body_bytes);
    }
    assert_eq!(seen.values().sum::<usize>(), 1_000);
    assert_eq!(seen, logging.log());
}

#[test]
fn of_more_requests_it_is_a_random_sample_and_says_so() {
    let logging = Logging::new();
    logging
        .load("/a", &["-n", "300", "-c", "2", "--samples", "few.jsonl", "--samples-most", "25"])
        .says(&["few.jsonl is a random sample: 25 of the measured part's 300 requests, each with the same chance"]);
    assert_eq!(logging.rows("few.jsonl").len(), 25);
}

/// What a failed request has, and what it has not.
#[test]
fn a_request_that_fails_has_a_row_without_an_answer() {
    let server = spawn(Script::each(|received, _| match received.number {
        3 => Answer::close(),
        _ => Answer::ok(b"hello"),
    }))
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/", server.address());
    let samples = folder.path().join("rows.jsonl");
    let arguments = ["load", "--no-store", &url, "-n", "10", "-c", "1"];
    pippin(folder.path(), &[&arguments[..], &["--samples", "rows.jsonl"]].concat());
    let rows = std::fs::read_to_string(samples).unwrap();
    let failed: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| !row["error"].is_null())
        .collect();
    assert_eq!((rows.lines().count(), failed.len()), (10, 1), "{rows}");
    assert_eq!(failed[0]["error"], "close_before_answer");
    for key in ["status", "response_ns", "service_ns", "body_bytes"] {
        assert!(failed[0][key].is_null(), "{key}: {}", failed[0]);
    }
}

/// A path has no query here. The name of a step may have one, because it is its path unless a name was
/// given.
#[test]
fn values_of_queries_are_written_only_with_keep_requests() {
    let logging = Logging::new();
    let scenario = "[[steps]]\nget = \"/a?token=s3cret\"\n";
    std::fs::write(logging.path().join("one.toml"), scenario).unwrap();
    let url = format!("http://{}", logging.server.address());
    let store = logging.path().join("store.db").display().to_string();
    let load = |arguments: &[&str]| {
        let few = ["load", &url, "--store", &store, "-n", "5", "-c", "1", "--samples", "rows.csv"];
        pippin(logging.path(), &[&few[..], arguments].concat());
        logging.read("rows.csv")
    };
    let rows = load(&["--scenario", "one.toml"]);
    assert!(rows.contains("/a?token=(not kept: 6 bytes, ") && !rows.contains("s3cret"), "{rows}");
    let rows = load(&["--scenario", "one.toml", "--keep-requests"]);
    assert!(rows.contains("/a?token=s3cret"), "{rows}");
}

#[test]
fn a_file_that_cannot_be_is_refused_before_the_load() {
    let logging = Logging::new();
    for (arguments, said) in [
        (&["--samples", "-"][..], "--samples: standard output has the result; name a file"),
        (&["--samples", "no/rows.csv"], "--samples: there is no folder no; make it first"),
        (
            &["--samples", "rows.txt"],
            "--samples: rows.txt: the ending does not say which format to write; use .csv",
        ),
        (&["--samples", "rows.csv", "--agents", "2"], "'--samples <FILE>' cannot be used with"),
        (&["--samples", "rows.csv", "--sweep", "1..4"], "'--samples <FILE>' cannot be used with"),
        (&["--samples-most", "5"], "--samples <FILE>"),
    ] {
        logging.load("/a", arguments).is_a_user_error(&[said]);
    }
    assert!(!logging.path().join("rows.csv").exists());
    assert_eq!(logging.log(), Log::new());
}
