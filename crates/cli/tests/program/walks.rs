//! Scenarios: users who walk through steps, at a URL, in a project, and side by side.
use super::support::{Checkout, Outcome, cheat, pippin};
use pippin_testing::Running;
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use serde_json::Value;
use std::time::Duration;

pippin_testing::patient_tests!(
    an_objective_is_searched_in_walks_and_in_devices,
    users_arrive_at_a_rate_of_walks,
    two_urls_are_walked_through_in_turn
);

/// A server whose list opens only with the token of its own login; every fourth login gives none.
fn shop(forgets: bool, delay_ms: u64) -> Running<Account> {
    let mut logins = 0;
    spawn(Script::each(move |request, _| {
        let text = String::from_utf8_lossy(request.bytes);
        let answer = if text.starts_with("POST /login ") {
            logins += 1;
            let body: &[u8] =
                if forgets && logins % 4 == 0 { b"{}" } else { b"{\"token\": \"t 1\"}" };
            Answer::ok(body)
        } else if text.starts_with("GET /list?t=t%201 ") {
            Answer::ok(b"two items")
        } else {
            Answer::new(404, b"no such page")
        };
        answer.delay(Duration::from_millis(delay_ms))
    }))
    .unwrap()
}

const SHOP: &str = "[data]\nuser = { file = \"users.csv\" }\n\
    [[steps]]\nname = \"login\"\npost = \"/login\"\njson = { user = \"{user.name}\" }\n\
    capture = { token = \"json:$.token\" }\n\
    [[steps]]\nname = \"list\"\nget = \"/list?t={token}\"\nexpect = { contains = \"items\" }\n";

/// A folder with the scenario and its users.
fn folder() -> Checkout {
    let checkout = Checkout::new();
    checkout.write("shop.toml", SHOP);
    checkout.write("users.csv", "name,password\nana,secret-1\nbo,secret-2\n");
    checkout
}

fn load(checkout: &Checkout, server: &Running<Account>, more: &[&str]) -> Outcome {
    let url = format!("http://{}", server.address());
    let all = ["load", url.as_str(), "--scenario", "shop.toml", "--json", "result.json"];
    checkout.pippin(&[&all[..], more].concat())
}

