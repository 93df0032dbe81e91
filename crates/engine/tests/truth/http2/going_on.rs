//! What users do after a session that breaks, and when the kernel of a server keeps what it does not
//! read.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_testing::frames::kind::{PING, RST_STREAM};
use pippin_testing::frames::{Server, frame};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use super::{NO_STREAMS, REFUSED, streams};
use crate::support::{MS, closed, closed_for, errors, get, ms, on_each_loop, run, trusting};

on_each_loop!(
    who_waits_outlives_a_broken_session,
    who_does_not_read_is_sent_no_more,
    what_nobody_has_read_is_sent_again,
);

/// Nothing is under way on a connection over TLS, and a request waits, when bytes come that are not
/// TLS. The load ends, whatever becomes of its requests.
fn who_waits_outlives_a_broken_session(io: IoChoice) {
    let authority = Authority::new();
    let server = Server::with(NO_STREAMS, |connection| {
        let stream = connection.request()?;
        connection.send(&frame(RST_STREAM, 0, stream, &REFUSED))?;
        std::thread::sleep(ms(20));
        connection.send(&frame(PING, 0, 0, b"nonsense"))?;
        connection.drain();
        None
    })
    .unwrap();
    let config = authority.server(&Certified { alpn: vec!["h2"], ..Certified::default() });
    let manner =
        FrontBehaviour { speaks_plainly_behind: Some(b"nonsense"), ..FrontBehaviour::default() };
    let front = Front::spawn(server.address, config, manner).unwrap();
    let spec = LoadSpec { tls: Some(trusting(&authority)), ..closed(front.address(), io, 1, 3) };
    let result = run(&streams(spec, 1));
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, requests.good), (3, 0), "{:?}", errors(&result));
}

/// The server reads nothing. Requests follow each other as they time out, until enough bytes wait:
/// the others are given up unsent, and another connection is tried.
fn who_does_not_read_is_sent_no_more(io: IoChoice) {
    let server = Server::new(|_| {
        std::thread::sleep(ms(3_000));
        None
    })
    .unwrap();
    let mut request = get(BodyCheck::Any);
    // Too long for the server's table.
    request.headers.push(("cookie".into(), "abcdefgh".repeat(1_000)));
    let spec = closed_for(server.address, io, 1, 2_000);
    let timeouts = Timeouts { request_ns: 50 * MS, ..spec.timeouts };
    let result = run(&streams(LoadSpec { timeouts, requests: vec![request].into(), ..spec }, 400));
    let kinds: Vec<ErrorKind> = errors(&result).iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [ErrorKind::Timeout, ErrorKind::NoStream]);
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
