//! Answers in many pieces and after random delays. That a pause is in the span it belongs to is tested in
//! virtual time (`worker/sim`).
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec};
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use rand::RngExt as _;
use std::time::Duration;

use crate::support::{assert_within, closed, get, on_each_loop, quantile_ms, run};

on_each_loop!(random_delays, one_byte_at_a_time);

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
