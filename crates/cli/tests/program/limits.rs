//! Limits of processor time and memory, held by control groups.
use super::support::{Checkout, Outcome, cheat};
use pippin_model::host::usage::Role;
use pippin_model::trial::{Stage, TrialRecord};
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::skipped::skip;

/// Keeps four mebibytes for each request of those that come over several connections: of a load, and not of the proofs
/// around it, so that none of these meets a worker that is killed.
const KEEPER: &str = r#"
import threading
kept = []

class Keeper(Hello):
    def do_GET(self):
        if threading.active_count() > 2:
            kept.append(b"x" * (4 << 20))
        super().do_GET()

listening = server(Keeper)
# With a master, a worker takes the place of one that was killed.
while "master" in sys.argv and os.fork():
    os.wait()
listening.serve_forever()
"#;

/// A project with these targets.
fn project(targets: &str, names: &str, more: &str) -> Checkout {
    let checkout = Checkout::with_a_home(targets, names, more);
    checkout.write_server("keeper.py", KEEPER);
    checkout
}

const KEEPS: &str =
    "[target.keeper]\ncommand = \"python3 keeper.py {PORT}\"\nserves = [\"home\"]\n";
const WITH_A_MASTER: &str =
    "[target.keeper]\ncommand = \"python3 keeper.py {PORT} master\"\nserves = [\"home\"]\n";

/// The trial of a run; `None` where this machine cannot hold limits, which is then said.
fn only_trial(test: &str, checkout: &Checkout, outcome: &Outcome) -> Option<TrialRecord> {
    if outcome.has("cannot be held to") {
        skip(test, outcome.stderr.lines().next().unwrap_or_default());
        return None;
    }
    let run = checkout.store().load("latest").unwrap();
    assert_eq!(run.trials.len(), 1, "{outcome}");
    run.trials.into_iter().next()
}

#[test]
fn a_target_that_needs_more_than_its_memory_has_failed_and_the_limit_is_named() {
    let checkout = project(KEEPS, "\"keeper\"", "");
    let outcome = checkout.pippin(&["run", "ci", "--memory", "64M"]);
    let Some(trial) = only_trial("memory", &checkout, &outcome) else { return };
    let failure = trial.failure.unwrap_or_else(|| panic!("it has not failed: {outcome}"));
    assert_eq!(failure.stage, Stage::Load, "{}", failure.message);
    assert!(
        failure.message.contains("killed")
            && failure.message.contains("it may use 64 MiB of memory (--memory)"),
        "{}",
        failure.message
    );
    outcome.says(&["gets 64 MiB of memory (--memory)"]);
    checkout.left_nothing();
}

#[test]
fn workers_that_need_more_than_the_memory_are_counted_while_their_master_lives() {
    let checkout = project(WITH_A_MASTER, "\"keeper\"", "");
    let outcome = checkout.pippin(&["run", "ci", "--memory", "64M"]);
    let Some(trial) = only_trial("memory of workers", &checkout, &outcome) else { return };
    let seen = trial.caveats.iter().find(|caveat| caveat.id == "memory_limit");
    let seen = seen.unwrap_or_else(|| panic!("it is not named: {outcome}"));
    assert!(seen.evidence.contains("it may use 64 MiB of memory"), "{}", seen.evidence);
    checkout.left_nothing();
}

#[test]
fn the_life_of_a_target_says_how_many_of_its_workers_were_killed() {
    let checkout = project(WITH_A_MASTER, "\"keeper\"", "life = true");
    let outcome = checkout.pippin(&["run", "ci", "--memory", "64M"]);
    if only_trial("life within a memory", &checkout, &outcome).is_none() {
        return;
    }
    let run = checkout.store().load("latest").unwrap();
    let [life] = run.lives.as_slice() else { panic!("{outcome}") };
    assert!(life.memory.killed.is_some_and(|killed| killed > 0), "{life:?}");
    outcome.says(&["killed at the limit)"]);
    checkout.left_nothing();
}

