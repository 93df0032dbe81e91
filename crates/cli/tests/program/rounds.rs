//! Rounds of slices that do not go as planned: stopped by the user, a target that dies, targets
//! that do not fit into memory together.
use super::support::{Checkout, Outcome, Started, command, plan, skip, until};
use pippin_model::run::{RunRecord, RunState};
use pippin_model::trial::{Stage, TrialRecord};
use pippin_testing::patience::in_time;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::io;
use std::os::unix::process::CommandExt;

/// Two good targets, measured for this long.
fn two(duration: &str) -> Checkout {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_cheat("other", "right", &["hello"]);
    checkout.write("plans/plan.toml", &plan("hello", &["test/it", "test/other"], &load(duration)));
    checkout
}

fn load(duration: &str) -> String {
    format!("kind = \"closed\"\nconnections = 2\nduration = \"{duration}\"\nwarm_up = \"200ms\"\n")
}

fn rounds(trial: &TrialRecord) -> BTreeSet<u32> {
    trial.slices.iter().map(|slice| slice.round).collect()
}

fn trial_named<'a>(run: &'a RunRecord, name: &str) -> &'a TrialRecord {
    run.trials.iter().find(|trial| trial.spec.target.name == name).unwrap()
}

#[test]
fn ctrl_c_after_some_rounds_keeps_those_that_both_have() {
    let checkout = two("60s");
    let run = checkout.start(&["run", "plan", "--install", "--yes"]);
    let has_some_rounds = || {
        checkout.store_path().is_file()
            && checkout.store().live_runs().iter().any(|run| {
                run.trial.as_ref().is_some_and(|trial| trial.fraction.is_some_and(|f| f > 0.04))
            })
    };
    assert!(until(has_some_rounds), "no rounds were made");
    run.press_ctrl_c();
    run.finish().exits(130).says(&["Interrupted", "test/it", "test/other"]);
    checkout.left_nothing();
    let record = checkout.store().load("latest").unwrap();
    assert_eq!((record.state, record.trials.len()), (RunState::Interrupted, 2));
    let [one, other] = record.trials.as_slice() else { unreachable!() };
    let both = rounds(one);
    assert_eq!(both, rounds(other), "a round that one of them lacks is no pair");
    // A part of the plan was measured, and far less than all of it.
    assert!((3..100).contains(&both.len()), "{both:?}");
    for trial in [one, other] {
        let load = trial.load.as_ref().unwrap();
        assert!(load.interrupted && load.measured.requests.good > 0);
        assert_eq!(trial.failure, None);
    }
    checkout.pippin(&["report"]).exits(0).says(&["Interrupted", "test/other"]);
}

#[test]
fn a_target_that_dies_in_a_round_leaves_the_others_to_theirs() {
    // 6,000 requests come in this time on a busy machine too.
    let checkout = two("20s");
    checkout.add_cheat("other", "crashes-after:6000", &["hello"]);
    let outcome = checkout.pippin(&["run", "plan", "--install", "--yes"]);
    checkout.left_nothing();
    let record = checkout.store().load("latest").unwrap();
    let (alive, dead) = (trial_named(&record, "it"), trial_named(&record, "other"));
    let failure = dead.failure.as_ref().unwrap_or_else(|| panic!("it lives: {outcome}"));
    assert_eq!(failure.stage, Stage::Load);
    assert!(failure.message.contains("exited with code 70 while it was measured"), "{failure:?}");
    assert!(failure.log_tail.iter().any(|line| line.contains("panic: index out of range")));
    assert_eq!(alive.failure, None, "{outcome}");
    assert!(alive.proofs.iter().all(|proof| proof.failure.is_none()));
    let planned = alive.company.as_ref().unwrap().rounds as usize;
    assert!(rounds(alive).len() >= planned, "{} of {planned} rounds", rounds(alive).len());
    assert!(rounds(dead).len() < planned, "it died in one of them");
    outcome.says(&["test/other", "exited with code 70"]);
}

pippin_testing::patient_tests!(what_a_target_still_has_to_do_is_not_taken_for_restlessness);

