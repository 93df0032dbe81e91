//! `pippin load` against servers whose behaviour is known.
use super::support::{Checkout, Outcome, Started, command, pippin, start};
use pippin_testing::Running;
use pippin_testing::old_kernel;
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Account, Answer, Received, Script, spawn};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pippin_testing::patient_tests!(
    a_load_needs_no_epoll_pwait2,
    a_rate_that_the_server_cannot_keep_is_invalid_and_waiting_counts,
    a_search_ends_with_one_table_and_says_how_sure_it_is,
    devices_have_phases,
    connections_that_the_server_does_not_accept_are_told_of,
    a_short_listen_queue_is_named_as_the_reason_for_missing_connections,
    an_open_loop_sends_at_its_rate,
    an_objective_that_no_rate_keeps_is_a_failure,
);

/// Connections before a load of a number of requests: whether somebody answers, and whether in the
/// protocol of the load.
const LOOKS: u64 = 2;

/// Answers after 5 ms, so that the generator has time to spare even on a busy machine.
fn steady() -> Running<Account> {
    spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(5)))).unwrap()
}

fn url(server: &Running<Account>) -> String {
    format!("http://{}/", server.address())
}

fn load(server: &Running<Account>, arguments: &[&str]) -> Outcome {
    let (url, folder) = (url(server), tempfile::tempdir().unwrap());
    pippin(folder.path(), &[&["load", url.as_str()], arguments].concat())
}

/// The JSON of a load, which must end with one of these exit codes.
fn json(server: &Running<Account>, arguments: &[&str], codes: &[i32]) -> Value {
    let outcome = load(server, &[arguments, &["--json", "-", "--quiet"]].concat());
    assert!(outcome.code.is_some_and(|code| codes.contains(&code)), "{outcome}");
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"))
}

/// A busy machine may make a short load suspect or invalid. Its counts are right all the same.
const BELIEVED_OR_NOT: [i32; 2] = [0, 3];

