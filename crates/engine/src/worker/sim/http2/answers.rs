//! Right answers: each finds its request, and users wait for each other where the server says so.
use std::rc::Rc;

use pippin_model::load::{BodyCheck, Check, LoadSpec, Request, Schedule};
use pippin_model::text::units::Spread;
use pippin_testing::frames::kind::{DATA, HEADERS, WINDOW_UPDATE};
use pippin_testing::frames::{END_HEADERS, END_STREAM, OK, answer, frame};

use super::{counted, far_server, frames, greets, hello, most_streams, noting, play, server};
use crate::worker::sim::stopped::{STOPS_MS, lag_ms};
use crate::worker::sim::times::{assert_ms, counts, errors, open};
use crate::worker::sim::world::{Act, Acts};
use crate::worker::sim::{MS, closed, devices};

/// 4 connections with 8 users each, and answers after 40 ms: 32 requests at once, every 40 ms.
#[test]
fn each_stream_is_a_user() {
    let (script, read) = noting(server(|asked| vec![(40 * MS, hello(asked.tag))]));
    let played = play(counted(4, 320), 8, script);
    assert_eq!((counts(&played), errors(&played)), ([320, 320, 320, 0, 0, 0], vec![]));
    let rounds: Vec<u64> = (0..10).flat_map(|round| [40 * round; 32]).collect();
    assert_eq!(read.borrow().iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), rounds);
    let measured = played.measured();
    assert_ms(&measured.spans.service_time, [40; 320]);
    assert_ms(&measured.spans.response_time, [40; 320]);
    assert_ms(&measured.spans.own_lag, [0; 320]);
    assert_eq!((measured.connections.peak, measured.connections.opened), (4, 4));
}

/// A page has a wait of its own, so that answers overtake each other: page `n` of 5 comes after
/// n + 1 ms. Each of 5 users asks for all of them in turn, which takes 15 ms; the last answers of the
/// fourth round come as the load ends.
#[test]
fn answers_come_in_any_order() {
    let pages = (0..5).map(|nth| Request::get(&format!("/~~~{nth}"), "sim"));
    let requests = pages.collect::<Vec<_>>().into();
    let script = server(|asked| vec![((1 + digit(asked.bytes)) * MS, hello(asked.tag))]);
    let played = play(LoadSpec { requests, samples: 100, ..closed(1, 60) }, 5, script);
    assert_eq!((counts(&played), errors(&played)), ([100, 100, 95, 0, 5, 0], vec![]));
    for one in played.sample.as_ref().unwrap().requests.iter() {
        let right = one.status.map(|_| (1 + u64::from(one.request)) * MS);
        assert_eq!((one.response_ns, one.service_ns), (right, right));
    }
}

/// The digit behind the tildes of a path. They are so long in Huffman's code that the path is
/// written as it is.
fn digit(head: &[u8]) -> u64 {
    let at = memchr::memmem::find(head, b"~~~").unwrap();
    u64::from(head[at + 3] - b'0')
}

/// A server takes 3 of 9 users at a time. Each user asks for the next of nine pages at each turn, and
/// each begins with another: every user has one turn in each row of nine, in the same order.
#[test]
fn each_user_has_its_turn() {
    let pages = (0..9).map(|nth| Request::get(&format!("/~~~{nth}"), "sim"));
    let spec = LoadSpec { requests: pages.collect::<Vec<_>>().into(), ..counted(1, 180) };
    let order = super::Noted::default();
    let seen = Rc::clone(&order);
    let script = server(move |asked| {
        seen.borrow_mut().push(digit(asked.bytes));
        vec![(10 * MS, hello(asked.tag))]
    });
    let played = play(spec, 9, script.connecting(|_| greets(most_streams(3))));
    assert_eq!((counts(&played), errors(&played)), ([180, 180, 180, 0, 0, 0], vec![]));
    let right: Vec<u64> =
        (0..20).flat_map(|turn| (0..9).map(move |user| (user + turn) % 9)).collect();
    assert_eq!(*order.borrow(), right);
}

/// 2 connections take 3 requests each, and answer after 20 ms. Of 9 users 6 wait for two others: the first
/// three have their answer after 20 ms, three more after 40 ms, and from then on each waits for 40 ms.
/// That is part of their response time, and no lag of the generator.
#[test]
fn the_server_may_allow_fewer_streams() {
    let script = server(|asked| vec![(20 * MS, hello(asked.tag))]);
    let played = play(counted(2, 126), 9, script.connecting(|_| greets(most_streams(3))));
    assert_eq!(counts(&played), [126, 126, 126, 0, 0, 0]);
    let spans = &played.measured().spans;
    assert_ms(&spans.service_time, [20; 126]);
    assert_ms(&spans.response_time, [[20].repeat(6), [40].repeat(6), [60].repeat(114)].concat());
    assert_ms(&spans.send_lag, [[0].repeat(6), [20].repeat(6), [40].repeat(114)].concat());
    assert_ms(&spans.own_lag, [0; 126]);
}

