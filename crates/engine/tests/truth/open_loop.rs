//! Arrivals that wait for nothing: when they are sent, and what becomes of those that can't be.
use pippin_model::load::{IoChoice, LoadSpec};
use pippin_model::result::LoadResult;
use pippin_testing::scripted::{Account, Answer, OnConnect, Script, spawn};

use crate::support::{MS, assert_within, clock_ns, on_each_loop, open, quantile_ms, run, run_from};
use pippin_testing::patience::in_time;

on_each_loop!(a_constant_rate, connections_that_end_before_the_start, polling_is_booked_as_polling);

/// The server hangs up at once, some time before the first arrival: each connection is still that
/// of one user, who sends one request at a time.
fn connections_that_end_before_the_start(io: IoChoice) {
    for hangs_up in [OnConnect::Close, OnConnect::Reset] {
        let script = Script::always(Answer::ok(b"hello")).on_connect(hangs_up);
        let server = spawn(script).unwrap();
        let spec = open(server.address(), io, 4, 200.0, 300);
        let result = run_from(&spec, Some(clock_ns() + 200 * MS));
        assert_eq!(result.measured.requests.good, 0);
        assert!(result.measured.errors_total() > 0);
    }
}

/// 500/s for 600 ms: 300 requests, the n-th of which is due n * 2 ms after the start.
fn a_constant_rate(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let result = run(&open(server.address(), io, 20, 500.0, 600));
    let requests = result.measured.requests;
    assert_eq!(requests.scheduled, 300);
    assert_eq!(requests.good + requests.censored + requests.unsent, 300, "{requests:?}");
    in_time(requests.good >= 270, || format!("{requests:?}"));
    assert_on_time(&result, &server.stop().unwrap(), 500.0);
    assert_within(
        "the lower decile of response times in ms",
        quantile_ms(&result.measured.spans.response_time, 0.1),
        0.0,
        2.0,
    );
    assert_within(
        "the lower decile of send lags in ms",
        quantile_ms(&result.measured.spans.send_lag, 0.1),
        0.0,
        1.0,
    );
}

/// The n-th request is due n / rate after the start. The server has it never before, and in every
/// tenth of the load some within 1 ms. What comes later is a busy machine's doing, but a drift would
/// spare none of the last tenth.
fn assert_on_time(result: &LoadResult, account: &Account, rate_per_s: f64) {
    let start_ns = result.measured_from_ns as f64;
    let mut late_ms: Vec<f64> =
        account.exchanges.iter().map(|exchange| exchange.received_ns as f64).collect();
    late_ms.sort_by(f64::total_cmp);
    for (number, at) in late_ms.iter_mut().enumerate() {
        *at = (*at - start_ns - number as f64 * 1e9 / rate_per_s) / 1e6;
    }
    let early = late_ms.iter().position(|late| *late < 0.0);
    assert_eq!(early, None, "came before it was due");
    for (tenth, late_ms) in late_ms.chunks(late_ms.len().div_ceil(10)).enumerate() {
        let least = late_ms.iter().copied().fold(f64::INFINITY, f64::min);
        assert_within(&format!("the least lateness in tenth {tenth} in ms"), least, 0.0, 1.0);
    }
}

/// 500/s for 1 s, polling for the last 1 ms of the 2 ms between two requests: by definition half a
/// second is polled, which is waiting and no work; and for as long as each answer takes. Who books
/// only a part of it makes the generator look busier than it is.
fn polling_is_booked_as_polling(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let result =
        run(&LoadSpec { spin_ns: Some(MS), ..open(server.address(), io, 4, 500.0, 1_000) });
    let answers = &result.measured.spans.service_time;
    let answers_s = answers.mean_ns().unwrap() * answers.count() as f64 / 1e9;
    assert_within(
        "time polled in s",
        result.generator.spin_ns as f64 / 1e9,
        0.35,
        0.55 + answers_s,
    );
    let worked_s = (result.generator.cpu_ns as f64 - result.generator.spin_ns as f64) / 1e9;
    assert_within("the other CPU time in s", worked_s, -0.3, 0.2);
}
