//! `pippin ci`: a checkout against its base, in a repository of its own.
use super::support::{Outcome, Started, command, commit, git, without_job};
use pippin_testing::patience::in_time;
use std::path::Path;
use tempfile::TempDir;

pippin_testing::patient_tests!(
    more_memory_than_the_base_fails_as_soon_as_it_is_sure,
    a_change_that_costs_nothing_passes
);

/// A server of Python that holds so many MiB.
fn server(holds_mib: u32) -> String {
    format!(
        "import os\nfrom http.server import BaseHTTPRequestHandler, ThreadingHTTPServer\n\
         held = bytearray(os.urandom(1024)) * (1024 * {holds_mib})\n\
         class Handler(BaseHTTPRequestHandler):\n    protocol_version = 'HTTP/1.1'\n\
         \x20   def do_GET(self):\n        self.send_response(200)\n        self.send_header('Content-Length', '2')\n\
         \x20       self.end_headers()\n        self.wfile.write(b'ok')\n    def log_message(self, *args): pass\n\
         ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n"
    )
}

/// The project: `main` has a server of 1 MiB, and HEAD is a branch of it.
fn repository(gates: &str) -> TempDir {
    let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
    std::fs::write(
        folder.path().join("pippin.toml"),
        format!(
            "[target.shop]\ncommand = \"python3 server.py\"\n\
             [workload.home]\nrequest = {{ path = \"/\" }}\nanswer = {{ status = 200 }}\n\
             [plan.ci]\nworkload = \"home\"\ntargets = [\"shop\"]\n\
             profile = {{ kind = \"closed\", connections = 2, duration = \"500ms\", warm_up = \"none\" }}\n\
             cpus = {{ share = true }}\n{gates}\n"
        ),
    )
    .unwrap();
    std::fs::write(folder.path().join("server.py"), server(1)).unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    commit(folder.path(), "one");
    git(folder.path(), &["checkout", "-q", "-b", "change"]);
    folder
}

/// `pippin ci`, as outside of any job.
fn ci(folder: &Path, more: &[&str]) -> Outcome {
    let mut command = command(folder, &[&["ci"], more].concat());
    without_job(&mut command);
    Started::spawn(&mut command).finish()
}

fn more_memory_than_the_base_fails_as_soon_as_it_is_sure() {
    let folder = repository("fail_if = [\"memory > 10% vs base\"]");
    std::fs::write(folder.path().join("server.py"), server(60)).unwrap();
    commit(folder.path(), "it holds more");
    let files = ["--junit", "j.xml", "--summary", "s.md", "--for", "5m"];
    let outcome = ci(folder.path(), &files);
    // A busy machine may make a side INVALID.
    in_time(outcome.code == Some(1), || outcome.to_string());
    outcome.says(&[
        "this checkout ",
        "A main (commit ",
        "B this checkout (commit ",
        "gate FAILED  fail if memory > 10% vs base",
    ]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("j.xml").contains("<failure"), "{}", read("j.xml"));
    let summary = read("s.md");
    let (unfolded, _) = summary.split_once("<details>").unwrap();
    assert!(unfolded.lines().filter(|line| !line.is_empty()).count() <= 12, "{unfolded}");
    assert!(
        unfolded.contains("**FAILED**") && unfolded.contains("| figure | before |"),
        "{unfolded}"
    );
    assert_eq!(git(folder.path(), &["worktree", "list"]).lines().count(), 1);
}

fn a_change_that_costs_nothing_passes() {
    let folder = repository("fail_if = [\"memory > 50% vs base\"]");
    std::fs::write(folder.path().join("README"), "words").unwrap();
    commit(folder.path(), "words");
    let outcome = ci(folder.path(), &["--false-alarms", "0.05", "--for", "5m"]);
    in_time(outcome.code == Some(0), || outcome.to_string());
    outcome.says(&["gate passed  fail if memory > 50% vs base"]);
}