/// 4 users on a connection, answers after 10 ms. At 25 ms the server says that it takes one stream at a
/// time: what is under way goes on, and from 30 ms on one request follows the other. At 65 ms it takes
/// four again. Sent at 0, 10, 20 (4 each), 30, 40, 50, 60, at 65 (the three who wait), and so on.
#[test]
fn settings_shrink_and_widen_the_streams_meanwhile() {
    let (script, read) = noting(server(|asked| {
        let mut acts = vec![(10 * MS, hello(asked.tag))];
        match asked.nth {
            8 => acts.push((5 * MS, most_streams(1))),
            15 => acts.push((5 * MS, most_streams(4))),
            _ => {}
        }
        acts
    }));
    let played = play(closed(1, 75), 4, script);
    let sent: Vec<u64> = read.borrow().iter().map(|(ms, _)| *ms).collect();
    let right = [[0; 4], [10; 4], [20; 4], [30, 40, 50, 60], [65, 65, 65, 70]].concat();
    assert_eq!(sent, right);
    // The answers that would come at 75 and 80 ms are beyond the end.
    assert_eq!(counts(&played), [20, 20, 16, 0, 4, 0]);
    let waits = [[10].repeat(13), vec![20, 30, 40]].concat();
    assert_ms(&played.measured().spans.response_time, waits);
    assert_ms(&played.measured().spans.service_time, [10; 16]);
}

/// No stream at all is allowed before 50 ms, and one from then on: 2 users of each of 2 connections
/// wait, and then have their turns.
#[test]
fn a_server_may_allow_a_stream_late() {
    let script = server(|asked| vec![(10 * MS, hello(asked.tag))]);
    // Connections are open 1 ms before the load begins.
    let late = |_| vec![(0, Act::Accept), (0, most_streams(0)), (51 * MS, most_streams(1))];
    let played = play(counted(2, 40), 2, script.connecting(late));
    assert_eq!((counts(&played), errors(&played)), ([40, 40, 40, 0, 0, 0], vec![]));
    let waits = [vec![60, 60, 70, 70], [20].repeat(36)].concat();
    assert_ms(&played.measured().spans.response_time, waits);
    assert_ms(&played.measured().spans.own_lag, [0; 40]);
    assert_eq!(played.measured().connections.opened, 2);
}

/// One answer stops in the middle at 10 ms, and goes on at 505 ms. The other user of the connection has
/// 50 answers meanwhile.
#[test]
fn a_slow_answer_holds_up_nobody() {
    let script = server(|asked| {
        let stream = asked.tag;
        if asked.nth > 0 {
            return vec![(10 * MS, hello(stream))];
        }
        let begin =
            frames(&[frame(HEADERS, END_HEADERS, stream, OK), frame(DATA, 0, stream, b"hel")]);
        let rest = Act::Send(frame(DATA, END_STREAM, stream, b"lo"));
        vec![(10 * MS, begin), (505 * MS, rest)]
    });
    let body = BodyCheck::Exact(b"hello".to_vec());
    let request = Request { check: Check { body, ..Check::default() }, ..Request::get("/", "sim") };
    let played = play(LoadSpec { requests: vec![request].into(), ..closed(1, 510) }, 2, script);
    // The answer at 510 ms comes as the load ends, and so would the one that was asked for at 505.
    assert_eq!((counts(&played), errors(&played)), ([53, 53, 51, 0, 2, 0], vec![]));
    assert_ms(&played.measured().spans.service_time, [10; 50].into_iter().chain([505]));
    assert_ms(&played.measured().spans.headers, [10; 51]);
    assert_ms(&played.measured().spans.body, [0; 50].into_iter().chain([495]));
}

/// 100 arrivals a second for a second, of 100 ms each, on one connection. 20 users carry them; what was
/// sent in the last tenth is under way at the end. 5 users send five requests every 100 ms: the k-th at
/// 100 floor(k / 5) + 10 (k mod 5) ms, which is 50 floor(k / 5) ms after it was due.
#[test]
fn an_open_loop_over_streams() {
    let load = |users| {
        let script = server(|asked| vec![(100 * MS, hello(asked.tag))]);
        play(open(1, 100.0, 1_000), users, script)
    };
    let enough = load(20);
    assert_eq!(counts(&enough), [100, 100, 90, 0, 10, 0]);
    assert_ms(&enough.measured().spans.response_time, [100; 90]);
    let few = load(5);
    assert_eq!(counts(&few), [100, 50, 45, 0, 5, 50]);
    assert_ms(&few.measured().spans.response_time, (0..45).map(|k| 100 + 50 * (k / 5)));
    assert_ms(&few.measured().spans.own_lag, [0; 50]);
}

