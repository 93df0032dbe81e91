//! The conclusions of `pippin load`: for each row of a table the verdict, the caveat behind it, and
//! the exit code. Servers are scripted, and so is the host ([`ScriptedHost`]).
use super::support::{Others, Outcome, ScriptedHost, skip};
use pippin_testing::frames::Server;
use pippin_testing::frames::kind::RST_STREAM;
use pippin_testing::patience::{in_time, patiently};
use pippin_testing::scripted::{Answer, OnConnect, Script, spawn};
use serde_json::Value;
use std::any::Any;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A load and the conclusion it must lead to.
struct Row {
    name: &'static str,
    serve: fn() -> Serving,
    others: Others,
    load: &'static str,
    /// The verdict and the caveat behind it; VALID has none.
    verdict: (&'static str, &'static str),
    code: i32,
}

/// The address of a server, and the value that keeps it alive.
type Serving = (SocketAddr, Box<dyn Any>);

const ROWS: &[Row] = &[
    // VALID. The host is known from 0.5 s on, and how late requests leave from 100 of them on. Where
    // that counts the server is slow: a busy machine is some milliseconds late.
    valid("a counted load", right, "-c 2 -n 300"),
    valid("a closed loop", right, "-c 2 -d 1200ms --warm-up none"),
    valid("a closed loop that is warmed up", right, "-c 2 -d 1200ms --warm-up 300ms"),
    valid("an open loop", slow, "-c 20 -d 2400ms -R 50"),
    valid("Poisson arrivals", slow, "-c 40 -d 2400ms -R 60 --poisson"),
    valid("devices", slow, "--devices 24 --think 100ms --ramp 200ms,1500ms,200ms"),
    valid("users who think", slow, "-c 16 -d 1500ms --think 60ms --warm-up none"),
    valid("a body that is compared", right, "-c 2 -n 300 --expect-body hello"),
    valid(
        "a status that is expected",
        || each(Answer::new(503, b"busy").delay(MS * 5)),
        "-c 2 -n 300 --expect-status 503",
    ),
    valid("a connection for each request", right, "-c 2 -n 300 --no-keep-alive"),
    valid(
        "answers in chunks",
        || each(Answer::ok(b"hello").chunked(2, &[]).delay(MS * 5)),
        "-c 2 -n 300",
    ),
    Row { code: 1, ..valid("a gate that fails", right, "-c 2 -n 300 --fail-if errors<1") },
    // Disturbances by the host, and oddities of the server.
    Row {
        others: Others::Stolen,
        ..suspect("a hypervisor that takes 30 %", right, "-c 2 -d 1200ms --warm-up none", "steal")
    },
    Row {
        others: Others::Busy,
        ..suspect("programs of others", right, "-c 2 -d 1200ms --warm-up none", "other_programs")
    },
    suspect("ten answers for each connection", closes_after_ten, "-c 2 -n 200", "server_closes"),
    suspect("two kinds of answers", two_kinds, "-c 8 -n 1000", "bimodal"),
    suspect(
        "bodies that wait for an acknowledgement",
        delayed_bodies,
        "-c 8 -n 600",
        "delayed_ack",
    ),
    suspect(
        "answers that end with their connection",
        || each(Answer::ok(b"hello").until_close()),
        "-c 1 -n 100",
        "stamps",
    ),
    // INVALID.
    invalid("a wrong body", right, "-c 2 -n 50 --expect-body hallo", "wrong_answers"),
    invalid("a wrong status", || each(Answer::new(500, b"oops")), "-c 2 -n 50", "errors"),
    invalid("one wrong status in 20", one_wrong_in_20, "-c 2 -n 200", "errors"),
    invalid("silence", || each(Answer::silence()), "-c 2 -n 2 --timeout 200ms", "no_answers"),
    invalid(
        "one request in 10 that is never answered",
        one_silent_in_10,
        "-c 2 -n 40 --timeout 200ms",
        "errors",
    ),
    invalid(
        "connections that end without an answer",
        || each(Answer::close()),
        "-c 2 -n 20",
        "errors",
    ),
    invalid("connections that are reset", || each(Answer::reset()), "-c 2 -n 20", "errors"),
    invalid(
        "text that is no HTTP",
        || each(Answer::raw(b"220 mail.example.org ESMTP\r\n")),
        "-c 2 -n 20",
        "errors",
    ),
    invalid(
        "half a body",
        || each(Answer::ok(b"hello").declared_length(10).then_close()),
        "-c 2 -n 20",
        "errors",
    ),
    invalid(
        "surplus bytes",
        || each(Answer::ok(b"hello").surplus(b"HTTP/1.1 200 OK\r\n")),
        "-c 2 -n 20",
        "errors",
    ),
    invalid("a server that hangs up at once", hangs_up, "-c 2 -n 20", "errors"),
    invalid(
        "a rate beyond the server",
        || each_in_turn(50),
        "-c 1 -d 1s -R 100",
        "rate_not_achieved",
    ),
    invalid(
        "a rate beyond the generator",
        || each(Answer::ok(b"hello")),
        "-c 64 -d 300ms -R 20000000 --threads 1",
        "rate_not_achieved",
    ),
    invalid("HTTP/2 without streams", no_streams, "-c 2 -n 10 --h2c --timeout 200ms", "no_answers"),
];