/// 150 ms of work are left on each of two connections when a slice ends, and when the warm-up ends:
/// that is waited for before the other one is measured.
fn what_a_target_still_has_to_do_is_not_taken_for_restlessness() {
    let checkout = two("3s");
    checkout.add_cheat("other", "works-on:150", &["hello"]);
    // In one of four orders at least the target that was warmed up last is not the first.
    checkout.pippin(&["run", "plan", "--install", "--yes", "--repeat", "4", "--seed", "1"]);
    checkout.left_nothing();
    let record = checkout.store().load("latest").unwrap();
    let mut orders = BTreeSet::new();
    for trial in record.trials.iter().filter(|trial| trial.spec.target.name == "other") {
        let company = trial.company.as_ref().unwrap();
        in_time(company.apart.is_none(), || format!("{company:?}"));
        in_time(company.idle_cores.is_some_and(|cores| cores < 0.005), || format!("{company:?}"));
        let begin = |trial: &TrialRecord| trial.slices.iter().map(|it| it.started_unix_ns).min();
        let it = record
            .trials
            .iter()
            .find(|it| it.spec.target.name == "it" && it.spec.repetition == trial.spec.repetition);
        orders.insert(begin(it.unwrap()) < begin(trial));
    }
    assert!(orders.contains(&true), "the other one was measured first each time");
}

#[test]
fn targets_with_a_table_each_are_measured_in_the_same_rounds() {
    let checkout = Checkout::with_cheat("right", &["users"]);
    checkout.add_cheat("other", "right", &["users"]);
    checkout.add_cheat("cached", "users-cached-5ms", &["users"]);
    let targets = ["test/it", "test/other", "test/cached"];
    checkout.write("plans/plan.toml", &plan("users", &targets, &load("3s")));
    let outcome = checkout.pippin(&["run", "plan", "--install", "--yes"]);
    checkout.left_nothing();
    let record = checkout.store().load("latest").unwrap();
    let (one, other) = (trial_named(&record, "it"), trial_named(&record, "other"));
    for trial in [one, other] {
        assert_eq!(trial.failure, None, "{outcome}");
        assert_eq!(trial.company.as_ref().unwrap().targets, 3);
        assert!(trial.load.as_ref().unwrap().measured.requests.good > 0);
    }
    let shared = rounds(one).intersection(&rounds(other)).count();
    assert!(shared >= one.company.as_ref().unwrap().rounds as usize, "{shared} rounds: {outcome}");
    // A target's own error does not affect the others.
    let cached = trial_named(&record, "cached").failure.as_ref().unwrap();
    assert_eq!(cached.stage, Stage::Proof);
    assert!(cached.message.contains("queries under the load"), "{}", cached.message);
}

/// A tenth of the memory must stay free, and only a few kilobytes more are: no second target fits.
const MEMINFO: &str =
    "MemTotal:        1000000 kB\nMemFree:          100010 kB\nMemAvailable:     100010 kB\n";

/// Runs Pippin with a faked size of memory; `None` if the test may not mount files on this machine.
fn with_little_memory(checkout: &Checkout, arguments: &[&str]) -> Option<Outcome> {
    let fake = checkout.write("meminfo", MEMINFO);
    let fake = CString::new(fake.to_str().unwrap()).unwrap();
    let mut command = command(checkout.path(), arguments);
    let mounted = |result: libc::c_int| {
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: plain system calls with strings that end in 0; nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            mounted(libc::unshare(libc::CLONE_NEWNS))?;
            let (none, all) = (c"none".as_ptr(), c"/".as_ptr());
            let private = libc::MS_REC | libc::MS_PRIVATE;
            mounted(libc::mount(none, all, std::ptr::null(), private, std::ptr::null()))?;
            let place = c"/proc/meminfo".as_ptr();
            mounted(libc::mount(
                fake.as_ptr(),
                place,
                std::ptr::null(),
                libc::MS_BIND,
                std::ptr::null(),
            ))
        });
    }
    let is_allowed = std::process::Command::new("unshare").args(["-m", "true"]).status();
    is_allowed.is_ok_and(|status| status.success()).then(|| Started::spawn(&mut command).finish())
}

#[test]
fn targets_that_do_not_fit_into_memory_are_measured_one_after_the_other() {
    let checkout = two("2s");
    let store = checkout.store_path().display().to_string();
    let arguments = ["--store", &store, "run", "plan", "--install", "--yes"];
    let Some(outcome) = with_little_memory(&checkout, &arguments) else {
        skip("rounds: little memory", "mounts of a test's own are not allowed here");
        return;
    };
    checkout.left_nothing();
    outcome.says(&["does not fit into memory beside the others: it is measured after them"]);
    let record = checkout.store().load("latest").unwrap();
    let (one, other) = (trial_named(&record, "it"), trial_named(&record, "other"));
    for trial in [one, other] {
        assert_eq!(trial.failure, None, "{outcome}");
        assert_eq!(trial.company.as_ref().unwrap().targets, 1);
        assert!(!trial.slices.is_empty());
    }
    assert!(rounds(one).is_disjoint(&rounds(other)), "rounds of two groups are no pairs");
}
