//! Servers that close connections: which closes are errors, and what is known of keep-alive limits.
use pippin_model::load::{Connections, IoChoice, LoadSpec, Request, Schedule, Timeouts, WarmUp};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use std::io::Read;
use std::net::TcpListener;

use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{MS, assert_counted, closed, closed_for, errors, get, ms, on_each_loop, run};
use pippin_testing::patience::in_time;

on_each_loop!(
    an_announced_limit,
    an_unannounced_limit,
    closes_are_those_of_the_measured_part,
    a_connection_per_request,
    a_limit_of_our_own,
    a_body_ended_by_closing,
    sent_again_counts_once,
    a_send_under_way_ends_with_its_connection
);

/// After 5 answers each connection is closed, and the fifth says so. 2 connections, 100 requests:
/// 20 closes (the last two fall together with the end of the load and may go unseen), every one
/// after exactly 5 answers, and not one error.
fn an_announced_limit(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello")).close_after(5, true)).unwrap();
    let result = run(&closed(server.address(), io, 2, 100));
    let account = server.stop().unwrap();
    assert_eq!((result.measured.requests.good, account.requests), (100, 100));
    assert_eq!(errors(&result), []);
    let connections = result.measured.connections;
    assert_counted("closes", connections.closed_by_server as f64, 18.0, 20.0);
    assert_eq!(result.measured.closes.requests_range(), Some((5, 5)));
    assert_eq!(connections.opened, connections.reconnects + 2);
    assert_counted("connections opened", connections.opened as f64, 20.0, 22.0);
}

/// After 3 answers each connection is closed, in the warm-up too. What happened there is not counted,
/// and the server cannot have closed more connections than were opened, or replaced more.
fn closes_are_those_of_the_measured_part(io: IoChoice) {
    let server =
        spawn(Script::always(Answer::ok(b"hello").delay(ms(2))).close_after(3, true)).unwrap();
    let result = run(&LoadSpec {
        warm_up: WarmUp::Fixed { duration_ns: 200 * MS },
        ..closed_for(server.address(), io, 2, 100)
    });
    let account = server.stop().unwrap();
    let (connections, closes) = (result.measured.connections, &result.measured.closes);
    assert_eq!(connections.opened_before, 2, "the first ones");
    assert_eq!(connections.opened, connections.opened_before + connections.reconnects);
    assert!(connections.closed_by_server <= connections.opened, "{connections:?}");
    assert_eq!((closes.count(), closes.by_idle_ns.count()), (connections.closed_by_server, 0));
    assert_eq!(closes.requests_range(), Some((3, 3)));
    in_time(result.warm_up.completed >= 6, || format!("{:?}", result.warm_up));
    assert!(account.connections > connections.opened, "those of the warm-up are not counted");
}

/// Closed after 5 answers without a word. Who thinks for 30 ms sees the close before the next
/// request, unless the machine keeps the server from closing: no error. (Who does not may have sent it already; that is decided by the kernels' race
/// and shows as a resend or as "close before answer", never as anything else.)
fn an_unannounced_limit(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello")).close_after(5, false)).unwrap();
    let thinking = LoadSpec {
        schedule: Schedule::Closed { think: Some(Spread { mean_ns: 30_000_000, jitter: 0.0 }) },
        ..closed(server.address(), io, 2, 40)
    };
    let result = run(&thinking);
    let early = result.measured.requests;
    in_time(early.good == 40, || {
        format!("requests that crossed the close: {early:?} {:?}", errors(&result))
    });
    assert_eq!(errors(&result), []);
    assert_eq!(result.measured.closes.requests_range(), Some((5, 5)));

    let result = run(&closed(server.address(), io, 2, 200));
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!(requests.completed + requests.failed, 200, "{requests:?}");
    assert!(
        errors(&result).iter().all(|(kind, _)| *kind == ErrorKind::CloseBeforeAnswer),
        "{:?}",
        errors(&result)
    );
    assert_eq!(
        account.answers,
        early.completed + requests.completed,
        "an answer was counted twice or lost"
    );
    assert_eq!(result.measured.closes.requests_range(), Some((5, 5)));
}

