//! WebSockets whose messages come back: what they wait for, and what is no part of it.
use std::cell::RefCell;
use std::rc::Rc;

use pippin_model::load::websocket::Messages;
use pippin_model::load::{BodyCheck, Check, LoadSpec, Protocol, Request};
use pippin_model::result::ErrorKind;
use pippin_testing::messages::{CLOSE, Connection, FINAL, TEXT, frame, text};

use super::framing::{Framing, unmasked};
use super::times::{assert_ms, counts, errors, open};
use super::world::{Act, Acts, ReadRequest, Script};
use super::{MS, Played, closed, play_over};
use crate::protocol::websocket::WebSocket;

/// This load as messages of one payload, numbered, which must come back as they were.
pub(super) fn numbered(spec: LoadSpec, broadcast: bool) -> LoadSpec {
    let body = Messages::payload(64);
    let check = Check { body: BodyCheck::Exact(body.clone()), ..Check::default() };
    let request = Request { body, check, ..Request::get("/", "sim") };
    LoadSpec {
        protocol: Protocol::WebSocket,
        messages: Some(Messages { binary: false, numbered: true, broadcast }),
        requests: vec![request].into(),
        ..spec
    }
}

/// A server that consents to connection `n` after so many milliseconds.
pub(super) fn consenting(script: Script, door_ms: impl Fn(u64) -> u64 + 'static) -> Script {
    script.hearing(move |asked| {
        if !asked.bytes.starts_with(b"GET ") {
            return Acts::new();
        }
        let consent = Connection::consent(str::from_utf8(asked.bytes).unwrap());
        vec![(door_ms(asked.connection) * MS, Act::Send(consent.into_bytes()))]
    })
}

/// The server consents after 30 ms. The begin of a message comes back after `first_ms`, and the rest
/// `then_ms` later.
fn play(spec: LoadSpec, first_ms: u64, then_ms: u64) -> Played {
    let script = Script::answering(move |asked| {
        let echo = text(&unmasked(asked.bytes));
        let (begin, rest) = echo.split_at(5);
        let sends = |ms: u64, bytes: &[u8]| (ms * MS, Act::Send(bytes.to_vec()));
        vec![sends(first_ms, begin), sends(first_ms + then_ms, rest)]
    });
    let script = consenting(script, |_| 30);
    play_over::<WebSocket>(&numbered(spec, false), script, Framing::WebSocket)
}

#[test]
fn a_message_takes_from_its_sending_to_its_echo() {
    let mut spec = closed(2, 60_000);
    spec.stop.requests = Some(10);
    let played = play(spec, 40, 30);
    assert_eq!((counts(&played), errors(&played)), ([10, 10, 10, 0, 0, 0], vec![]));
    let spans = &played.measured().spans;
    assert_ms(&spans.headers, [40; 10]);
    assert_ms(&spans.body, [30; 10]);
    assert_ms(&spans.service_time, [70; 10]);
    assert_ms(&spans.response_time, [70; 10]);
    assert_ms(&spans.upgrade, [30; 2]);
}

/// 100 arrivals a second for half a second, of 50 ms each: 12 sockets carry them, and those of the last
/// 50 ms are under way at the end. 2 sockets send at 50 floor(k / 2) ms, or 10 ms later: 40 floor(k / 2) -
/// 10 (k mod 2) ms after the k-th was due, and ten of these are late.
#[test]
fn an_open_loop_of_messages() {
    let enough = play(open(12, 100.0, 500), 50, 0);
    assert_eq!(counts(&enough), [50, 50, 45, 0, 5, 0]);
    assert_ms(&enough.measured().spans.response_time, [50; 45]);
    let few = play(open(2, 100.0, 500), 50, 0);
    assert_eq!(counts(&few), [50, 20, 18, 0, 2, 30]);
    let sent_ms = |k: u64| 50 * (k / 2) + 10 * (k % 2);
    assert_ms(&few.measured().spans.response_time, (0..18).map(|k| 50 + sent_ms(k) - 10 * k));
    assert_ms(&few.measured().spans.own_lag, [0; 20]);
}

/// 3 sockets of 4 messages each; the next one is there after 30 ms.
#[test]
fn a_socket_for_so_many_messages() {
    let mut spec = closed(3, 60_000);
    spec.stop.requests = Some(60);
    spec.connections.requests_per_connection = Some(4);
    let played = play(spec, 10, 0);
    assert_eq!((counts(&played), errors(&played)), ([60, 60, 60, 0, 0, 0], vec![]));
    assert_eq!(played.measured().connections.opened, 15);
    assert_ms(&played.measured().spans.response_time, [[40].repeat(12), [10].repeat(48)].concat());
}

