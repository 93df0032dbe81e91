//! Ctrl-C, SIGTERM and kill -9 in the middle of a run.
use super::support::{Checkout, plan, until};
use pippin_model::run::{RunHeader, RunState};
use pippin_testing::scripted::{Answer, Script, spawn};
use std::process::Command;

const LONG: &str = "kind = \"closed\"\nconnections = 2\nduration = \"60s\"\nwarm_up = \"none\"\n";

/// A run whose first targets end quickly, because they exit at start. The last one takes a minute.
fn with_a_long_last_trial(workload: &str, mode: &str) -> Checkout {
    let checkout = Checkout::with_cheat(mode, &[workload]);
    checkout.add_cheat("quick", "exits", &[workload]);
    checkout.write("plans/long.toml", &plan(workload, &["test/quick", "test/it"], LONG));
    checkout
}

/// Waits until one trial is in the store and the long one is being measured.
fn wait_for_the_middle(checkout: &Checkout, mode: &str) {
    let stored = || {
        checkout.store_path().is_file()
            && checkout.store().list().is_ok_and(|runs| runs.iter().any(|run| run.trials == 1))
    };
    assert!(until(stored), "no trial was stored");
    checkout.wait_for_process(mode);
    // A few proofs come between the start of the process and the load.
    std::thread::sleep(std::time::Duration::from_millis(600));
}

/// Seeds for which the target that exits comes first.
fn seeds_of_quick_first() -> &'static str {
    "3"
}

/// A named pipe waits for its reader, and the first signal ends that.
#[test]
fn a_pipe_gets_the_result_when_it_is_read_and_one_signal_ends_the_wait() {
    let server = spawn(Script::always(Answer::ok(b"ok"))).unwrap();
    let checkout = Checkout::new();
    let pipe = checkout.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let url = format!("http://{}/", server.address());
    let load = || checkout.start(&["load", &url, "-n", "20", "-c", "1", "--json", "pipe"]);
    let waits = load();
    let ended = |count: usize| {
        let newest = || checkout.store().load("latest").unwrap();
        until(|| {
            checkout.store_path().is_file()
                && checkout.store().list().is_ok_and(|runs| runs.len() == count)
                && newest().ended_unix_ns.is_some()
        })
    };
    assert!(ended(1), "the load did not end");
    waits.signal(libc::SIGTERM);
    waits.finish().exits(4).says(&["write pipe: nobody reads this pipe"]);
    let reads = load();
    assert!(ended(2), "the load did not end");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&pipe).unwrap()).unwrap();
    assert_eq!(json["requests"]["completed"], 20);
    reads.finish();
}

#[test]
fn ctrl_c_keeps_finished_trials_and_marks_the_run() {
    let checkout = with_a_long_last_trial("hello", "right");
    let run =
        checkout.start(&["run", "long", "--install", "--yes", "--seed", seeds_of_quick_first()]);
    wait_for_the_middle(&checkout, "right");
    run.press_ctrl_c();
    let outcome = run.finish();
    outcome
        .exits(130)
        .says(&["Interrupted: only finished results are shown", "test/it: not measured"]);
    checkout.left_nothing();
    let record = checkout.store().load("latest").unwrap();
    assert_eq!(record.state, RunState::Interrupted);
    assert!(record.ended_unix_ns.is_some());
    assert_eq!(
        record.trials.iter().map(|trial| trial.spec.target.name.as_str()).collect::<Vec<_>>(),
        ["quick"]
    );
    checkout.pippin(&["history"]).exits(0).says(&["interrupted", "A test"]);
    checkout.pippin(&["report"]).exits(0).says(&["Interrupted", "test/quick"]);
    let (name, store) = (&record.header.id, checkout.store());
    store.begin(&RunHeader { id: "again".into(), ..record.header.clone() }).unwrap();
    store.add_trial("again", 0, &record.trials[0]).unwrap();
    store.end("again", RunState::Interrupted, record.header.started_unix_ns + 1).unwrap();
    checkout.pippin(&["compare", name, "again", "--force"]).exits(0).says(&[
        &format!("A (run {name}) was interrupted: it has no result"),
        "B (run again) was interrupted: it has no result",
    ]);
}

#[test]
fn sigterm_does_the_same() {
    let checkout = with_a_long_last_trial("hello", "right");
    let run =
        checkout.start(&["run", "long", "--install", "--yes", "--seed", seeds_of_quick_first()]);
    wait_for_the_middle(&checkout, "right");
    run.signal(libc::SIGTERM);
    run.finish().exits(130);
    checkout.left_nothing();
    assert_eq!(checkout.store().load("latest").unwrap().state, RunState::Interrupted);
}

