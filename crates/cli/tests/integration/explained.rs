//! Why a target is as fast as it is: servers with known limits over real sockets, each under a
//! closed load, a counted one and a sweep. They run with `make test-explained`, on a calm host: on a
//! busy one Pippin explains nothing, as it should. `make test` has the same with model servers in virtual
//! time (`pippin_stats::explain`).
use super::support::{Checkout, Outcome, cheat, plan};
use pippin_model::run::RunRecord;
use pippin_report::view::View;
use pippin_stats::explain::{Explanation, Limit};
use pippin_testing::patience::in_time;
use pippin_testing::skipped::skip;
use std::process::Command;

pippin_testing::patient_tests!(
    a_lock_is_one_at_a_time_for_100_connections,
    ten_threads_serve_ten,
    four_slots_serve_four,
    stalls_are_named_with_their_period_and_length,
    a_shared_processor_is_the_limit_and_no_pool,
    late_bodies_beside_fast_ones_are_delayed_acknowledgements,
);

/// A run of the server in this mode with this plan.
fn run_of(mode: &str, plan: &str) -> (RunRecord, Outcome) {
    let checkout = Checkout::with_cheat(mode, &["hello"]);
    checkout.write("plans/plan.toml", plan);
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    checkout.left_nothing();
    (checkout.store().load("latest").unwrap(), outcome)
}

/// A run of the server in this mode with this load.
fn run(mode: &str, load: &str) -> (RunRecord, Outcome) {
    run_of(mode, &plan("hello", &["test/it"], load))
}

/// The only target's explanation, which the program printed too.
#[track_caller]
fn explanation((record, outcome): &(RunRecord, Outcome)) -> Explanation {
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let row = View::of(record).rows.remove(0);
    let found = row.explanation.unwrap_or_else(|| panic!("no explanation: {outcome}"));
    let is_sweep = record.trials.len() > 1;
    assert!(is_sweep || !found.text.contains("more connections"), "{}", found.text);
    found
}

fn closed(connections: u32) -> String {
    format!(
        "kind = \"closed\"\nconnections = {connections}\nduration = \"4s\"\nwarm_up = \"500ms\"\n"
    )
}

fn counted(connections: u32, requests: u32) -> String {
    format!(
        "kind = \"closed\"\nconnections = {connections}\nrequests = {requests}\nwarm_up = \"none\"\n"
    )
}

/// Whether these tests are asked for. Otherwise each is skipped, and says so.
fn is_asked_for(test: &str) -> bool {
    let is = std::env::var_os("PIPPIN_EXPLAINED").is_some();
    if !is {
        skip(test, "it needs a calm host: `make test-explained` runs it");
    }
    is
}

const SWEEP: &str =
    "kind = \"sweep\"\nconnections = [1, 8, 32, 64]\nduration = \"2s\"\nwarm_up = \"300ms\"\n";

/// Every kind of load must report this number of requests served at a time. A busy machine may make
/// single requests, or a load, slower than they should be.
#[track_caller]
fn serves(mode: &str, wanted: f64, requests: u32) {
    let is_near = |served: f64| (served / wanted - 1.0).abs() < 0.15;
    if !is_asked_for(mode) {
        return;
    }
    for load in [counted(100, requests), closed(100)] {
        let run = run(mode, &load);
        let found = explanation(&run);
        let is_so = matches!(found.limit, Limit::AtATime { requests } if is_near(requests));
        in_time(is_so, || format!("{wanted} at a time, and it is said: {found:?}\n{}", run.1));
        let ids = run.0.trials.iter().flat_map(|trial| &trial.caveats);
        let ids: Vec<&str> = ids.map(|caveat| caveat.id.as_str()).collect();
        assert!(!ids.contains(&"delayed_ack"), "its queue is no delayed acknowledgement: {ids:?}");
    }
    let (record, outcome) = run(mode, SWEEP);
    let view = View::of(&record);
    let served = view.rows[0].sweep.as_ref().and_then(|sweep| sweep.served_at_a_time);
    in_time(served.is_some_and(is_near), || {
        format!("{wanted} at a time, and it is said: {served:?}\n{outcome}")
    });
}

fn a_lock_is_one_at_a_time_for_100_connections() {
    serves("lock", 1.0, 800);
}

fn ten_threads_serve_ten() {
    serves("ten-threads", 10.0, 6_000);
}

fn four_slots_serve_four() {
    serves("four-slots", 4.0, 1_600);
}

fn stalls_are_named_with_their_period_and_length() {
    if !is_asked_for("stalls") {
        return;
    }
    // In one stretch, and in slices of any length: one each second or longer.
    let sweep = SWEEP.replace("\"2s\"", "\"8s\"").replace("[1, 8, 32, 64]", "[8, 32]");
    let closed = closed(20).replace("\"4s\"", "\"12s\"");
    for load in [counted(20, 120_000), closed, sweep] {
        let (record, outcome) = run("stalls", &load);
        let of_all = record.trials.iter().map(|trial| &trial.caveats);
        let is_seen = of_all.clone().all(|all| all.iter().any(|caveat| caveat.id == "stalls"));
        in_time(is_seen, || format!("no stalls are seen: {outcome}"));
        let found = explanation(&(record, outcome));
        // A slice that begins during a stall sees only the rest of it.
        let length = found.text.split_once("It stands still for about ").map(|(_, rest)| rest);
        let length_ms: Option<f64> =
            length.and_then(|rest| rest.split_once(" ms every")?.0.parse().ok());
        let is_so = length_ms.is_some_and(|ms| (80.0..140.0).contains(&ms));
        in_time(is_so, || format!("stalls of 100 ms, and it is said: {}", found.text));
        assert!(!matches!(found.limit, Limit::AtATime { .. }), "{found:?}");
    }
}

/// A server with one processor, which another program uses too.
fn a_shared_processor_is_the_limit_and_no_pool() {
    if !is_asked_for("a shared processor") {
        return;
    }
    let sweep = SWEEP.replace("[1, 8, 32, 64]", "[8, 32]");
    for load in [counted(32, 1_500), closed(32), sweep] {
        let plan = plan("hello", &["test/it"], &load)
            .replace("share = true", "target = \"0\"\ngenerator = \"1\"");
        let mut other = Command::new(cheat()).arg("burns-on-the-first").spawn().unwrap();
        let run = run_of("works", &plan);
        other.kill().unwrap();
        other.wait().unwrap();
        let found = explanation(&run);
        let is_so = matches!(found.limit, Limit::Processor { .. })
            && found.text.contains("and other programs took 0.");
        in_time(is_so, || format!("a processor that is shared: {found:?}\n{}", run.1));
        let ids = run.0.trials.iter().flat_map(|trial| &trial.caveats);
        let ids: Vec<&str> = ids.map(|caveat| caveat.id.as_str()).collect();
        assert!(!ids.contains(&"inferred_concurrency"), "{ids:?}");
    }
}

fn late_bodies_beside_fast_ones_are_delayed_acknowledgements() {
    if !is_asked_for("late bodies") {
        return;
    }
    let run = run("late-bodies", &counted(8, 4_000));
    let found = run.0.trials[0].caveats.iter().any(|caveat| caveat.id == "delayed_ack");
    in_time(found, || format!("no delayed acknowledgements are seen: {}", run.1));
}
