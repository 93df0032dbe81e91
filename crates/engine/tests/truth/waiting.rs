//! Answers that do not come.
use pippin_model::load_result::ErrorKind;
use pippin_model::load_spec::{IoChoice, LoadSpec, Timeouts};
use pippin_reference::scripted::{Answer, Script, spawn};

use crate::support::{
    MS, assert_takes, closed, closed_for, errors, ms, on_each_loop, quantile_ms, run,
};

on_each_loop!(
    a_timeout_is_recorded_at_its_timeout,
    only_the_slow_one_times_out,
    what_is_under_way_at_the_end_is_censored
);

/// Nothing is ever answered; a request may take 200 ms. 6 requests over 2 connections: 6 timeouts
/// after 3 rounds of 200 ms, each recorded at 200 ms and not left out: the median would be of
/// nothing else.
fn a_timeout_is_recorded_at_its_timeout(io: IoChoice) {
    let server = spawn(Script::always(Answer::silence())).unwrap();
    let timeouts = Timeouts { request_ns: 200 * MS, ..Timeouts::default() };
    let result = run(&LoadSpec { timeouts, ..closed(server.address(), io, 2, 6) });
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.completed, requests.failed), (6, 0, 6));
    assert_eq!(errors(&result), [(ErrorKind::Timeout, 6)]);
    // The connection of a timeout can't be used again: its answer may still come.
    assert_eq!((account.requests, account.connections), (6, 6));
    let spans = &result.measured.spans;
    assert_eq!((spans.service_time.count(), spans.headers.count()), (6, 0));
    assert_takes(
        "the least service time in ms",
        quantile_ms(&spans.service_time, 0.0),
        199.5,
        260.0,
    );
    assert_takes(
        "the greatest service time in ms",
        quantile_ms(&spans.service_time, 1.0),
        199.5,
        260.0,
    );
    assert_takes(
        "the length of the load in ms",
        result.measured.duration_ns as f64 / 1e6,
        600.0,
        900.0,
    );
}

/// One answer of 50 takes 400 ms where 100 are allowed; the others come at once: 1 timeout, 49
/// answers, and no answer of the past is taken for that of another request.
fn only_the_slow_one_times_out(io: IoChoice) {
    let script = Script::each(|request, _| {
        if request.number == 20 { Answer::ok(b"late").delay(ms(400)) } else { Answer::ok(b"hello") }
    });
    let server = spawn(script).unwrap();
    let timeouts = Timeouts { request_ns: 100 * MS, ..Timeouts::default() };
    let result = run(&LoadSpec { timeouts, ..closed(server.address(), io, 1, 50) });
    let requests = result.measured.requests;
    assert_eq!((requests.good, requests.failed), (49, 1));
    assert_eq!(errors(&result), [(ErrorKind::Timeout, 1)]);
    assert_eq!(result.measured.connections.opened, 2);
    assert_takes(
        "the greatest service time in ms",
        quantile_ms(&result.measured.spans.service_time, 1.0),
        99.5,
        160.0,
    );
}

/// 4 users, 300 ms, and answers that take 5 s: at the end 4 requests are under way. They are
/// neither answered nor failed, and have no time.
fn what_is_under_way_at_the_end_is_censored(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"late").delay(ms(5_000)))).unwrap();
    let timeouts = Timeouts { request_ns: 10_000 * MS, ..Timeouts::default() };
    let result = run(&LoadSpec { timeouts, ..closed_for(server.address(), io, 4, 300) });
    let requests = result.measured.requests;
    assert_eq!(
        (requests.scheduled, requests.sent, requests.censored, requests.completed),
        (4, 4, 4, 0)
    );
    assert_eq!((errors(&result), result.measured.spans.service_time.count()), (Vec::new(), 0));
    assert_takes(
        "the length of the load in ms",
        result.measured.duration_ns as f64 / 1e6,
        300.0,
        400.0,
    );
}
