//! One cheat for each proof: `pippin targets check` names it, and `pippin run` does not rank it.
use super::support::{Checkout, Outcome, cheat, counted, plan};
use pippin_model::host::usage::Role;
use pippin_model::trial::{ProofTime, Stage, TrialRecord};
use pippin_model::verdict::{Caveat, Severity, Verdict};
use pippin_reference::corpus::{SERVERS, Said, Server};
use pippin_testing::patience::in_time;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pippin_testing::patient_tests!(
    a_server_that_behaves_passes_everything_and_is_measured,
    an_upstream_called_once_a_request_under_the_same_load_is_not_doubted,
    compressed_answers_are_told_as_what_they_are,
    crud_is_told_as_what_it_is,
    devices_are_told_as_what_they_are,
    events_are_told_as_what_they_are,
    json_is_told_as_what_it_is,
    messages_are_told_as_what_they_are,
    pages_are_told_as_what_they_are,
    rows_that_are_5_ms_old_are_stale_while_the_table_changes,
    uploads_are_told_as_what_they_are,
    users_are_told_as_what_they_are,
    whatever_else_a_server_does_is_told_as_what_it_is,
    what_only_times_tell_is_told_too,
    what_works_all_the_time_beside_an_honest_server_does_not_help_it,
    who_follows_every_load_is_no_helper,
);

/// The rows of the table. With PIPPIN_CORPUS, only those whose mode contains that text.
fn rows(is_wanted: fn(&Server) -> bool) -> Vec<&'static Server> {
    let only = std::env::var("PIPPIN_CORPUS").unwrap_or_default();
    let wanted = |server: &&Server| server.mode.contains(&only) && is_wanted(server);
    let rows: Vec<_> = SERVERS.iter().filter(wanted).collect();
    assert!(!rows.is_empty() || !only.is_empty(), "a test without rows");
    rows
}

/// Whether only times show what a server does: the size of a pool, waits that are 6 ms too short,
/// or help that others give while enough of the load is calm. A very busy machine hides them.
fn is_told_by_times(server: &Server) -> bool {
    matches!(
        server.said,
        Said::Pool(_)
            | Said::Fails("waits", _)
            | Said::Invalid(..)
            | Said::Doubted(..)
            | Said::Costs(_)
            | Said::Holds(_)
    )
}

/// Whether a run shows it, and not a check. Runs are judged by what processors do, so that two at once would
/// disturb each other.
fn is_told_in_a_run(server: &Server) -> bool {
    matches!(server.said, Said::Invalid(..) | Said::Doubted(..) | Said::Costs(_) | Said::Holds(_))
}

fn what_only_times_tell_is_told_too() {
    let (runs, checks): (Vec<_>, Vec<_>) =
        rows(is_told_by_times).into_iter().partition(|server| is_told_in_a_run(server));
    let mut wrong = differences(&checks, 4);
    wrong.extend(differences(&runs, 1));
    in_time(wrong.is_empty(), || wrong.join("\n"));
}

/// The workloads with a test of their own, so that these can take turns.
const BY_THEMSELVES: [&str; 9] =
    ["compressed", "crud", "device", "events", "json", "messages", "page", "upload", "users"];

fn compressed_answers_are_told_as_what_they_are() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "compressed"));
}

fn crud_is_told_as_what_it_is() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "crud"));
}

fn devices_are_told_as_what_they_are() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "device"));
}

fn events_are_told_as_what_they_are() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "events"));
}

fn json_is_told_as_what_it_is() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "json"));
}

fn messages_are_told_as_what_they_are() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "messages"));
}

fn pages_are_told_as_what_they_are() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "page"));
}

fn uploads_are_told_as_what_they_are() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "upload"));
}

fn users_are_told_as_what_they_are() {
    every_server_is_told_as_what_it_is(rows(|it| it.workload == "users"));
}

fn whatever_else_a_server_does_is_told_as_what_it_is() {
    every_server_is_told_as_what_it_is(rows(|it| !BY_THEMSELVES.contains(&it.workload)));
}

