//! Why a target is as fast as it is: servers with known limits over real sockets, each under a
//! closed load, a counted one and a sweep.
//!
//! Live ones run with `make test-explained`, on a calm host: on a busy one Pippin explains nothing, as it
//! should. With `RECORD=1` their runs are kept in `tests/recorded/explained`, whatever Pippin said of
//! them, if the host was calm. `make test` judges these recordings anew, by the same truths, and has
//! model servers in virtual time (`pippin_stats::explain`).
use super::support::{Checkout, cheat, counted, plan};
use pippin_model::run::RunRecord;
use pippin_model::trial::TrialRecord;
use pippin_report::view::View;
use pippin_stats::explain::{Explanation, Limit};
use pippin_stats::judge::host::is_disturbed;
use pippin_stats::judge::settled::{seen_at_the_stop, settle};
use pippin_testing::patience::in_time;
use pippin_testing::skipped::skip;
use std::collections::BTreeSet;
use std::process::Command;

mod recorded;

pippin_testing::patient_tests!(
    a_lock_is_one_at_a_time_for_100_connections,
    ten_threads_serve_ten,
    four_slots_serve_four,
    stalls_are_named_with_their_period_and_length,
    a_shared_processor_is_the_limit_and_no_pool,
    late_bodies_beside_fast_ones_are_delayed_acknowledgements,
);

/// What is true of a server, which Pippin has to say.
#[derive(Debug, Clone, Copy)]
enum Truth {
    /// It serves so many requests at a time.
    AtATime(f64),
    /// It stands still for 100 ms of each second.
    Stalls,
    /// As before, and slices last as long as a stall.
    CutStalls,
    /// Another program uses its only processor too.
    SharedProcessor,
    /// Some bodies come as late as behind a delayed acknowledgement.
    DelayedAck,
}

/// A server of known truth under one load.
struct Case {
    /// The name of its recording.
    name: String,
    /// The mode of `crates/reference/examples/cheat`.
    mode: &'static str,
    plan: String,
    truth: Truth,
}

fn closed(connections: u32, seconds: u32, warm_up: &str) -> String {
    format!(
        "kind = \"closed\"\nconnections = {connections}\nduration = \"{seconds}s\"\nwarm_up = \"{warm_up}\"\n"
    )
}

fn sweep(connections: &str, seconds: u32, warm_up: &str) -> String {
    format!(
        "kind = \"sweep\"\nconnections = [{connections}]\nduration = \"{seconds}s\"\nwarm_up = \"{warm_up}\"\n"
    )
}

/// A server in this mode under a load of this kind.
fn case(mode: &'static str, kind: &str, load: &str, truth: Truth) -> Case {
    let plan = plan("hello", &["test/it"], load);
    Case { name: format!("{mode}-{kind}"), mode, plan, truth }
}

/// This server under a counted load, a closed one and a sweep.
fn cases(mode: &'static str, truth: Truth, loads: [String; 3]) -> impl Iterator<Item = Case> {
    let kinds = ["counted", "closed", "sweep"].into_iter().zip(loads);
    kinds.map(move |(kind, load)| case(mode, kind, &load, truth))
}

fn at_a_time(mode: &'static str, wanted: f64, requests: u32) -> impl Iterator<Item = Case> {
    let loads =
        [counted(100, requests), closed(100, 4, "500ms"), sweep("1, 8, 32, 64", 2, "300ms")];
    cases(mode, Truth::AtATime(wanted), loads)
}

/// In one stretch; in slices whose length follows a warm-up that sees a stall; in slices of the
/// shortest length.
fn stalls() -> impl Iterator<Item = Case> {
    let loads = [counted(20, 120_000), closed(20, 12, "1500ms"), sweep("8, 32", 16, "1500ms")];
    let mut cut = case("stalls", "cut", &closed(20, 12, "500ms"), Truth::CutStalls);
    cut.plan = format!("slice = \"100ms\"\n{}", cut.plan);
    cases("stalls", Truth::Stalls, loads).chain([cut])
}

/// A server with one processor, which another program uses too.
fn shared_processor() -> impl Iterator<Item = Case> {
    let loads = [counted(32, 1_500), closed(32, 4, "500ms"), sweep("8, 32", 2, "300ms")];
    cases("works", Truth::SharedProcessor, loads).map(|mut case| {
        case.plan = case.plan.replace("share = true", "target = \"0\"\ngenerator = \"1\"");
        case
    })
}

fn all() -> Vec<Case> {
    at_a_time("lock", 1.0, 800)
        .chain(at_a_time("ten-threads", 10.0, 6_000))
        .chain(at_a_time("four-slots", 4.0, 1_600))
        .chain(stalls())
        .chain(shared_processor())
        .chain([case("late-bodies", "counted", &counted(8, 4_000), Truth::DelayedAck)])
        .collect()
}

/// The explanation of the only target.
fn explanation(record: &RunRecord) -> Result<Explanation, String> {
    let found = View::of(record).rows.remove(0).explanation.ok_or("no explanation")?;
    let is_sweep = record.trials.len() > 1;
    if !is_sweep && found.text.contains("more connections") {
        return Err(format!("one load says nothing of more connections: {}", found.text));
    }
    Ok(found)
}

/// The milliseconds between these two parts of a text.
fn milliseconds(text: &str, before: &str, behind: &str) -> Option<f64> {
    let (_, text) = text.split_once(before)?;
    let (number, _) = text.split_once(&format!(" ms{behind}"))?;
    number.parse().ok()
}

