//! Handshakes that succeed, fail or take long.
use pippin_model::load::{IoChoice, LoadSpec, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_testing::messages::{Connection, FINAL, PING, Server, frame, text};

use super::echoes::serve;
use super::{messages, seen, serving, serving_raw};
use crate::support::{MS, closed, errors, ms, on_each_loop, open, run, within};
use pippin_testing::patience::in_time;
use pippin_testing::patient_tests;

on_each_loop!(
    who_cannot_open_blocks_nobody,
    a_consent_in_pieces_with_a_message_behind_it,
    a_wrong_proof_opens_nothing,
    a_server_that_does_not_speak_it,
    a_server_that_leaves_in_the_handshake,
    a_handshake_that_takes_too_long,
    hints_before_the_consent,
);

patient_tests!(
    the_look_does_not_wait_for_the_answer_to_its_close,
    the_look_ends_where_the_consent_comes_byte_by_byte,
);

fn a_consent_in_pieces_with_a_message_behind_it(io: IoChoice) {
    let server = serving_raw(|connection| {
        let head = connection.head()?;
        let consent = Connection::consent(&head).into_bytes();
        let (begin, end) = consent.split_at(consent.len() - 1);
        for byte in begin {
            connection.send(&[*byte])?;
        }
        connection.send(&[end, &text(b"welcome")].concat())?;
        serve(connection)
    });
    let result = run(&messages(closed(server.address, io, 2, 20)));
    assert_eq!((result.measured.requests.good, errors(&result)), (20, vec![]));
    assert_eq!(seen(&result).unasked, 2);
}

/// All attempts fail in the handshake, for this reason; nothing is sent.
fn assert_refused(io: IoChoice, server: &Server, why: &str) {
    let result = run(&messages(closed(server.address, io, 2, 4)));
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.completed), (0, 0), "{requests:?}");
    assert_eq!(errors(&result), [(ErrorKind::Upgrade, 4)]);
    let failures = &seen(&result).failures;
    assert!(failures.keys().all(|reason| reason.contains(why)), "{failures:?}");
    assert!(!failures.is_empty());
    assert_eq!(result.measured.spans.upgrade.count(), 0);
    assert_eq!(result.measured.connections.opened, 0);
}

fn a_wrong_proof_opens_nothing(io: IoChoice) {
    let server = serving_raw(|connection| {
        let head = connection.head()?.replace("Sec-WebSocket-Key: ", "Sec-WebSocket-Key: x");
        connection.send(Connection::consent(&head).as_bytes())?;
        serve(connection)
    });
    assert_refused(io, &server, "Sec-WebSocket-Accept does not fit");
}

fn a_server_that_does_not_speak_it(io: IoChoice) {
    let server = serving_raw(|connection| {
        connection.head()?;
        connection.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno")?;
        connection.head().map(|_| ())
    });
    assert_refused(io, &server, "answers 404 in place of 101");
}

fn a_server_that_leaves_in_the_handshake(io: IoChoice) {
    let server = serving_raw(|connection| {
        connection.head()?;
        connection.send(b"HTTP/1.1 101 Swi")
    });
    assert_refused(io, &server, "closed the connection in the handshake");
}

fn a_handshake_that_takes_too_long(io: IoChoice) {
    let server = serving_raw(|connection| {
        connection.head()?;
        std::thread::sleep(ms(2_000));
        None
    });
    let timeouts = Timeouts { connect_ns: 400 * MS, request_ns: 5_000 * MS, ..Timeouts::default() };
    let spec = messages(closed(server.address, io, 2, 4));
    let result = run(&LoadSpec { timeouts, ..spec });
    assert_eq!(result.measured.requests.sent, 0);
    assert_eq!(errors(&result), [(ErrorKind::Upgrade, 4)]);
    let failures = &seen(&result).failures;
    assert!(failures.keys().all(|why| why.contains("did not end in time")), "{failures:?}");
}

fn hints_before_the_consent(io: IoChoice) {
    let server = serving_raw(|connection| {
        let head = connection.head()?;
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        connection.send([hints, &Connection::consent(&head)].concat().as_bytes())?;
        serve(connection)
    });
    let result = run(&messages(closed(server.address, io, 2, 20)));
    assert_eq!((result.measured.requests.good, errors(&result)), (20, vec![]));
}

/// The look before a load, which may take this long in all: what is wrong.
fn look(server: &Server, limit_ms: u64) -> Option<String> {
    let load = messages(closed(server.address, IoChoice::Auto, 1, 1));
    within(ms(15_000), move || {
        pippin_engine::try_places(&load, ms(limit_ms)).err().map(|error| error.to_string())
    })
}

/// The server sends messages or pings for ever whatever the client says, or reads its Close and
/// says nothing. The look would wait for 60 s or for ever.
fn the_look_does_not_wait_for_the_answer_to_its_close() {
    let for_ever = |bytes: Vec<u8>| {
        serving(move |connection| {
            loop {
                connection.send(&bytes)?;
                std::thread::sleep(ms(1));
            }
        })
    };
    let silent = serving(|connection| {
        connection.drain();
        std::thread::sleep(ms(70_000));
        None
    });
    for server in [for_ever(text(b"tick")), for_ever(frame(FINAL | PING, b"tick")), silent] {
        assert_eq!(look(&server, 60_000), None);
    }
}

/// Each read is in time, and all of them together are not.
fn the_look_ends_where_the_consent_comes_byte_by_byte() {
    let server = serving_raw(|connection| {
        connection.head()?;
        connection.send(b"HTTP/1.1 101 Switching Protocols\r\nX: ")?;
        loop {
            connection.send(b"y")?;
            std::thread::sleep(ms(20));
        }
    });
    let why = look(&server, 200).unwrap();
    assert!(why.contains("the handshake of the WebSocket did not end in time"), "{why}");
}

/// Five of 80 sockets open. The others are tried in vain, 64 at a time, and those that must wait for
/// that stand in nobody's way: the five answer in each second.
fn who_cannot_open_blocks_nobody(io: IoChoice) {
    let server = serving_raw(|connection| {
        let head = connection.head()?;
        if connection.nth >= 5 {
            std::thread::sleep(ms(5_000));
            return None;
        }
        connection.send(Connection::consent(&head).as_bytes())?;
        serve(connection)
    });
    let spec = open(server.address, io, 80, 200.0, 3_000);
    let timeouts = Timeouts { connect_ns: 2_500 * MS, ..spec.timeouts };
    let result = run(&messages(LoadSpec { timeouts, ..spec }));
    let answered: Vec<u64> = result.windows.iter().map(|window| window.completed).collect();
    in_time(answered.iter().all(|count| *count > 0), || format!("{answered:?}"));
}
