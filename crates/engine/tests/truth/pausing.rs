//! Delays and pauses: each is seen in the span it belongs to and in no other.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec};
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use rand::RngExt as _;
use std::time::Duration;

use crate::support::{assert_within, closed, get, ms, on_each_loop, quantile_ms, run};

on_each_loop!(
    a_fixed_delay,
    random_delays,
    a_pause_in_the_head,
    a_pause_before_the_body,
    a_pause_in_the_body,
    a_pause_in_a_chunk,
    a_pause_in_head_and_body,
    one_byte_at_a_time
);

/// What 20 requests with this answer took: medians of headers, body and service time, in
/// milliseconds.
fn medians(io: IoChoice, answer: Answer) -> (f64, f64, f64) {
    let server = spawn(Script::always(answer)).unwrap();
    let spec = LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        ..closed(server.address(), io, 2, 20)
    };
    let result = run(&spec);
    assert_eq!(result.measured.requests.good, 20);
    let spans = &result.measured.spans;
    (
        quantile_ms(&spans.headers, 0.5),
        quantile_ms(&spans.body, 0.5),
        quantile_ms(&spans.service_time, 0.5),
    )
}

/// A pause of 30 ms shows as 30 ms and what the machine adds, or not at all (the other parts take
/// microseconds).
fn assert_pauses(seen: (f64, f64, f64), headers: u32, body: u32) {
    let bounds = |pauses: u32| (f64::from(pauses) * 30.0, f64::from(pauses) * 30.0 + 28.0);
    for (what, value, pauses) in [
        ("headers", seen.0, headers),
        ("body", seen.1, body),
        ("service time", seen.2, headers + body),
    ] {
        let (least, most) = bounds(pauses);
        assert_within(what, value, least, most);
    }
}

/// 30 ms before anything is sent: all of it is headers. At the least 30 ms in every single request.
fn a_fixed_delay(io: IoChoice) {
    assert_pauses(medians(io, Answer::ok(b"hello").delay(ms(30))), 1, 0);
}

fn a_pause_in_the_head(io: IoChoice) {
    assert_pauses(medians(io, Answer::ok(b"hello").pause_in_head(ms(30))), 1, 0);
}

fn a_pause_before_the_body(io: IoChoice) {
    assert_pauses(medians(io, Answer::ok(b"hello").pause_before_body(ms(30))), 0, 1);
}

fn a_pause_in_the_body(io: IoChoice) {
    assert_pauses(medians(io, Answer::ok(b"hello").pause_in_body(ms(30))), 0, 1);
}

fn a_pause_in_a_chunk(io: IoChoice) {
    let chunked = Answer::ok(b"hello").chunked(3, &["X-Sum: 1"]);
    assert_pauses(medians(io, chunked.clone().pause_in_chunk_size(ms(30))), 0, 1);
    assert_pauses(medians(io, chunked.pause_in_chunk(ms(30))), 0, 1);
}

fn a_pause_in_head_and_body(io: IoChoice) {
    let answer = Answer::ok(b"hello")
        .chunked(5, &[])
        .delay(ms(30))
        .pause_in_head(ms(30))
        .pause_in_chunk(ms(30));
    assert_pauses(medians(io, answer), 2, 1);
}

/// Each byte in a segment of its own: split everywhere, and still one right answer after the other.
fn one_byte_at_a_time(io: IoChoice) {
    for answer in [
        Answer::ok(b"hello"),
        Answer::ok(b"hello").chunked(2, &["X-Sum: 1"]),
        Answer::ok(b"hello").interim(103),
    ] {
        let server = spawn(Script::always(answer.byte_by_byte(Duration::from_micros(50)))).unwrap();
        let spec = LoadSpec {
            requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
            ..closed(server.address(), io, 1, 10)
        };
        let result = run(&spec);
        let account = server.stop().unwrap();
        assert_eq!((result.measured.requests.good, result.measured.connections.opened), (10, 1));
        assert_eq!(result.measured.bytes.received, account.bytes_out);
    }
}

/// Delays of 5 to 25 ms, uniform and seeded. The server's own account has the time between reading
/// each request and handing over its answer's last byte; the client's service time is that and the
/// way there and back. So, quantile by quantile, the engine's is not below the server's, and above
/// it by what a loopback round trip takes on a busy machine. Little's law for one connection: X = 1
/// / mean.
fn random_delays(io: IoChoice) {
    let script = Script::each(|_, random| {
        Answer::ok(b"hello").delay(Duration::from_micros(random.random_range(5_000..=25_000)))
    });
    let server = spawn(script.seed(42)).unwrap();
    let result = run(&closed(server.address(), io, 1, 60));
    let seen = &result.measured.spans.service_time;
    let durations = durations_ms(&server.stop().unwrap());
    for percent in [0, 25, 50, 75, 100] {
        let index = (durations.len() - 1) * percent / 100;
        let q = (index as f64 + 0.5) / durations.len() as f64;
        // The histogram keeps three digits.
        assert_within(
            &format!("the {percent}th percentile"),
            quantile_ms(seen, q),
            durations[index] * 0.998,
            durations[index] + 15.0,
        );
    }
    let mean_s = seen.mean_ns().unwrap() / 1e9;
    assert_within(
        "throughput times mean service time",
        result.measured.throughput_per_s().unwrap() * mean_s,
        0.9,
        1.01,
    );
}

/// The server's times from request to answer, ascending.
fn durations_ms(account: &Account) -> Vec<f64> {
    let mut durations: Vec<f64> = account
        .exchanges
        .iter()
        .map(|exchange| exchange.duration_ns().unwrap() as f64 / 1e6)
        .collect();
    durations.sort_by(f64::total_cmp);
    durations
}
