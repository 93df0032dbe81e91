//! Rates that change, loads that end early, and figures of each second.
use super::support::{Outcome, pippin};
use pippin_testing::Running;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use serde_json::Value;
use std::path::Path;

fn answering(answer: fn() -> Answer) -> Running<Account> {
    spawn(Script::each(move |_, _| answer())).unwrap()
}

fn load(folder: &Path, server: &Running<Account>, arguments: &[&str]) -> Outcome {
    let url = format!("http://{}/", server.address());
    pippin(folder, &[&["load", url.as_str(), "--no-store", "-q"], arguments].concat())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// 0 to 400/s within a second is 200 requests; a jump to 100/s for one second is 100.
#[test]
fn a_rate_climbs_and_jumps_as_its_stages_say_and_each_second_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::ok(b"hello"));
    let stages =
        ["--stages", "1s:400,0s:100,1s:100", "--json", "result.json", "--timeseries", "s.jsonl"];
    let outcome = load(folder.path(), &server, &stages);
    outcome.says(&[" requests/s, response time p50 "]);
    let text = std::fs::read_to_string(folder.path().join("result.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["requests"]["scheduled"], 300, "{result}");
    assert_eq!(result["duration_ns"], 2_000_000_000_u64);
    assert_eq!(result["warm_up"]["duration_ns"], 0);
    let seconds = lines(&folder.path().join("s.jsonl"));
    let offered: Vec<f64> =
        seconds.iter().map(|second| second["offered_per_s"].as_f64().unwrap().round()).collect();
    assert_eq!(offered, [200.0, 100.0]);
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/timeseries.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for second in &seconds {
        let errors: Vec<String> =
            validator.iter_errors(second).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{second}");
    }
    let mut strange = seconds[0].clone();
    strange["surprise"] = 1.into();
    assert!(!validator.is_valid(&strange), "the schema knows every key");
    assert_eq!(seconds[0]["target"], format!("http://{}/", server.address()));
}

#[test]
fn stages_of_a_fleet_are_the_same_stages() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::ok(b"hello"));
    let arguments = ["--stages", "1s:300,0s:50,1s:50", "--agents", "2", "--json", "result.json"];
    let outcome = load(folder.path(), &server, &arguments);
    if outcome.has("nats-server") && outcome.code == Some(2) {
        panic!("the fleet's tests need nats-server: {outcome}");
    }
    let text = std::fs::read_to_string(folder.path().join("result.json"))
        .unwrap_or_else(|error| panic!("{error}: {outcome}"));
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["requests"]["scheduled"], 200, "{result}");
}

#[test]
fn what_stages_decide_is_refused_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::ok(b"hello"));
    for other in [
        &["-R", "5"][..],
        &["-d", "5s"],
        &["-n", "5"],
        &["--ramp", "5s"],
        &["--warm-up", "1s"],
        &["--think", "1s"],
        &["--pipeline", "2"],
        &["--objective", "p99<1s"],
        &["--sweep", "1..4"],
        &["--devices", "4", "--ramp", "1s,1s,1s"],
    ] {
        let outcome = load(folder.path(), &server, &[&["--stages", "1s:5"], other].concat());
        outcome.is_a_user_error(&["cannot be used with"]);
    }
    load(folder.path(), &server, &["--stages", "1s"])
        .is_a_user_error(&["`1s` is not a stage; write stages like 30s:1000"]);
    load(folder.path(), &server, &["--fail-fast", "--repeat", "2"])
        .is_a_user_error(&["cannot be used with"]);
    load(folder.path(), &server, &["--timeseries", "-"])
        .is_a_user_error(&["--timeseries: standard output has the result"]);
    load(folder.path(), &server, &["--timeseries", "none/s.jsonl"])
        .is_a_user_error(&["--timeseries: there is no folder none"]);
    assert_eq!(server.stop().unwrap().requests, 0, "nothing was sent");
}

