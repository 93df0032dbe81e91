//! Answers that are wrong, and servers that break the rules.
use pippin_model::load::{IoChoice, Limits, LoadSpec, Schedule};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use pippin_testing::messages::{BINARY, CLOSE, FINAL, PING, Server, TEXT, frame, text};
use std::sync::Mutex;

use super::{messages, seen, serving};
use crate::support::{MS, closed, errors, ms, on_each_loop, run, run_with_breaches};

on_each_loop!(
    another_text_is_wrong,
    the_echo_of_another_message_is_wrong,
    the_other_kind_is_wrong,
    frames_that_break_a_rule,
    a_message_beyond_the_limit,
    pings_without_end,
    a_breach_while_no_message_is_under_way,
);

fn assert_wrong(io: IoChoice, server: &Server) {
    let result = run(&messages(closed(server.address, io, 2, 20)));
    let requests = result.measured.requests;
    assert_eq!((requests.completed, requests.good, requests.failed), (20, 0, 0));
    assert_eq!(errors(&result), [(ErrorKind::WrongBody, 20)]);
    assert_eq!(server.account.opened(), 2, "a wrong answer is no reason to leave");
}

fn another_text_is_wrong(io: IoChoice) {
    type Change = fn(&[u8]) -> Vec<u8>;
    let changes: [Change; 5] = [
        |payload| payload[1..].to_vec(),
        |payload| [payload, b"x"].concat(),
        |payload| payload.to_ascii_uppercase(),
        |_| Vec::new(),
        |_| pippin_model::load::websocket::Messages::payload(64),
    ];
    for change in changes {
        let server = serving(move |one| one.answer(move |payload| text(&change(payload))));
        assert_wrong(io, &server);
    }
}

/// Each connection gets what the connection that sent last has sent; or an answer is one late.
fn the_echo_of_another_message_is_wrong(io: IoChoice) {
    let last = Mutex::new(vec![b'#'; 64]);
    let server = serving(move |connection| {
        connection.answer(|payload| {
            let mut last = last.lock().unwrap();
            text(&std::mem::replace(&mut *last, payload.to_vec()))
        })
    });
    assert_wrong(io, &server);
}

fn the_other_kind_is_wrong(io: IoChoice) {
    let server = serving(|one| one.answer(|payload| frame(BINARY | FINAL, payload)));
    assert_wrong(io, &server);
}

/// Each of 6 messages fails on a connection of its own, which the client closes with this code.
fn assert_broken(io: IoChoice, answer: &[u8], kind: ErrorKind, code: u16) {
    let bytes = answer.to_vec();
    let server = serving(move |connection| {
        connection.message()?;
        connection.send(&bytes)?;
        connection.drain()
    });
    let limits = Limits { head_bytes: 4_096, body_bytes: 10_000 };
    let result = run(&LoadSpec { limits, ..messages(closed(server.address, io, 1, 6)) });
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.failed), (6, 6), "{answer:x?}");
    assert_eq!(errors(&result), [(kind, 6)], "{answer:x?}");
    assert_eq!(server.account.closed(6), [code; 6], "{answer:x?}");
    assert_eq!(seen(&result).failures.values().sum::<u64>(), 6);
}

fn frames_that_break_a_rule(io: IoChoice) {
    let protocol_errors: [Vec<u8>; 8] = [
        // A mask, which a server must not use.
        vec![FINAL | TEXT, 0x80 | 1, 1, 2, 3, 4, b'a' ^ 1],
        // A reserved bit, and kinds that nobody knows.
        vec![FINAL | 0x40 | TEXT, 1, b'a'],
        vec![FINAL | 0x3, 0],
        // Control frames in fragments, and too long.
        vec![PING, 0],
        frame(FINAL | PING, &[0; 126]),
        // A fragment of nothing, and a message within another.
        frame(FINAL, b"x"),
        [frame(TEXT, b"x"), frame(FINAL | TEXT, b"y")].concat(),
        // A code that must not be sent.
        frame(FINAL | CLOSE, &1006_u16.to_be_bytes()),
    ];
    for bytes in protocol_errors {
        assert_broken(io, &bytes, ErrorKind::Malformed, 1002);
    }
    assert_broken(io, &text(b"\xC3\x28"), ErrorKind::Malformed, 1007);
}

fn a_message_beyond_the_limit(io: IoChoice) {
    assert_broken(io, &text(&[b'x'; 10_001]), ErrorKind::TooLarge, 1009);
    let parts = [frame(TEXT, &[b'x'; 6_000]), frame(FINAL, &[b'x'; 6_000])].concat();
    assert_broken(io, &parts, ErrorKind::TooLarge, 1009);
}

/// A server that asks for ever and does not read: the pongs that wait have a limit.
fn pings_without_end(io: IoChoice) {
    let server = serving(|connection| {
        connection.message()?;
        let pings = frame(PING | FINAL, &[b'p'; 125]).repeat(1_000);
        loop {
            connection.send(&pings)?;
        }
    });
    let result = run(&messages(closed(server.address, io, 1, 2)));
    assert_eq!(errors(&result), [(ErrorKind::Malformed, 2)]);
    assert!(seen(&result).failures.keys().all(|why| why.contains("pings without end")));
}

/// A masked frame behind each answer, while the user thinks: the WebSocket is replaced, no message
/// fails by it, and it is an error all the same.
fn a_breach_while_no_message_is_under_way(io: IoChoice) {
    let server = serving(|connection| {
        let payload = connection.message()?;
        connection.send(&text(&payload))?;
        std::thread::sleep(ms(5));
        connection.send(&[FINAL | TEXT, 0x80 | 1, 1, 2, 3, 4, b'a' ^ 1])?;
        connection.drain()
    });
    let think = Spread { mean_ns: 60 * MS, jitter: 0.1 };
    let spec = LoadSpec {
        schedule: Schedule::Closed { think: Some(think) },
        ..closed(server.address, io, 1, 6)
    };
    let (result, breaches) = run_with_breaches(&messages(spec));
    assert_eq!(result.measured.requests.scheduled, 6);
    // On a busy machine the frame may come when the next message is under way.
    let failed = result.measured.requests.failed;
    assert!(errors(&result).iter().all(|(kind, _)| *kind == ErrorKind::Malformed));
    let broken: u64 = seen(&result).failures.values().sum();
    // A message that fails by the frame behind the answer before has no answer, and so no frame. The
    // frame behind the last answer may come after the load.
    assert!(broken + failed >= 5 && broken >= failed, "{broken} {failed}");
    assert_eq!(breaches + failed, broken);
    // The others end with the load.
    let mut codes = server.account.closed(result.measured.connections.opened as usize);
    codes.retain(|code| *code != 1000);
    assert_eq!(codes, vec![1002; broken as usize]);
}
