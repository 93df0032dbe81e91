//! Answers that do not come.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pippin_engine::{Control, Exchange, Referee};
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{MS, assert_takes, closed, errors, get, ms, on_each_loop, quantile_ms, run};
use pippin_testing::patience::in_time;

on_each_loop!(a_timeout_is_recorded_at_its_timeout, a_thread_that_was_late_itself_blames_no_server,);

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
