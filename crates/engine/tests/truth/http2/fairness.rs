//! Fairness among the streams of a connection: no user waits for ever while others are served.
use std::sync::{Arc, Mutex};

use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Request};
use pippin_testing::frames::kind::{DATA, HEADERS};
use pippin_testing::frames::{
    Connection, END_HEADERS, END_STREAM, Frame, OK, Server, answer, frame,
};

use super::streams;
use crate::support::{closed, errors, get, on_each_loop, run};

on_each_loop!(each_user_has_its_turn, a_slow_answer_holds_up_nobody);

/// The next requests, with their heads as they came.
fn heads(connection: &mut Connection, count: usize) -> Option<Vec<Frame>> {
    let next = || loop {
        let frame = connection.frame()?;
        if frame.kind == HEADERS {
            return Some(frame);
        }
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The digit behind the tildes of a path. They are so long in Huffman's code that the path is
/// written as it is.
fn digit(head: &Frame) -> u8 {
    let at = head.payload.windows(3).position(|bytes| bytes == b"~~~").unwrap();
    head.payload[at + 3] - b'0'
}

/// A server takes 3 of 9 users at a time. Each user asks for the next of nine pages at each turn,
/// and each begins with another. So nine requests in a row are all for different pages only if each
/// user had one turn.
fn each_user_has_its_turn(io: IoChoice) {
    const MOST_STREAMS: &[u8] = &[0, 3, 0, 0, 0, 3];
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    let server = Server::with(MOST_STREAMS, move |connection| {
        loop {
            let asked = heads(connection, 3)?;
            seen.lock().unwrap().extend(asked.iter().map(digit));
            let answers: Vec<u8> =
                asked.iter().flat_map(|head| answer(head.stream, b"hello")).collect();
            connection.send(&answers)?;
        }
    })
    .unwrap();
    let page =
        |nth| Request { target: format!("/~~~{nth}"), ..get(BodyCheck::Exact(b"hello".to_vec())) };
    let requests: Vec<Request> = (0..9).map(page).collect();
    let spec = LoadSpec { requests: requests.into(), ..closed(server.address, io, 1, 180) };
    let result = run(&streams(spec, 9));
    assert_eq!((result.measured.requests.good, errors(&result)), (180, vec![]));
    let order = order.lock().unwrap();
    assert_eq!(order.len(), 180);
    for nine in order.chunks(9) {
        let mut sorted = nine.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7, 8], "{order:?}");
    }
}

/// One answer stops in the middle, and goes on only when the other user has had fifty.
fn a_slow_answer_holds_up_nobody(io: IoChoice) {
    let server = Server::new(|connection| {
        let (slow, mut other) = (connection.request()?, connection.request()?);
        connection.send(&frame(HEADERS, END_HEADERS, slow, OK))?;
        connection.send(&frame(DATA, 0, slow, b"hel"))?;
        for _ in 0..50 {
            connection.answer(other, b"hello")?;
            other = connection.request()?;
        }
        connection.send(&frame(DATA, END_STREAM, slow, b"lo"))?;
        connection.answer(other, b"hello")?;
        connection.serve()
    })
    .unwrap();
    let requests = vec![get(BodyCheck::Exact(b"hello".to_vec()))];
    let spec = LoadSpec { requests: requests.into(), ..closed(server.address, io, 1, 100) };
    let result = run(&streams(spec, 2));
    assert_eq!((result.measured.requests.good, errors(&result)), (100, vec![]));
}
