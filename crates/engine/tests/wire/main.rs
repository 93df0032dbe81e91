//! The engine beside a capture of the same packets: counts must be equal, and the time spans are
//! those of the wire.
//!
//! Needs AF_PACKET (root, or CAP_NET_RAW). Where that is not allowed, each test says by its name
//! that it was skipped.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test speaks to whoever runs it")]

mod capture;
mod exchanges;
#[path = "../truth/patience.rs"]
mod patience;
#[path = "../truth/support.rs"]
#[allow(dead_code, reason = "shared with the truth tests, which use all of it")]
mod support;

use std::time::Duration;

use pippin_model::histogram::Histogram;
use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{Connections, IoChoice, LoadSpec};
use pippin_reference::scripted::{Answer, Script, spawn};

use capture::Capture;
use exchanges::Wire;
use support::{closed, on_each_loop, open, run};

on_each_loop!(
    one_connection,
    ten_connections,
    sixty_four_connections,
    three_hundred_a_second,
    five_thousand_a_second,
    a_connection_for_each_request,
    chunks,
    a_body_that_drips,
);

fn one_connection(io: IoChoice) {
    compare("closed, 1", Answer::ok(b"hello"), |address| closed(address, io, 1, 5_000));
}

fn ten_connections(io: IoChoice) {
    compare("closed, 10", Answer::ok(b"hello"), |address| closed(address, io, 10, 10_000));
}

fn sixty_four_connections(io: IoChoice) {
    compare("closed, 64", Answer::ok(b"hello"), |address| closed(address, io, 64, 20_000));
}

fn three_hundred_a_second(io: IoChoice) {
    let answer = Answer::ok(b"hello");
    compare_within(CLOSE_AFTER_A_REST_NS, "open, 300/s", answer, |address| {
        open(address, io, 16, 300.0, 2_000)
    });
}

fn five_thousand_a_second(io: IoChoice) {
    compare("open, 5,000/s", Answer::ok(b"hello"), |address| open(address, io, 64, 5e3, 2_000));
}

fn a_connection_for_each_request(io: IoChoice) {
    compare("a connection each", Answer::ok(b"hello"), |address| LoadSpec {
        connections: Connections { count: 1, requests_per_connection: Some(1), pipeline: 1 },
        ..closed(address, io, 1, 2_000)
    });
}

fn chunks(io: IoChoice) {
    let answer = Answer::ok(&[b'x'; 3_000]).chunked(100, &[]);
    compare("chunked, 10", answer, |address| closed(address, io, 10, 5_000));
}

fn a_body_that_drips(io: IoChoice) {
    let answer = Answer::ok(&[b'x'; 100]).pause_in_body(Duration::from_millis(3));
    compare("a body in two parts, 10", answer, |address| closed(address, io, 10, 2_000));
}

/// By how much a median may miss the wire's, beside a tenth of it.
const CLOSE_NS: u64 = 15_000;
/// The same where a connection rests between two requests: until a packet leaves, the kernel then
/// takes 36 to 50 us in code that has left the caches, and the clock is read before that.
const CLOSE_AFTER_A_REST_NS: u64 = 100_000;

/// Runs the load beside a capture, and compares both.
fn compare(what: &str, answer: Answer, spec: impl Fn(std::net::SocketAddr) -> LoadSpec) {
    compare_within(CLOSE_NS, what, answer, spec);
}

fn compare_within(
    most_ns: u64,
    what: &str,
    answer: Answer,
    spec: impl Fn(std::net::SocketAddr) -> LoadSpec,
) {
    let server = spawn(Script::always(answer)).unwrap();
    let spec = spec(server.address());
    let port = server.address().port();
    let capture = match Capture::start(port) {
        Ok(capture) => capture,
        Err(error) => {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("a test").to_owned();
            eprintln!("SKIPPED {name}: packets cannot be captured here: {error}");
            return;
        }
    };
    let result = run(&spec);
    server.stop().unwrap();
    let wire = exchanges::follow(&capture.stop(), port, exchanges::get, exchanges::answer);
    print(&format!("{} {what}", result.io), &result, &wire);
    let measured = &result.measured;
    assert_eq!(wire.connections, measured.connections.opened, "connections");
    assert_eq!(wire.requests, measured.requests.sent, "requests");
    assert_eq!(measured.requests.good, measured.requests.sent, "answers");
    assert_eq!(wire.service.len() as u64, measured.requests.completed, "answers on the wire");
    assert_eq!(measured.stamps.user_space, 0, "every answer has a stamp");
    assert_eq!(measured.connections.timed_by_kernel, measured.connections.opened);
    let spans = &measured.spans;
    assert_close("connect", &spans.connect, &wire.connect, CLOSE_NS);
    assert_close("headers", &spans.headers, &wire.head, most_ns);
    assert_close("service time", &spans.service_time, &wire.service, most_ns);
}

/// The median is within a tenth of the wire's, or within `most_ns`.
fn assert_close(what: &str, ours: &Histogram, wire: &[u64], most_ns: u64) {
    // One connection's handshake goes through code that nobody has run for a while.
    if wire.len() < 10 {
        return;
    }
    let (ours, wire) = (ours.quantile_ns(0.5).unwrap(), quantile(wire, 0.5));
    let most = (wire / 10).max(most_ns);
    assert!(ours.abs_diff(wire) <= most, "{what}: {ours} ns, and {wire} ns on the wire");
}

/// The quantile of sorted spans.
fn quantile(sorted: &[u64], q: f64) -> u64 {
    sorted[((sorted.len() as f64 * q).ceil() as usize).clamp(1, sorted.len()) - 1]
}

/// A row for each span: the wire's quantiles, and ours.
fn print(what: &str, result: &LoadResult, wire: &Wire) {
    let spans = &result.measured.spans;
    let pairs = [
        ("connect", &wire.connect, &spans.connect),
        ("headers", &wire.head, &spans.headers),
        ("service", &wire.service, &spans.service_time),
    ];
    for (span, wire, ours) in pairs {
        let us = |ns: u64| ns as f64 / 1e3;
        let row: Vec<String> = [0.5, 0.9, 0.99]
            .iter()
            .map(|q| {
                format!("{:.1} / {:.1}", us(quantile(wire, *q)), us(ours.quantile_ns(*q).unwrap()))
            })
            .collect();
        println!("| {what} | {span} | {} |", row.join(" | "));
    }
}
