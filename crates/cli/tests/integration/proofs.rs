//! A cheat for each proof: `pippin targets check` names it, and `pippin run` gives it no rank.
use super::support::{Checkout, plan};
use pippin_model::caveat::Verdict;
use pippin_model::trial::Stage;

crate::patience::patient_tests!(a_server_that_behaves_passes_everything_and_is_measured);

/// `targets check` of one server with one workload fails, with these words; so does a run.
#[track_caller]
fn is_caught(mode: &str, workload: &str, words: &[&str]) {
    let checkout = Checkout::with_cheat(mode, &[workload]);
    checkout
        .pippin(&["targets", "check", "test/it", "--install"])
        .exits(1)
        .says(&["FAIL", "targets: 0 passed, 1 failed"])
        .says(words);
    checkout.add_plan("plan", workload, &["test/it"]);
    // No target has a result.
    checkout.pippin(&["run", "plan", "--install"]).exits(4).says(words);
    let run = checkout.store().load("latest").unwrap();
    let [trial] = run.trials.as_slice() else { panic!("{} trials", run.trials.len()) };
    assert_eq!(trial.verdict, Verdict::Invalid);
    let failure = trial.failure.as_ref().unwrap();
    assert_eq!(failure.stage, Stage::Proof);
    for word in words {
        assert!(failure.message.contains(word), "{}", failure.message);
    }
    checkout.left_nothing();
}

