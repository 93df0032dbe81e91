//! Streams that are refused, reset, wrong or late, and connections that the server ends.
use std::cell::Cell;
use std::rc::Rc;

use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;
use pippin_testing::frames::kind::{DATA, GOAWAY, HEADERS};
use pippin_testing::frames::{END_HEADERS, END_STREAM, OK, frame};

use super::{
    counted, far_server, frames, greets, hello, most_streams, noting, noting_resets, play, refused,
    reset, server,
};
use crate::worker::sim::times::{assert_ms, counts, errors, open};
use crate::worker::sim::world::{Act, Acts};
use crate::worker::sim::{MS, Played};

/// The server takes no new streams on this connection, and has not looked at those above `last`.
pub(super) fn goaway(last: u32) -> Act {
    Act::Send(frame(GOAWAY, 0, 0, &[&last.to_be_bytes()[..], &[0; 4]].concat()))
}

fn good(played: &Played) -> u64 {
    played.measured().requests.good
}

/// A connection takes 8 requests, answers 5 of them after 10 ms and leaves the others; the next one is
/// open after 5 ms, and the last of ten answers all. The three that were left out go first on the next
/// connection, and after them those whose users were answered.
#[test]
fn what_goaway_left_out_is_sent_again() {
    let script = far_server(|asked| {
        if asked.connection == 9 {
            return vec![(10 * MS, hello(asked.tag))];
        }
        if asked.of_connection < 7 {
            return Acts::new();
        }
        let answers = [1, 3, 5, 7, 9].map(|stream| (10 * MS, hello(stream)));
        [(10 * MS, goaway(9))].into_iter().chain(answers).collect()
    });
    let played = play(counted(1, 53), 8, script);
    assert_eq!((counts(&played), errors(&played)), ([53, 53, 53, 0, 0, 0], vec![]));
    let measured = played.measured();
    assert_eq!((measured.requests.sent_again, played.read), (27, 80));
    let connections = measured.connections;
    assert_eq!((connections.opened, connections.closed_by_server), (10, 9));
    assert_eq!(measured.closes.requests_range(), Some((5, 5)));
    // On each connection but the first, three have waited since they were sent on the one before,
    // and the others since an answer came there. Those that were left out twice in a row waited for two.
    let first = [10].repeat(5);
    let second = vec![25, 25, 25, 15, 15];
    let later = [30, 30, 30, 15, 15].repeat(7);
    let last = vec![30, 30, 30, 15, 15, 15, 15, 15];
    assert_ms(&measured.spans.response_time, [first, second, later, last].concat());
    assert_ms(&measured.spans.service_time, [10; 53]);
    assert_ms(&measured.spans.own_lag, [0; 53]);
}

/// GOAWAY before any answer, 1 ms after the first request of each connection. 5 users of each of 2
/// connections try four times, 10 ms after each other, and then their requests fail; each has two.
#[test]
fn a_server_that_always_leaves_is_given_up() {
    let script = server(|asked| match asked.of_connection {
        0 => vec![(MS, goaway(0))],
        _ => Acts::new(),
    });
    let (script, read) = noting(script);
    let played = play(counted(2, 20), 5, script);
    assert_eq!(counts(&played), [20, 20, 0, 20, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::StreamReset, 20)]);
    assert_eq!((played.measured().requests.sent_again, played.read), (60, 80));
    let sent: Vec<u64> = read.borrow().iter().map(|(ms, _)| *ms).collect();
    assert_eq!(sent, (0..8).flat_map(|time| [11 * time; 10]).collect::<Vec<_>>());
    assert_eq!(played.measured().connections.opened, 16);
}

/// Every seventh request of a connection is refused after 10 ms, and sent again at once: its answer
/// comes 20 ms after it was due. With four users, none is refused twice.
#[test]
fn refused_streams_are_sent_again() {
    let refusals = Rc::new(Cell::new(0));
    let counting = Rc::clone(&refusals);
    let script = server(move |asked| {
        if asked.of_connection % 7 < 6 {
            return vec![(10 * MS, hello(asked.tag))];
        }
        counting.set(counting.get() + 1);
        vec![(10 * MS, refused(asked.tag))]
    });
    let played = play(counted(2, 200), 4, script);
    assert_eq!((counts(&played), errors(&played)), ([200, 200, 200, 0, 0, 0], vec![]));
    // Each connection reads 116 requests, of which 16 are refused.
    let twice = refusals.get();
    assert_eq!((twice, played.measured().requests.sent_again, played.read), (32, 32, 232));
    let waits = [[20].repeat(32), [10].repeat(168)].concat();
    assert_ms(&played.measured().spans.response_time, waits);
    assert_ms(&played.measured().spans.service_time, [10; 200]);
    assert_ms(&played.measured().spans.own_lag, [0; 200]);
}

#[test]
fn streams_that_are_always_refused_fail_at_the_fourth_time() {
    let script = server(|asked| vec![(MS, refused(asked.tag))]);
    let played = play(counted(1, 40), 4, script);
    assert_eq!(counts(&played), [40, 40, 0, 40, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::StreamReset, 40)]);
    assert_eq!((played.read, played.measured().requests.sent_again), (160, 120));
    assert_eq!(played.measured().connections.opened, 1);
}

