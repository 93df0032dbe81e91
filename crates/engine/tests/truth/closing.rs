//! Closes that race with requests. What is known of keep-alive limits is tested in virtual time
//! (`worker/sim/counting.rs`).
use pippin_model::load::{IoChoice, LoadSpec, Request, Schedule, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use std::io::Read;
use std::net::TcpListener;

use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{MS, closed, errors, get, on_each_loop, run};
use pippin_testing::patience::in_time;

on_each_loop!(
    an_unannounced_limit,
    sent_again_counts_once,
    a_send_under_way_ends_with_its_connection
);

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
