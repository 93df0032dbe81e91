//! Outside of a checkout: the catalog inside the binary, the user's own files, which come first,
//! and where runs are kept.
use super::support::{Checkout, Outcome, Started, command};
use std::path::Path;
use tempfile::TempDir;

/// Runs the program in a folder outside of any checkout. Its cache and its state are beside the
/// user's files.
fn anywhere(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let mut command = command(folder, arguments);
    command
        .env_remove("PIPPIN_HOME")
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .envs(variables.iter().copied());
    Started::spawn(&mut command).finish()
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap()
}

#[test]
fn plans_and_targets_are_there_without_a_checkout() {
    let folder = folder();
    let plans = anywhere(folder.path(), &["plans"], &[]);
    plans
        .exits(0)
        .says(&["hello                 Hello World", "workload hello, 10 targets: closed loop"]);
    let json = anywhere(folder.path(), &["plans", "--json"], &[]);
    let rows: serde_json::Value = serde_json::from_str(&json.exits(0).stdout).unwrap();
    assert!(rows.as_array().unwrap().iter().any(|row| row["plan"] == "page-sweep"), "{rows}");
    let leaderboard = rows.as_array().unwrap().iter().find(|row| row["plan"] == "leaderboard-page");
    let targets: Vec<&str> = leaderboard.unwrap()["targets"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|target| target.as_str())
        .collect();
    assert!(targets.contains(&"go/net-http"), "{targets:?}");
    // nginx serves no page, and variants are left out.
    assert!(!targets.iter().any(|id| id.contains(':') || *id == "c/nginx"), "{targets:?}");
    anywhere(folder.path(), &["targets", "list"], &[])
        .exits(0)
        .says(&["go/net-http ", "javascript/express:cluster", "micro framework"])
        .says(&["httprouter 1.3.0 is more than a year old (released on 2019-09-29)"]);
    let catalogs = folder.path().join("cache/pippin/catalog");
    assert_eq!(std::fs::read_dir(catalogs).unwrap().count(), 1);
    let doctor = anywhere(folder.path(), &["doctor", "hello", "--quick"], &[]);
    assert!([Some(0), Some(1)].contains(&doctor.code), "{doctor}");
    doctor.says(&["tools: plan hello"]);
}

#[test]
fn a_slip_names_the_nearest_of_what_ships() {
    let folder = folder();
    anywhere(folder.path(), &["run", "helo"], &[])
        .is_a_user_error(&["there is no plan `helo`; did you mean `hello`?"]);
    anywhere(folder.path(), &["run", "hello", "--targets", "go/nethttp"], &[])
        .is_a_user_error(&["there is no target `go/nethttp`; did you mean `go/net-http`?"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_named_with_the_fix() {
    let folder = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let outcome =
        anywhere(folder.path(), &["plans"], &[("XDG_CACHE_HOME", &file.display().to_string())]);
    outcome.exits(4).says(&["unpack the shipped catalog into", "XDG_CACHE_HOME names another"]);
}

/// The user's own target and plan beside a shipped workload.
#[test]
fn own_files_come_first_and_runs_are_kept_with_the_users_states() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("hello", "hello", &["test/it"]);
    std::fs::remove_dir_all(checkout.path().join("workloads")).unwrap();
    let outcome = anywhere(checkout.path(), &["run", "hello", "--install"], &[]);
    outcome.says(&["A test", "test/it", "/state/pippin/runs/hello-"]);
    assert!(checkout.path().join("state/pippin/pippin.db").is_file());
    assert!(!checkout.path().join("runs").exists() && !checkout.path().join(".pippin").exists());
    anywhere(checkout.path(), &["history"], &[]).exits(0).says(&["-hello", "A test"]);
    checkout.left_nothing();
}

/// The completions of bash at the end of this line.
fn completed(folder: &Path, words: &[&str]) -> String {
    let index = (words.len() - 1).to_string();
    let variables =
        [("COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", index.as_str()), ("_CLAP_IFS", "\n")];
    anywhere(folder, &[&["--"], words].concat(), &variables).exits(0).stdout.clone()
}

#[test]
fn completions_know_plans_targets_runs_and_charts() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("mine", "hello", &["test/it"]);
    std::fs::remove_dir_all(checkout.path().join("workloads")).unwrap();
    let here = checkout.path();
    assert!(!completed(here, &["pippin", "report", ""]).contains("latest"), "no run yet");
    anywhere(here, &["run", "mine", "--install"], &[]).says(&["test/it"]);
    assert_eq!(completed(here, &["pippin", "run", "mi"]).trim(), "mine");
    assert!(completed(here, &["pippin", "run", "he"]).contains("hello"));
    assert_eq!(completed(here, &["pippin", "targets", "check", "test/"]).trim(), "test/it");
    let list = completed(here, &["pippin", "run", "hello", "--targets", "test/it,go/net"]);
    let variants =
        ["", ":h2", ":h2c", ":h3", ":https"].map(|name| format!("test/it,go/net-http{name}"));
    assert_eq!(list.lines().collect::<Vec<_>>(), variants);
    assert!(completed(here, &["pippin", "report", ""]).contains("-mine"));
    let charts = completed(here, &["pippin", "export", "-f", "svg", "--chart", ""]);
    assert!(charts.contains("throughput"), "{charts}");
}
