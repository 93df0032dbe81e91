//! Answers that are no HTTP, or HTTP that must not be believed.
use pippin_model::load_result::ErrorKind;
use pippin_model::load_spec::{BodyCheck, IoChoice, Limits, LoadSpec, Timeouts};
use pippin_reference::scripted::{Answer, Script, spawn};
use std::time::Duration;

use crate::support::{MS, closed, errors, get, ms, on_each_loop, run};

on_each_loop!(
    garbage,
    contradictory_lengths,
    surplus_bytes,
    a_smuggled_answer,
    more_body_than_declared,
    bytes_that_nobody_asked_for,
    a_head_beyond_the_limit,
    a_length_beyond_64_bits,
    a_declared_body_beyond_the_limit,
    an_endless_body_is_too_large,
    an_endless_body_times_out
);

/// Each of 6 requests fails in this way, on a connection of its own: after such an answer none can
/// be trusted.
fn assert_all_fail(io: IoChoice, answer: &Answer, kind: ErrorKind) {
    let server = spawn(Script::always(answer.clone())).unwrap();
    let limits = Limits { head_bytes: 4_096, body_bytes: 10_000 };
    let result = run(&LoadSpec { limits, ..closed(server.address(), io, 1, 6) });
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.completed, requests.failed), (6, 0, 6), "{answer:?}");
    assert_eq!(errors(&result), [(kind, 6)], "{answer:?}");
    assert_eq!(account.connections, 6, "{answer:?}");
}

fn garbage(io: IoChoice) {
    for bytes in [
        &b"\x00\x01\x02\x03garbage\r\n\r\n"[..],
        b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/2 200\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2p1\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
    ] {
        assert_all_fail(io, &Answer::raw(bytes), ErrorKind::Malformed);
    }
}

/// Two lengths, or a length and chunks: whichever is believed, somebody on the way may believe the
/// other (RFC 9112 sections 6.3 and 11.2).
fn contradictory_lengths(io: IoChoice) {
    for head in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 6",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length : 5",
    ] {
        assert_all_fail(
            io,
            &Answer::raw(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nhello").as_bytes()),
            ErrorKind::Malformed,
        );
    }
}

/// Content-Length bytes and then more, in one piece. The answer came, so it is complete; but what
/// follows it belongs to nobody, so it is not good, and the next request goes over a new
/// connection.
fn surplus_bytes(io: IoChoice) {
    assert_surplus(io, &Answer::ok(b"hello").surplus(b"more"));
}

/// The surplus is a whole answer of its own. Were it taken for the answer to the next request, the
/// server would get fewer requests than are completed, and their bodies would be wrong.
fn a_smuggled_answer(io: IoChoice) {
    assert_surplus(
        io,
        &Answer::ok(b"hello").surplus(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"),
    );
}

fn more_body_than_declared(io: IoChoice) {
    assert_surplus(io, &Answer::ok(b"hello, world").declared_length(5));
}

fn assert_surplus(io: IoChoice, answer: &Answer) {
    let server = spawn(Script::always(answer.clone())).unwrap();
    let result = run(&LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        ..closed(server.address(), io, 1, 8)
    });
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.completed, requests.good, requests.failed), (8, 8, 0, 0));
    assert_eq!(errors(&result), [(ErrorKind::Malformed, 8)]);
    assert_eq!((account.requests, account.connections), (8, 8));
    assert_eq!(result.measured.bytes.body, 8 * 5, "surplus bytes are not body");
}

/// The surplus comes 20 ms later, when nothing is asked: 10 requests with 60 ms of thinking between
/// them. All 10 answers were right and complete before the surplus came; it must cost the
/// connection, and no later answer may be taken from it.
fn bytes_that_nobody_asked_for(io: IoChoice) {
    let late = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled";
    let answer =
        Answer::raw(&[&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], late].concat());
    // The pause lies between the two: the head of the raw answer is all of it, and its middle is
    // the end of the first.
    assert_eq!(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".len() + 3, late.len());
    let server = spawn(Script::always(answer.pause_in_head(ms(20)))).unwrap();
    let think = pippin_model::units::Spread { mean_ns: 60 * MS, jitter: 0.0 };
    let spec = LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        schedule: pippin_model::load_spec::Schedule::Closed { think: Some(think) },
        ..closed(server.address(), io, 1, 10)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!(account.requests, 10);
    let requests = result.measured.requests;
    assert_eq!((requests.completed, requests.failed), (10, 0));
    assert!(!result.measured.errors.contains_key(&ErrorKind::WrongBody), "{:?}", errors(&result));
    assert!(
        account.connections >= 9,
        "a connection with surplus bytes was used again: {}",
        account.connections
    );
}

/// A head of 5,000 bytes where 4,096 are allowed; ended or not.
fn a_head_beyond_the_limit(io: IoChoice) {
    let filler = format!("X-Filler: {}", "x".repeat(5_000));
    assert_all_fail(io, &Answer::ok(b"hello").header(&filler), ErrorKind::TooLarge);
    assert_all_fail(
        io,
        &Answer::raw(format!("HTTP/1.1 200 OK\r\n{filler}").as_bytes()),
        ErrorKind::TooLarge,
    );
}

/// A length that no 64 bits hold is a length all the same, and beyond any limit; it must not wrap
/// around to a small one.
fn a_length_beyond_64_bits(io: IoChoice) {
    for length in ["18446744073709551621", "99999999999999999999999"] {
        assert_all_fail(
            io,
            &Answer::raw(
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nhello").as_bytes(),
            ),
            ErrorKind::TooLarge,
        );
    }
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n";
    assert_all_fail(io, &Answer::raw(chunk.as_bytes()), ErrorKind::TooLarge);
}

/// 10,001 bytes declared where 10,000 are allowed, and as many in chunks.
fn a_declared_body_beyond_the_limit(io: IoChoice) {
    let body = [b'x'; 10_001];
    assert_all_fail(io, &Answer::ok(&body), ErrorKind::TooLarge);
    assert_all_fail(io, &Answer::ok(&body).chunked(1_000, &[]), ErrorKind::TooLarge);
    // One byte less is right.
    let server = spawn(Script::always(Answer::ok(&body[1..]).chunked(1_000, &[]))).unwrap();
    let limits = Limits { head_bytes: 4_096, body_bytes: 10_000 };
    assert_eq!(
        run(&LoadSpec { limits, ..closed(server.address(), io, 1, 6) }).measured.requests.good,
        6
    );
}

fn an_endless_body_is_too_large(io: IoChoice) {
    assert_all_fail(
        io,
        &Answer::ok(&[b'x'; 3_000]).endless(Duration::ZERO, true),
        ErrorKind::TooLarge,
    );
    assert_all_fail(
        io,
        &Answer::ok(&[b'x'; 3_000]).endless(Duration::ZERO, false),
        ErrorKind::TooLarge,
    );
}

/// Ten bytes every 10 ms never reach the limit within the 150 ms that a request may take: each of 3
/// requests is recorded at its timeout.
fn an_endless_body_times_out(io: IoChoice) {
    for chunked in [true, false] {
        let server =
            spawn(Script::always(Answer::ok(b"0123456789").endless(ms(10), chunked))).unwrap();
        let timeouts = Timeouts { request_ns: 150 * MS, ..Timeouts::default() };
        let result = run(&LoadSpec { timeouts, ..closed(server.address(), io, 1, 3) });
        assert_eq!(errors(&result), [(ErrorKind::Timeout, 3)]);
        assert_eq!(result.measured.spans.service_time.count(), 3);
    }
}
