//! Ways of sending a right answer: all are understood, and split anywhere.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec};
use pippin_testing::scripted::{Answer, Script, spawn};
use rand::RngExt as _;
use std::time::Duration;

use crate::support::{closed, errors, get, on_each_loop, run};

on_each_loop!(interim_answers, chunks_and_trailers, a_large_body, any_framing_split_anywhere);

/// 100 Continue and 103 Early Hints before each of 30 answers: 60 interim answers, 30 answers.
fn interim_answers(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello").interim(100).interim(103))).unwrap();
    let result = run(&LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        ..closed(server.address(), io, 2, 30)
    });
    let account = server.stop().unwrap();
    assert_eq!(
        (
            result.measured.requests.good,
            result.measured.status.interim,
            result.measured.status.class(2)
        ),
        (30, 60, 30)
    );
    assert_eq!((account.requests, result.measured.bytes.received), (30, account.bytes_out));
}

/// Chunk framing and trailers are bytes received, but not body.
fn chunks_and_trailers(io: IoChoice) {
    let server =
        spawn(Script::always(Answer::ok(b"hello, world").chunked(5, &["X-Sum: 1", "X-More: 2"])))
            .unwrap();
    let result = run(&LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello, world".to_vec()))].into(),
        ..closed(server.address(), io, 2, 30)
    });
    let account = server.stop().unwrap();
    assert_eq!((result.measured.requests.good, result.measured.bytes.body), (30, 30 * 12));
    assert_eq!(result.measured.bytes.received, account.bytes_out);
    assert_eq!(result.measured.connections.opened, 2);
}

/// 3 MB a body, far beyond any buffer.
fn a_large_body(io: IoChoice) {
    let body: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let script = {
        let body = body.clone();
        Script::each(move |request, _| {
            if request.number % 2 == 0 {
                Answer::ok(&body)
            } else {
                Answer::ok(&body).chunked(70_000, &[])
            }
        })
    };
    let server = spawn(script).unwrap();
    let result = run(&LoadSpec {
        requests: vec![get(BodyCheck::Exact(body))].into(),
        ..closed(server.address(), io, 2, 8)
    });
    let account = server.stop().unwrap();
    assert_eq!((result.measured.requests.good, result.measured.bytes.body), (8, 24_000_000));
    assert_eq!((errors(&result), result.measured.bytes.received), (Vec::new(), account.bytes_out));
}

/// 400 seeded random answers: bodies of 0 to 300 bytes, chunked or not, with or without interim
/// answers and trailers, paused somewhere or sent byte by byte. Each body carries its own length as
/// its first bytes would be too easy to fake: so the server books the bytes, and both sum up.
fn any_framing_split_anywhere(io: IoChoice) {
    let script = Script::each(|_, random| {
        let body: Vec<u8> =
            (0..random.random_range(0..300)).map(|_| random.random_range(b'a'..=b'z')).collect();
        let pause = Duration::from_micros(random.random_range(1..300));
        let mut answer =
            Answer::ok(&body).header(&format!("X-Number: {}", random.random_range(0..1_000_000)));
        if random.random_bool(0.3) {
            answer = answer.interim(103);
        }
        if random.random_bool(0.5) {
            answer = answer.chunked(
                random.random_range(1..100),
                if random.random_bool(0.5) { &["X-Sum: 1"] } else { &[] },
            );
            answer = if random.random_bool(0.5) {
                answer.pause_in_chunk_size(pause)
            } else {
                answer.pause_in_chunk(pause)
            };
        }
        match random.random_range(0..6) {
            0 => answer.byte_by_byte(Duration::ZERO),
            1 => answer.pause_in_head(pause),
            2 => answer.pause_before_body(pause),
            3 => answer.pause_in_body(pause),
            4 => answer.delay(pause),
            _ => answer,
        }
    });
    let server = spawn(script.seed(20)).unwrap();
    let result = run(&closed(server.address(), io, 5, 400));
    let account = server.stop().unwrap();
    assert_eq!(
        (result.measured.requests.good, account.answers, account.connections),
        (400, 400, 5)
    );
    assert_eq!((errors(&result), result.measured.bytes.received), (Vec::new(), account.bytes_out));
}
