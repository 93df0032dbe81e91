//! Several agents as one generator: on this machine with `--agents N`, and on three hosts, with
//! faults of each kind.
use super::support::{
    Checkout, Hosts, Outcome, SITE, Started, alive_with, cheat, command, pippin, plan, start, until,
};
use pippin_model::trial::{ProofTime, TrialRecord};
use pippin_testing::Running;
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Account, Answer, Refusing, Script, spawn};
use serde_json::Value;
use std::time::Duration;

pippin_testing::patient_tests!(an_agent_at_its_ceiling_is_named);

/// A busy machine may make a load suspect or invalid. Its counts are right all the same.
const BELIEVED_OR_NOT: [i32; 2] = [0, 3];

fn steady() -> Running<Account> {
    spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(2)))).unwrap()
}

fn read(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"))
}

fn ids(json: &Value) -> Vec<&str> {
    json["caveats"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect()
}

/// The evidence of a caveat.
#[track_caller]
fn evidence<'a>(json: &'a Value, id: &str) -> &'a str {
    let caveats = json["caveats"].as_array().unwrap();
    let found = caveats.iter().find(|one| one["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {:?}", ids(json)))["evidence"].as_str().unwrap()
}

#[test]
fn three_agents_are_one_generator_and_leave_nothing() {
    let server = steady();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let words = [
        "load", &url, "--agents", "3", "-R", "300", "-c", "9", "-d", "2s", "--quiet", "--json", "-",
    ];
    let call = start(folder.path(), &words);
    let fleet = format!("pippin-fleet-{}-", call.id());
    let outcome = call.finish();
    assert!(outcome.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{outcome}");
    let json = read(&outcome);
    assert_eq!(json["requests"]["scheduled"], 600, "{json:#}");
    assert_eq!(json["connections"]["asked"], 9);
    let agents = json["agents"].as_array().unwrap();
    let scheduled: Vec<u64> =
        agents.iter().map(|one| one["figures"]["scheduled"].as_u64().unwrap()).collect();
    assert_eq!(scheduled, [200, 200, 200], "each has a third");
    assert!(agents.iter().all(|one| one["clock"]["error_ns"] == 0), "one machine has one clock");
    assert!(!ids(&json).contains(&"agent_missing"), "{json:#}");
    assert_eq!(json["response_time"]["count"], json["requests"]["completed"]);
    let seen = server.stop().unwrap().requests;
    let sent = json["requests"]["sent"].as_u64().unwrap();
    assert!(seen >= sent, "the server saw {seen} of {sent}");
    assert!(
        until(|| alive_with(&url).is_empty() && alive_with(&fleet).is_empty()),
        "{:?}",
        alive_with(&fleet)
    );
}

#[test]
fn a_killed_coordinator_takes_its_local_fleet_along() {
    let server = steady();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    // The load itself would end long after this test has given up.
    let words = ["load", &url, "--agents", "2", "-c", "4", "-d", "600s", "--warm-up", "none"];
    let call = start(folder.path(), &words);
    assert!(until(|| server.account().requests > 50), "{}", call.finish());
    call.signal(libc::SIGKILL);
    drop(call);
    assert!(until(|| {
        let before = server.account().requests;
        std::thread::sleep(Duration::from_millis(500));
        server.account().requests == before
    }));
}

/// Everything that a local fleet keeps lies in its folder, the token of its server too.
#[test]
fn what_a_killed_coordinator_left_is_removed_by_the_next_one() {
    let server = steady();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let place = folder.path().join("tmp");
    std::fs::create_dir(&place).unwrap();
    let left = || std::fs::read_dir(&place).unwrap().count();
    let load = |words: &[&str]| {
        let mut call = command(folder.path(), &[&["load", &url, "--agents", "2"], words].concat());
        call.env("TMPDIR", &place);
        call
    };
    let mut killed = load(&["-c", "4", "-d", "600s", "--warm-up", "none"]).spawn().unwrap();
    assert!(until(|| server.account().requests > 50));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(left(), 1);
    let output = load(&["-c", "4", "-n", "10", "--quiet"]).output().unwrap();
    assert!(output.status.code().is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{output:?}");
    assert_eq!(left(), 0);
}

/// All requests together are longer than nats-server takes by default, and than 8 MiB.
#[test]
fn a_local_fleet_takes_a_long_request_file() {
    let server = steady();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let body = "x".repeat(14_000);
    let lines: String =
        (0..1_000).map(|id| format!("{{\"path\":\"/{id}\",\"body\":\"{body}\"}}\n")).collect();
    std::fs::write(folder.path().join("long.jsonl"), lines).unwrap();
    let words = ["load", &url, "--agents", "2", "-n", "20", "-c", "2", "--requests", "long.jsonl"];
    let outcome = pippin(folder.path(), &[&words[..], &JSON].concat());
    assert!(outcome.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{outcome}");
    assert_eq!(read(&outcome)["requests"]["completed"], 20, "{outcome}");
}

#[test]
fn a_sweep_and_devices_are_dealt_out_too() {
    let server = steady();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let load = |words: &[&str]| {
        let all = [&["load", &url, "--agents", "2", "--quiet", "--json", "-"], words].concat();
        let outcome = pippin(folder.path(), &all);
        assert!(outcome.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{outcome}");
        read(&outcome)
    };
    let devices = load(&["--devices", "21", "--think", "50ms", "--ramp", "500ms,1s,500ms"]);
    assert_eq!(devices["connections"]["asked"], 21);
    let phases = devices["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 3, "{devices:#}");
    let sweep = load(&["--sweep", "2,4", "-d", "500ms", "--warm-up", "none"]);
    let asked: Vec<&Value> =
        sweep.as_array().unwrap().iter().map(|one| &one["connections"]["asked"]).collect();
    assert_eq!(asked, [2, 4]);
}

#[test]
fn a_plan_about_slices_is_refused_with_agents_and_taken_without() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let load = "kind = \"closed\"\nconnections = 2\nduration = \"1s\"\nwarm_up = \"200ms\"\n";
    for key in ["slice = \"200ms\"", "extra_time = \"0%\""] {
        let text = plan("hello", &["test/it"], load);
        checkout.write("plans/plan.toml", &format!("{key}\n{text}"));
        let name = key.split(' ').next().unwrap();
        checkout.pippin(&["run", "plan", "--agents", "2", "--install"]).is_a_user_error(&[
            &format!("plan plan: `{name}` has no effect with --agents"),
            &format!("take `{name}` out of the plan, or leave out --agents"),
        ]);
    }
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    checkout.left_nothing();
}

#[test]
fn slips_with_a_fleet_are_told() {
    let server = steady();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let load = |words: &[&str]| pippin(folder.path(), &[&["load", &url], words].concat());
    load(&["--nats", "nats://127.0.0.1:4222"]).is_a_user_error(&["add --agents N"]);
    load(&["--agents", "3", "-c", "2", "-n", "10"])
        .is_a_user_error(&["2 connections cannot be split among 3 agents"]);
    load(&["--agents", "2", "--nats", "nats://10.1.2.3:4222"])
        .is_a_user_error(&["must be reached over TLS: write tls://10.1.2.3:4222"]);
    load(&["--agents", "2", "--source-ips", "127.0.0.2"])
        .is_a_user_error(&["--source-ips", "pippin agent"]);
    load(&["--agents", "1", "--nats", "nats://ana:secret@127.0.0.1:1"])
        .is_a_user_error(&["leave user and password out of the URL", "PIPPIN_NATS_PASSWORD"]);
    load(&["--agents", "2", "--tags", "zone=eu:3"])
        .is_a_user_error(&["--tags asks for 3 agents, and --agents for 2"]);
    pippin(folder.path(), &["agent"]).is_a_user_error(&["--nats nats://127.0.0.1:4222"]);
    pippin(folder.path(), &["agent", "--nats", "nats://127.0.0.1:1", "--name", "a.b"])
        .is_a_user_error(&["--name `a.b`"]);
    let nobody = Refusing::new().unwrap();
    let nats = format!("nats://{}", nobody.address());
    // Nobody has to change what was asked for.
    let outcome = load(&["--agents", "1", "--nats", &nats]);
    outcome.exits(4).says(&[&format!("--nats {nats}")]);
    // nats-server is not on the path.
    let without = |words: &[&str]| {
        let all = [&["load", &url, "--agents", "2"], words].concat();
        let output = command(folder.path(), &all).env("PATH", "/nonexistent").output().unwrap();
        (String::from_utf8_lossy(&output.stderr).into_owned(), output)
    };
    // What no fleet could do is refused before one is started.
    for words in [&["-c", "1", "-n", "10"][..], &["--sweep", "1,4", "-d", "1s"]] {
        let (said, _) = without(words);
        assert!(said.contains("1 connection cannot be split among 2 agents"), "{said}");
        assert!(!said.contains("local-1"), "no agent was started: {said}");
    }
    let (said, output) = without(&["-n", "10"]);
    // It may be in a system folder.
    assert!(
        output.status.code() != Some(2) || said.contains("apt-get install nats-server"),
        "{said}"
    );
}

const JSON: [&str; 3] = ["--quiet", "--json", "-"];

/// An open loop of this many seconds.
fn open(seconds: &str) -> Vec<&str> {
    [&["-R", "200", "-c", "8", "-d", seconds, "--timeout", "2s"], &JSON[..]].concat()
}

#[test]
fn a_clock_that_is_off_and_one_that_drifts_are_told_and_change_nothing() {
    let Some(hosts) = Hosts::new("fleet: clocks") else { return };
    // 3 s ahead, and running 0.15 % too fast.
    let _a = hosts.agent("a", &[("PIPPIN_WRONG_CLOCK", "3000000000,0")]);
    let _b = hosts.agent("b", &[("PIPPIN_WRONG_CLOCK", "-7000000000,1500")]);
    let outcome = hosts.load(&open("8s")).finish();
    let json = read(&outcome);
    assert_eq!(json["requests"]["scheduled"], 1_600, "{outcome}");
    let agents = json["agents"].as_array().unwrap();
    let clock = |nth: usize, key: &str| agents[nth]["clock"][key].as_f64();
    assert!(
        (clock(0, "offset_ns").unwrap() - 3e9).abs() <= clock(0, "error_ns").unwrap() + 1e6,
        "{agents:#?}"
    );
    // The drift has been adding up since the agent's start.
    assert!((clock(1, "offset_ns").unwrap() + 7e9).abs() < 5e8, "{agents:#?}");
    let (drift, error) = (clock(1, "drift_ppm").unwrap(), clock(1, "drift_error_ppm").unwrap());
    assert!((drift - 1_500.0).abs() <= error + 50.0, "{drift} +-{error}");
    if drift - error > 500.0 {
        assert!(evidence(&json, "agent_clock").contains("b: its clock drifts by"), "{json:#}");
    }
    assert!(!ids(&json).contains(&"agent_missing"), "{json:#}");
    let late = agents[0]["late_ns"].as_f64().unwrap();
    assert!(late.abs() < 1e9, "the offset is taken out of the start: {late}");
}

#[test]
fn an_agent_killed_in_the_load_is_named() {
    let Some(hosts) = Hosts::new("fleet: a killed agent") else { return };
    let (_a, b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let call = under_way(&hosts, "60s");
    b.signal(libc::SIGKILL);
    let outcome = call.finish();
    outcome.exits(3);
    let json = read(&outcome);
    assert!(
        evidence(&json, "agent_missing").contains("1 of 2 agents: b: nothing was heard"),
        "{outcome}"
    );
    assert!(json["requests"]["completed"].as_u64().unwrap() > 0, "what was measured is kept");
}

/// The next trial takes the agent that was started again; the one before it stays.
#[test]
fn an_agent_that_is_started_again_takes_part_in_the_trial_that_is_made_again() {
    let Some(hosts) = Hosts::new("fleet: an agent started again") else { return };
    let (_a, b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let words = [&open("3s")[..], &["--repeat", "2"]].concat();
    let before = hosts.requests();
    let call = hosts.load(&words);
    assert!(until(|| hosts.requests() > before + 800), "the second trial is under way");
    b.signal(libc::SIGKILL);
    drop(b);
    let _b = hosts.agent("b", &[]);
    let outcome = call.finish();
    let json = read(&outcome);
    let trials = json.as_array().unwrap();
    assert_eq!(trials.len(), 2, "{outcome}");
    for trial in trials {
        assert_eq!(trial["requests"]["scheduled"], 600, "{outcome}");
        assert!(!ids(trial).contains(&"agent_missing"), "{outcome}");
    }
    assert!(evidence(&trials[1], "made_again").contains("agent b: "), "{outcome}");
}

/// The server holds an agent to its own name; what it refuses is told on both sides.
#[test]
fn an_agent_may_use_its_own_name_only_and_is_told() {
    let Some(hosts) = Hosts::new("fleet: rights") else { return };
    let words = ["agent", "--nats-file", "members/a.env", "--name", "b"];
    let pretends = hosts.start("a", &words, &[]);
    let outcome = hosts.load(&open("1s")).finish();
    outcome.exits(4).says(&["0 of 2 agents answered within 5 s"]);
    pretends.signal(libc::SIGTERM);
    pretends.finish().says(&["Permissions Violation", "pippin.order.b", "`pippin fleet init`"]);
}

/// What a request may hold as a secret is in no line of an agent, neither when it refuses nor when
/// it works and the answers are wrong.
#[test]
fn what_may_be_a_secret_is_in_no_line_of_an_agent() {
    const WORD: &str = "xyzzy1234";
    let Some(hosts) = Hosts::new("fleet: secrets at agents") else { return };
    let agents = [hosts.agent("a", &[]), hosts.agent("b", &[])];
    let (header, body) = (format!("Authorization: Bearer {WORD}"), format!("password={WORD}"));
    let asked = ["-H", &header, "--body", &body, "--expect-contains", WORD];
    let words = [&open("1s")[..], &asked].concat();
    hosts.load_at("10.77.2.1", &words).finish().keeps_quiet_about(&[WORD]);
    let outcome = hosts.load(&words).finish();
    assert_eq!(read(&outcome)["verdict"], "INVALID", "no answer has the word: {outcome}");
    outcome.keeps_quiet_about(&[WORD]);
    for agent in agents {
        agent.signal(libc::SIGTERM);
        agent.finish().exits(0).keeps_quiet_about(&[WORD]);
    }
}

#[test]
fn an_agent_that_its_operator_ends_is_named() {
    let Some(hosts) = Hosts::new("fleet: an agent that leaves") else { return };
    let (_a, b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let call = under_way(&hosts, "60s");
    b.signal(libc::SIGTERM);
    b.finish().exits(0);
    let outcome = call.finish();
    outcome.exits(3);
    assert!(evidence(&read(&outcome), "agent_missing").contains("b: its operator ended it"));
}

#[test]
fn a_host_cut_off_for_five_seconds_is_named_and_can_be_used_again() {
    let Some(hosts) = Hosts::new("fleet: a host that is cut off") else { return };
    let (_a, _b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let call = under_way(&hosts, "15s");
    hosts.set_link("b", false);
    std::thread::sleep(Duration::from_secs(5));
    hosts.set_link("b", true);
    // The load is made again, with it.
    let outcome = call.finish();
    let json = read(&outcome);
    assert!(evidence(&json, "made_again").contains("agent b: "), "{outcome}");
    assert!(!ids(&json).contains(&"agent_missing"), "{outcome}");
    let again = hosts.load(&open("1s")).finish();
    assert!(!ids(&read(&again)).contains(&"agent_missing"), "{again}");
}

#[test]
fn a_nats_server_that_comes_back_loses_nothing_and_one_that_does_not_ends_the_load() {
    let Some(mut hosts) = Hosts::new("fleet: a killed NATS server") else { return };
    let (_a, _b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let call = under_way(&hosts, "6s");
    hosts.kill_nats();
    std::thread::sleep(Duration::from_secs(1));
    hosts.start_nats();
    let outcome = call.finish();
    let json = read(&outcome);
    assert!(!ids(&json).contains(&"agent_missing"), "{outcome}");
    assert_eq!(json["requests"]["scheduled"], 1_200, "{outcome}");
    let call = under_way(&hosts, "60s");
    // After two more seconds the coordinator has heard of at least one.
    let before = hosts.requests();
    assert!(until(|| hosts.requests() > before + 400));
    hosts.kill_nats();
    assert!(until(|| is_still(&hosts)), "agents end their load too");
    // The first signal ends the wait for a server that may come back.
    call.signal(libc::SIGINT);
    let outcome = call.finish();
    // What had come until then is kept, and says what is missing.
    outcome.exits(130);
    let json = read(&outcome);
    let missing = evidence(&json, "agent_missing");
    assert!(missing.contains("2 of 2 agents: a: nothing was heard of it"), "{outcome}");
    assert!(missing.contains("no connection to the NATS server"), "{outcome}");
    assert!(json["requests"]["completed"].as_u64().unwrap() > 0, "{outcome}");
}

#[test]
fn agents_end_their_load_when_the_coordinator_is_killed_and_serve_the_next_one() {
    let Some(hosts) = Hosts::new("fleet: a killed coordinator") else { return };
    let (_a, _b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    // The load itself would end long after this test has given up.
    let call = under_way(&hosts, "600s");
    call.signal(libc::SIGKILL);
    drop(call);
    assert!(until(|| is_still(&hosts)), "no load goes on");
    let again = hosts.load(&open("1s")).finish();
    assert_eq!(read(&again)["requests"]["scheduled"], 200, "{again}");
}

/// Starts a load of this length and waits until more than 200 requests have come.
fn under_way(hosts: &Hosts, length: &str) -> Started {
    let before = hosts.requests();
    let call = hosts.load(&open(length));
    assert!(until(|| hosts.requests() > before + 200));
    call
}

/// Whether no request comes for half a second.
fn is_still(hosts: &Hosts) -> bool {
    let before = hosts.requests();
    std::thread::sleep(Duration::from_millis(500));
    hosts.requests() == before
}

#[test]
fn a_host_that_an_agents_operator_did_not_allow_is_not_loaded() {
    let Some(hosts) = Hosts::new("fleet: a host that is not allowed") else { return };
    let (_a, _b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let outcome = hosts.load_at("10.77.2.1", &open("1s")).finish();
    outcome.is_a_user_error(&[
        "agent a: its operator has not allowed 10.77.2.1; start it with --allow-host 10.77.2.1",
    ]);
    assert_eq!(hosts.requests(), 0);
}

#[test]
fn an_agent_killed_while_it_reports_is_named() {
    let Some(mut hosts) = Hosts::new("fleet: an agent killed while it reports") else { return };
    let (_a, b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let call = under_way(&hosts, "2s");
    // Without NATS, both load until the end and then hold their results.
    hosts.kill_nats();
    assert!(until(|| is_still(&hosts)));
    b.signal(libc::SIGKILL);
    hosts.start_nats();
    let outcome = call.finish();
    outcome.exits(3);
    let json = read(&outcome);
    assert!(
        evidence(&json, "agent_missing").contains("1 of 2 agents: b: nothing was heard"),
        "{outcome}"
    );
    assert_eq!(json["requests"]["scheduled"], 200, "a's half is kept: {outcome}");
}

/// The only trial of a run of this server with two agents, and the outcome of the program.
fn run_with_agents(mode: &str, workload: &str) -> (TrialRecord, Outcome) {
    let checkout = Checkout::with_cheat(mode, &[workload]);
    let load = "kind = \"closed\"\nconnections = 16\nduration = \"2s\"\nwarm_up = \"none\"\n";
    checkout.write("plans/plan.toml", &plan(workload, &["test/it"], load));
    let outcome = checkout.pippin(&["run", "plan", "--agents", "2", "--install"]);
    let mut run = checkout.store().load("latest").unwrap();
    assert_eq!(run.trials.len(), 1, "{outcome}");
    checkout.left_nothing();
    (run.trials.remove(0), outcome)
}

#[test]
fn agents_judge_pages_and_numbers_under_load() {
    for (workload, proof) in [("page", "text"), ("proxy", "numbers")] {
        let (trial, outcome) = run_with_agents("right", workload);
        assert_eq!(trial.failure, None, "{outcome}");
        let during = trial.proofs.iter().filter(|proof| proof.when == ProofTime::During);
        let during: Vec<&str> = during.map(|proof| proof.proof.as_str()).collect();
        assert!(during.contains(&proof), "{during:?}");
        let load = trial.load.as_ref().unwrap();
        assert_eq!(load.measured.errors_total(), 0, "{outcome}");
        assert_eq!(trial.agents.len(), 2);
        if workload == "proxy" {
            let numbers = trial.services["upstream_numbers"] as u64;
            assert!(numbers > 0 && numbers <= load.measured.requests.good, "{numbers}");
        }
    }
}

#[test]
fn agents_find_what_is_wrong_under_load_only() {
    for (mode, workload, said) in [
        ("page-wrong-under-load", "page", "proof text under the load:"),
        ("upstream-shared-under-load", "proxy", "the upstream was not called for each request"),
    ] {
        let (trial, outcome) = run_with_agents(mode, workload);
        assert!(trial.failure.is_some(), "{mode}: {:#?}, {outcome}", trial.proofs);
        outcome.exits(3).says(&[said]);
    }
}

#[test]
fn a_table_that_changes_under_load_is_refused_with_agents() {
    let checkout = Checkout::with_cheat("right", &["users"]);
    checkout.add_plan("plan", "users", &["test/it"]);
    checkout.pippin(&["run", "plan", "--agents", "2"]).is_a_user_error(&[
        "what the workload `users` asks for changes while it is loaded",
        "run it without --agents",
    ]);
}

fn an_agent_at_its_ceiling_is_named() {
    let server = steady();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let store = folder.path().join("calibrated.db");
    let calibration = pippin_model::example::run::calibration(160.0);
    let calibration = pippin_model::run::Calibration { io: "epoll".into(), ..calibration };
    pippin_store::Store::open(&store).unwrap().keep_calibration(&calibration).unwrap();
    let load = |rate| {
        let shape = ["--io", "epoll", "--threads", "1", "-c", "6", "-d", "2s", "-R", rate];
        let store = store.to_str().unwrap();
        let words = ["--store", store, "load", &url, "--agents", "2", "--no-store"];
        read(&pippin(folder.path(), &[&words[..], &shape, &JSON].concat()))
    };
    let json = load("300");
    let doubt = evidence(&json, "agent_doubt");
    assert!(doubt.contains("local-1: ") && doubt.contains("local-2: "), "{doubt}");
    // Each sends half, and each is calibrated to 160. An agent that stood still sends less.
    in_time(doubt.matches("near ceiling: ").count() == 2, || doubt.into());
    let caveats = json["caveats"].as_array().unwrap();
    let doubt = caveats.iter().find(|one| one["id"] == "agent_doubt").unwrap();
    assert_eq!(doubt["severity"], "invalid", "{json:#}");
    let json = load("200");
    let doubts = json["agents"].as_array().unwrap().iter().map(|one| one["caveats"].to_string());
    assert!(doubts.into_iter().all(|doubts| !doubts.contains("near_ceiling")), "{json:#}");
}

#[test]
fn a_network_that_delays_and_loses_packets_changes_no_count() {
    const TEST: &str = "fleet: 50 ms and 1 % loss";
    let Some(hosts) = Hosts::new(TEST) else { return };
    if !hosts.disturb(TEST, "b") {
        return;
    }
    let (_a, _b) = (hosts.agent("a", &[]), hosts.agent("b", &[]));
    let outcome = hosts.load(&open("4s")).finish();
    let json = read(&outcome);
    assert!(!ids(&json).contains(&"agent_missing"), "{outcome}");
    assert_eq!(json["requests"]["scheduled"], 800, "{outcome}");
    let error_ns = json["agents"][1]["clock"]["error_ns"].as_i64().unwrap();
    assert!(error_ns > 20_000_000, "the error is half of the round trip: {error_ns}");
}

/// A project whose target waits 5 ms, with a plan of this many seconds.
fn project(hosts: &Hosts, seconds: &str) {
    let marker = hosts.folder().file_name().unwrap().to_string_lossy().into_owned();
    let text = format!(
        "[target.shop]\ncommand = [\"{}\", \"slow:5\", \"{marker}\"]\nserves = [\"hello\"]\n[plan.ci]\nworkload = \"hello\"\ntargets = [\"shop\"]\nrepetitions = 2\nprofile = {{ kind = \"closed\", connections = 4, duration = \"{seconds}\", warm_up = \"none\" }}\ncpus = {{ share = true }}\n",
        cheat().display()
    );
    std::fs::write(hosts.folder().join("pippin.toml"), text).unwrap();
}

fn last_run(hosts: &Hosts) -> pippin_model::run::RunRecord {
    let store = pippin_store::Store::open(&hosts.folder().join(".pippin/pippin.db")).unwrap();
    let run = store.list().unwrap().into_iter().next().unwrap();
    store.load(&run.id).unwrap()
}

#[test]
fn a_probe_makes_the_run_beside_its_target_for_a_coordinator_elsewhere() {
    let Some(hosts) = Hosts::new("fleet: a probe") else { return };
    project(&hosts, "1s");
    let (_a, probe) = (hosts.agent_for(SITE, "a", &[]), hosts.probe());
    let outcome = hosts.run_at_site("ci", &[]).finish();
    assert!(outcome.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{outcome}");
    outcome.says(&["own/shop", "network"]);
    let record = last_run(&hosts);
    assert_eq!((record.header.probe.as_deref(), record.trials.len()), (Some("site"), 2));
    for trial in &record.trials {
        assert_eq!(trial.failure, None, "{outcome}");
        assert!(!trial.proofs.is_empty() && trial.proofs.iter().all(|one| one.failure.is_none()));
        let load = trial.load_spec.as_ref().unwrap();
        assert_eq!(load.addresses[0].ip().to_string(), SITE);
        let agent = &trial.agents[0];
        assert_eq!((agent.name.as_str(), trial.agents.len()), ("a", 1));
        assert!(agent.figures.as_ref().unwrap().network_ns.is_some(), "{agent:?}");
        let usage = trial.usage.as_ref().unwrap();
        let target = &usage.roles[&pippin_model::host::usage::Role::Target];
        assert!(target.cpu_ns.is_some_and(|cpu| cpu > 0), "{usage:?}");
        assert!(!usage.roles.contains_key(&pippin_model::host::usage::Role::Generator));
    }
    // Something impossible is refused on the machine where it is asked for.
    let refused = hosts.run_at_site("ci", &["--install", "--yes"]).finish();
    refused.is_a_user_error(&["--install", "pippin agent --probe --install"]);
    let users = hosts.run_at_site("users", &["--quick"]).finish();
    users.is_a_user_error(&["probe site: plan users", "run it without --agents"]);
    probe.signal(libc::SIGTERM);
    probe.finish().exits(0);
}

#[test]
fn a_killed_probe_is_named_and_a_killed_coordinator_ends_the_run() {
    let Some(hosts) = Hosts::new("fleet: a killed probe") else { return };
    project(&hosts, "60s");
    let marker = hosts.folder().file_name().unwrap().to_string_lossy().into_owned();
    let targets = || {
        let all = alive_with(&marker);
        all.into_iter().filter(|line| line.contains("slow:5")).count()
    };
    let (_a, probe) = (hosts.agent_for(SITE, "a", &[]), hosts.probe());
    let call = hosts.run_at_site("ci", &[]);
    assert!(until(|| targets() > 0));
    call.signal(libc::SIGKILL);
    drop(call);
    assert!(until(|| targets() == 0), "the probe goes on without its coordinator");
    let call = hosts.run_at_site("ci", &[]);
    assert!(until(|| targets() > 0));
    probe.signal(libc::SIGKILL);
    let outcome = call.finish();
    outcome.exits(4).says(&["probe site: nothing was heard of it for"]);
    assert!(until(|| targets() == 0), "the target outlives its probe");
    hosts
        .run_at_site("ci", &["--agents-within", "2s"])
        .finish()
        .exits(4)
        .says(&["probe site: it did not answer within 2 s"]);
}
