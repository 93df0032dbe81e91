//! kill -9 at random instants of a run: nothing is left behind, the store opens, and the run is
//! shown as killed.
//!
//! `make test` does it a few times; `PIPPIN_KILLS` sets the number (`make test-hostile`: 100
//! times).
use super::support::Checkout;
use pippin_model::run::RunState;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// A run of the plan takes about three seconds, so some kills come before its first trial and some
/// after its end.
const LONGEST_MS: u64 = 3_500;
const KILLS: u64 = 5;

#[test]
fn kill_9_at_any_instant_leaves_a_store_and_no_process() {
    let kills = std::env::var("PIPPIN_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_cheat("other", "right", &["hello"]);
    checkout.add_plan("plan", "hello", &["test/it", "test/other"]);
    checkout.pippin(&["targets", "install", "test/it", "test/other", "--yes"]).exits(0);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(std::process::id().into());
    let mut killed = 0;
    for nth in 0..kills {
        let after = Duration::from_millis(random.random_range(0..LONGEST_MS));
        let run = checkout.start(&["run", "plan"]);
        if nth == 0 {
            // However long a run takes to begin and to end here, one kill meets it.
            checkout.wait_for_process("right");
        } else {
            std::thread::sleep(after);
        }
        run.signal(libc::SIGKILL);
        run.finish();
        checkout.is_soon_left_by_all();
        killed += u64::from(last_was_killed(&checkout, after));
    }
    // The next run can use the store and the folder.
    let outcome = checkout.pippin(&["run", "plan"]);
    assert!([Some(0), Some(3)].contains(&outcome.code), "{outcome}");
    assert_eq!(checkout.store().load("latest").unwrap().state, RunState::Finished);
    checkout.pippin(&["history"]).exits(0);
    checkout.left_nothing();
    assert!(killed > 0, "none of {kills} kills met a run");
}

/// Reads all runs of the store, and checks the last one if there is one.
fn last_was_killed(checkout: &Checkout, after: Duration) -> bool {
    if !checkout.store_path().exists() {
        return false;
    }
    let store = checkout.store();
    let runs = store.list().unwrap();
    for run in &runs {
        let record = store.load(&run.id).unwrap();
        assert_eq!(record.trials.len() as u64, run.trials, "{after:?}");
    }
    let Some(last) = runs.iter().max_by_key(|run| &run.id) else { return false };
    let is_killed = match last.state {
        RunState::Killed => true,
        RunState::Finished => false,
        other => panic!("killed after {after:?}, and shown as {other:?}"),
    };
    let word = if is_killed { " killed " } else { " finished " };
    checkout.pippin(&["history"]).exits(0).says(&[word]);
    is_killed
}