fn ids(json: &Value) -> Vec<&str> {
    json["caveats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|caveat| caveat["id"].as_str().unwrap())
        .collect()
}

#[test]
fn the_server_on_this_machine_is_found_and_measured() {
    let server = steady();
    let found = json(&server, &["-c", "2", "-d", "500ms", "--warm-up", "none"], &BELIEVED_OR_NOT);
    // This test's own process holds the socket.
    assert_eq!(found["server"]["processes"][0]["pid"], std::process::id());
    assert!(found["server"]["unmeasured"].is_null(), "{}", found["server"]);
    assert!(found["server"]["max_memory_bytes"].as_u64().unwrap() > 0, "{}", found["server"]);
    let outcome = load(&server, &["-n", "1", "--target-pid", "2000000000"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    outcome.says(&["--target-pid: there is no process 2000000000"]);
}

#[test]
fn gates_decide_the_exit_code_and_are_told_line_by_line() {
    let server = steady();
    let folder = tempfile::tempdir().unwrap();
    let url = url(&server);
    let load = |more: &[&str]| {
        let quick = ["load", url.as_str(), "-n", "50", "--store", "runs.db", "-q"];
        pippin(folder.path(), &[&quick[..], more].concat())
    };
    let passed = load(&["--fail-if", "errors > 0", "--require", "status.2xx >= 1"]);
    assert!(passed.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{passed}");
    passed
        .says(&["gate passed  require status.2xx >= 1  50", "gate passed  fail if errors > 0  0"]);
    let failed = load(&[
        "--fail-if",
        "good < 1000",
        "--fail-if",
        "p50 < 1h",
        "--fail-if",
        "goodput < -99.9% vs latest",
        "--junit",
        "gates.xml",
        "--summary",
        "gates.md",
    ]);
    // INVALID counts before a gate.
    assert!(failed.code.is_some_and(|code| [1, 3].contains(&code)), "{failed}");
    // 50 requests are too few to see a calm host and a warm server, and one load too few for a
    // change.
    failed.says(&[
        "gate FAILED  fail if good < 1000",
        "gate UNDECIDED  fail if p50 < 1h",
        "gate UNDECIDED  fail if goodput < -99.9% vs latest",
        "compared with run ",
    ]);
    let undecided = load(&["--fail-if", "p50 < 1h"]);
    assert!(undecided.code.is_some_and(|code| [5, 3].contains(&code)), "{undecided}");
    let warned = load(&["--fail-if", "p50 < 1h", "--undecided", "warn"]);
    assert!(warned.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{warned}");
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(text("gates.xml").contains("<failure message=\"fail if good &lt; 1000: "));
    assert!(text("gates.xml").contains("type=\"undecided\""));
    let summary = text("gates.md");
    assert!(
        summary.contains("1 of 3 gates FAILED, 2 UNDECIDED") && summary.contains("<details>"),
        "{summary}"
    );
    let (folded, _) = summary.split_once("<details>").unwrap();
    assert!(folded.len() < 3_000, "{summary}");
}

#[test]
fn gates_that_cannot_be_judged_are_refused_before_the_load() {
    let server = steady();
    let outcome = |gate: &str| load(&server, &["-n", "1", "--no-store", "--fail-if", gate]);
    outcome("p99 > 10%").is_a_user_error(&["a change needs a base: add `vs RUN` or `vs TARGET`"]);
    outcome("p99 > 10% vs nothing").is_a_user_error(&["p99 > 10% vs nothing", "nothing"]);
    outcome("errors > 100%").exits(2).says(&["it is never true", "a share of the requests"]);
    outcome("p99 > fast").exits(2).says(&["`p99 > fast` is not a condition", "duration"]);
    let account = server.stop().unwrap();
    assert_eq!(account.requests, 0);
}

#[test]
fn fewer_requests_than_the_usual_connections_need_no_flag() {
    load(&steady(), &["-n", "3", "--no-store"]).says(&["closed loop, 3 connections", "200: 3"]);
    load(&steady(), &["-n", "1", "--no-store"]).says(&["closed loop, 1 connection,"]);
    load(&steady(), &["-n", "3", "-c", "4"]).is_a_user_error(&["ask for at most 3 connections"]);
}

#[test]
fn the_text_has_what_users_of_wrk_and_ab_look_for() {
    let server = steady();
    let outcome = load(&server, &["-c", "2", "-n", "100", "-v"]);
    outcome.says(&[
        "closed loop, 2 connections",
        "Connections  of 2 connections ",
        " with the target on average",
        " requests/s",
        "p99 ",
        "Response time within",
        "  50 % of requests",
        "  99.9 % of requests",
        "  100 % of requests",
        "Transfer/s   ",
        "Requests     100 scheduled = 100 sent + 0 unsent; sent = 100 completed",
        "Status       200: 100",
        "500 of bodies",
        "mean",
        "+/-sd",
        "median",
        "connect ",
        "headers ",
        "body ",
        "service time ",
        "response time ",
        "Verdict ",
    ]);
    let account = server.stop().unwrap();
    assert_eq!((account.requests, account.connections), (100, 2 + LOOKS));
}

#[test]
fn the_json_has_every_key_of_the_contract_and_its_figures_agree_with_the_server() {
    let server = steady();
    let json = json(&server, &["-c", "3", "-d", "500ms", "--warm-up", "none"], &BELIEVED_OR_NOT);
    let span = "count min_ns mean_ns stdev_ns p50_ns p75_ns p90_ns p95_ns p99_ns p999_ns max_ns";
    for (object, keys) in [
        ("", "requests duration_ns throughput_per_s goodput_per_s errors windows verdict caveats"),
        ("/requests", "scheduled sent completed failed censored"),
        ("/connect", span),
        ("/headers", span),
        ("/body", span),
        ("/service_time", span),
        ("/response_time", span),
        ("/send_lag", span),
        ("/connections", "asked peak reconnects closed_by_server"),
        ("/bytes", "in out body"),
        ("/generator", "cpu_ns cpu_per_request_ns threads_cpu_per_request_ns max_rss_bytes"),
        ("/windows/0", "completed errors live_connections"),
    ] {
        for key in keys.split(' ') {
            assert!(
                json.pointer(object).unwrap().get(key).is_some(),
                "{object}/{key} is missing in {json}"
            );
        }
    }
    let number = |pointer: &str| json.pointer(pointer).unwrap().as_u64().unwrap();
    let completed = number("/requests/completed");
    assert_eq!(
        number("/requests/sent"),
        completed + number("/requests/failed") + number("/requests/censored")
    );
    assert_eq!(number("/bytes/body"), 5 * completed);
    assert_eq!((number("/connections/asked"), number("/connections/peak")), (3, 3));
    assert!(number("/response_time/p50_ns") >= 5_000_000, "{json}");
    assert!(number("/response_time/count") == completed);
    let account = server.stop().unwrap();
    assert!(
        account.requests >= completed && account.requests <= completed + 3,
        "{} {completed}",
        account.requests
    );
}

#[test]
fn json_goes_to_a_file_beside_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let server = steady();
    let url = url(&server);
    let outcome = pippin(
        folder.path(),
        &["load", &url, "-c", "1", "-n", "20", "--json", "result.json", "--no-store"],
    );
    outcome.says(&[" requests/s"]);
    let json: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("result.json")).unwrap()).unwrap();
    assert_eq!(json["requests"]["completed"], 20);
    assert_eq!(json["url"], url);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "--no-store makes no database"
    );
}

#[test]
fn headers_method_and_body_go_over_the_wire_as_given() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let keeper = Arc::clone(&seen);
    let server = spawn(Script::each(move |request, _| {
        keeper.lock().unwrap().push(String::from_utf8_lossy(request.bytes).into_owned());
        Answer::ok(b"hello")
    }))
    .unwrap();
    load(
        &server,
        &[
            "-c",
            "1",
            "-n",
            "3",
            "-H",
            "X-Token: a b",
            "-H",
            "Accept: text/plain",
            "-m",
            "POST",
            "-b",
            "name=Ana",
        ],
    );
    let address = server.address();
    server.stop().unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    assert_eq!(
        seen[0],
        format!(
            "POST / HTTP/1.1\r\nHost: {address}\r\nX-Token: a b\r\nAccept: text/plain\r\nContent-Length: 8\r\n\r\nname=Ana"
        )
    );
}