/// `Connection: close` on every request: 60 requests, 60 connections, 60 connect times.
fn a_connection_per_request(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello")).close_after(1, true)).unwrap();
    let spec = LoadSpec {
        connections: Connections {
            count: 3,
            requests_per_connection: Some(1),
            pipeline: 1,
            streams: 1,
        },
        ..closed(server.address(), io, 3, 60)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!(
        (result.measured.requests.good, account.requests, account.connections),
        (60, 60, 60)
    );
    let connections = result.measured.connections;
    assert_eq!((connections.opened, connections.reconnects, connections.peak), (60, 57, 3));
    assert_eq!(result.measured.spans.connect.count(), 60);
    assert_eq!(errors(&result), []);
}

/// The load's own limit of 4 requests per connection: 100 requests make 25 connections, and none of
/// those was closed by the server.
fn a_limit_of_our_own(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let spec = LoadSpec {
        connections: Connections {
            count: 1,
            requests_per_connection: Some(4),
            pipeline: 1,
            streams: 1,
        },
        ..closed(server.address(), io, 1, 100)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!((result.measured.requests.good, account.connections), (100, 25));
    assert_eq!(
        (result.measured.connections.opened, result.measured.connections.closed_by_server),
        (25, 0)
    );
    let most = account.exchanges.iter().map(|exchange| exchange.number_on_connection).max();
    assert_eq!(most, Some(3));
}

/// No length, no chunks: the close is the end of the body (RFC 9112 section 6.3), so the answer is
/// complete and no error.
fn a_body_ended_by_closing(io: IoChoice) {
    let server =
        spawn(Script::always(Answer::ok(b"hello").pause_in_body(ms(5)).until_close())).unwrap();
    let spec = LoadSpec {
        requests: vec![get(pippin_model::load::BodyCheck::Exact(b"hello".to_vec()))].into(),
        ..closed(server.address(), io, 2, 30)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!(errors(&result), []);
    assert_eq!((result.measured.requests.good, account.connections), (30, 30));
    assert_eq!(result.measured.bytes.body, 150);
    assert_eq!(result.measured.closes.requests_range(), Some((1, 1)));
}

/// Closed after each answer without a word. Many requests cross the close and are sent again on a
/// new connection; each of 400 counts once, in the whole and in the windows.
fn sent_again_counts_once(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello")).close_after(1, false)).unwrap();
    let result = run(&closed(server.address(), io, 4, 400));
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, requests.sent, requests.unsent), (400, 400, 0));
    assert_eq!(requests.completed + requests.failed, 400);
    assert_eq!(account.answers, requests.completed);
    assert_eq!(result.windows.iter().map(|window| window.sent).sum::<u64>(), 400);
}

/// A request larger than all buffers, to a server that reads nothing until the request has timed
/// out and the next connection is there. Of the first it then gets what the buffers held, and the
/// end: nothing goes on sending on a connection that is closed.
fn a_send_under_way_ends_with_its_connection(io: IoChoice) {
    const BYTES: usize = 48 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut first, _) = listener.accept().unwrap();
        let second = listener.accept().unwrap();
        let mut came = 0;
        let mut buffer = vec![0; 1 << 16];
        // The end comes as a close or as a reset.
        while let Ok(count) = first.read(&mut buffer)
            && count > 0
        {
            came += count;
        }
        drop(second);
        came
    });
    let request = Request {
        method: "POST".into(),
        body: vec![b'x'; BYTES],
        ..get(pippin_model::load::BodyCheck::Any)
    };
    let result = run(&LoadSpec {
        requests: vec![request].into(),
        timeouts: Timeouts { request_ns: 200 * MS, ..Timeouts::default() },
        ..closed(address, io, 1, 2)
    });
    let came = server.join().unwrap();
    assert!(came > 0 && came < BYTES, "{came} bytes of the first request came");
    assert_eq!(result.measured.requests.completed, 0);
    assert_eq!(result.measured.requests.failed, 2);
}