#[test]
fn ctrl_c_during_an_installation_ends_it() {
    let checkout = Checkout::new();
    let manifest = checkout.manifest("it", "right", &["hello"]);
    let step = format!(
        "[install]\nsteps = [[\"sleep\", \"60\"], [\"true\", \"{}\"]]\n",
        checkout.marker()
    );
    checkout.write(
        "targets/test/it/target.toml",
        &manifest.replace("[start]", &format!("{step}[start]")),
    );
    checkout.add_cheat("quick", "right", &["hello"]);
    checkout.add_cheat("earlier", "right", &["hello"]);
    checkout.pippin(&["targets", "install", "test/earlier", "--yes"]).exits(0);
    checkout.add_plan("plan", "hello", &["test/quick", "test/it", "test/earlier"]);
    let run = checkout.start(&["run", "plan", "--install", "--yes"]);
    checkout.wait_for_process("sleep 60");
    run.press_ctrl_c();
    run.finish().exits(130);
    checkout.left_nothing();
    let record = checkout.store().load("latest").unwrap();
    assert_eq!((record.state, record.trials.len()), (RunState::Interrupted, 0));
    let said = |name: &str| {
        let (_, info) = record.header.targets.iter().find(|(id, _)| id.name == name).unwrap();
        info.unavailable.as_ref().map(|failure| failure.message.as_str())
    };
    assert_eq!(
        (said("quick"), said("it")),
        (None, Some("interrupted before it was installed")),
        "what was installed by then is not said to be missing"
    );
    assert_eq!(said("earlier"), None, "nor what was installed before");
}

#[test]
fn ctrl_c_during_a_check_ends_it() {
    let checkout = Checkout::with_cheat("hangs", &["hello"]);
    let manifest = checkout.manifest("it", "hangs", &["hello"]).replace("\"2s\"", "\"60s\"");
    checkout.write("targets/test/it/target.toml", &manifest);
    let check = checkout.start(&["targets", "check", "test/it", "--install", "--yes"]);
    checkout.wait_for_process("hangs");
    check.press_ctrl_c();
    check.finish().exits(130);
    checkout.left_nothing();
}

#[test]
fn after_kill_9_everything_is_gone_and_finished_trials_are_there() {
    let checkout = with_a_long_last_trial("users", "right");
    let run =
        checkout.start(&["run", "long", "--install", "--yes", "--seed", seeds_of_quick_first()]);
    wait_for_the_middle(&checkout, "right");
    checkout.wait_for_process("postgres");
    run.signal(libc::SIGKILL);
    assert_eq!(run.finish().code, None);
    checkout.is_soon_left_by_all();
    let record = checkout.store().load("latest").unwrap();
    assert_eq!(
        (record.state, record.ended_unix_ns, record.trials.len()),
        (RunState::Killed, None, 1)
    );
    checkout.pippin(&["report"]).exits(0).says(&["test/quick", "Pippin was killed in this run"]);
    checkout.pippin(&["history"]).exits(0).says(&[" killed "]);
    // The next run can use the same store and folder.
    checkout.add_plan("plan", "users", &["test/quick"]);
    checkout.pippin(&["run", "plan"]).exits(4);
    assert_eq!(checkout.store().list().unwrap().len(), 2);
}

#[test]
fn after_kill_9_a_target_that_ignores_its_signal_is_gone_too() {
    let checkout = with_a_long_last_trial("hello", "ignores-sigterm");
    let run =
        checkout.start(&["run", "long", "--install", "--yes", "--seed", seeds_of_quick_first()]);
    wait_for_the_middle(&checkout, "ignores-sigterm");
    run.signal(libc::SIGKILL);
    run.finish();
    checkout.is_soon_left_by_all();
}

#[test]
fn several_runs_may_begin_with_one_store() {
    let checkout = Checkout::with_cheat("exits", &["hello"]);
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout.pippin(&["targets", "install", "test/it", "--yes"]).exits(0);
    let runs: Vec<_> = (0..4)
        .map(|number| checkout.start(&["run", "plan", "--out", &format!("out-{number}")]))
        .collect();
    for run in runs {
        // The target fails at its start, so no run has a result.
        run.finish()
            .exits(4)
            .says(&["start: it exited with code 3"])
            .keeps_quiet_about(&["pippin: "]);
    }
    let runs = checkout.store().list().unwrap();
    assert!(
        runs.len() == 4
            && runs.iter().all(|run| run.state == RunState::Finished && run.trials == 1),
        "{runs:#?}"
    );
}