#[test]
fn without_keep_alive_each_request_has_a_connection() {
    let server = steady();
    let json = json(&server, &["-c", "2", "-n", "40", "--no-keep-alive"], &BELIEVED_OR_NOT);
    assert_eq!(json["requests"]["completed"], 40);
    assert_eq!(json["connect"]["count"], 40);
    assert_eq!(server.stop().unwrap().connections, 40 + LOOKS);
}

#[test]
fn connections_are_replaced_after_so_many_requests() {
    let server = steady();
    let json = json(
        &server,
        &["-c", "1", "-n", "40", "--requests-per-connection", "10"],
        &BELIEVED_OR_NOT,
    );
    assert_eq!(json["requests"]["completed"], 40);
    assert_eq!(server.stop().unwrap().connections, 4 + LOOKS);
}

#[test]
fn threads_share_the_connections() {
    let server = steady();
    let json = json(&server, &["-c", "4", "-t", "2", "-n", "80"], &BELIEVED_OR_NOT);
    assert_eq!(
        (&json["threads"], &json["connections"]["peak"]),
        (&Value::from(2), &Value::from(4))
    );
    assert_eq!(json["generator"]["cpu_ns_by_thread"].as_array().unwrap().len(), 2);
}

#[test]
fn wrong_statuses_and_bodies_are_invalid() {
    let busy =
        spawn(Script::always(Answer::new(503, b"busy").delay(Duration::from_millis(5)))).unwrap();
    let result = json(&busy, &["-c", "1", "-n", "20"], &[3]);
    assert_eq!(
        (&result["errors"]["wrong_status"], &result["status"]["codes"]["503"], &result["verdict"]),
        (&20.into(), &20.into(), &"INVALID".into())
    );
    assert_eq!(result["goodput_per_s"], 0.0);
    let expected =
        json(&busy, &["-c", "1", "-n", "20", "--expect-status", "503"], &BELIEVED_OR_NOT);
    assert_eq!(expected["errors"], serde_json::json!({}));
    let server = steady();
    assert_eq!(
        json(&server, &["-c", "1", "-n", "20", "--expect-body", "hello"], &BELIEVED_OR_NOT)["errors"],
        serde_json::json!({})
    );
    let wrong = json(&server, &["-c", "1", "-n", "20", "--expect-body", "hallo"], &[3]);
    assert_eq!(wrong["errors"]["wrong_body"], 20);
    assert!(ids(&wrong).contains(&"wrong_answers"), "{:?}", ids(&wrong));
}