const MS: Duration = Duration::from_millis(1);

const fn row(name: &'static str, serve: fn() -> Serving, load: &'static str) -> Row {
    Row { name, serve, others: Others::Idle, load, verdict: ("VALID", ""), code: 0 }
}

const fn valid(name: &'static str, serve: fn() -> Serving, load: &'static str) -> Row {
    row(name, serve, load)
}

const fn suspect(
    name: &'static str,
    serve: fn() -> Serving,
    load: &'static str,
    caveat: &'static str,
) -> Row {
    Row { verdict: ("SUSPECT", caveat), ..row(name, serve, load) }
}

const fn invalid(
    name: &'static str,
    serve: fn() -> Serving,
    load: &'static str,
    caveat: &'static str,
) -> Row {
    Row { verdict: ("INVALID", caveat), code: 3, ..row(name, serve, load) }
}

fn serving(script: Script) -> Serving {
    let server = spawn(script).unwrap();
    (server.address(), Box::new(server))
}

fn each(answer: Answer) -> Serving {
    serving(Script::always(answer))
}

/// Answers after 100 ms.
fn slow() -> Serving {
    each(Answer::ok(b"hello").delay(MS * 100))
}

/// Answers after 5 ms, so that the generator has time to spare.
fn right() -> Serving {
    each(Answer::ok(b"hello").delay(MS * 5))
}

fn closes_after_ten() -> Serving {
    serving(Script::always(Answer::ok(b"hello").delay(MS * 2)).close_after(10, true))
}

/// Answers alternately after 2 ms and after 30 ms.
fn two_kinds() -> Serving {
    serving(Script::each(|request, _| {
        Answer::ok(b"hello").delay(if request.number.is_multiple_of(2) { MS * 2 } else { MS * 30 })
    }))
}

/// Every second body comes 41 ms after its head.
fn delayed_bodies() -> Serving {
    serving(Script::each(|request, _| {
        let answer = Answer::ok(b"hello");
        if request.number.is_multiple_of(2) { answer } else { answer.pause_before_body(MS * 41) }
    }))
}

fn one_wrong_in_20() -> Serving {
    serving(Script::each(|request, _| {
        Answer::new(if request.number % 20 == 7 { 500 } else { 200 }, b"hello").delay(MS)
    }))
}

fn one_silent_in_10() -> Serving {
    serving(Script::each(|request, _| {
        if request.number % 10 == 7 { Answer::silence() } else { Answer::ok(b"hello").delay(MS) }
    }))
}

