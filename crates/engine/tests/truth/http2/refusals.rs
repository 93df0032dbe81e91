//! Streams that are refused, reset, wrong or late, and connections that the server ends.
use pippin_engine::{Control, Exchange, Referee};
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Surprises, Timeouts};
use pippin_model::request::coding::Coding;
use pippin_model::result::ErrorKind;
use pippin_testing::frames::kind::{DATA, GOAWAY, HEADERS, RST_STREAM, SETTINGS};
use pippin_testing::frames::{END_HEADERS, END_STREAM, OK, Server, answer, frame};

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::{NO_STREAMS, REFUSED, streams};
use crate::support::{
    MS, assert_timeouts, closed, errors, examining_all, get, on_each_loop, open, run,
};

on_each_loop!(
    what_goaway_left_out_is_sent_again,
    a_server_that_always_leaves_is_given_up,
    refused_streams_are_sent_again,
    streams_that_are_always_refused_fail,
    a_server_that_allows_no_stream,
    a_server_that_allows_a_stream_late,
    resets_fail_one_request_each,
    a_wrong_answer_fails_alone,
    the_media_type_of_examined_answers_is_looked_at,
    a_head_that_comes_again_has_its_media_type,
    the_referee_gets_the_coding_of_examined_answers,
    a_late_answer_fails_alone,
    a_close_fails_what_is_under_way,
    what_nobody_has_read_is_sent_again,
);

const INTERNAL: [u8; 4] = [0, 0, 0, 2];

/// A field of a head: its name by the index (RFC 7541 appendix A), its value as it is.
fn field(index: u8, value: &str) -> Vec<u8> {
    let name = if index < 15 { vec![index] } else { vec![15, index - 15] };
    [name, vec![value.len() as u8], value.into()].concat()
}

/// Half of the answers are of the right type, one in four is of another, and one in four names
/// none. All follow an interim answer that has the right one, which counts for nothing.
fn the_media_type_of_examined_answers_is_looked_at(io: IoChoice) {
    const STATUS: u8 = 8;
    const CONTENT_TYPE: u8 = 31;
    let server = Server::new(|connection| {
        let types = [Some("text/html; charset=utf-8"), Some("TEXT/HTML"), Some("text/plain"), None];
        for kind in types.into_iter().cycle() {
            let stream = connection.request()?;
            let of_type = |kind| field(CONTENT_TYPE, kind);
            let interim = [field(STATUS, "103"), of_type("text/html")].concat();
            let head = [OK.to_vec(), kind.map_or(Vec::new(), of_type)].concat();
            let frames = [
                frame(HEADERS, END_HEADERS, stream, &interim),
                frame(HEADERS, END_HEADERS, stream, &head),
                frame(DATA, END_STREAM, stream, b"hello"),
            ];
            connection.send(&frames.concat())?;
        }
        None
    })
    .unwrap();
    let asks = |content_type: Option<&str>| {
        let surprises = Some(examining_all(content_type));
        let requests = vec![get(BodyCheck::Any)].into();
        let load = LoadSpec { requests, surprises, ..closed(server.address, io, 1, 100) };
        let result = run(&streams(load, 4));
        assert_eq!(result.measured.status.interim, 100);
        (result.measured.requests.good, errors(&result))
    };
    assert_eq!(asks(Some("text/html")), (50, vec![(ErrorKind::WrongBody, 50)]));
    assert_eq!(asks(Some("text/css")), (0, vec![(ErrorKind::WrongBody, 100)]));
    assert_eq!(asks(None), (100, vec![]));
}

/// A head that repeats the one before is looked at like the first.
fn a_head_that_comes_again_has_its_media_type(io: IoChoice) {
    const CONTENT_TYPE: u8 = 31;
    let server = Server::new(|connection| {
        let head = [OK.to_vec(), field(CONTENT_TYPE, "text/html")].concat();
        while let Some(stream) = connection.request() {
            let frames = [
                frame(HEADERS, END_HEADERS, stream, &head),
                frame(DATA, END_STREAM, stream, b"hello"),
            ];
            connection.send(&frames.concat())?;
        }
        None
    })
    .unwrap();
    let asks = |content_type: &str| {
        let surprises = Some(examining_all(Some(content_type)));
        let requests = vec![get(BodyCheck::Any)].into();
        let load = LoadSpec { requests, surprises, ..closed(server.address, io, 1, 100) };
        let result = run(&streams(load, 4));
        result.measured.requests.good
    };
    assert_eq!((asks("text/html"), asks("text/css")), (100, 0));
}