/// 4 users come within a second, stay for a second and go within a second. Each keeps one connection.
#[test]
fn users_come_and_go_and_each_stage_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::ok(b"hello").delay(std::time::Duration::from_millis(20)));
    let stages = ["--stages", "users:4@1s,4@1s,0@1s", "--json", "result.json"];
    let url = format!("http://{}/", server.address());
    let outcome = pippin(folder.path(), &[&["load", &url, "--no-store"], &stages[..]].concat());
    outcome.says(&["closed loop, up to 4 users", "by stage", "0 to 4 users", "4 to 0 users"]);
    outcome.keeps_quiet_about(&["connections_missing", "littles_law", "no_steady_state"]);
    let text = std::fs::read_to_string(folder.path().join("result.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["duration_ns"], 3_000_000_000_u64);
    assert_eq!(result["connections"]["asked"], 4);
    assert_eq!(result["connections"]["opened"], 4, "{}", result["connections"]);
    assert_eq!(result["requests"]["failed"], 0);
    assert!(server.stop().unwrap().requests >= 4);
}

#[test]
fn users_of_a_fleet_are_the_same_users() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::ok(b"hello"));
    let stages = ["--stages", "users:5@1s,5@1s", "--agents", "2", "--json", "result.json"];
    let outcome = load(folder.path(), &server, &[&stages[..], &["--think", "100ms"]].concat());
    let text = std::fs::read_to_string(folder.path().join("result.json"))
        .unwrap_or_else(|error| panic!("{error}: {outcome}"));
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["connections"]["asked"], 5, "{result}");
    assert_eq!(result["connections"]["opened"], 5, "{}", result["connections"]);
}

#[test]
fn what_has_no_effect_on_users_that_come_and_go_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::ok(b"hello"));
    for (other, says) in [
        (&["-c", "5"][..], "the stages say how many users there are"),
        (&["--poisson"], "users wait for their answers"),
        (&["--jitter"], "users wait for their answers"),
        (&["-d", "5s"], "cannot be used with"),
        (&["-n", "5"], "cannot be used with"),
        (&["-R", "5"], "cannot be used with"),
        (&["--warm-up", "1s"], "cannot be used with"),
        (&["--pipeline", "2"], "cannot be used with"),
        (&["--objective", "p99<1s"], "cannot be used with"),
        (&["--sweep", "1..4"], "cannot be used with"),
        (&["--h2c", "--streams", "2"], "each user has a connection of its own"),
        (&["--agents", "9"], "5 connections cannot be split among 9 agents"),
    ] {
        let stages = ["--stages", "users:5@1s"];
        load(folder.path(), &server, &[&stages[..], other].concat()).is_a_user_error(&[says]);
    }
    load(folder.path(), &server, &["--stages", "users:5"])
        .is_a_user_error(&["`5` is not a stage; write stages like users:10@30s"]);
    assert_eq!(server.stop().unwrap().requests, 0, "nothing was sent");
}

/// A load of one minute. It must end when the sixth error is reported, which is in the second after
/// it.
#[test]
fn a_load_ends_as_soon_as_its_gate_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::new(503, b"busy"));
    let minute = ["-R", "50", "-d", "60s", "--fail-fast", "--json", "result.json"];
    let outcome =
        load(folder.path(), &server, &[&minute[..], &["--fail-if", "errors > 5"]].concat());
    outcome.exits(1).says(&[
        "gate FAILED  fail if errors > 5",
        "--fail-fast ended this load: fail if errors > 5: ",
        " errors already",
    ]);
    let text = std::fs::read_to_string(folder.path().join("result.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["interrupted"], true);
    assert!(result["duration_ns"].as_u64().unwrap() < 55_000_000_000, "{}", result["duration_ns"]);
    // Without a gate, three seconds of errors end the load.
    load(folder.path(), &server, &minute)
        .exits(1)
        .says(&["3 seconds in a row had more errors than right answers"]);
}

#[test]
fn a_load_whose_gates_hold_goes_on_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = answering(|| Answer::ok(b"hello"));
    let arguments = ["-R", "50", "-d", "2s", "--fail-fast", "--fail-if", "errors > 5"];
    let outcome = load(folder.path(), &server, &arguments);
    outcome.keeps_quiet_about(&["--fail-fast ended"]);
    match outcome.code {
        Some(0) => drop(outcome.says(&["gate passed"])),
        // On a busy machine the result is INVALID, on which no gate can rest.
        _ => drop(outcome.exits(3).says(&["gate UNDECIDED", " is INVALID"])),
    }
}

#[test]
#[cfg(not(feature = "otlp"))]
fn a_pippin_without_opentelemetry_says_how_to_build_it_in() {
    let (folder, server) = (tempfile::tempdir().unwrap(), answering(|| Answer::ok(b"hello")));
    load(folder.path(), &server, &["--otlp", "http://localhost:4318"])
        .is_a_user_error(&["--otlp: this Pippin was built without it", "--features otlp"]);
}