#[test]
fn a_server_that_closes_after_ten_answers_is_found_out_and_no_error() {
    let server = spawn(
        Script::always(Answer::ok(b"hello").delay(Duration::from_millis(2))).close_after(10, true),
    )
    .unwrap();
    let json = json(&server, &["-c", "2", "-n", "100"], &BELIEVED_OR_NOT);
    assert_eq!(
        (&json["requests"]["completed"], &json["errors"]),
        (&100.into(), &serde_json::json!({}))
    );
    assert!(ids(&json).contains(&"server_closes"), "{:?}", ids(&json));
    let closed = json["connections"]["closed_by_server"].as_u64().unwrap();
    // One that was idle for 100 ms, because the machine was busy, counts as closed because of that.
    let counted =
        |by: &str| -> Vec<[u64; 2]> { serde_json::from_value(json["closes"][by].clone()).unwrap() };
    let (by_requests, by_idle) = (counted("by_requests"), counted("by_idle_ns"));
    let times = |of: &[[u64; 2]]| of.iter().map(|[_, times]| times).sum::<u64>();
    assert!(by_requests.iter().all(|[after, _]| *after == 10), "{}", json["closes"]);
    assert_eq!(times(&by_requests) + times(&by_idle), closed, "{}", json["closes"]);
    assert!(closed <= json["connections"]["opened"].as_u64().unwrap(), "{}", json["connections"]);
}

#[test]
fn a_server_that_never_answers_times_out() {
    let server = spawn(Script::always(Answer::silence())).unwrap();
    let json = json(&server, &["-c", "2", "-n", "2", "--timeout", "300ms"], &[3]);
    assert_eq!(
        (&json["errors"]["timeout"], &json["requests"]["completed"]),
        (&2.into(), &0.into())
    );
    assert_eq!(
        json["service_time"]["p50_ns"].is_null(),
        json["service_time"]["count"] == 0,
        "unknown is null, never 0"
    );
}

#[test]
fn ctrl_c_ends_a_load_and_shows_what_was_measured() {
    let server = steady();
    let (url, folder) = (url(&server), tempfile::tempdir().unwrap());
    let call = start(folder.path(), &["load", &url, "-c", "1", "-d", "60s", "--warm-up", "none"]);
    assert!(super::support::until(|| server.account().requests > 50));
    call.press_ctrl_c();
    call.finish().exits(130).says(&[" requests/s", "interrupted"]);
}

fn an_open_loop_sends_at_its_rate() {
    let server = steady();
    let json = json(&server, &["-R", "100", "-c", "10", "-d", "1s"], &BELIEVED_OR_NOT);
    let scheduled = json["requests"]["scheduled"].as_u64().unwrap();
    assert!((99..=101).contains(&scheduled), "{json}");
    assert_eq!(
        json["requests"]["scheduled"].as_u64(),
        Some(
            json["requests"]["sent"].as_u64().unwrap()
                + json["requests"]["unsent"].as_u64().unwrap()
        )
    );
    let completed = json["requests"]["completed"].as_u64().unwrap();
    let seen = server.stop().unwrap().requests;
    assert!(seen >= completed, "the server saw {seen} of {completed}");
    in_time(completed >= 90, || format!("{completed} of {scheduled}"));
}

#[test]
fn poisson_arrivals_follow_their_seed() {
    let server = steady();
    let scheduled = |seed: &str| {
        json(
            &server,
            &["-R", "200", "--poisson", "-c", "20", "-d", "1s", "--seed", seed],
            &BELIEVED_OR_NOT,
        )["requests"]["scheduled"]
            .clone()
    };
    let first = scheduled("7");
    assert_eq!(first, scheduled("7"));
    assert!((120..=280).contains(&first.as_u64().unwrap()), "{first}");
}

