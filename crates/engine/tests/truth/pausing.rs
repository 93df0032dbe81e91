//! Answers in many pieces. That a pause is in the span that it belongs to is tested in virtual time
//! (`worker/sim`).
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec};
use pippin_testing::scripted::{Answer, Script, spawn};
use std::time::Duration;

use crate::support::{closed, get, on_each_loop, run};

on_each_loop!(one_byte_at_a_time);

/// Each byte in a segment of its own: split everywhere, and still one right answer after the other.
fn one_byte_at_a_time(io: IoChoice) {
    for answer in [
        Answer::ok(b"hello"),
        Answer::ok(b"hello").chunked(2, &["X-Sum: 1"]),
        Answer::ok(b"hello").interim(103),
    ] {
        let server = spawn(Script::always(answer.byte_by_byte(Duration::from_micros(50)))).unwrap();
        let spec = LoadSpec {
            requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
            ..closed(server.address(), io, 1, 10)
        };
        let result = run(&spec);
        let account = server.stop().unwrap();
        assert_eq!((result.measured.requests.good, result.measured.connections.opened), (10, 1));
        assert_eq!(result.measured.bytes.received, account.bytes_out);
    }
}
