//! Servers that close, or do not answer.
use pippin_model::load::{IoChoice, LoadSpec, Schedule, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use pippin_testing::messages::{CLOSE, FINAL, TEXT, frame, text};

use super::{messages, seen, serving};
use crate::support::{MS, assert_timeouts, closed, errors, ms, on_each_loop, run};

on_each_loop!(
    a_close_in_place_of_an_answer,
    a_close_after_an_answer_is_no_error,
    a_connection_that_ends_without_a_close,
    a_close_within_an_answer,
    an_answer_that_does_not_come,
    a_late_answer_is_not_that_of_the_next_message,
);

const GOING: [u8; 2] = 1011_u16.to_be_bytes();

/// Each connection answers 4 messages, and closes in place of the fifth answer.
fn a_close_in_place_of_an_answer(io: IoChoice) {
    let server = serving(|connection| {
        for _ in 0..4 {
            let payload = connection.message()?;
            connection.send(&text(&payload))?;
        }
        connection.message()?;
        connection.send(&frame(CLOSE | FINAL, &[&GOING[..], b"going"].concat()))?;
        connection.drain()
    });
    let result = run(&messages(closed(server.address, io, 1, 50)));
    let requests = result.measured.requests;
    assert_eq!((requests.completed, requests.good, requests.failed), (40, 40, 10));
    assert_eq!(errors(&result), [(ErrorKind::CloseBeforeAnswer, 10)]);
    assert_eq!(seen(&result).close_codes, [(1011, 10)].into());
    // The client says the same code, and opens another one.
    assert_eq!(server.account.closed(10), [1011; 10]);
    assert!((10..=11).contains(&server.account.opened()), "{}", server.account.opened());
}

/// Each connection answers one message and closes in the same breath.
fn a_close_after_an_answer_is_no_error(io: IoChoice) {
    let server = serving(|connection| {
        let payload = connection.message()?;
        connection.send(&[text(&payload), frame(CLOSE | FINAL, b"")].concat())?;
        connection.drain()
    });
    let think = Spread { mean_ns: 20 * MS, jitter: 0.1 };
    let spec = LoadSpec {
        schedule: Schedule::Closed { think: Some(think) },
        ..closed(server.address, io, 2, 12)
    };
    let result = run(&messages(spec));
    assert_eq!((result.measured.requests.good, errors(&result)), (12, vec![]));
    assert_eq!(seen(&result).close_codes.get(&1005), Some(&12));
    assert_eq!(server.account.closed(12), [1000; 12]);
    let connections = result.measured.connections;
    assert_eq!(result.measured.closes.requests_range(), Some((1, 1)));
    assert!(connections.closed_by_server >= 10, "{connections:?}");
}

fn a_connection_that_ends_without_a_close(io: IoChoice) {
    let server = serving(|connection| connection.message().map(|_| ()));
    let result = run(&messages(closed(server.address, io, 1, 5)));
    assert_eq!(errors(&result), [(ErrorKind::CloseBeforeAnswer, 5)]);
    assert_eq!(result.measured.requests.sent_again, 0, "nobody knows whether it was read");
}

fn a_close_within_an_answer(io: IoChoice) {
    let server = serving(|connection| {
        let payload = connection.message()?;
        let begun = frame(TEXT, &payload[..20]);
        connection.send(&[begun, frame(CLOSE | FINAL, &GOING)].concat())?;
        connection.drain()
    });
    let result = run(&messages(closed(server.address, io, 1, 5)));
    assert_eq!(errors(&result), [(ErrorKind::CloseInBody, 5)]);
}

fn an_answer_that_does_not_come(io: IoChoice) {
    let server = serving(|connection| connection.drain());
    let timeouts = Timeouts { connect_ns: 5_000 * MS, request_ns: 50 * MS, ..Timeouts::default() };
    let spec = messages(closed(server.address, io, 2, 6));
    let result = run(&LoadSpec { timeouts, ..spec });
    assert_eq!(errors(&result), [(ErrorKind::Timeout, 6)]);
    assert!((6..=8).contains(&server.account.opened()), "{}", server.account.opened());
}

/// The first answer comes after the timeout: the next message goes over another connection.
fn a_late_answer_is_not_that_of_the_next_message(io: IoChoice) {
    let server = serving(|connection| {
        let is_first = connection.nth == 0;
        connection.answer(|payload| {
            if is_first {
                std::thread::sleep(ms(400));
            }
            text(payload)
        })
    });
    let timeouts = Timeouts { connect_ns: 5_000 * MS, request_ns: 250 * MS, ..Timeouts::default() };
    let spec = messages(closed(server.address, io, 1, 20));
    let result = run(&LoadSpec { timeouts, ..spec });
    assert_timeouts(&result, 1);
    assert_eq!(errors(&result), [(ErrorKind::Timeout, 1)]);
    assert_eq!(result.measured.requests.good, 19);
    assert_eq!(server.account.opened(), 2);
}
