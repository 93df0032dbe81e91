//! Streams of server-sent events, which are measured by their parts.
use pippin_model::load::{BodyCheck, Check, EventForm, LoadSpec, Protocol, Request};
use pippin_model::result::{ErrorKind, EventCounts};
use pippin_testing::frames::kind::{DATA, HEADERS, SETTINGS};
use pippin_testing::frames::{END_HEADERS, END_STREAM, OK, frame};

use super::framing::Framing;
use super::times::{assert_ms, counts, errors};
use super::world::{Act, Acts, BEGIN, ReadRequest, Script};
use super::{MS, Played, closed, devices, play, play_over};
use crate::protocol::http2::Http2;
use crate::time::clock::unix_offset_ns;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
/// Five events, one each 100 ms.
const FORM: EventForm =
    EventForm { count: 5, every_ns: 100 * MS, off_ns: 100 * MS, fresh_ns: 1_000 * MS };

/// This load as one of streams.
fn streams(spec: LoadSpec) -> LoadSpec {
    let check = Check { body: BodyCheck::Events(FORM), ..Check::default() };
    LoadSpec { requests: vec![Request { check, ..Request::get("/", "sim") }].into(), ..spec }
}

/// So many streams, one after the other.
fn counted(connections: u32, requests: u64) -> LoadSpec {
    let mut spec = closed(connections, 60_000);
    spec.stop.requests = Some(requests);
    streams(spec)
}

