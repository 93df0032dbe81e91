//! Several requests under way on one connection of HTTP/1.1.
use pippin_model::load::{BodyCheck, Check, LoadSpec, Request};
use pippin_model::result::ErrorKind;

use super::times::{assert_ms, counts, errors};
use super::world::{Act, Script, answer, ok};
use super::{MS, closed, play};

/// So many requests, `depth` of them under way on each connection.
fn pipelined(connections: u32, requests: u64, depth: u32) -> LoadSpec {
    let mut spec = closed(connections, 60_000);
    spec.stop.requests = Some(requests);
    spec.connections.pipeline = depth;
    spec
}

/// A page whose answer must be its own name.
pub(super) fn page(name: char) -> Request {
    let body = BodyCheck::Exact(name.to_string().into_bytes());
    let check = Check { status: vec![200], body, ..Check::default() };
    Request { check, ..Request::get(&format!("/{name}"), "sim") }
}

/// The right answer to a [`page`].
pub(super) fn own_name(bytes: &[u8]) -> Act {
    answer(200, "", str::from_utf8(&bytes[5..6]).unwrap())
}

/// Three pages in turn, 8 under way: an answer given to another request has the wrong body.
#[test]
fn answers_come_in_order() {
    let requests = ['a', 'b', 'c'].map(page).to_vec().into();
    let script = Script::answering(|asked| vec![(MS, own_name(asked.bytes))]);
    let played = play(&LoadSpec { requests, ..pipelined(1, 400, 8) }, script);
    assert_eq!((counts(&played), played.read), ([400, 400, 400, 0, 0, 0], 400));
    assert_eq!((played.measured().requests.good, errors(&played)), (400, vec![]));
    assert_eq!(played.measured().connections.opened, 1);
    assert_ms(&played.measured().spans.service_time, [1; 400]);
}

/// What is surplus without pipelining is the next answer with it: 16 answers come at once, with an
/// interim answer and trailers each.
#[test]
fn pipelined_answers_are_no_surplus() {
    const ANSWER: &str = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\
        Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n";
    let script = Script::answering(|asked| match asked.of_connection % 16 {
        15 => vec![(MS, Act::Send(ANSWER.repeat(16).into_bytes()))],
        _ => Vec::new(),
    });
    let played = play(&pipelined(2, 320, 16), script);
    assert_eq!((played.measured().requests.good, errors(&played)), (320, vec![]));
    assert_eq!(played.measured().status.interim, 320);
    assert_eq!(played.measured().stamps.shared, 300);
}

/// The server closes behind every third answer of a connection, and says so, while a fourth request is
/// under way: nobody answers that one, so that it fails.
#[test]
fn a_close_fails_those_behind() {
    let script = Script::answering(|asked| match asked.of_connection {
        0 | 1 => vec![(10 * MS, ok())],
        2 => vec![(10 * MS, answer(200, "Connection: close\r\n", "ok")), (10 * MS, Act::Close)],
        _ => Vec::new(),
    });
    let played = play(&pipelined(1, 80, 4), script);
    assert_eq!(counts(&played), [80, 80, 60, 20, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::CloseBeforeAnswer, 20)]);
    assert_eq!(played.measured().connections.opened, 20);
    assert_eq!(played.measured().closes.requests_range(), Some((3, 3)));
    assert_ms(&played.measured().spans.service_time, [10; 60]);
}
