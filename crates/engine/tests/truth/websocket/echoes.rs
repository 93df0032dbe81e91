//! Right answers: each message is counted once. How long they take is tested in virtual time
//! (`worker/sim/messages.rs`).
use std::collections::HashSet;

use pippin_model::load::{IoChoice, LoadSpec, Schedule, StopRule};
use pippin_model::result::StatusCounts;
use pippin_model::text::units::Spread;
use pippin_testing::messages::{Connection, FINAL, PING, TEXT, frame, text};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use super::{echoing, message, messages, seen, serving, serving_raw};
use crate::support::{MS, assert_stamped, closed, closed_for, errors, on_each_loop, run, trusting};
use pippin_testing::patience::in_time;

on_each_loop!(
    each_message_has_its_echo,
    messages_of_a_cycle_go_out_in_turn,
    fragments_and_pings_between_them,
    messages_that_nobody_asked_for,
    over_tls,
);

fn each_message_has_its_echo(io: IoChoice) {
    let server = echoing();
    let result = run(&messages(closed(server.address, io, 4, 400)));
    let measured = &result.measured;
    assert_eq!((measured.requests.good, errors(&result)), (400, vec![]));
    assert_eq!(measured.status, StatusCounts::default());
    assert_eq!((measured.spans.connect.count(), measured.spans.upgrade.count()), (4, 4));
    assert_stamped(&result, 400);
    assert_eq!(measured.bytes.body, 400 * 64);
    // A client's frame of 64 bytes has a header of 6.
    let handshakes = measured.bytes.sent - 400 * 70;
    assert!((4 * 130..4 * 260).contains(&handshakes), "{handshakes} bytes for 4 handshakes");
    let got = server.account.messages();
    assert_eq!((got.len(), server.account.opened()), (400, 4));
    let different: HashSet<&[u8]> = got.iter().map(|payload| &payload[..16]).collect();
    assert_eq!(different.len(), 400, "each message has a number of its own");
    assert_eq!(server.account.closed(4), [1000; 4]);
    assert_eq!((seen(&result).pings, seen(&result).unasked), (0, 0));
}

fn messages_of_a_cycle_go_out_in_turn(io: IoChoice) {
    let server = echoing();
    let requests = ["one", "two", "three"].map(|text| message(text.into()));
    let spec = messages(closed(server.address, io, 1, 30));
    let result = run(&LoadSpec { messages: None, requests: requests.to_vec().into(), ..spec });
    assert_eq!(result.measured.requests.good, 30);
    let got = server.account.messages();
    assert_eq!(got[..4], ["one", "two", "three", "one"].map(|text| text.as_bytes().to_vec()));
}

/// Answers in three fragments with a ping between, in one write and byte by byte. Pings are
/// answered with their payload.
fn fragments_and_pings_between_them(io: IoChoice) {
    let answer = |payload: &[u8]| {
        [
            frame(PING | FINAL, b"first"),
            frame(TEXT, &payload[..10]),
            frame(PING | FINAL, b""),
            frame(0, &payload[10..10]),
            frame(FINAL, &payload[10..]),
        ]
        .concat()
    };
    let at_once = serving(move |connection| connection.answer(answer));
    let result = run(&messages(closed(at_once.address, io, 2, 40)));
    assert_eq!((result.measured.requests.good, errors(&result)), (40, vec![]));
    assert_eq!(seen(&result).pings, 80);
    assert_eq!(at_once.account.closed(2), [1000; 2]);
    let pongs = at_once.account.pongs();
    assert_eq!(pongs.iter().filter(|payload| *payload == b"first").count(), 40);
    assert_eq!(pongs.len(), 80);

    let by_byte = serving(move |connection| {
        loop {
            let payload = connection.message()?;
            for byte in answer(&payload) {
                connection.send(&[byte])?;
            }
        }
    });
    let result = run(&messages(closed(by_byte.address, io, 2, 10)));
    assert_eq!((result.measured.requests.good, errors(&result)), (10, vec![]));
}

/// A greeting, and a second message behind each answer: they are counted apart.
fn messages_that_nobody_asked_for(io: IoChoice) {
    // In one piece with the consent, so that no message is sent before the greeting is there.
    let server = serving_raw(|connection| {
        let head = connection.head()?;
        let consent = Connection::consent(&head).into_bytes();
        connection.send(&[consent, text(b"welcome")].concat())?;
        connection.answer(|payload| [text(payload), text(b"more")].concat())
    });
    let think = Spread { mean_ns: 20 * MS, jitter: 0.1 };
    let spec = LoadSpec {
        schedule: Schedule::Closed { think: Some(think) },
        ..closed(server.address, io, 2, 20)
    };
    let result = run(&messages(spec));
    assert_eq!((result.measured.requests.good, errors(&result)), (20, vec![]));
    // What came behind the last answers may not have been read any more.
    assert!((20..=22).contains(&seen(&result).unasked), "{:?}", seen(&result));
}

fn over_tls(io: IoChoice) {
    let authority = Authority::new();
    let server = echoing();
    let config = authority.server(&Certified { alpn: vec!["http/1.1"], ..Certified::default() });
    let front = Front::spawn(server.address, config, FrontBehaviour::default()).unwrap();
    let large = message(vec![b'x'; 100_000]);
    let spec = messages(closed_for(front.address(), io, 3, 300));
    let spec = LoadSpec { tls: Some(trusting(&authority)), ..spec };
    let result = run(&spec);
    in_time(result.measured.requests.good > 10, || format!("{:?}", result.measured.requests));
    assert_eq!(errors(&result), vec![]);
    assert_eq!(result.measured.spans.upgrade.count(), 3);
    let result = run(&LoadSpec {
        messages: None,
        requests: vec![large].into(),
        stop: StopRule::requests(20),
        ..spec
    });
    assert_eq!((result.measured.requests.good, errors(&result)), (20, vec![]));
}

/// Used by the tests of handshakes too.
pub fn serve(connection: &mut Connection) -> Option<()> {
    connection.answer(text)
}
