//! Answers that do not come.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pippin_engine::{Control, Exchange, Referee};
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{
    MS, assert_takes, assert_timeouts, closed, closed_for, errors, get, ms, on_each_loop,
    quantile_ms, run,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    a_timeout_is_recorded_at_its_timeout,
    only_the_slow_one_times_out,
    a_thread_that_was_late_itself_blames_no_server,
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
    assert_timeouts(&result, 1);
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

/// A referee that keeps its thread from its work for 600 ms, once.
#[derive(Default)]
struct Slow(AtomicBool);

impl Referee for Slow {
    fn is_right(&self, _: &Exchange<'_>) -> bool {
        if !self.0.swap(true, Ordering::Relaxed) {
            std::thread::sleep(ms(600));
        }
        true
    }
}

/// A request may take 150 ms. The first answer comes after 10 ms, and its judge holds the thread
/// until 610 ms. The second one came meanwhile, after 60 ms: it is no timeout, and its time is the
/// kernel's.
fn a_thread_that_was_late_itself_blames_no_server(io: IoChoice) {
    let server = spawn(Script::each(|received, _| {
        Answer::ok(b"hello").delay(ms(if received.number == 0 { 10 } else { 60 }))
    }))
    .unwrap();
    let spec = LoadSpec {
        requests: vec![get(BodyCheck::Refereed)].into(),
        timeouts: Timeouts { request_ns: 150 * MS, ..Timeouts::default() },
        ..closed(server.address(), io, 2, 2)
    };
    let stop = AtomicBool::new(false);
    let control =
        Control { referee: Some(Arc::new(Slow::default())), ..Control::new(&stop, &|_| true) };
    let result = pippin_engine::run(&spec, &control).unwrap();
    in_time(result.measured.requests.good == 2, || format!("{:?}", errors(&result)));
    let slowest_ms = quantile_ms(&result.measured.spans.service_time, 1.0);
    assert_takes("the greatest service time in ms", slowest_ms, 59.5, 150.0);
}