/// Counts the codings of answers.
#[derive(Default)]
struct Codings(Mutex<BTreeMap<Coding, u32>>);

impl Referee for Codings {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        *self.0.lock().unwrap().entry(exchange.coding).or_default() += 1;
        true
    }
}

/// Each coding comes twice, so that every second head repeats the one before. An interim answer names
/// a coding that counts for nothing.
fn the_referee_gets_the_coding_of_examined_answers(io: IoChoice) {
    const STATUS: u8 = 8;
    const CONTENT_ENCODING: u8 = 26;
    let server = Server::new(|connection| {
        let codings = [Some("br"), Some("br"), Some("gzip"), Some("GZIP"), None];
        for coding in codings.into_iter().cycle() {
            let stream = connection.request()?;
            let of_coding = |coding| field(CONTENT_ENCODING, coding);
            let interim = [field(STATUS, "103"), of_coding("zstd")].concat();
            let head = [OK.to_vec(), coding.map_or(Vec::new(), of_coding)].concat();
            let frames = [
                frame(HEADERS, END_HEADERS, stream, &interim),
                frame(HEADERS, END_HEADERS, stream, &head),
                frame(DATA, END_STREAM, stream, b"hello"),
            ];
            connection.send(&frames.concat())?;
        }
        None
    })
    .unwrap();
    let seen = |examined_every: u32| {
        let codings = Arc::new(Codings::default());
        let surprises = Some(Surprises { examined_every, ..examining_all(None) });
        let requests = vec![get(BodyCheck::Refereed)].into();
        let load = LoadSpec { requests, surprises, ..closed(server.address, io, 1, 100) };
        let stop = AtomicBool::new(false);
        let referee = Some(Arc::clone(&codings) as _);
        let control = Control { referee, ..Control::new(&stop, &|_| true) };
        let result = pippin_engine::run(&streams(load, 4), &control).unwrap();
        assert_eq!(result.measured.requests.good, 100);
        codings.0.lock().unwrap().clone()
    };
    let all = [(Coding::Plain, 20), (Coding::Gzip, 40), (Coding::Brotli, 40)];
    assert_eq!(seen(1), BTreeMap::from(all));
    assert_eq!(seen(0), BTreeMap::from([(Coding::Unseen, 100)]));
}

/// Each connection but the last answers 5 requests of 8 and leaves the others: they go over the
/// next one, and count once.
fn what_goaway_left_out_is_sent_again(io: IoChoice) {
    let server = Server::new(|connection| {
        if connection.nth == 9 {
            return connection.serve();
        }
        let row = connection.requests(8)?;
        let goaway = [&row[4].to_be_bytes()[..], &[0; 4]].concat();
        connection.send(&frame(GOAWAY, 0, 0, &goaway))?;
        for stream in &row[..5] {
            connection.answer(*stream, b"hello")?;
        }
        connection.drain();
        None
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 1, 53), 8));
    let requests = result.measured.requests;
    assert_eq!((requests.good, errors(&result)), (53, vec![]), "{requests:?}");
    // 9 connections with 5 answers each, and one with the last 8.
    assert_eq!(requests.sent_again, 27);
    assert_eq!(result.measured.connections.closed_by_server, 9);
    assert_eq!(result.measured.closes.requests_range(), Some((5, 5)));
}

/// GOAWAY before any answer, on each connection: the client does not try for ever.
fn a_server_that_always_leaves_is_given_up(io: IoChoice) {
    let server = Server::new(|connection| {
        connection.request()?;
        connection.send(&frame(GOAWAY, 0, 0, &[0; 8]))?;
        connection.drain();
        None
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 2, 20), 5));
    let requests = result.measured.requests;
    assert_eq!(requests.failed, 20, "{requests:?}");
    assert_eq!(errors(&result), [(ErrorKind::StreamReset, 20)]);
    assert_eq!(requests.sent_again, 60);
}

