//! Arrivals that wait for nothing: when they are sent, and what becomes of those that can't be.
use pippin_model::load::{Arrivals, IoChoice, LoadSpec, Schedule, Stage};
use pippin_model::result::LoadResult;
use pippin_testing::scripted::{Account, Answer, OnConnect, Script, spawn};

use crate::support::{
    MS, assert_counted, assert_within, clock_ns, ms, on_each_loop, open, quantile_ms, run, run_from,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    a_constant_rate,
    poisson_arrivals,
    answers_that_never_end,
    a_rate_that_nobody_can_send,
    connections_that_end_before_the_start,
    two_threads_make_one_schedule,
    polling_is_booked_as_polling
);

/// When the server read each request, in seconds after the first.
fn arrivals_s(account: &Account) -> Vec<f64> {
    let first = account.exchanges.iter().map(|exchange| exchange.received_ns).min().unwrap();
    let mut times: Vec<f64> = account
        .exchanges
        .iter()
        .map(|exchange| (exchange.received_ns - first) as f64 / 1e9)
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

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

/// Every answer begins, and none ends.
fn answers_that_never_end(io: IoChoice) {
    for chunked in [true, false] {
        let endless = Answer::ok(b"data: 1\n\n").endless(ms(20), chunked);
        let server = spawn(Script::always(endless)).unwrap();
        let result = run(&open(server.address(), io, 4, 100.0, 500));
        let by_connection = &result.measured.by_connection;
        assert_eq!((by_connection.without_answer, by_connection.with_head_only), (4, 4));
        assert_eq!(result.measured.requests.completed, 0);
    }
}

/// 100 million a second: a load counts what it could not send, and ends when it should.
fn a_rate_that_nobody_can_send(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let requests = run(&open(server.address(), io, 4, 1e8, 1_000)).measured.requests;
    assert_eq!(requests.scheduled, 100_000_000);
    assert!(requests.unsent > 90_000_000, "{requests:?}");
}

/// 500/s for 2 s: 1,000 requests, the n-th of which is due n * 2 ms after the start.
fn a_constant_rate(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let result = run(&open(server.address(), io, 20, 500.0, 2_000));
    let requests = result.measured.requests;
    assert_eq!(requests.scheduled, 1_000);
    assert_eq!(requests.good + requests.censored + requests.unsent, 1_000, "{requests:?}");
    in_time(requests.good >= 900, || format!("{requests:?}"));
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

/// Poisson at 1,000/s for 2 s: 2,000 +- sqrt(2,000) = 45 are due; within 5 deviations. Gaps are
/// exponential: mean 1 ms, and a fraction exp(-1) = 36.8 % is longer than the mean (a constant rate
/// has half of them there, or none); +-5 deviations of sqrt(0.368 * 0.632 / 2,000) = 1.1 %.
fn poisson_arrivals(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let stage = Stage { duration_ns: 2_000 * MS, from_per_s: 1_000.0, to_per_s: 1_000.0 };
    let schedule = Schedule::Open { arrivals: Arrivals::Poisson, stages: vec![stage] };
    let result =
        run(&LoadSpec { schedule, seed: 7, ..open(server.address(), io, 50, 1_000.0, 2_000) });
    let scheduled = result.measured.requests.scheduled as f64;
    assert_counted("scheduled", scheduled, 1_775.0, 2_225.0);
    let arrivals = arrivals_s(&server.stop().unwrap());
    let gaps: Vec<f64> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let longer = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
    // Hardly bounded below: a busy machine makes bursts of what was due apart, and bursts have few
    // long gaps.
    assert_within("gaps longer than the mean", longer, 0.05, 0.424);
}

/// Two threads at 400/s together for 1.5 s: 600 requests, and the server sees them 2.5 ms apart, as
/// from one. Had each thread a schedule of its own that starts at the same instant, they would come
/// in pairs 5 ms apart, the second of each 2.5 ms before its instant.
fn two_threads_make_one_schedule(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let result = run(&LoadSpec { threads: 2, ..open(server.address(), io, 20, 400.0, 1_500) });
    assert_eq!(result.measured.requests.scheduled, 600);
    assert_on_time(&result, &server.stop().unwrap(), 400.0);
}

/// The n-th request is due n / rate after the start. The server has it never before, and in every
/// tenth of the load some within 1 ms: what comes later than that is a busy machine's doing, but a
/// drift would spare none of the last tenth.
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