/// No stream is allowed, and what was sent before the server said so is refused. After 300 ms it is
/// known that nothing was taken, and 300 ms later what waits is given up: two requests for each of two
/// connections, twice.
#[test]
fn a_server_that_allows_no_stream_is_given_up() {
    let load = |mut spec: LoadSpec| {
        spec.timeouts.request_ns = 300 * MS;
        let script = server(|asked| vec![(0, refused(asked.tag))]);
        play(spec, 2, script.connecting(|_| greets(most_streams(0))))
    };
    let played = load(counted(2, 8));
    assert_eq!(counts(&played), [8, 0, 0, 0, 0, 8]);
    assert_eq!(errors(&played), [(ErrorKind::NoStream, 4)]);
    // An open loop loses what was due, and no more.
    let played = load(open(2, 100.0, 1_000));
    let [scheduled, sent, .., unsent] = counts(&played);
    assert_eq!((scheduled, sent, unsent), (100, 0, 100));
    assert_eq!(errors(&played), [(ErrorKind::NoStream, 2)]);
}

/// Every second stream is ended by the server, after its head. Each is an error, and the connection goes
/// on.
#[test]
fn resets_fail_one_request_each() {
    let script = server(|asked| match asked.of_connection % 2 {
        0 => {
            let head = Act::Send(frame(HEADERS, END_HEADERS, asked.tag, OK));
            vec![(MS, head), (MS, reset(asked.tag, 2))]
        }
        _ => vec![(MS, hello(asked.tag))],
    });
    let played = play(counted(2, 4_000), 10, script);
    assert_eq!(counts(&played), [4_000, 4_000, 2_000, 2_000, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::StreamReset, 2_000)]);
    assert_eq!(played.measured().connections.opened, 2);
}

/// The first of five requests is answered after 250 ms where 200 are allowed. It times out, the server is
/// told so at once (RST_STREAM with CANCEL), and the others go on beside it. The late answer is passed
/// over.
#[test]
fn a_late_answer_fails_alone() {
    let script = server(|asked| {
        let after = if asked.nth == 0 { 250 } else { 10 };
        vec![(after * MS, hello(asked.tag))]
    });
    let (script, resets) = noting_resets(script);
    let mut spec = counted(1, 400);
    spec.timeouts.request_ns = 200 * MS;
    let played = play(spec, 5, script);
    assert_eq!(counts(&played), [400, 400, 399, 1, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::Timeout, 1)]);
    assert_eq!(*resets.borrow(), [(200, 8)]);
    assert_ms(&played.measured().spans.service_time, [10; 399].into_iter().chain([200]));
    assert_eq!((played.measured().connections.opened, played.read), (1, 400));
}

/// 6 are under way when the connection ends: 2 are answered, 2 have a head, 2 have nothing.
#[test]
fn a_close_fails_what_is_under_way() {
    let script = server(|asked| {
        let (stream, begins) = (asked.tag, asked.nth == 1 || asked.nth == 2);
        let half = [frame(HEADERS, END_HEADERS, stream, OK), frame(DATA, 0, stream, b"he")];
        match asked.nth {
            0 => vec![(10 * MS, hello(stream))],
            5 => vec![(10 * MS, hello(stream)), (20 * MS, Act::Close)],
            _ if begins => vec![(10 * MS, frames(&half))],
            _ => Acts::new(),
        }
    });
    let played = play(counted(1, 6), 6, script);
    assert_eq!((counts(&played), good(&played)), ([6, 6, 2, 4, 0, 0], 2));
    let right = [(ErrorKind::CloseBeforeAnswer, 2), (ErrorKind::CloseInBody, 2)];
    assert_eq!(errors(&played), right);
    assert_ms(&played.measured().spans.service_time, [10; 2]);
}

/// The server closes behind the ninth answer of a connection, when its 3 users have sent their next
/// requests already: nobody can have read them, so they go over the next connection, 5 ms later.
#[test]
fn what_nobody_has_read_is_sent_again() {
    let script = far_server(|asked| {
        let closes = (asked.of_connection == 8).then_some((10 * MS, Act::Close));
        [(10 * MS, hello(asked.tag))].into_iter().chain(closes).collect()
    });
    let played = play(counted(2, 198), 3, script);
    assert_eq!((counts(&played), errors(&played)), ([198, 198, 198, 0, 0, 0], vec![]));
    let measured = played.measured();
    // Each connection is one of 11 in a row, and the last ones have nothing behind them.
    assert_eq!((measured.requests.sent_again, played.read), (60, 198));
    assert_eq!(measured.closes.requests_range(), Some((9, 9)));
    assert_eq!((measured.connections.opened, measured.connections.closed_by_server), (22, 22));
    assert_ms(&measured.spans.response_time, [[15].repeat(60), [10].repeat(138)].concat());
}

/// Every second answer is shorter than its head says (RFC 9113 section 8.1.1): it fails, the server is
/// told so with PROTOCOL_ERROR, and the others go on.
#[test]
fn a_wrong_answer_fails_alone() {
    let script = server(|asked| {
        if asked.of_connection % 2 == 1 {
            return vec![(MS, hello(asked.tag))];
        }
        // content-length: 9
        let head = [OK, &[0x0f, 0x0d, 1, b'9']].concat();
        let wrong = frames(&[
            frame(HEADERS, END_HEADERS, asked.tag, &head),
            frame(DATA, END_STREAM, asked.tag, b"hello"),
        ]);
        vec![(MS, wrong)]
    });
    let (script, resets) = noting_resets(script);
    let played = play(counted(1, 400), 5, script);
    assert_eq!((counts(&played), good(&played)), ([400, 400, 200, 200, 0, 0], 200));
    assert_eq!(errors(&played), [(ErrorKind::Malformed, 200)]);
    assert_eq!(played.measured().connections.opened, 1);
    assert_eq!(resets.borrow().iter().map(|(_, code)| *code).collect::<Vec<_>>(), [1; 200]);
}