fn a_rate_that_the_server_cannot_keep_is_invalid_and_waiting_counts() {
    // One at a time, 50 ms each: at most 20 a second.
    let server =
        spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(50)))).unwrap();
    let json = json(&server, &["-R", "30", "-c", "1", "-d", "1s"], &[3]);
    assert!(ids(&json).contains(&"rate_not_achieved"), "{:?}", ids(&json));
    // One stall of the machine is in both maxima, but not in both medians. More than half of the
    // requests are answered, else the median of all would not be known.
    let response_ns = json["response_time"]["p50_ns"].as_u64();
    in_time(response_ns.is_some(), || json.to_string());
    assert!(
        response_ns.unwrap() > 3 * json["service_time"]["p50_ns"].as_u64().unwrap() / 2,
        "{json}"
    );
}

#[test]
fn a_rate_that_the_generator_cannot_send_is_invalid() {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    // No processor sends 20 million requests per second.
    let json =
        json(&server, &["-R", "20000000", "-c", "64", "-d", "500ms", "--threads", "1"], &[3]);
    assert_eq!(json["verdict"], "INVALID", "{json}");
    assert!(ids(&json).contains(&"rate_not_achieved"), "{:?}", ids(&json));
}

fn devices_have_phases() {
    let server = steady();
    let json = json(
        &server,
        &["--devices", "20", "--think", "50ms +-5%", "--ramp", "300ms,600ms,300ms"],
        &BELIEVED_OR_NOT,
    );
    let phases: Vec<&str> = json["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["name"].as_str().unwrap())
        .collect();
    assert_eq!(phases.len(), 3, "{phases:?}");
    assert_eq!(json["connections"]["peak"], 20);
    assert!(json["requests"]["completed"].as_u64().unwrap() > 20, "{json:#}");
}

#[test]
fn a_sweep_is_one_load_for_each_number() {
    let server = steady();
    let json =
        json(&server, &["--sweep", "1..4", "-d", "300ms", "--warm-up", "none"], &BELIEVED_OR_NOT);
    let counts: Vec<u64> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|load| load["step"]["count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [1, 2, 4]);
}

fn an_objective_that_no_rate_keeps_is_a_failure() {
    let server =
        spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(30)))).unwrap();
    let outcome = load(&server, &["--objective", "p99<5ms", "-R", "20", "-c", "4", "-d", "300ms"]);
    // A busy machine may make each step invalid.
    in_time(outcome.code == Some(1), || outcome.to_string());
    outcome.says(&["no rate that was tried keeps"]);
}

#[test]
fn steps_that_are_too_short_for_their_objective_are_refused() {
    let outcome = load(&steady(), &["--objective", "p99<1s", "-d", "500ms"]);
    outcome.exits(2).says(&["steps of 500 ms are too short", "make them 4.00 s or longer (-d)"]);
}

/// A server that answers one request after the other, this many a second.
fn one_after_the_other(per_s: u64) -> Running<Account> {
    let mut free_ns = 0;
    let each = move |request: &Received<'_>, _: &mut _| {
        free_ns = request.received_ns.max(free_ns) + 1_000_000_000 / per_s;
        Answer::ok(b"hello").delay(Duration::from_nanos(free_ns - request.received_ns))
    };
    spawn(Script::each(each)).unwrap()
}

fn a_search_ends_with_one_table_and_says_how_sure_it_is() {
    let server = one_after_the_other(200);
    let search = ["--objective", "p99<50ms, errors<1%", "-R", "190", "-c", "16", "-d", "1s"];
    let outcome = load(&server, &search);
    assert!([Some(0), Some(1), Some(3)].contains(&outcome.code), "{outcome}");
    let tables = outcome.stdout.matches("offered/s").count();
    assert!(tables == 1 && outcome.stdout.contains("Capacity: "), "{outcome}");
    assert!(!outcome.stdout.contains("Response time within"), "{outcome}");
    // On a busy machine no rate may be confirmed. The load then says so.
    if outcome.code == Some(0) {
        let (_, text) = outcome.stdout.split_once("Capacity: ").unwrap();
        let rate: f64 = text.split_whitespace().next().unwrap().replace(',', "").parse().unwrap();
        assert!(text.contains("confirmed") && rate <= 211.0, "{outcome}");
        // On a busy machine p99 may be too long at a rate that the server keeps.
        in_time(rate >= 100.0, || outcome.to_string());
    }
}

