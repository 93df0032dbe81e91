//! Why a target is as fast as it is: servers of known limits, over real sockets. That each kind of
//! load says the same is tested with model servers (`pippin_stats::explain`).
use super::support::{Checkout, Outcome, plan};
use crate::patience::in_time;
use pippin_model::run::RunRecord;
use pippin_report::view::View;
use pippin_stats::explain::{Explanation, Limit};

crate::patience::patient_tests!(
    a_lock_is_one_at_a_time_for_100_connections,
    ten_threads_serve_ten_in_a_counted_load_too,
    four_slots_serve_four_at_every_step_of_a_sweep,
    stalls_are_named_with_their_period_and_length,
);

/// A run of the server in this mode with this load.
fn run(mode: &str, load: &str) -> (RunRecord, Outcome) {
    let checkout = Checkout::with_cheat(mode, &["hello"]);
    checkout.write("plans/plan.toml", &plan("hello", &["test/it"], load));
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    checkout.left_nothing();
    (checkout.store().load("latest").unwrap(), outcome)
}

/// The only target's explanation, which the program printed too.
#[track_caller]
fn explanation((record, outcome): &(RunRecord, Outcome)) -> Explanation {
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let row = View::of(record).rows.remove(0);
    row.explanation.unwrap_or_else(|| panic!("no explanation: {outcome}"))
}

/// Demands that so many are served at a time: a busy machine may make single requests slower than
/// they are, or the load.
#[track_caller]
fn serves(run: &(RunRecord, Outcome), wanted: f64) {
    let found = explanation(run);
    let is_so = matches!(found.limit, Limit::AtATime { requests } if (requests / wanted - 1.0).abs() < 0.15);
    in_time(is_so, || format!("{wanted} at a time, and it is said: {found:?}\n{}", run.1));
    assert!(!found.text.contains("more connections"), "{}", found.text);
}

fn closed(connections: u32) -> String {
    format!(
        "kind = \"closed\"\nconnections = {connections}\nduration = \"4s\"\nwarm_up = \"500ms\"\n"
    )
}

fn a_lock_is_one_at_a_time_for_100_connections() {
    let run = run("lock", &closed(100));
    serves(&run, 1.0);
    let ids: Vec<&str> =
        run.0.trials.iter().flat_map(|t| &t.caveats).map(|caveat| caveat.id.as_str()).collect();
    assert!(!ids.contains(&"delayed_ack"), "its queue is no delayed acknowledgement: {ids:?}");
}

fn ten_threads_serve_ten_in_a_counted_load_too() {
    serves(&run("ten-threads", &closed(100)), 10.0);
    let counted = "kind = \"closed\"\nconnections = 100\nrequests = 6000\nwarm_up = \"none\"\n";
    serves(&run("ten-threads", counted), 10.0);
}

fn four_slots_serve_four_at_every_step_of_a_sweep() {
    let sweep =
        "kind = \"sweep\"\nconnections = [1, 8, 32, 64]\nduration = \"2s\"\nwarm_up = \"300ms\"\n";
    let (record, outcome) = run("four-slots", sweep);
    let view = View::of(&record);
    let served = view.rows[0].sweep.as_ref().and_then(|sweep| sweep.served_at_a_time);
    in_time(served.is_some_and(|served| (served / 4.0 - 1.0).abs() < 0.15), || {
        format!("4 at a time, and it is said: {served:?}\n{outcome}")
    });
}

fn stalls_are_named_with_their_period_and_length() {
    // Measured in one stretch. On a busy host, few slices are used, and these are the ones in which
    // others ran least, which is when nobody stands still.
    let load = "kind = \"closed\"\nconnections = 20\nrequests = 120000\nwarm_up = \"none\"\n";
    let (record, outcome) = run("stalls", load);
    let found = record.trials[0].caveats.iter().find(|caveat| caveat.id == "stalls");
    in_time(found.is_some(), || format!("no stalls are seen: {outcome}"));
    let found = explanation(&(record, outcome));
    assert!(found.text.contains("It stands still for about 1"), "{}", found.text);
    assert!(!matches!(found.limit, Limit::AtATime { .. }), "{found:?}");
}