/// The event of this number, which says the instant at which it is sent.
fn event(asked: &ReadRequest<'_>, number: u64, after_ms: u64) -> String {
    let at_ns = BEGIN + asked.at + after_ms * MS + unix_offset_ns();
    format!("data: {number} {}\n\n", at_ns / MS)
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn send(after_ms: u64, text: String) -> (u64, Act) {
    (after_ms * MS, Act::Send(text.into_bytes()))
}

/// The head after 1 ms, and the first `count` events in chunks, each as late as it is said.
fn chunked(asked: &ReadRequest<'_>, count: u64, at_ms: impl Fn(u64) -> u64) -> Acts {
    let head = send(1, format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n"));
    let events = (0..count).map(|n| send(at_ms(n), chunk(&event(asked, n, at_ms(n)))));
    std::iter::once(head).chain(events).collect()
}

const fn even(number: u64) -> u64 {
    100 * number + 3
}

#[test]
fn each_event_is_timed_and_may_come_in_pieces() {
    let script = Script::answering(|asked| {
        let comment = chunk(": hello\n\n");
        let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{comment}");
        let mut acts = vec![send(1, head)];
        for number in 0..5 {
            let text = event(&asked, number, even(number));
            let (begin, rest) = text.split_at(9);
            acts.push(send(even(number) - 1, chunk(begin)));
            acts.push(send(even(number), chunk(rest)));
        }
        acts.push(send(even(4), "0\r\n\r\n".into()));
        acts
    });
    let played = play(&counted(2, 4), script);
    assert_eq!((counts(&played), errors(&played)), ([4, 4, 4, 0, 0, 0], vec![]));
    let measured = played.measured();
    assert_eq!(measured.events, EventCounts { received: 20, ..EventCounts::default() });
    assert_ms(&measured.spans.headers, [1; 4]);
    assert_ms(&measured.spans.first_event, [3; 4]);
    assert_ms(&measured.spans.event_gap, [100; 16]);
    assert_ms(&measured.spans.service_time, [403; 4]);
}

/// Over HTTP/2 the events of several streams come mixed on one connection.
#[test]
fn streams_share_a_connection_over_http2() {
    let script = Script::answering(|asked| {
        let stream = asked.tag;
        let mut acts = vec![(MS, Act::Send(frame(HEADERS, END_HEADERS, stream, OK)))];
        for number in 0..5 {
            let text = event(&asked, number, even(number));
            let end = if number == 4 { END_STREAM } else { 0 };
            acts.push((even(number) * MS, Act::Send(frame(DATA, end, stream, text.as_bytes()))));
        }
        acts
    });
    let settings = || Act::Send(frame(SETTINGS, 0, 0, &[]));
    let script = script.connecting(move |_| vec![(0, Act::Accept), (0, settings())]);
    let mut spec = counted(1, 6);
    spec.protocol = Protocol::Http2;
    spec.connections.streams = 3;
    let played = play_over::<Http2>(&spec, script, Framing::Http2);
    assert_eq!((counts(&played), errors(&played)), ([6, 6, 6, 0, 0, 0], vec![]));
    let measured = played.measured();
    assert_eq!(measured.events, EventCounts { received: 30, ..EventCounts::default() });
    assert_ms(&measured.spans.first_event, [3; 6]);
    assert_ms(&measured.spans.event_gap, [100; 24]);
}

/// One stream of a server that does this.
fn one(answer: impl FnMut(ReadRequest<'_>) -> Acts + 'static) -> Played {
    play(&counted(1, 1), Script::answering(answer))
}

#[test]
fn streams_that_end_early_are_wrong_and_lack_events() {
    let ended = one(|asked| {
        let mut acts = chunked(&asked, 3, even);
        acts.push(send(250, "0\r\n\r\n".into()));
        acts
    });
    let closed = one(|asked| {
        let mut acts = chunked(&asked, 3, even);
        acts.push((250 * MS, Act::Close));
        acts
    });
    for (played, kind) in [(ended, ErrorKind::WrongBody), (closed, ErrorKind::CloseInBody)] {
        assert_eq!(errors(&played), [(kind, 1)]);
        let right = EventCounts { received: 3, lost: 2, ..EventCounts::default() };
        assert_eq!(played.measured().events, right, "{kind:?}");
        let why = &played.measured().firsts[&kind].why;
        let words = Some("the stream ended after 3 of its 5 events");
        assert_eq!(why.as_deref() == words, kind == ErrorKind::WrongBody, "{why:?}");
    }
}

#[test]
fn a_stream_may_end_with_its_connection() {
    let played = one(|asked| {
        let mut acts = vec![send(1, format!("{HEAD}Connection: close\r\n\r\n"))];
        acts.extend((0..5).map(|n| send(even(n), event(&asked, n, even(n)))));
        acts.push((404 * MS, Act::Close));
        acts
    });
    assert_eq!((counts(&played), errors(&played)), ([1, 1, 1, 0, 0, 0], vec![]));
    assert_eq!(played.measured().events.received, 5);
}

#[test]
fn events_that_are_held_back_are_counted() {
    let played = one(|asked| {
        let mut acts = chunked(&asked, 5, |_| 450);
        acts.push(send(451, "0\r\n\r\n".into()));
        acts
    });
    assert!(errors(&played).is_empty(), "{:?}", errors(&played));
    let right = EventCounts { received: 5, together: 4, ..EventCounts::default() };
    assert_eq!(played.measured().events, right);
    assert_ms(&played.measured().spans.first_event, [450]);
}

/// Of devices that come for a second and go, each event counts in the phase in which it came. What the
/// end of the load cuts off lacks nothing.
#[test]
fn events_belong_to_the_phase_in_which_they_come() {
    let script = Script::answering(|asked| {
        let mut acts = chunked(&asked, 5, even);
        acts.push(send(even(4), "0\r\n\r\n".into()));
        acts
    });
    let played = play(&streams(devices(10, 50, [1_000, 1_000, 200])), script);
    let events: Vec<u64> = played.stretches.iter().map(|phase| phase.events.received).collect();
    assert!(events.iter().all(|count| *count > 0), "{events:?}");
    assert!(events[1] > events[0] && events[1] > events[2], "{events:?}");
    assert!(played.stretches.iter().all(|phase| phase.events.lost == 0));
    assert!(played.stretches.iter().any(|phase| phase.requests.censored > 0));
}