/// Every seventh request of a connection is refused. With four streams, at most three other
/// requests come before one is sent again, so none is refused twice.
fn refused_streams_are_sent_again(io: IoChoice) {
    let server = Server::new(|connection| {
        for nth in 1.. {
            let stream = connection.request()?;
            if nth % 7 == 0 {
                connection.send(&frame(RST_STREAM, 0, stream, &REFUSED))?;
            } else {
                connection.answer(stream, b"hello")?;
            }
        }
        None
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 2, 200), 4));
    let requests = result.measured.requests;
    assert_eq!((requests.good, errors(&result)), (200, vec![]), "{requests:?}");
    let seen = server.account.of(|account| &account.requests);
    assert_eq!(seen, 200 + requests.sent_again);
    assert!(requests.sent_again >= 25, "{requests:?}");
}

fn streams_that_are_always_refused_fail(io: IoChoice) {
    let server = Server::new(|connection| {
        loop {
            let stream = connection.request()?;
            connection.send(&frame(RST_STREAM, 0, stream, &REFUSED))?;
        }
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 1, 40), 4));
    assert_eq!(errors(&result), [(ErrorKind::StreamReset, 40)]);
    assert_eq!(server.account.of(|account| &account.requests), 160);
    assert_eq!(server.account.of(|account| &account.connections), 1);
}

/// What was sent before the server said so is refused; the rest waits in vain, and the load ends.
fn a_server_that_allows_no_stream(io: IoChoice) {
    let server = Server::with(NO_STREAMS, |connection| {
        loop {
            let stream = connection.request()?;
            connection.send(&frame(RST_STREAM, 0, stream, &REFUSED))?;
        }
    })
    .unwrap();
    let timeouts = Timeouts { request_ns: 300 * MS, ..Timeouts::default() };
    let counted = LoadSpec { timeouts, ..closed(server.address, io, 2, 8) };
    let result = run(&streams(counted, 2));
    // What the server is late to refuse has timed out.
    assert_timeouts(&result, 0);
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, requests.sent, requests.unsent), (8, 0, 8));
    let kinds: Vec<ErrorKind> = errors(&result).iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [ErrorKind::NoStream]);
    let rate = LoadSpec { timeouts, ..open(server.address, io, 2, 100.0, 800) };
    let result = run(&streams(rate, 2));
    assert_timeouts(&result, 0);
    assert_eq!(result.measured.requests.sent, 0);
    assert!(result.measured.errors[&ErrorKind::NoStream] > 0, "{:?}", errors(&result));
}

/// Patience is for that: a server that allows one stream after a while serves all of them.
fn a_server_that_allows_a_stream_late(io: IoChoice) {
    let server = Server::with(NO_STREAMS, |connection| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        connection.send(&frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 1]))?;
        connection.serve()
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 2, 40), 2));
    assert_eq!((result.measured.requests.good, errors(&result)), (40, vec![]));
    assert_eq!(server.account.of(|account| &account.connections), 2);
}

/// Rapid reset from the other side: every second stream is ended at once. Each is an error, and the
/// connection goes on.
fn resets_fail_one_request_each(io: IoChoice) {
    let server = Server::new(|connection| {
        loop {
            let stream = connection.request()?;
            if stream % 4 == 1 {
                connection.send(&frame(HEADERS, END_HEADERS, stream, OK))?;
                connection.send(&frame(RST_STREAM, 0, stream, &INTERNAL))?;
            } else {
                connection.answer(stream, b"hello")?;
            }
        }
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 2, 4_000), 10));
    let requests = result.measured.requests;
    // Each of the two connections may end with either.
    assert_eq!(requests.good + requests.failed, 4_000);
    assert!(requests.good.abs_diff(requests.failed) <= 2, "{requests:?}");
    assert_eq!(errors(&result), [(ErrorKind::StreamReset, requests.failed)]);
    assert_eq!(server.account.of(|account| &account.connections), 2);
}