fn connections_that_the_server_does_not_accept_are_told_of() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let answer = |mut stream: std::net::TcpStream| {
            while stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0)
                && stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_ok()
            {
            }
        };
        listener
            .incoming()
            .take(4)
            .flatten()
            .for_each(|stream| drop(std::thread::spawn(move || answer(stream))));
        // The listen queue exists as long as the listener.
        std::thread::park();
        drop(listener);
    });
    let folder = tempfile::tempdir().unwrap();
    let outcome = pippin(
        folder.path(),
        &["load", &url, "-c", "20", "-d", "1s", "--warm-up", "none", "--quiet", "--json", "-"],
    );
    let json: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"));
    let caveat = json["caveats"]
        .as_array()
        .unwrap()
        .iter()
        .find(|caveat| caveat["id"] == "listen_queue")
        .unwrap_or_else(|| panic!("{outcome}"));
    assert!(caveat["evidence"].as_str().unwrap().contains("of 20 connections"), "{caveat}");
    let json =
        self::json(&steady(), &["-c", "20", "-d", "500ms", "--warm-up", "none"], &BELIEVED_OR_NOT);
    assert!(!ids(&json).contains(&"listen_queue"), "all are accepted here: {json:#}");
}

/// As `python3 -m http.server` does: a queue of five, one connection after the other, and each
/// answer ends its connection.
fn a_short_listen_queue_is_named_as_the_reason_for_missing_connections() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    // SAFETY: no pointers. The socket listens already, and only its backlog changes.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 5) }, 0);
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::sleep(Duration::from_millis(2));
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let load =
        ["load", &url, "-c", "20", "-d", "1s", "--warm-up", "none", "--quiet", "--json", "-"];
    let outcome = pippin(folder.path(), &load);
    let json: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"));
    let caveats = json["caveats"].as_array().unwrap();
    let caveat = caveats.iter().find(|caveat| caveat["id"] == "connections_missing");
    in_time(caveat.is_some(), || outcome.to_string());
    let caveat = caveat.unwrap();
    assert!(
        caveat["evidence"]
            .as_str()
            .unwrap()
            .ends_with("the others found the server's listen queue full, which holds 5"),
        "{caveat}"
    );
    assert!(caveat["advice"].as_str().unwrap().contains("`connections = 5`"), "{caveat}");
}

#[test]
fn a_pipelined_load_has_as_many_users_as_requests_under_way() {
    // Rows of 4 on 2 connections: if they counted as 2 users, Little's law would not hold.
    let server = steady();
    let json = json(
        &server,
        &["-c", "2", "--pipeline", "4", "-d", "1500ms", "--warm-up", "none"],
        &BELIEVED_OR_NOT,
    );
    assert!(!ids(&json).contains(&"littles_law"), "{json:#}");
    assert_eq!(json["profile"]["connections"]["pipeline"], 4);
}