/// The database and the target have folders of their own, from which a relative path leads
/// elsewhere.
#[test]
fn a_relative_output_folder_serves_the_database_too() {
    let checkout = Checkout::with_cheat("right", &["users"]);
    checkout.add_plan("plan", "users", &["test/it"]);
    checkout.pippin(&["targets", "install", "test/it"]).exits(0);
    let outcome = checkout.pippin(&["run", "plan", "--out", "some/where"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!(checkout.store().load("latest").unwrap().trials[0].failure, None);
    checkout.left_nothing();
}

fn a_server_that_behaves_passes_everything_and_is_measured() {
    let checkout =
        Checkout::with_cheat("right", &["hello", "hola", "page", "users", "proxy", "device"]);
    let outcome = checkout.pippin(&["targets", "check", "--all", "--install"]);
    outcome.exits(0).says(&[
        "pass",
        "hello ok",
        "hola ok",
        "page ok",
        "users ok",
        "proxy ok",
        "device ok",
        "targets: 1 passed, 0 failed, 0 unavailable",
    ]);
    for workload in ["hello", "hola", "page", "users", "proxy", "device"] {
        checkout.add_plan(workload, workload, &["test/it"]);
        let outcome = checkout.pippin(&["run", workload]);
        // Whether so short a load is believed is the judges' matter; that it was made and proved is
        // this test's.
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let run = checkout.store().load("latest").unwrap();
        let trial = &run.trials[0];
        assert_eq!(trial.failure, None, "{workload}");
        assert!(trial.proofs.iter().all(|proof| proof.failure.is_none()), "{workload}");
        let measured = &trial.load.as_ref().unwrap().measured;
        assert!(
            measured.requests.good > 0 && measured.requests.good == measured.requests.completed,
            "{workload}: {:?}",
            measured.requests
        );
    }
    checkout.left_nothing();
}

#[test]
fn one_body_for_every_name() {
    is_caught(
        "fixed-body",
        "hola",
        &["answer: GET /hola/Luis", "body \"Hola Ana\" instead of \"Hola Luis\""],
    );
}

#[test]
fn names_that_are_not_decoded() {
    is_caught(
        "no-decoding",
        "hola",
        &["answer: GET /hola/Jos%C3%A9", "body \"Hola Jos%C3%A9\" instead of \"Hola José\""],
    );
}

#[test]
fn a_wrong_media_type() {
    is_caught("wrong-type", "hola", &["Content-Type text/html instead of text/plain"]);
}

#[test]
fn success_for_paths_that_do_not_exist() {
    is_caught(
        "unknown-path-200",
        "hello",
        &["not-found: GET /no-such-page: status 200 instead of 404"],
    );
}

#[test]
fn a_body_in_answer_to_head() {
    is_caught("head-body", "hello", &["head: HEAD /:", "12 bytes"]);
}

#[test]
fn a_connection_closed_without_a_word() {
    is_caught("silent-close", "hello", &["keep-alive: request 2 on one connection"]);
}

#[test]
fn a_page_without_escapes() {
    is_caught(
        "page-unescaped",
        "page",
        &["escapes: GET /page/1: \"Item 12 <of> page 1 & more\" stands in the page unescaped"],
    );
}

#[test]
fn a_page_that_lacks_a_row() {
    is_caught(
        "page-row-missing",
        "page",
        &["rows: GET /page/1: 11 times \"id=\\\"row-1-\" instead of 12"],
    );
}

#[test]
fn a_page_of_another_size() {
    is_caught("page-too-long", "page", &["bytes instead of 2300 to 2900"]);
}

#[test]
fn users_from_a_cache() {
    is_caught("users-cached", "users", &["fresh: row 7 was changed to", "the answer is cached"]);
}

#[test]
fn users_that_are_not_in_the_table() {
    is_caught(
        "users-invented",
        "users",
        &[
            "table: GET /api/users/: user 4: email \"nobody@example.org\" instead of \"barbara@example.org\"",
        ],
    );
}

#[test]
fn users_in_another_order() {
    is_caught(
        "users-reversed",
        "users",
        &[
            "table: GET /api/users/: user 1: email \"joe@example.org\" instead of \"ada@example.org\"",
        ],
    );
}

#[test]
fn an_upstream_asked_once_for_all() {
    is_caught("upstream-cached", "proxy", &["counted: 20 requests made 0 calls at the upstream"]);
}

#[test]
fn an_upstream_call_shared_among_waiting_requests() {
    is_caught("upstream-shared", "proxy", &["counted: 20 requests made", "calls at the upstream"]);
}

/// A closed loop of 16 connections behind an upstream of 40 ms: enough at once to be told from the
/// proof's five.
const PROXY_LOAD: &str =
    "kind = \"closed\"\nconnections = 16\nduration = \"3s\"\nwarm_up = \"400ms\"\n";

/// The only trial of a run of this server with that load, and what the program exits with.
fn under_proxy_load(mode: &str) -> (pippin_model::trial::TrialRecord, super::support::Outcome) {
    let checkout = Checkout::with_cheat(mode, &["proxy"]);
    checkout.write("plans/plan.toml", &plan("proxy", &["test/it"], PROXY_LOAD));
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    let mut run = checkout.store().load("latest").unwrap();
    assert_eq!(run.trials.len(), 1, "{outcome}");
    checkout.left_nothing();
    (run.trials.remove(0), outcome)
}

#[test]
fn an_upstream_call_shared_under_load_only() {
    // Every proof holds, before the load and after it, and the load tells.
    let (trial, outcome) = under_proxy_load("upstream-shared-under-load");
    outcome.exits(3).says(&["INVALID upstream not called", "times for"]);
    assert_eq!(trial.failure, None);
    assert!(trial.proofs.iter().all(|proof| proof.failure.is_none()), "{:?}", trial.proofs);
    let caveat = trial.caveats.iter().find(|caveat| caveat.id == "upstream_not_called").unwrap();
    assert!(caveat.evidence.contains("right answers over the whole load"), "{}", caveat.evidence);
    assert_eq!(trial.verdict, Verdict::Invalid);
    let checkout = Checkout::with_cheat("upstream-shared-under-load", &["proxy"]);
    checkout
        .pippin(&["targets", "check", "test/it", "--install"])
        .exits(1)
        .says(&["under a short load of 32 requests the upstream was asked"]);
}

#[test]
fn an_upstream_called_once_a_request_under_the_same_load_is_not_doubted() {
    let (trial, outcome) = under_proxy_load("right");
    assert!(trial.caveats.iter().all(|caveat| !caveat.id.starts_with("upstream_")), "{outcome}");
    let windows = &trial.load.as_ref().unwrap().windows;
    let (good, sent) = (
        windows.iter().map(|window| window.good).sum::<u64>(),
        windows.iter().map(|window| window.sent).sum::<u64>(),
    );
    let calls = trial.services["upstream_calls"] as u64;
    // The warm-up and each slice end with a request under way on each connection.
    let loads = 1 + trial.slices.iter().filter(|slice| slice.used).count() as u64;
    // About 25 a second and connection, for 3.4 s, on a machine that has time.
    assert!(
        good > 200 && (good..=sent).contains(&calls) && sent - good <= 16 * loads,
        "{good} right, {sent} sent, {calls} calls"
    );
}

#[test]
fn an_upstream_called_twice_a_request() {
    is_caught("upstream-twice", "proxy", &["counted: 20 requests made 40 calls at the upstream"]);
}

#[test]
fn a_device_server_that_blocks_is_told_how_many_it_serves() {
    is_caught("device-blocks", "device", &["simultaneous: ", "1000 at once", "at a time"]);
}

#[test]
fn a_device_server_that_does_not_wait() {
    is_caught(
        "device-at-once",
        "device",
        &["delay: an answer came after", "before the least wait of 95.0 ms"],
    );
}

#[test]
fn a_device_server_that_always_waits_alike() {
    is_caught("device-constant", "device", &["delay:", "they are not drawn anew for each request"]);
}

#[test]
fn answers_that_go_wrong_under_load() {
    let checkout = Checkout::with_cheat("wrong-after:300", &["hello"]);
    let outcome = checkout.pippin(&["targets", "check", "test/it", "--install"]);
    outcome.exits(1).says(&[
        "under a short load of 500 requests",
        "wrong_body",
        "answer (after the load): GET /: body \"!dlroW olleH\"",
    ]);
    let load = "kind = \"closed\"\nconnections = 4\nrequests = 500\nwarm_up = \"none\"\n";
    checkout.write("plans/plan.toml", &plan("hello", &["test/it"], load));
    checkout
        .pippin(&["run", "plan"])
        .exits(4)
        .says(&["body \"!dlroW olleH\" instead of \"Hello World!\""]);
    let run = checkout.store().load("latest").unwrap();
    let caveats: Vec<&str> =
        run.trials[0].caveats.iter().map(|caveat| caveat.id.as_str()).collect();
    assert!(caveats.contains(&"wrong_answers"), "{caveats:?}");
    assert_eq!(run.trials[0].verdict, Verdict::Invalid);
}

#[test]
fn users_that_go_stale_only_under_load_are_seen_by_the_load_itself() {
    let checkout = Checkout::with_cheat("wrong-after:30", &["users"]);
    checkout
        .pippin(&["targets", "check", "test/it", "--install"])
        .exits(1)
        .says(&["under a short load of 500 requests", "wrong_body"]);
}