/// One of five never gets an answer: it times out, the server is told (RST_STREAM with CANCEL), and
/// the others go on beside it. An answer that comes later still is passed over.
fn a_late_answer_fails_alone(io: IoChoice) {
    let server = Server::new(|connection| {
        let mut late = None;
        loop {
            let stream = connection.request()?;
            match late {
                None => late = Some(stream),
                Some(_) => connection.answer(stream, b"hello")?,
            }
            if stream > 2_000
                && let Some(stream) = late.replace(0).filter(|stream| *stream > 0)
            {
                connection.send(&answer(stream, b"late"))?;
            }
        }
    })
    .unwrap();
    let spec = closed(server.address, io, 1, 2_000);
    let timeouts = Timeouts { request_ns: 200 * MS, ..spec.timeouts };
    let requests = vec![get(BodyCheck::Exact(b"hello".to_vec()))];
    let result = run(&streams(LoadSpec { timeouts, requests: requests.into(), ..spec }, 5));
    assert_timeouts(&result, 1);
    let requests = result.measured.requests;
    let late = errors(&result);
    // A busy machine may make the late answer come before its time is up.
    if late != [(ErrorKind::WrongBody, 1)] {
        assert_eq!((requests.good, late), (1_999, vec![(ErrorKind::Timeout, 1)]), "{requests:?}");
        assert_eq!(server.account.of(|account| &account.reset_codes), 8);
    }
    assert_eq!(server.account.of(|account| &account.connections), 1);
}

/// 6 are under way when the connection ends: 2 are answered, 2 have a head, 2 have nothing.
fn a_close_fails_what_is_under_way(io: IoChoice) {
    let server = Server::new(|connection| {
        let row = connection.requests(6)?;
        connection.answer(row[0], b"hello")?;
        connection.answer(row[5], b"hello")?;
        for stream in &row[1..3] {
            connection.send(&frame(HEADERS, END_HEADERS, *stream, OK))?;
            connection.send(&frame(DATA, 0, *stream, b"he"))?;
        }
        None
    })
    .unwrap();
    // The two that are answered are followed by two more.
    let result = run(&streams(closed(server.address, io, 1, 6), 6));
    assert_eq!(result.measured.requests.good, 2);
    assert_eq!(errors(&result), [(ErrorKind::CloseBeforeAnswer, 2), (ErrorKind::CloseInBody, 2)]);
}

/// The server ends a connection that has served while requests are on their way that it never
/// reads: as over HTTP/1.1, they are sent again if nobody can have read them, and fail otherwise.
fn what_nobody_has_read_is_sent_again(io: IoChoice) {
    let server = Server::new(|connection| {
        for _ in 0..10 {
            let stream = connection.request()?;
            connection.answer(stream, b"hello")?;
        }
        None
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 2, 200), 3));
    let requests = result.measured.requests;
    assert_eq!(requests.good + requests.failed, 200, "{requests:?}");
    assert!(errors(&result).iter().all(|(kind, _)| *kind == ErrorKind::CloseBeforeAnswer));
}

/// One stream is wrong, and the others go on (RFC 9113 section 8.1.1).
fn a_wrong_answer_fails_alone(io: IoChoice) {
    let server = Server::new(|connection| {
        loop {
            let stream = connection.request()?;
            if stream % 4 == 1 {
                // content-length: 9
                let head = [OK, &[0x0f, 0x0d, 1, b'9']].concat();
                connection.send(&frame(HEADERS, END_HEADERS, stream, &head))?;
                connection.send(&frame(DATA, END_STREAM, stream, b"hello"))?;
            } else {
                connection.answer(stream, b"hello")?;
            }
        }
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 1, 400), 5));
    assert_eq!(errors(&result), [(ErrorKind::Malformed, 200)]);
    assert_eq!(result.measured.requests.good, 200);
    assert_eq!(server.account.of(|account| &account.connections), 1);
    assert_eq!(server.account.of(|account| &account.resets), 200);
}