impl Truth {
    /// Whether this is said of the run; otherwise what is said instead.
    fn is_said(self, record: &RunRecord) -> Result<(), String> {
        let found = explanation(record)?;
        let has = |trial: &TrialRecord, id: &str| trial.caveats.iter().any(|it| it.id == id);
        let all_have = |id| record.trials.iter().all(|trial| has(trial, id));
        let none_has = |id| !record.trials.iter().any(|trial| has(trial, id));
        let is_said = match self {
            Self::AtATime(wanted) => {
                let is_near = |served: f64| (served / wanted - 1.0).abs() < 0.15;
                let served = if record.trials.len() > 1 {
                    let view = View::of(record);
                    view.rows[0].sweep.as_ref().and_then(|sweep| sweep.served_at_a_time)
                } else {
                    match found.limit {
                        Limit::AtATime { requests } => Some(requests),
                        _ => None,
                    }
                };
                // Its queue is no delayed acknowledgement.
                served.is_some_and(is_near) && none_has("delayed_ack")
            }
            Self::Stalls => {
                // A slice that begins during a stall sees only the rest of it.
                let length_ms = milliseconds(&found.text, "It stands still for about ", " every");
                all_have("stalls")
                    && none_has("slow_connections")
                    && length_ms.is_some_and(|ms| (80.0..140.0).contains(&ms))
                    && !matches!(found.limit, Limit::AtATime { .. })
            }
            Self::CutStalls => {
                let before = "It stands still again and again, at least once for ";
                let length_ms = milliseconds(&found.text, before, " or longer");
                all_have("stalls")
                    && none_has("slow_connections")
                    && length_ms.is_some_and(|ms| (50.0..140.0).contains(&ms))
                    && !matches!(found.limit, Limit::AtATime { .. })
            }
            Self::SharedProcessor => {
                matches!(found.limit, Limit::Processor { .. })
                    && found.text.contains("and other programs took 0.")
                    && none_has("inferred_concurrency")
            }
            Self::DelayedAck => all_have("delayed_ack"),
        };
        let caveats = record.trials.iter().flat_map(|trial| &trial.caveats);
        let caveats: Vec<&str> = caveats.map(|caveat| caveat.id.as_str()).collect();
        is_said
            .then_some(())
            .ok_or_else(|| format!("{self:?}, and it is said: {found:?}, {caveats:?}"))
    }
}

/// Runs the server of a mode under its loads, and demands that the truth is said.
fn live(mode: &str) {
    for case in all().into_iter().filter(|case| case.mode == mode) {
        if std::env::var_os("PIPPIN_EXPLAINED").is_none() {
            skip(&case.name, "it needs a calm host: `make test-explained` runs it");
            continue;
        }
        let checkout = Checkout::with_cheat(case.mode, &["hello"]);
        checkout.write("plans/plan.toml", &case.plan);
        let is_shared = matches!(case.truth, Truth::SharedProcessor);
        let other =
            is_shared.then(|| Command::new(cheat()).arg("burns-on-the-first").spawn().unwrap());
        let outcome = checkout.pippin(&["run", "plan", "--install"]);
        if let Some(mut other) = other {
            other.kill().unwrap();
            other.wait().unwrap();
        }
        checkout.left_nothing();
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let record = checkout.store().load("latest").unwrap();
        let trials: Vec<&TrialRecord> = record.trials.iter().collect();
        let is_calm = is_shared || !is_disturbed(&trials);
        if std::env::var_os("PIPPIN_RECORD").is_some() && is_calm {
            recorded::keep(&case.name, &record, &checkout);
        }
        // A busy machine may make single requests, or a load, slower than they should be.
        let said = case.truth.is_said(&record);
        in_time(said.is_ok(), || format!("{}: {}\n{outcome}", case.name, said.unwrap_err()));
    }
}

fn a_lock_is_one_at_a_time_for_100_connections() {
    live("lock");
}

fn ten_threads_serve_ten() {
    live("ten-threads");
}

fn four_slots_serve_four() {
    live("four-slots");
}

fn stalls_are_named_with_their_period_and_length() {
    live("stalls");
}

fn a_shared_processor_is_the_limit_and_no_pool() {
    live("works");
}

fn late_bodies_beside_fast_ones_are_delayed_acknowledgements() {
    live("late-bodies");
}

/// Judges a run anew from what is kept of it.
fn judge_anew(mut record: RunRecord) -> RunRecord {
    for number in 0..record.trials.len() {
        let (before, rest) = record.trials.split_at(number);
        let (caveats, verdict) =
            settle(&rest[0], &record.header, before, seen_at_the_stop(&rest[0]));
        (record.trials[number].caveats, record.trials[number].verdict) = (caveats, verdict);
    }
    record
}

#[test]
fn what_is_recorded_of_servers_with_known_limits_is_explained() {
    let (cases, recorded) = (all(), recorded::names());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let unknown = recorded.iter().find(|name| !names.contains(name.as_str()));
    assert_eq!(unknown, None, "a recording without a truth");
    assert!(!recorded.is_empty());
    let mut wrong = Vec::new();
    for case in &cases {
        if !recorded.contains(&case.name) {
            skip(&case.name, "it is not recorded: `make test-explained RECORD=1`, on a calm host");
            continue;
        }
        let record = judge_anew(recorded::read(&case.name));
        wrong.extend(case.truth.is_said(&record).err().map(|it| format!("{}: {it}", case.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