/// So short a load does not show that the server is warm, so nothing is known of its CPU time, and
/// more starts do not help.
#[test]
fn what_stays_undecided_fails_only_where_the_file_says_so() {
    let folder = repository("");
    std::fs::write(folder.path().join("README"), "words").unwrap();
    let outcome = ci(folder.path(), &[]);
    assert!([Some(0), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&["with changed files", "gate UNDECIDED  fail if cpu > 2% vs base"]);
    let text = std::fs::read_to_string(folder.path().join("pippin.toml")).unwrap();
    std::fs::write(folder.path().join("pippin.toml"), format!("{text}undecided = \"fail\"\n"))
        .unwrap();
    let outcome = ci(folder.path(), &[]);
    assert!([Some(5), Some(3)].contains(&outcome.code), "{outcome}");
}

#[test]
fn what_cannot_be_compared_is_said_before_anything_is_measured() {
    let folder = repository("");
    git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "nothing"]);
    ci(folder.path(), &[]).exits(0).says(&["the checkout has the same files as main"]);
    let empty = tempfile::tempdir().unwrap();
    std::fs::write(empty.path().join("go.mod"), "module shop\n").unwrap();
    ci(empty.path(), &[]).exits(2).says(&[
        "no pippin.toml here; `pippin init` would write this one:",
        "go build",
        "[plan.ci]",
    ]);
    ci(folder.path(), &["--fail-if", "cpu > 2% vs nope"]).exits(2).says(&["write `vs base`"]);
    ci(folder.path(), &["--base", "nope"]).exits(2).says(&["git knows no revision `nope`"]);
}

/// The base's own file is wrong, and the checkout's is right.
#[test]
fn the_file_of_the_checkout_starts_the_base_where_that_is_asked_for() {
    let folder = repository("fail_if = [\"memory > 500% vs base\"]");
    let path = folder.path().join("pippin.toml");
    let right = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, right.replace("python3 server.py", "python3 gone.py")).unwrap();
    commit(folder.path(), "the server is gone");
    git(folder.path(), &["branch", "-f", "main"]);
    std::fs::write(&path, right).unwrap();
    ci(folder.path(), &[]).exits(4).says(&["own/shop@main", "no result"]);
    let outcome = ci(folder.path(), &["--base-file", "checkout"]);
    // A busy machine may make a side INVALID.
    assert!([Some(0), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&["B this checkout (commit ", "fail if memory > 500% vs base"]);
}

/// A server of the base that is not there, because git does not track it.
#[test]
fn a_base_that_cannot_start_ends_it_at_once() {
    let folder = repository("");
    std::fs::write(folder.path().join(".gitignore"), "made/\n").unwrap();
    std::fs::create_dir(folder.path().join("made")).unwrap();
    std::fs::write(folder.path().join("made/server.py"), server(1)).unwrap();
    let text = std::fs::read_to_string(folder.path().join("pippin.toml")).unwrap();
    let text = text.replace("python3 server.py", "python3 made/server.py");
    std::fs::write(folder.path().join("pippin.toml"), text).unwrap();
    commit(folder.path(), "made by hand");
    git(folder.path(), &["branch", "-f", "main"]);
    std::fs::write(folder.path().join(".gitignore"), "made/\nmore/\n").unwrap();
    let files = [folder.path().join("j.xml"), folder.path().join("s.md")];
    for file in &files {
        std::fs::write(file, "of an earlier run").unwrap();
    }
    ci(folder.path(), &["--junit", "j.xml", "--summary", "s.md"]).exits(4).says(&[
        "own/shop@main",
        "no result",
        "build = [\"npm ci\"]",
        "--base-file checkout",
    ]);
    assert!(files.iter().all(|file| !file.exists()));
}

#[test]
fn a_checkout_that_cannot_start_fails_each_gate_once() {
    let folder = repository("fail_if = [\"memory > 10% vs base\", \"cpu > 90% vs base\"]");
    std::fs::write(folder.path().join("server.py"), "raise SystemExit('boom')\n").unwrap();
    commit(folder.path(), "it is broken");
    let outcome = ci(folder.path(), &["--for", "5s"]);
    outcome.exits(1).says(&["gate FAILED", "not measured: no result: start: "]);
    let all = outcome.to_string();
    assert!(!all.contains("UNDECIDED") && all.matches("gate FAILED").count() == 2, "{all}");
}