#[test]
fn a_load_is_a_run_like_any_other() {
    let server = steady();
    let (url, folder) = (url(&server), tempfile::tempdir().unwrap());
    let here = |arguments: &[&str]| pippin(folder.path(), arguments);
    for seed in ["1", "2"] {
        let load = ["load", &url, "-c", "2", "-n", "200", "--seed", seed, "--html", "page.html"];
        here(&load).says(&[" requests/s", "Can you trust it?"]);
    }
    assert!(folder.path().join("pippin/pippin.db").is_file(), "outside of a checkout");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains(&url) && page.contains("<svg"), "{}", page.len());
    let history = here(&["history"]);
    history.exits(0).says(&["-load", "finished", &url]);
    assert_eq!(history.stdout.matches("finished").count(), 2, "{history}");
    let short = server.address().to_string();
    assert_eq!(here(&["history", &short]).stdout.matches("-load").count(), 2);
    here(&["report", "-v"]).exits(0).says(&[
        "closed loop, 2 connections",
        "sent = 200 completed",
        "Verdict",
    ]);
    let view: Value = serde_json::from_str(&here(&["export", "--format", "json"]).stdout).unwrap();
    assert_eq!(view["loads"][0]["requests"]["completed"], 200);
    let record: Value =
        serde_json::from_str(&here(&["export", "--format", "record"]).stdout).unwrap();
    let asked = &record["trials"][0]["load_spec"];
    assert_eq!(
        (&asked["threads"], &asked["stop"]["requests"], &asked["timeouts"]["request_ns"]),
        (&1.into(), &200.into(), &30_000_000_000_u64.into())
    );
    assert_eq!(asked["requests"][0]["method"], "GET");
    assert_eq!(asked["requests"][0]["target"], "/");
    assert_eq!(asked["requests"][0]["host"], server.address().to_string());
    let first = history.stdout.lines().last().unwrap().split(' ').next().unwrap();
    let compared = here(&["compare", first, "latest", "--force"]);
    assert!(compared.code.is_some_and(|code| code < 2), "{compared}");
    compared.says(&["goodput", &url]);
    // Its verdicts are those of the reports.
    let verdict = |run: &str| {
        let text = here(&["export", run, "--format", "json"]).stdout;
        let view: Value = serde_json::from_str(&text).unwrap();
        view["rows"][0]["verdict"].as_str().unwrap().to_uppercase()
    };
    let reported = [verdict(first), verdict("latest")];
    assert!(reported.iter().any(|verdict| verdict != "VALID"), "200 requests are few");
    let line = compared.stdout.lines().find(|line| line.contains(" verdict "));
    let words = line.unwrap_or_else(|| panic!("{compared}")).split_whitespace();
    assert_eq!(words.skip(1).collect::<Vec<_>>(), reported, "{compared}");
}

#[test]
fn a_store_that_cannot_be_written_is_no_reason_not_to_load() {
    let server = steady();
    let outcome = load(&server, &["-c", "1", "-n", "20", "--store", "/proc/none/pippin.db"]);
    outcome.says(&["this load is not stored: /proc/none", " requests/s"]);
    assert!(matches!(outcome.code, Some(3 | 4)), "the exit code tells: {outcome}");
}

#[test]
fn an_error_at_a_later_step_keeps_the_earlier_ones() {
    use std::os::unix::process::CommandExt;
    let server = steady();
    let (url, folder) = (url(&server), tempfile::tempdir().unwrap());
    let arguments =
        ["load", &url, "--sweep", "1,2,1000", "-t", "1", "-d", "300ms", "--warm-up", "none"];
    let mut command = super::support::command(folder.path(), &arguments);
    let few = libc::rlimit { rlim_cur: 256, rlim_max: 256 };
    // SAFETY: setrlimit(2) is allowed between fork and exec, and the closure allocates nothing.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_NOFILE, &raw const few) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let output = command.output().unwrap();
    let outcome = Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    outcome.is_a_user_error(&[
        "closed loop at 1, 2, 1000 connections in turn",
        "after 2 steps that are kept",
    ]);
    let is_last = |line: &str| line.split_whitespace().take(3).eq(["1,000", "–", "INVALID"]);
    assert!(outcome.stdout.lines().any(is_last), "{outcome}");
    let view = pippin(folder.path(), &["export", "--format", "json"]);
    let view: Value = serde_json::from_str(&view.stdout).unwrap();
    assert_eq!(
        (&view["loads"].as_array().unwrap().len(), &view["run"]["state"]),
        (&2, &"failed".into())
    );
    let nothing = pippin(folder.path(), &["load", &url, "-c", "2", "-t", "3"]);
    nothing.is_a_user_error(&["3 threads for 2 connections"]);
    let history = pippin(folder.path(), &["history"]).stdout;
    assert_eq!(
        history.matches("-load").count(),
        1,
        "of what never began there is no run: {history}"
    );
}