#[test]
fn sides_that_are_compared_are_held_to_limits_too() {
    let checkout = Checkout::of_a_user();
    let server = format!("'{}' right", cheat().display());
    let other = format!("env MORE=1 {server}");
    let compared = |options: &[&str]| {
        let sides = ["compare", "--command", &server, "--command", &other, "--path", "/"];
        let short = ["--duration", "1s", "--repeat", "2", "--warm-up", "none"];
        checkout.pippin(&[&sides[..], &short, options].concat())
    };
    let outcome = compared(&["--cpu", "0.3", "--memory", "512M"]);
    if outcome.has("cannot be held to") {
        return skip("limits of sides", outcome.stderr.lines().next().unwrap_or_default());
    }
    let run = checkout.store().load("latest").unwrap();
    assert!(!run.trials.is_empty(), "{outcome}");
    for trial in &run.trials {
        let usage = trial.usage.as_ref().unwrap_or_else(|| panic!("{outcome}"));
        let may_use = usage.may_use.as_ref().unwrap_or_else(|| panic!("{outcome}"));
        assert_eq!(may_use.quota, Some(0.3), "{outcome}");
        assert!(usage.roles[&Role::Target].cores.unwrap() < 0.4, "{outcome}");
    }
    assert_eq!(run.header.plan.limits.words(), "0.3 processors and 512 MiB of memory");
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let urls = ["a", "b"].map(|path| format!("http://{}/{path}", server.address()));
    let outcome = checkout.pippin(&["compare", &urls[0], &urls[1], "--memory", "512M"]);
    outcome.is_a_user_error(&["--memory", "runs already"]);
    checkout.pippin(&["compare", "a", "b", "--cpu", "0.5"]).is_a_user_error(&["--cpu"]);
}

#[test]
fn a_target_gets_the_processor_time_that_it_may_use_and_no_more() {
    let target = format!(
        "[target.right]\ncommand = \"'{}' right\"\nserves = [\"home\"]\n",
        cheat().display()
    );
    let checkout = project(&target, "\"right\"", "cpu = 0.2");
    let outcome = checkout.pippin(&["run", "ci"]);
    let Some(trial) = only_trial("cpu", &checkout, &outcome) else { return };
    let usage = trial.usage.as_ref().unwrap_or_else(|| panic!("{outcome}"));
    // The kernel's account of the group, over a load whose ends lie anywhere in periods of 100 ms.
    let used = usage.roles[&Role::Target].cores.unwrap();
    assert!(used < 0.3, "{used} processors: {outcome}");
    let may_use = usage.may_use.as_ref().unwrap();
    assert_eq!(may_use.quota, Some(0.2), "{outcome}");
    outcome.says(&["each target with 0.2 processors"]);
}

#[test]
fn limits_that_cannot_be_held_or_read_are_refused() {
    let checkout = project(KEEPS, "\"keeper\"", "");
    let refused = |options: &[&str], texts: &[&str]| {
        checkout.pippin(&[&["run", "ci"], options].concat()).is_a_user_error(texts);
    };
    refused(&["--memory", "256"], &["`256` is not an amount of memory: write 256M or 1G"]);
    refused(&["--memory", "1M"], &["at least 6M"]);
    refused(&["--memory", "4000G"], &["this machine has less"]);
    refused(&["--cpu", "4000"], &["this limit would have no effect"]);
    refused(&["--cpu", "50%"], &["`50%` is not a number of processors"]);
    let listening = "[target.there]\nurl = \"http://127.0.0.1:9/\"\nserves = [\"home\"]\n";
    project(listening, "\"there\"", "memory = \"64M\"")
        .pippin(&["run", "ci"])
        .is_a_user_error(&["--memory: own/there runs already"]);
    project(KEEPS, "\"keeper\"", "memory = \"much\"")
        .pippin(&["run", "ci"])
        .is_a_user_error(&["memory: `much` is not an amount of memory"]);
}
