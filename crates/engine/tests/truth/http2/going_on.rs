//! What users do after a connection that ended, was full, or broke the rules.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Schedule, Timeouts};
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_model::text::units::Spread;
use pippin_testing::frames::kind::{GOAWAY, PING, RST_STREAM, SETTINGS};
use pippin_testing::frames::{Connection, Server, answer, frame};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use super::{NO_STREAMS, REFUSED, streams};
use crate::support::{
    MS, closed, closed_for, errors, get, ms, on_each_loop, open, quantile_ms, run,
    run_with_breaches, trusting,
};

on_each_loop!(
    devices_outlive_a_goaway,
    devices_outlive_breaches,
    an_open_loop_outlives_a_goaway,
    who_was_put_aside_takes_another_connection,
    who_waits_outlives_a_broken_session,
    a_breach_behind_an_answer_is_an_error,
    waiting_for_a_refusal_is_the_servers_time,
    a_server_that_serves_nothing_is_asked_slowly,
    refusals_of_a_failed_request_are_forgotten,
    who_does_not_read_is_sent_no_more,
);

/// Three devices with 10 ms between an answer and the next request, for half a second.
fn devices(server: &Server, io: IoChoice) -> LoadSpec {
    let schedule = Schedule::Devices {
        devices: 3,
        requests_per_device: 20,
        think: Spread { mean_ns: 10 * MS, jitter: 0.05 },
        ramp_up_ns: 50 * MS,
        sustain_ns: 400 * MS,
        ramp_down_ns: 50 * MS,
    };
    let mut spec = LoadSpec { schedule, ..closed_for(server.address, io, 3, 500) };
    spec.stop.duration_ns = None;
    streams(spec, 1)
}

/// Right answers of all phases.
fn good(result: &LoadResult) -> u64 {
    result.phases.iter().map(|phase| phase.measured.requests.good).sum()
}

/// Takes one request, and leaves it to the next connection.
fn leave(connection: &mut Connection) -> Option<()> {
    connection.request()?;
    connection.send(&frame(GOAWAY, 0, 0, &[0; 8]))?;
    connection.drain();
    None
}

fn devices_outlive_a_goaway(io: IoChoice) {
    let server =
        Server::new(
            |connection| {
                if connection.nth < 3 { leave(connection) } else { connection.serve() }
            },
        )
        .unwrap();
    let result = run(&devices(&server, io));
    assert_eq!(errors(&result), []);
    let answered = server.account.of(|account| &account.answers);
    let (good, censored) = (good(&result), censored(&result));
    assert!(good > 0 && (good..=good + censored).contains(&answered), "{good} of {answered}");
}

fn censored(result: &LoadResult) -> u64 {
    result.phases.iter().map(|phase| phase.measured.requests.censored).sum()
}

/// Every answer comes twice, and the second one is of a stream that has ended.
fn devices_outlive_breaches(io: IoChoice) {
    let server = Server::new(twice).unwrap();
    let (result, breaches) = run_with_breaches(&devices(&server, io));
    assert!(good(&result) > 0 && breaches > 0, "{result:?}");
    assert!(errors(&result).iter().all(|(kind, _)| *kind == ErrorKind::Malformed));
}

fn twice(connection: &mut Connection) -> Option<()> {
    loop {
        let stream = connection.request()?;
        connection.send(&answer(stream, b"hello").repeat(2))?;
    }
}

/// All users of the connection had their requests refused when it ended.
fn an_open_loop_outlives_a_goaway(io: IoChoice) {
    let server =
        Server::new(
            |connection| {
                if connection.nth == 0 { leave(connection) } else { connection.serve() }
            },
        )
        .unwrap();
    let result = run(&streams(open(server.address, io, 1, 100.0, 500), 1));
    assert_eq!(errors(&result), []);
    assert!(result.measured.requests.good > 0, "{:?}", result.measured.requests);
}

/// The first connection answers once, takes nothing more and ends.
fn who_was_put_aside_takes_another_connection(io: IoChoice) {
    let server = Server::new(|connection| {
        if connection.nth > 0 {
            return connection.serve();
        }
        let stream = connection.request()?;
        let settings = frame(SETTINGS, 0, 0, NO_STREAMS);
        connection.send(&[settings, answer(stream, b"hello")].concat())?;
        std::thread::sleep(ms(100));
        None
    })
    .unwrap();
    let result = run(&streams(open(server.address, io, 1, 100.0, 600), 4));
    let opened = server.account.of(|account| &account.connections);
    assert!(opened >= 2 && result.measured.requests.good > 1, "{:?}", result.measured.requests);
}

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

/// The requests are right, and the connection is not.
fn a_breach_behind_an_answer_is_an_error(io: IoChoice) {
    let server = Server::new(twice).unwrap();
    let (result, breaches) = run_with_breaches(&streams(closed(server.address, io, 1, 50), 1));
    assert_eq!(result.measured.requests.good, 50);
    // The last second answer may come after the load.
    assert!((49..=50).contains(&breaches), "{breaches}");
    assert_eq!(errors(&result), [(ErrorKind::Malformed, breaches)]);
}

/// Each request is refused after 50 ms, once, and is answered when it comes again. The wait is no
/// lag of the load generator, which a closed loop's response time leaves out.
fn waiting_for_a_refusal_is_the_servers_time(io: IoChoice) {
    let server = Server::new(|connection| {
        loop {
            let stream = connection.request()?;
            std::thread::sleep(ms(50));
            connection.send(&frame(RST_STREAM, 0, stream, &REFUSED))?;
            let again = connection.request()?;
            connection.answer(again, b"hello")?;
        }
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 1, 6), 1));
    assert_eq!((result.measured.requests.good, errors(&result)), (6, vec![]));
    let least = quantile_ms(&result.measured.spans.response_time, 0.0);
    assert!(least > 49.8, "response time {least} ms");
}

/// A stream is reset and the connection ends with it, each time.
fn a_server_that_serves_nothing_is_asked_slowly(io: IoChoice) {
    let server = Server::new(|connection| {
        let stream = connection.request()?;
        connection.send(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 2]))?;
        None
    })
    .unwrap();
    let think = Some(Spread { mean_ns: MS, jitter: 0.0 });
    let spec = closed_for(server.address, io, 1, 500);
    let result = run(&streams(LoadSpec { schedule: Schedule::Closed { think }, ..spec }, 1));
    assert_eq!(result.measured.requests.good, 0);
    // After each of them it waits for 10 ms.
    let opened = server.account.of(|account| &account.connections);
    assert!((2..=51).contains(&opened), "{opened}");
}

/// Each connection refuses its first request three times and ends. The request that follows is
/// refused once and answered.
fn refusals_of_a_failed_request_are_forgotten(io: IoChoice) {
    let server = Server::new(|connection| {
        let refusals = if connection.nth.is_multiple_of(2) { 3 } else { 1 };
        for _ in 0..refusals {
            let stream = connection.request()?;
            connection.send(&frame(RST_STREAM, 0, stream, &REFUSED))?;
        }
        let stream = connection.request()?;
        if refusals == 1 {
            connection.answer(stream, b"hello")?;
        }
        None
    })
    .unwrap();
    let result = run(&streams(closed(server.address, io, 1, 20), 1));
    assert!(result.measured.requests.good > 0, "{:?}", result.measured.requests);
    assert!(errors(&result).iter().all(|(kind, _)| *kind == ErrorKind::CloseBeforeAnswer));
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