/// As over HTTP/1.1: all that waits behind a stop of the generator is its own lag.
#[test]
fn what_waits_behind_a_stop_is_own_lag() {
    for stop_ms in STOPS_MS {
        let script = server(|asked| vec![(8 * MS, hello(asked.tag))]);
        let played = play(open(1, 100.0, 20_000), 1, script.stopping(300, stop_ms));
        assert_eq!(counts(&played), [2_000, 2_000, 2_000, 0, 0, 0]);
        let spans = &played.measured().spans;
        assert_ms(&spans.own_lag, (0..2_000).map(|n| lag_ms(n, stop_ms)));
        assert_ms(&spans.service_time, [8; 2_000]);
    }
}

/// 10 users of one connection think for 50 ms, and answers take 10 ms. Each begins within its first
/// thought, so that it sends 10 requests in 600 ms.
#[test]
fn users_of_a_connection_think() {
    let schedule = Schedule::Closed { think: Some(Spread::exactly(50 * MS)) };
    let script = server(|asked| vec![(10 * MS, hello(asked.tag))]);
    let played = play(LoadSpec { schedule, ..closed(1, 600) }, 10, script);
    assert_eq!(counts(&played), [100, 100, 100, 0, 0, 0]);
    assert_ms(&played.measured().spans.response_time, [10; 100]);
}

/// As over HTTP/1.1: two devices come at 0 and 50 ms, each takes 40 ms, and there are 9 in all.
#[test]
fn devices_have_a_connection_each() {
    let script = server(|asked| vec![(10 * MS, hello(asked.tag))]);
    let played = play(devices(2, 20, [100, 100, 50]), 1, script);
    let completed = played.stretches.iter().map(|phase| phase.requests.completed);
    assert_eq!(completed.collect::<Vec<_>>(), [8, 9, 1]);
    let opened = played.stretches.iter().map(|phase| phase.connections.opened);
    assert_eq!(opened.sum::<u64>(), 9);
}

/// 3 connections carry 4 requests each before they are replaced, which takes 5 ms.
#[test]
fn a_connection_for_every_fourth_request() {
    let script = far_server(|asked| vec![(10 * MS, hello(asked.tag))]);
    let mut spec = counted(3, 60);
    spec.connections.requests_per_connection = Some(4);
    let played = play(spec, 1, script);
    let measured = played.measured();
    assert_eq!((counts(&played), errors(&played)), ([60, 60, 60, 0, 0, 0], vec![]));
    assert_eq!((measured.connections.opened, measured.connections.closed_by_server), (15, 0));
    assert_ms(&measured.spans.response_time, [[15].repeat(12), [10].repeat(48)].concat());
}

/// Four answers come in one segment, a hundred times: three of each have the stamp of the last.
#[test]
fn answers_of_one_read_share_its_stamp() {
    let mut row = Vec::new();
    let script = server(move |asked| {
        row.push(answer(asked.tag, b"hello"));
        if row.len() < 4 {
            return Acts::new();
        }
        vec![(MS, frames(&std::mem::take(&mut row)))]
    });
    let played = play(counted(1, 400), 4, script);
    assert_eq!((counts(&played), errors(&played)), ([400, 400, 400, 0, 0, 0], vec![]));
    assert_eq!(played.measured().stamps.shared, 300);
    assert_ms(&played.measured().spans.service_time, [1; 400]);
}

/// A body of 100,000 bytes, of which the windows that both sides begin with let 65,535 go. The server
/// widens both after 10 ms, and answers 5 ms after the end: 15 ms after the request began to leave.
#[test]
fn a_body_waits_for_the_windows_of_the_server() {
    let script = server(|asked| vec![(5 * MS, hello(asked.tag))]).hearing(|piece| {
        let stream = piece.tag;
        if piece.bytes[3] != DATA {
            return Acts::new();
        }
        let by = (piece.bytes.len() as u32 - 9).to_be_bytes();
        let widens = [0, stream].map(|stream| frame(WINDOW_UPDATE, 0, stream, &by));
        vec![(10 * MS, frames(&widens))]
    });
    let post =
        Request { method: "POST".into(), body: vec![b'u'; 100_000], ..Request::get("/", "sim") };
    let played = play(LoadSpec { requests: vec![post].into(), ..counted(1, 1) }, 1, script);
    assert_eq!((counts(&played), errors(&played)), ([1, 1, 1, 0, 0, 0], vec![]));
    assert_ms(&played.measured().spans.service_time, [15]);
    assert_ms(&played.measured().spans.send_lag, [0]);
}