#[test]
fn spellings_of_other_tools_are_taken() {
    let server = steady();
    let bare = server.address().to_string();
    let checkout = Checkout::new();
    for (url, arguments) in [
        (bare.clone(), &["-c", "1", "-n", "5", "--expect-status", "2xx"][..]),
        (format!("{bare}/x?y=1"), &["--rps", "50/s", "-d", "0.2"]),
    ] {
        let all = [&["load", url.as_str()], arguments].concat();
        let outcome = checkout.pippin(&all);
        assert!(outcome.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{outcome}");
        outcome.says(&[&format!("http://{bare}/")]);
    }
    let quiet = checkout.pippin(&["-q", "load", &bare, "-n", "20"]);
    assert!(quiet.code.is_some_and(|code| BELIEVED_OR_NOT.contains(&code)), "{quiet}");
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout.lines().count(), 1, "{quiet}");
    assert!(quiet.stdout.contains(" requests/s, response time p50 "), "{quiet}");
    drop(server.stop());
}

#[test]
fn consent_may_be_in_the_environment() {
    let checkout = Checkout::new();
    let load = ["load", "http://192.0.2.1:9/", "-n", "1", "--timeout", "50ms"];
    checkout.pippin(&load).is_a_user_error(&["PIPPIN_ALLOW_HOST=192.0.2.1 in the environment"]);
    let allowed = [("PIPPIN_ALLOW_HOST", "example.org,192.0.2.1")];
    super::support::pippin_with(&checkout, &load, &allowed)
        .is_a_user_error(&["nobody answers at 192.0.2.1:9"]);
}

#[test]
fn repetitions_and_steps_end_with_one_table() {
    let server = steady();
    let checkout = Checkout::new();
    let url = format!("http://{}/", server.address());
    let say = |arguments: &[&str]| {
        let outcome = checkout.pippin(&[&["load", url.as_str()], arguments].concat());
        assert_eq!(outcome.stdout.matches("Status  ").count(), 0, "{outcome}");
        outcome
    };
    let repeated = say(&["-n", "20", "--repeat", "3"]);
    repeated.says(&["repetition  requests/s", "requests/s (95 %: ", "50 % of requests"]);
    assert_eq!(checkout.store().load("latest").unwrap().trials.len(), 3);
    let swept = say(&["--sweep", "1,2", "-d", "200ms", "--warm-up", "none"]);
    // How wide the columns are depends on the figures.
    swept.says(&["by connections", "  connections  ", "requests/s  predicted"]);
    drop(server.stop());
}

#[test]
fn an_endless_stream_is_named() {
    let endless = Answer::ok(b"data: 1\n\n").endless(Duration::from_millis(20), true);
    let server = spawn(Script::always(endless)).unwrap();
    let url = format!("http://{}/events", server.address());
    pippin(
        &std::env::temp_dir(),
        &["load", &url, "-c", "2", "-d", "2s", "--warm-up", "none", "--no-store"],
    )
    .exits(3)
    .says(&["requests sent: heads came, no", "an endless stream"]);
}

/// Kernels before Linux 5.11, and emulators.
fn a_load_needs_no_epoll_pwait2() {
    use std::os::unix::process::CommandExt as _;
    let (server, folder) = (steady(), tempfile::tempdir().unwrap());
    let url = url(&server);
    let load = |arguments: &[&str]| {
        let given =
            [&["load", url.as_str(), "-c", "4", "--quiet", "--json", "-"], arguments].concat();
        let mut command = command(folder.path(), &given);
        // SAFETY: it makes two system calls and touches no memory of the parent.
        unsafe { command.pre_exec(old_kernel::refuse_pwait2) };
        Started::spawn(&mut command).finish()
    };
    load(&["-n", "100", "--io", "epoll"]).all_good(100);
    load(&["-n", "100"]).all_good(100);
    let outcome = load(&["-R", "200", "-d", "500ms"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    // An answer may be awaited when the load ends.
    let [good, sent] = ["good", "sent"].map(|key| json["requests"][key].as_u64().unwrap());
    assert!(sent <= good + 4 && json["errors"] == serde_json::json!({}), "{outcome}");
    in_time(good >= 90, || outcome.to_string());
}
