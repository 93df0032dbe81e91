//! Instructions per request, of servers whose work per request is known.
use super::support::pippin;
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::skipped::skip;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Turns of a loop for each request: the second has 1 % more than the first.
const TURNS: [u32; 3] = [20_000, 20_200, 40_000];

fn build(folder: &Path) {
    let source = folder.join("counted_loop.c");
    std::fs::write(&source, include_str!("instructions/counted_loop.c")).unwrap();
    let built = Command::new("cc")
        .args(["-O1", "-o"])
        .args([&folder.join("server"), &source])
        .status()
        .unwrap();
    assert!(built.success());
}

fn project(folder: &Path) {
    let targets = TURNS.map(|turns| {
        format!(
            "[target.of-{turns}]\ncommand = [\"./server\", \"{turns}\"]\nserves = [\"hello\"]\n"
        )
    });
    let plan = "[plan.counted]\nworkload = \"hello\"\ntargets = [\"of-20000\", \"of-20200\", \"of-40000\"]\nrepetitions = 1\ncpus = { share = true }\nconnections = 2\nduration = \"300ms\"\nwarm_up = \"none\"\n";
    std::fs::write(folder.join("pippin.toml"), targets.concat() + plan).unwrap();
}

/// A project with its servers built; `None` where nothing can be counted.
fn counted_project(test: &str) -> Option<TempDir> {
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|it| it.status.success()) {
        skip(test, "valgrind is not installed on this machine");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    project(folder.path());
    Some(folder)
}

/// No time is in it, so it holds on a busy machine too.
#[test]
fn a_hundredth_more_work_is_a_hundredth_more_instructions() {
    let Some(folder) = counted_project("instructions") else { return };
    let gate = "instructions < 150000";
    let outcome = pippin(folder.path(), &["run", "counted", "--instructions", "--require", gate]);
    outcome.says(&["Instructions per request: ", "gate FAILED  require instructions < 150000"]);
    let exported = pippin(folder.path(), &["export", "latest", "-f", "json"]);
    let view: Value = serde_json::from_str(&exported.stdout).unwrap();
    let of = |turns: u32| {
        let rows = view["rows"].as_array().unwrap();
        let name = format!("of-{turns}");
        let row = rows.iter().find(|row| row["target"].as_str().unwrap().ends_with(&name)).unwrap();
        row["instructions_per_request"].as_f64().unwrap()
    };
    let [first, second, third] = TURNS.map(of);
    // The compiler decides how many instructions a turn takes; it is a whole number.
    let of_a_turn = (third - first) / f64::from(TURNS[2] - TURNS[0]);
    assert!((of_a_turn - of_a_turn.round()).abs() < 0.01, "{of_a_turn} a turn");
    let more = of_a_turn * f64::from(TURNS[1] - TURNS[0]);
    assert!((second - first - more).abs() < 0.000_2 * first, "{first}, {second}, {third}");
}

/// A gate on them is enough to have them counted.
#[test]
fn a_gate_of_the_command_line_has_them_counted() {
    let Some(folder) = counted_project("instructions by a gate") else { return };
    let gate = ["run", "counted", "--targets", "own/of-20000", "--fail-if", "instructions > 1"];
    pippin(folder.path(), &gate).says(&["gate FAILED  fail if instructions > 1  12"]);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let urls = ["/", "/a"].map(|path| format!("http://{}{path}", server.address()));
    let outcome = pippin(folder.path(), &["compare", &urls[0], &urls[1], "--instructions"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    outcome.says(&["instructions are counted only of processes that Pippin starts itself"]);
}