fn result(checkout: &Checkout) -> Value {
    let text = std::fs::read_to_string(checkout.path().join("result.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Of 70 requests of one user, 40 are logins: 10 of them give no token, and 30 lists follow the
/// others.
#[test]
fn a_capture_that_finds_nothing_is_an_error_of_its_step_and_the_user_starts_anew() {
    let (checkout, server) = (folder(), shop(true, 0));
    let outcome = load(&checkout, &server, &["-c", "1", "-n", "70"]);
    outcome.says(&[
        "30 of 40 walks through all steps",
        "login: 10 nothing_captured",
        "nothing to capture as `token` at json:$.token (status 200, 2 bytes: \"{}\")",
    ]);
    let steps = &result(&checkout)["scenario"];
    let counts = |step: usize| {
        let step = &steps[step];
        (step["requests"].as_u64(), step["good"].as_u64(), step["errors"].to_string())
    };
    assert_eq!(counts(0), (Some(40), Some(30), "{\"nothing_captured\":10}".into()));
    assert_eq!(counts(1), (Some(30), Some(30), "{}".into()));
    let gates = ["--fail-if", "errors.nothing_captured > 5", "--fail-if", "errors.wrong_body > 0"];
    let outcome = load(&checkout, &server, &[&["-c", "1", "-n", "70"], &gates[..]].concat());
    // An INVALID result decides no gate, but its figures are shown.
    outcome.exits(3).says(&[
        "gate UNDECIDED  fail if errors.nothing_captured > 5  10: repetition 1 is INVALID: errors",
        "gate UNDECIDED  fail if errors.wrong_body > 0  0: repetition 1 is INVALID: errors",
    ]);
    let kept = checkout.store().load("latest").unwrap();
    let kept = serde_json::to_string(&kept).unwrap();
    assert!(kept.contains("users.csv") && !kept.contains("secret-1"), "rows are not kept");
    server.stop().unwrap();
}

/// 20 walks of two steps.
fn users_arrive_at_a_rate_of_walks() {
    let (checkout, server) = (folder(), shop(false, 0));
    let outcome = load(&checkout, &server, &["-R", "20", "-d", "1s", "-c", "4"]);
    outcome.says(&["open loop, 20.0 walks/s"]);
    let result = result(&checkout);
    let requests: Vec<u64> =
        (0..2).filter_map(|step| result["scenario"][step]["requests"].as_u64()).collect();
    // The last walk may be cut off by the end.
    in_time(requests[0] >= 19 && requests[1] >= 19, || result["scenario"].to_string());
    assert!(requests[0] <= 20 && requests[1] <= requests[0], "{requests:?}");
    server.stop().unwrap();
}

fn two_urls_are_walked_through_in_turn() {
    let (fast, slow) = (shop(false, 5), shop(false, 25));
    let checkout = folder();
    let urls = [&fast, &slow].map(|server| format!("http://{}", server.address()));
    let outcome = checkout.pippin(&[
        "compare",
        &urls[0],
        &urls[1],
        "--scenario",
        "shop.toml",
        "-c",
        "2",
        "-d",
        "400ms",
        "--warm-up",
        "none",
        "--repeat",
        "3",
        "--fail-if",
        "goodput < -30%",
    ]);
    assert!([Some(5), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&["walks through all steps", "gate UNDECIDED  fail if goodput < -30%"]);
    let run = checkout.store().load("latest").unwrap();
    assert_eq!(run.header.workload.title, "Scenario shop.toml");
    let is_whole = |trial: &pippin_model::trial::TrialRecord| {
        let steps = &trial.load.as_ref().unwrap().measured.steps;
        trial.slices.is_empty() && steps.len() == 2 && steps.iter().all(|step| step.good > 0)
    };
    assert!(run.trials.len() == 6 && run.trials.iter().all(is_whole));
    drop((fast.stop(), slow.stop()));
}

/// The project's server answers `GET /` with a greeting. One walk proves it before the load.
#[test]
fn a_project_has_a_plan_of_walks_and_a_wrong_step_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let project = |expected: &str, load: &str| {
        std::fs::write(
            folder.path().join("pippin.toml"),
            format!(
                "[target.shop]\ncommand = [\"{}\", \"right\", \"own\"]\n[workload.visit]\n\
                 steps = [{{ name = \"home\", get = \"/\", expect = {{ contains = \"{expected}\" }} }}, {{ get = \"/\" }}]\n\
                 [plan.ci]\nworkload = \"visit\"\ntargets = [\"shop\"]\nrepetitions = 1\n{load}\nduration = \"500ms\"\n[plan.ci.cpus]\nshare = true\n",
                cheat().display()
            ),
        )
        .unwrap();
    };
    project("Hello", "rate = \"40/s\"");
    let outcome = pippin(folder.path(), &["run", "ci"]);
    outcome.says(&["40.0 walks/s", "home", "GET /", "walks through all steps"]);
    assert!([Some(0), Some(3)].contains(&outcome.code), "{outcome}");
    project("Bonjour", "connections = 2");
    pippin(folder.path(), &["run", "ci"])
        .exits(4)
        .says(&["step `home`: the body does not contain `Bonjour` (status 200"]);
    project("Hello", "connections = 2\nslice = \"400ms\"");
    pippin(folder.path(), &["run", "ci"])
        .exits(2)
        .says(&["slice has no effect", "`visit` has steps"]);
}

/// Of a server that takes 30 ms for each answer: no rate of walks and no number of devices keeps p99
/// below 5 ms.
fn an_objective_is_searched_in_walks_and_in_devices() {
    let (checkout, server) = (folder(), shop(false, 30));
    let objective = ["--objective", "p99<5ms"];
    for (shape, said) in [
        (&["-R", "20", "-c", "4", "-d", "300ms"][..], " walks/s"),
        (&["--devices", "2", "--ramp", "100ms,300ms,100ms", "--think", "10ms"], " 1 device"),
    ] {
        let outcome = load(&checkout, &server, &[&objective[..], shape].concat());
        // A busy machine may make each step INVALID.
        in_time(outcome.code == Some(1), || outcome.to_string());
        outcome.says(&["that was tried keeps the objective, down to ", said]);
        let kept = result(&checkout);
        assert!(kept["capacity_per_s"].is_null(), "{kept}");
        assert_eq!(kept["capacity"]["searches"][0]["outcome"]["of"], "never_held", "{kept}");
    }
}

#[test]
fn what_does_not_go_with_steps_is_refused_with_the_fix() {
    let (checkout, server) = (folder(), shop(false, 0));
    let refused = |more: &[&str], texts: &[&str]| {
        load(&checkout, &server, more).exits(2).says(texts);
    };
    refused(&["--h2c"], &["HTTP/2"]);
    refused(&["--pipeline", "4"], &["each step waits for the answer before it"]);
    refused(
        &["--objective", "p99<50ms", "-d", "4s", "--think", "1s"],
        &["--think has no effect with --objective"],
    );
    let added = [
        ("-H", "X: {token}", "nothing is named `token` here"),
        ("--cookie", "a={user.nam}", "did you mean `{user.name}`?"),
        ("-H", "X: {user.password}", "which a header cannot hold"),
    ];
    checkout.write("users.csv", "name,password\nana,\"a\r\nEvil: 1\"\n");
    for (flag, value, why) in added {
        let named = format!("{flag} `{value}` holds for every step. step `login`: ");
        refused(&[flag, value], &[&named, why]);
    }
    let url = format!("http://{}/x", server.address());
    let with_path = ["compare", &url, &url, "--scenario", "shop.toml"];
    checkout.pippin(&with_path).exits(2).says(&["has no effect, because shop.toml has the paths"]);
    checkout
        .pippin(&["compare", "a", "b", "--scenario", "shop.toml"])
        .exits(2)
        .says(&["--scenario goes with URLs, --command and --image only"]);
    checkout.write("shop.toml", &SHOP.replace("?t={token}", "?t={tokn}"));
    refused(&[], &["shop.toml:10", "nothing is named `tokn` here: did you mean `{token}`?"]);
    checkout.write("shop.toml", &SHOP.replace("users.csv", "nobody.csv"));
    refused(&[], &["shop.toml:2", "nobody.csv"]);
    checkout.write("shop.toml", SHOP);
    checkout.write("users.csv", "name,password\nana\n");
    refused(&[], &["users.csv:2: 1 value, but the first line has 2 names"]);
    server.stop().unwrap();
}