/// A server that does this with a message, and the codes with which the client closes.
fn playing(
    spec: LoadSpec,
    answer: impl FnMut(ReadRequest<'_>) -> Acts + 'static,
) -> (Played, Vec<u16>) {
    let codes = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&codes);
    let script = consenting(Script::answering(answer), |_| 0);
    let mut consent = script.other;
    let other = move |asked: ReadRequest<'_>| {
        if asked.bytes[0] == FINAL | CLOSE {
            let code =
                unmasked(asked.bytes).first_chunk().map_or(0, |code| u16::from_be_bytes(*code));
            seen.borrow_mut().push(code);
        }
        consent(asked)
    };
    let script = Script { other: Box::new(other), ..script };
    let played = play_over::<WebSocket>(&numbered(spec, false), script, Framing::WebSocket);
    (played, codes.take())
}

fn counted(requests: u64) -> LoadSpec {
    let mut spec = closed(1, 60_000);
    spec.stop.requests = Some(requests);
    spec
}

fn echo(asked: ReadRequest<'_>) -> Act {
    Act::Send(text(&unmasked(asked.bytes)))
}

fn close(code: u16) -> Act {
    Act::Send(frame(FINAL | CLOSE, &code.to_be_bytes()))
}

/// Each socket answers 4 messages, and closes in place of the fifth answer. The client says the same code.
#[test]
fn a_close_in_place_of_an_answer() {
    let (played, codes) = playing(counted(50), |asked| match asked.of_connection {
        4 => vec![(10 * MS, close(1011))],
        _ => vec![(10 * MS, echo(asked))],
    });
    assert_eq!(counts(&played), [50, 50, 40, 10, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::CloseBeforeAnswer, 10)]);
    assert_eq!(played.websocket.as_ref().unwrap().close_codes, [(1011, 10)].into());
    assert_eq!((codes, played.measured().connections.opened), (vec![1011; 10], 10));
}

/// Each socket answers one message and closes in the same breath.
#[test]
fn a_close_after_an_answer_is_no_error() {
    let (played, codes) = playing(counted(12), |asked| {
        let Act::Send(echo) = echo(asked) else { unreachable!() };
        vec![(10 * MS, Act::Send([echo, frame(FINAL | CLOSE, b"")].concat()))]
    });
    assert_eq!((counts(&played), errors(&played)), ([12, 12, 12, 0, 0, 0], vec![]));
    assert_eq!(played.websocket.as_ref().unwrap().close_codes, [(1005, 12)].into());
    assert_eq!(played.measured().closes.requests_range(), Some((1, 1)));
    assert_eq!(played.measured().connections.closed_by_server, 12);
    assert_eq!(codes, [1000; 12]);
}

/// A socket that ends without a word; or with one, within an answer.
#[test]
fn a_socket_that_ends_before_its_answer() {
    let (played, _) = playing(counted(5), |_| vec![(MS, Act::Close)]);
    assert_eq!(errors(&played), [(ErrorKind::CloseBeforeAnswer, 5)]);
    assert_eq!(played.measured().requests.sent_again, 0, "nobody knows whether it was read");
    let (played, _) = playing(counted(5), |asked| {
        let begun = frame(TEXT, &unmasked(asked.bytes)[..20]);
        vec![(MS, Act::Send(begun)), (2 * MS, close(1011))]
    });
    assert_eq!(errors(&played), [(ErrorKind::CloseInBody, 5)]);
}

/// The first answer comes after 400 ms where 250 are allowed: the next message goes over another socket,
/// and the late answer is not its own.
#[test]
fn a_late_answer_is_not_that_of_the_next_message() {
    let mut spec = counted(20);
    spec.timeouts.request_ns = 250 * MS;
    let (played, _) =
        playing(spec, |asked| vec![(if asked.nth == 0 { 400 } else { 10 } * MS, echo(asked))]);
    assert_eq!(
        (counts(&played), errors(&played)),
        ([20, 20, 19, 1, 0, 0], vec![(ErrorKind::Timeout, 1)])
    );
    assert_eq!(played.measured().connections.opened, 2);
    assert_ms(&played.measured().spans.service_time, [10; 19].into_iter().chain([250]));
}