/// Tests these rows of the table, some at a time: they wait more than they work.
fn every_server_is_told_as_what_it_is(rows: Vec<&'static Server>) {
    let rows: Vec<_> = rows.into_iter().filter(|server| !is_told_by_times(server)).collect();
    let wrong = differences(&rows, 4);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// How Pippin's judgements of these servers differ from the table, so many servers at once.
fn differences(rows: &[&Server], at_once: usize) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(server) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(difference) = differs_from_the_table(server) {
                        wrong.lock().unwrap().push(difference);
                    }
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// Returns how Pippin's judgement of a server differs from the table, if it does.
fn differs_from_the_table(server: &Server) -> Option<String> {
    if is_told_in_a_run(server) { differs_in_a_run(server) } else { differs_in_a_check(server) }
}

/// How the output of `targets check` differs from the table.
fn differs_in_a_check(server: &Server) -> Option<String> {
    let Server { mode, workload, said, .. } = server;
    let checkout = Checkout::with_cheat(mode, &[workload]);
    let outcome = checkout.pippin(&["targets", "check", "test/it", "--install"]);
    let left = crate::support::alive_with(&checkout.marker());
    let is_as_said = left.is_empty()
        && match said {
            Said::Passes | Said::Unseen => outcome.code == Some(0),
            Said::Pool(size) => outcome.code == Some(0) && told_pool(&outcome.stdout, *size),
            Said::Invalid(..) | Said::Doubted(..) | Said::Costs(_) | Said::Holds(_) => false,
            Said::Fails(proof, words) => {
                outcome.code == Some(1)
                    && outcome.has(proof)
                    && words.iter().all(|words| outcome.has(words))
            }
        };
    (!is_as_said)
        .then(|| format!("{mode} ({workload}), which should be {said:?}: {outcome}{left:?}"))
}

/// How the outcome of a run differs from the table. A daemon that may help the server runs too.
fn differs_in_a_run(server: &Server) -> Option<String> {
    let Server { mode, said, .. } = server;
    let (trial, outcome) = on_the_first_processor(mode, "daemon");
    let has = |id: &str| trial.caveats.iter().any(|caveat| caveat.id == id);
    let is_as_said = trial.failure.is_none()
        && match said {
            Said::Invalid(id, words) => {
                outcome.code == Some(3)
                    && trial.caveats.iter().any(|caveat| {
                        caveat.id == *id
                            && caveat.severity == Severity::Invalid
                            && words.iter().all(|words| caveat.evidence.contains(words))
                    })
            }
            Said::Doubted(id, words, ms) => {
                let is_doubt = |caveat: &Caveat| {
                    caveat.id == *id
                        && caveat.severity == Severity::Suspect
                        && words.iter().all(|words| caveat.evidence.contains(words))
                };
                // Without control groups nothing can be left, and the sum over processes counts.
                let is_told = trial.caveats.iter().any(is_doubt) || !has_group();
                costs(&trial) >= *ms && is_told
            }
            Said::Holds(mib) => holds(&trial) >= *mib,
            Said::Costs(ms) => !has("outside_help") && (has("unbilled") || costs(&trial) >= *ms),
            _ => false,
        };
    (!is_as_said).then(|| format!("{mode}, which should be {said:?}: {outcome}{:?}", trial.outside))
}

/// Whether this host lets a target have a control group.
fn has_group() -> bool {
    Path::new("/sys/fs/cgroup/cgroup.procs").exists()
        || Path::new("/sys/fs/cgroup/unified/cgroup.procs").exists()
}

/// The most memory of a target, in MiB.
fn holds(trial: &TrialRecord) -> u64 {
    let usage = trial.usage.as_ref().unwrap();
    usage.roles[&Role::Target].pss_max_bytes.unwrap_or(0) >> 20
}

/// CPU time for a request in milliseconds, plus 3 % because the kernel counts in ticks.
fn costs(trial: &TrialRecord) -> f64 {
    let used_ns = trial.usage.as_ref().and_then(|usage| usage.roles[&Role::Target].cpu_ns);
    let answers = trial.load.as_ref().unwrap().measured.requests.completed.max(1);
    used_ns.unwrap_or(0) as f64 / answers as f64 / 1e6 * 1.03
}

/// Runs this server on the first processor alone, beside another server that Pippin does not know
/// about. Returns the only trial and the outcome.
fn on_the_first_processor(mode: &str, beside: &str) -> (TrialRecord, Outcome) {
    let checkout = Checkout::with_cheat(mode, &["hello"]);
    let plan = plan("hello", &["test/it"], OUTSIDE_LOAD)
        .replace("share = true", "target = \"0\"\ngenerator = \"1\"");
    checkout.write("plans/plan.toml", &plan);
    let mut other = Command::new(cheat()).args([beside, &checkout.marker()]).spawn().unwrap();
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    other.kill().unwrap();
    other.wait().unwrap();
    checkout.left_nothing();
    let mut run = checkout.store().load("latest").unwrap();
    assert_eq!(run.trials.len(), 1, "{outcome}");
    (run.trials.remove(0), outcome)
}

/// A load with enough slices to be sure about a helper.
const OUTSIDE_LOAD: &str =
    "kind = \"closed\"\nconnections = 4\nduration = \"3s\"\nwarm_up = \"300ms\"\n";

/// The caveats about help from outside.
const ABOUT_HELP: [&str; 4] = ["outside_help", "cpu_beyond", "cpu_missing", "unbilled"];

fn what_works_all_the_time_beside_an_honest_server_does_not_help_it() {
    for mode in ["right", "binds-itself", "pre-forks"] {
        let (trial, outcome) = on_the_first_processor(mode, "burns");
        assert_eq!(trial.failure, None, "{mode}: {outcome}");
        in_time(trial.slices.len() >= 4, || format!("{mode}: {outcome}"));
        let about: Vec<_> = trial
            .caveats
            .iter()
            .filter(|caveat| ABOUT_HELP.contains(&caveat.id.as_str()))
            .collect();
        assert!(about.is_empty(), "{mode}: {about:?}");
    }
}

/// A packet sniffer works with the load and rests without it, as a helper does. But it works with
/// every load, so it is a doubt about this host and none about the target.
fn who_follows_every_load_is_no_helper() {
    // SAFETY: geteuid(2) cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let (trial, outcome) = on_the_first_processor("right", "follows-every-load");
    assert_eq!(trial.failure, None, "{outcome}");
    let helped = trial.caveats.iter().find(|caveat| caveat.id == "outside_help");
    assert!(
        helped.is_none_or(|caveat| caveat.severity == Severity::Suspect),
        "{helped:?} {:?}",
        trial.outside
    );
}

/// Each target sees its own processes alone: it cannot stop another one that is up too.
#[test]
fn a_target_cannot_stop_its_rivals() {
    // SAFETY: geteuid(2) cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_cheat("rival", "stops-rivals", &["hello"]);
    let load = "kind = \"closed\"\nconnections = 2\nduration = \"1s\"\nwarm_up = \"none\"\n";
    checkout.write("plans/plan.toml", &plan("hello", &["test/rival", "test/it"], load));
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    let run = checkout.store().load("latest").unwrap();
    assert!(!run.trials.is_empty(), "{outcome}");
    for trial in &run.trials {
        assert_eq!(trial.failure, None, "{}: {outcome}", trial.spec.target);
        let strays = trial.usage.iter().flat_map(|usage| &usage.strays).count();
        assert!(
            strays == 0 && trial.load.as_ref().unwrap().measured.requests.good > 0,
            "{outcome}"
        );
    }
    checkout.left_nothing();
}

/// Whether a pool of this size is found, within 10 %.
fn told_pool(said: &str, size: u32) -> bool {
    let told = said.split_once("at once it answers about ").map(|(_, rest)| rest);
    let told: Option<f64> = told.and_then(|rest| rest.split(' ').next()?.parse().ok());
    told.is_some_and(|told| (told / f64::from(size) - 1.0).abs() <= 0.1)
}

/// A cheat has no result.
#[test]
fn a_cheat_has_no_rank() {
    let words = &["answer: GET /hola/Luis"];
    let checkout = Checkout::with_cheat("fixed-body", &["hola"]);
    checkout.add_plan("plan", "hola", &["test/it"]);
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

/// Proofs send the same header as the load.
#[test]
fn a_cheat_that_shows_with_connection_close_only_has_no_rank_where_the_load_closes() {
    let checkout = Checkout::with_cheat("table-when-closing", &["hola"]);
    let run = |keep_alive: bool| {
        let load = format!(
            "kind = \"closed\"\nconnections = 4\nduration = \"300ms\"\nwarm_up = \"none\"\nkeep_alive = {keep_alive}\n"
        );
        checkout.write("plans/plan.toml", &plan("hola", &["test/it"], &load));
        checkout.pippin(&["run", "plan", "--install"])
    };
    run(false).exits(4).says(&["answer: GET /hola/", "instead of \"Hola "]);
    let outcome = run(true);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!(checkout.store().load("latest").unwrap().trials[0].failure, None, "{outcome}");
    checkout.left_nothing();
}

/// The server answers wrongly when a drawn name comes for the third time, which the proofs before
/// and after the load never do. A load that repeated 8,000 names in turn would.
#[test]
fn under_load_no_name_comes_again() {
    let checkout = Checkout::with_cheat("wrong-when-asked-again", &["hola"]);
    let load = "kind = \"closed\"\nconnections = 8\nduration = \"4s\"\nwarm_up = \"500ms\"\n";
    checkout.write("plans/plan.toml", &plan("hola", &["test/it"], load));
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    let run = checkout.store().load("latest").unwrap();
    let trial = &run.trials[0];
    assert_eq!(trial.failure, None, "{outcome}");
    let load = trial.load.as_ref().unwrap();
    let all: u64 = load.windows.iter().map(|window| window.completed).sum();
    let right: u64 = load.windows.iter().map(|window| window.good).sum();
    assert_eq!(right, all, "{outcome}");
    checkout.left_nothing();
}

#[test]
fn an_upstream_of_1_ms_is_waited_for_and_not_refused() {
    let checkout = Checkout::with_cheat("right", &["proxy"]);
    let load = "kind = \"closed\"\nconnections = 4\nduration = \"300ms\"\nwarm_up = \"none\"\n";
    let plan = plan("proxy", &["test/it"], load).replace("40ms", "1ms");
    checkout.write("plans/plan.toml", &plan);
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    let run = checkout.store().load("latest").unwrap();
    assert_eq!(run.trials[0].failure, None, "{outcome}");
    let proofs = run.trials[0].proofs.iter();
    let under_load: Vec<&str> = proofs
        .filter(|proof| proof.when == ProofTime::During && proof.failure.is_none())
        .map(|proof| proof.proof.as_str())
        .collect();
    assert!(
        ["least-wait", "numbers"].iter().all(|proof| under_load.contains(proof)),
        "{under_load:?}"
    );
    checkout.left_nothing();
}

/// The database and the target run in their own folders, where a relative path would lead
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
    let checkout = Checkout::with_cheat(
        "right",
        &["hello", "hola", "page", "users", "crud", "proxy", "device"],
    );
    let outcome = checkout.pippin(&["targets", "check", "--all", "--install"]);
    outcome.exits(0).says(&[
        "pass",
        "hello ok",
        "hola ok",
        "page ok",
        "users ok",
        "crud ok",
        "proxy ok",
        "device ok",
        "targets: 1 passed, 0 failed, 0 unavailable",
    ]);
    for workload in ["hello", "hola", "page", "users", "crud", "proxy", "device"] {
        checkout.add_plan(workload, workload, &["test/it"]);
        let outcome = checkout.pippin(&["run", workload]);
        // The judges decide whether so short a load can be trusted. This test only needs the load
        // and its proofs.
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

/// A closed loop of 16 connections behind an upstream of 40 ms: enough at once to be told apart
/// from the proof's five.
const PROXY_LOAD: &str =
    "kind = \"closed\"\nconnections = 16\nduration = \"3s\"\nwarm_up = \"400ms\"\n";

/// The only trial of a run of this server with that load, and the outcome of the program.
fn under_proxy_load(mode: &str) -> (TrialRecord, Outcome) {
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
    // Every proof before and after the load passes; only the load shows the cheat.
    let (trial, outcome) = under_proxy_load("upstream-shared-under-load");
    outcome.exits(3).says(&["the upstream was not called for each request"]);
    let failed: Vec<_> = trial.proofs.iter().filter(|proof| proof.failure.is_some()).collect();
    assert!(failed.iter().all(|proof| proof.when == ProofTime::During), "{failed:?}");
    let failure = trial.failure.as_ref().unwrap();
    assert!(failure.message.starts_with("proof numbers under the load:"), "{}", failure.message);
    assert_eq!(trial.verdict, Verdict::Invalid);
}

/// A cheat under a load.
fn cheats_under_load(cheat: &str, workload: &str, load: &str) -> (Checkout, Outcome) {
    let checkout = Checkout::with_cheat(cheat, &[workload]);
    checkout.write("plans/plan.toml", &plan(workload, &["test/it"], load));
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    (checkout, outcome)
}

fn rows_that_are_5_ms_old_are_stale_while_the_table_changes() {
    let load = "kind = \"closed\"\nconnections = 4\nduration = \"2s\"\nwarm_up = \"none\"\n";
    let (checkout, outcome) = cheats_under_load("users-cached-5ms", "users", load);
    // On a busy machine few requests come within 5 ms of a change.
    in_time(outcome.has("proof changes under the load:"), || outcome.to_string());
    outcome.exits(3).says(&[
        "proof changes under the load:",
        "lacked a change of the table that was committed before their requests were sent",
        "proof queries under the load: PostgreSQL counts",
    ]);
    checkout.left_nothing();
}

#[test]
fn products_that_are_hidden_under_load_alone_are_found_when_it_is_over() {
    // Of up to 8 requests without an answer nobody knows what they did: many more must be hidden.
    let (checkout, outcome) =
        cheats_under_load("crud-hides-under-load", "crud", &counted(8, 4_000));
    outcome.exits(3).says(&[
        "proof stored under the load: the table has",
        "rows more of the category `gone`, and by the answers it would be",
        "proof queries under the load: PostgreSQL counts",
        "statements that delete from `products`",
    ]);
    let run = checkout.store().load("latest").unwrap();
    assert_eq!(run.trials[0].verdict, Verdict::Invalid);
    checkout.left_nothing();
}

fn an_upstream_called_once_a_request_under_the_same_load_is_not_doubted() {
    let (trial, outcome) = under_proxy_load("right");
    assert!(trial.caveats.iter().all(|caveat| !caveat.id.starts_with("upstream_")), "{outcome}");
    let windows = &trial.load.as_ref().unwrap().windows;
    let (good, sent) = (
        windows.iter().map(|window| window.good).sum::<u64>(),
        windows.iter().map(|window| window.sent).sum::<u64>(),
    );
    let count = |name: &str| trial.services[name] as u64;
    let (calls, numbers) = (count("upstream_answered"), count("upstream_numbers"));
    // The warm-up and each slice may end with one unfinished request on each connection.
    let loads = 1 + trial.slices.iter().filter(|slice| slice.used).count() as u64;
    // About 25 a second on each connection for 3.4 s, on a machine that is not busy. A few
    // requests ask for a page that does not exist.
    let others = good - numbers;
    assert!(
        (numbers..=sent).contains(&calls) && sent - good <= 16 * loads,
        "{good} right, {numbers} with a number, {sent} sent, {calls} calls"
    );
    in_time(good > 200, || outcome.to_string());
    assert!(others <= good / 100 + 2, "{others} of {good} without a number");
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
    checkout.write("plans/plan.toml", &plan("hello", &["test/it"], &counted(4, 500)));
    checkout
        .pippin(&["run", "plan"])
        .exits(3)
        .says(&["body \"!dlroW olleH\" instead of \"Hello World!\""]);
    let run = checkout.store().load("latest").unwrap();
    let caveats: Vec<&str> =
        run.trials[0].caveats.iter().map(|caveat| caveat.id.as_str()).collect();
    assert!(caveats.contains(&"wrong_answers"), "{caveats:?}");
    assert_eq!(run.trials[0].verdict, Verdict::Invalid);
}
