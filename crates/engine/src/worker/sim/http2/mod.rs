//! HTTP/2 in virtual time: servers whose frames are written by hand, to the nanosecond.
//!
//! | module | what it has |
//! |---|---|
//! | `answers` | right answers: who waits for whom |
//! | `refusals` | streams that are refused, reset, wrong or late |
//! | `going_on` | what users do after a connection that ended, was full or broke the rules |
//! | `heads` | what answers say besides their status: media types, and how calls of gRPC ended |
mod answers;
mod going_on;
mod heads;
mod refusals;

use std::cell::RefCell;
use std::rc::Rc;

use pippin_model::load::{Connections, LoadSpec, Protocol};
use pippin_testing::frames::kind::{RST_STREAM, SETTINGS};
use pippin_testing::frames::{answer, frame};

use super::framing::Framing;
use super::world::{Act, Acts, ReadRequest, Script};
use super::{MS, Played, closed, play_over};
use crate::protocol::http2::Http2;

/// The server takes so many streams at a time (SETTINGS_MAX_CONCURRENT_STREAMS).
fn most_streams(count: u8) -> Act {
    Act::Send(frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, count]))
}

/// The server says what it says first, as soon as the connection is open.
fn greets(settings: Act) -> Acts {
    vec![(0, Act::Accept), (0, settings)]
}

/// A server whose settings change nothing.
fn server(answer: impl FnMut(ReadRequest<'_>) -> Acts + 'static) -> Script {
    Script::answering(answer).connecting(|_| greets(Act::Send(frame(SETTINGS, 0, 0, &[]))))
}

/// A server whose settings change nothing, and to which opening a connection takes 5 ms.
fn far_server(answer: impl FnMut(ReadRequest<'_>) -> Acts + 'static) -> Script {
    let settings = || Act::Send(frame(SETTINGS, 0, 0, &[]));
    server(answer).connecting(move |_| vec![(5 * MS, Act::Accept), (5 * MS, settings())])
}

/// The right answer on a stream.
fn hello(stream: u32) -> Act {
    Act::Send(answer(stream, b"hello"))
}

/// Frames one behind the other.
fn frames(all: &[Vec<u8>]) -> Act {
    Act::Send(all.concat())
}

/// The server ends a stream, with this code.
fn reset(stream: u32, code: u8) -> Act {
    Act::Send(frame(RST_STREAM, 0, stream, &[0, 0, 0, code]))
}

/// It has not looked at the request.
fn refused(stream: u32) -> Act {
    reset(stream, 7)
}

/// So many requests by users who wait for their answers.
fn counted(connections: u32, requests: u64) -> LoadSpec {
    let mut spec = closed(connections, 60_000);
    spec.stop.requests = Some(requests);
    spec
}

/// This load over HTTP/2, with so many users on each connection.
fn over(spec: LoadSpec, streams: u32) -> LoadSpec {
    let connections = Connections { streams, ..spec.connections };
    LoadSpec { protocol: Protocol::Http2, connections, ..spec }
}

/// Applies it.
fn play(spec: LoadSpec, streams: u32, script: Script) -> Played {
    play_over::<Http2>(&over(spec, streams), script, Framing::Http2)
}

/// What a script has noted.
type Noted<T> = Rc<RefCell<Vec<T>>>;

/// A script that answers as this one, and notes what it reads: when, in milliseconds after the start,
/// and on which stream.
fn noting(script: Script) -> (Script, Noted<(u64, u32)>) {
    let noted = Noted::default();
    let seen = Rc::clone(&noted);
    let mut answer = script.answer;
    let answer = move |asked: ReadRequest<'_>| {
        seen.borrow_mut().push((asked.at / MS, asked.tag));
        answer(asked)
    };
    (Script { answer: Box::new(answer), ..script }, noted)
}

/// A script that answers as this one, and the codes with which the client ends streams, each with its instant in
/// milliseconds.
fn noting_resets(script: Script) -> (Script, Noted<(u64, u8)>) {
    let noted = Noted::default();
    let seen = Rc::clone(&noted);
    let script = script.hearing(move |frame| {
        if frame.bytes[3] == RST_STREAM {
            seen.borrow_mut().push((frame.at / MS, frame.bytes[12]));
        }
        Vec::new()
    });
    (script, noted)
}