/// The first connection is Pippin's check whether the server answers.
fn hangs_up() -> Serving {
    serving(Script::always(Answer::ok(b"hello")).on_connect(OnConnect::Close))
}

/// This many requests per second, one after the other.
fn each_in_turn(per_s: u64) -> Serving {
    let mut free_ns = 0;
    serving(Script::each(move |request, _| {
        free_ns = request.received_ns.max(free_ns) + 1_000_000_000 / per_s;
        Answer::ok(b"hello").delay(Duration::from_nanos(free_ns - request.received_ns))
    }))
}

/// SETTINGS_MAX_CONCURRENT_STREAMS is 0. A request that came before the client knew is refused.
fn no_streams() -> Serving {
    let server = Server::with(&[0, 3, 0, 0, 0, 0], |connection| {
        loop {
            let stream = connection.request()?;
            let refused = pippin_testing::frames::frame(RST_STREAM, 0, stream, &[0, 0, 0, 7]);
            connection.send(&refused)?;
        }
    })
    .unwrap();
    (server.address, Box::new(server))
}

mod patient {
    /// Each row takes its turn by itself.
    #[test]
    fn every_row_is_concluded_rightly() {
        super::every_row_is_concluded_rightly();
    }
}

fn every_row_is_concluded_rightly() {
    if ScriptedHost::new(Others::Idle).is_none() {
        return skip("verdicts", "mount namespaces are not allowed here");
    }
    // Report all wrong rows, not only the first.
    let wrong: Vec<&str> = ROWS
        .iter()
        .filter(|row| catch_unwind(AssertUnwindSafe(|| patiently(|| conclude(row)))).is_err())
        .map(|row| row.name)
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows: {wrong:?}", wrong.len(), ROWS.len());
}

fn conclude(row: &Row) {
    let host = ScriptedHost::new(row.others).unwrap();
    let (address, _server) = (row.serve)();
    let url = format!("http://{address}/");
    let words = ["load", &url, "--quiet", "--no-store", "--json", "-"];
    let load: Vec<&str> = words.into_iter().chain(row.load.split(' ')).collect();
    check(row, &host.pippin(&load));
}

/// Caveats that come from elsewhere: the generator was late, the load was uneven, the listen queue of
/// another program was full, which the kernel counts for all programs together, or other tests need
/// memory, because the servers of this table are threads of the process of all tests.
const FROM_ELSEWHERE: [&str; 12] = [
    "send_lag",
    "generator_stopped",
    "generator_busy",
    "held",
    "rate_not_achieved",
    "no_steady_state",
    "bimodal",
    "stalls",
    "listen_queue",
    "listen_overflows",
    "littles_law",
    "memory_grows",
];

#[track_caller]
fn check(row: &Row, outcome: &Outcome) {
    let (verdict, caveat) = row.verdict;
    let json: Value = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {outcome}", row.name));
    let doubts: Vec<(&str, &str)> = json["caveats"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|caveat| caveat["severity"] != "note")
        .map(|caveat| (caveat["id"].as_str().unwrap(), caveat["evidence"].as_str().unwrap()))
        .collect();
    let said =
        format!("{}: {}, exit code {:?}, {doubts:?}", row.name, json["verdict"], outcome.code);
    assert!(caveat.is_empty() || doubts.iter().any(|(id, _)| *id == caveat), "{said}");
    // These loads are too short for an interval, which is no matter of this table.
    let is_unsure = !doubts.is_empty() && doubts.iter().all(|(id, _)| *id == "unsure");
    let found = if is_unsure { "VALID" } else { json["verdict"].as_str().unwrap() };
    let is_so = found == verdict && outcome.code == Some(row.code);
    let others = doubts.iter().filter(|(id, _)| *id != caveat);
    let is_late = others.into_iter().any(|(id, _)| FROM_ELSEWHERE.contains(id));
    assert!(is_so || is_late, "{said}");
    in_time(is_so, || said);
}
