//! Instructions per request, of servers whose work per request is known.
use super::support::{Outcome, Started, command, commit, git, pippin, without_job};
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::skipped::skip;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
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

fn is_installed(test: &str) -> bool {
    let works = Command::new("valgrind").arg("--version").output();
    let works = works.is_ok_and(|output| output.status.success());
    if !works {
        skip(test, "valgrind is not installed on this machine");
    }
    works
}

/// A project with its servers built; `None` where nothing can be counted.
fn counted_project(test: &str) -> Option<TempDir> {
    if !is_installed(test) {
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

/// The name of a revision of [`revisions`], and its turns of the loop for each request.
const REVISIONS: [(&str, u32); 3] = [("first", 20_000), ("words", 20_000), ("more", 20_200)];

/// A repository whose server is built by its project file. Its second commit changes a text only, and its
/// third has 1 % more work. HEAD is the last.
fn revisions() -> TempDir {
    let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
    let here = folder.path();
    let write = |name: &str, text: &str| std::fs::write(here.join(name), text).unwrap();
    write("counted_loop.c", include_str!("instructions/counted_loop.c"));
    write(".gitignore", "server\n");
    write(
        "pippin.toml",
        "[target.shop]\nbuild = [[\"cc\", \"-O1\", \"-o\", \"server\", \"counted_loop.c\"]]\n\
         command = [\"sh\", \"-c\", \"exec ./server $(cat turns)\"]\n\
         [workload.home]\nrequest = { path = \"/\" }\nanswer = { status = 200 }\n\
         [plan.ci]\nworkload = \"home\"\ntargets = [\"shop\"]\nrepetitions = 5\n\
         cpus = { share = true }\nconnections = 2\nduration = \"300ms\"\nwarm_up = \"none\"\n\
         fail_if = [\"instructions > 0.5% vs base\"]\n",
    );
    git(here, &["init", "-q", "-b", "main"]);
    for (name, turns) in REVISIONS {
        write("turns", &turns.to_string());
        write("README", name);
        commit(here, name);
        git(here, &["tag", name]);
    }
    folder
}

/// What is known of two revisions, one of which has a hundredth more work. An INVALID side (exit code 3)
/// is the machine's doing: this load is too short for more than its answers.
fn says(outcome: &Outcome, standing: &str) {
    let decided = format!("gate {standing}  fail if instructions > 0.5%");
    outcome.says(&[&decided]);
    let code = if standing == "FAILED" { 1 } else { 0 };
    assert!([Some(code), Some(3)].contains(&outcome.code), "{outcome}");
}

#[test]
fn a_revision_with_a_hundredth_more_work_is_told_and_one_with_as_much_is_not() {
    if !is_installed("instructions of revisions") {
        return;
    }
    let folder = revisions();
    let gate = ["--repeat", "5", "--fail-if", "instructions > 0.5%"];
    let compare =
        |a: &str, b: &str| pippin(folder.path(), &[&["compare", a, b][..], &gate].concat());
    let more = compare("words", "more");
    says(&more, "FAILED");
    more.says(&["more takes 1.0 % (1.0 to 1.0) more instructions per request than words"]);
    let same = compare("first", "words");
    says(&same, "passed");
    same.keeps_quiet_about(&["more instructions per request", "less instructions per request"]);
}

#[test]
fn a_checkout_with_a_hundredth_more_work_fails_its_gate_on_instructions() {
    if !is_installed("instructions in ci") {
        return;
    }
    let folder = revisions();
    let mut ci = command(folder.path(), &["ci", "--base", "words"]);
    without_job(&mut ci);
    let outcome = Started::spawn(&mut ci).finish();
    says(&outcome, "FAILED");
    outcome.says(&["takes 1.0 % (1.0 to 1.0) more instructions per request than words"]);
}

/// A folder of programs, with a `perf` of this script and without callgrind.
fn tools(perf: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["sh", "sleep", "wc"] {
        std::os::unix::fs::symlink(format!("/bin/{name}"), folder.path().join(name)).unwrap();
    }
    let script = folder.path().join("perf");
    std::fs::write(&script, perf).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A processor that takes 7,000 instructions for each request in the server's tally, and a million
/// beside them.
const PROCESSOR: &str = r#"#!/bin/sh
said() { echo "$1,,instructions:u,5000,100.00,,"; }
at() { wc -c <tally; }
case " $* " in *" -p "*) ;; *) said 1000 >&2; exit ;; esac
while [ "$1" != -o ]; do shift; done
begin=$(at)
trap 'said $((7000 * ($(at) - begin) + 1000000)) >"$2"; exit' INT
while :; do sleep 0.05; done
"#;

#[test]
fn without_callgrind_the_counter_of_the_processor_counts() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    project(folder.path());
    let file = folder.path().join("pippin.toml");
    let project = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, project.replace("\"20000\"]", "\"20000\", \"tally\"]")).unwrap();
    let run = |perf: &str| {
        let tools = tools(perf);
        let words = ["run", "counted", "--targets", "own/of-20000", "--instructions"];
        let mut run = command(folder.path(), &words);
        Started::spawn(run.env("PATH", tools.path())).finish()
    };
    run(PROCESSOR).says(&["Instructions per request: 7,000."]);
    let none = run("#!/bin/sh\necho '<not supported>,,instructions:u,0,100.00,,' >&2\n");
    assert_eq!(none.code, Some(2), "{none}");
    none.says(&["install valgrind", "this processor shows no instructions:u"]);
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
