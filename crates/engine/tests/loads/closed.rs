//! The closed loop.
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pippin_engine::{Control, run};
use pippin_model::load::*;
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use pippin_testing::scripted::Refusing;

use crate::common::{conserved, counted, get, timed};
use crate::server::{HELLO, hello, serve};
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(
    a_keep_alive_limit_is_found_and_is_no_error,
    a_request_that_crosses_the_close_of_a_used_connection_is_sent_again,
    a_warm_up_ends_when_the_throughput_is_steady_or_at_its_bound,
);

#[test]
fn a_count_is_sent_exactly() {
    for (connections, threads, requests) in [(1, 1, 1), (1, 1, 500), (10, 1, 1001), (7, 3, 1000)] {
        let (address, account) = hello();
        let result = conserved(&LoadSpec { threads, ..counted(address, connections, requests) });
        let counts = result.measured.requests;
        assert_eq!(
            (counts.scheduled, counts.sent, counts.completed, counts.good),
            (requests, requests, requests, requests)
        );
        assert_eq!(account.requests(), requests);
        assert_eq!(account.connections(), u64::from(connections));
        assert_eq!(result.measured.bytes.received, requests * HELLO.len() as u64);
        assert_eq!(result.measured.bytes.body, requests * 12);
        assert_eq!(result.measured.connections.opened, u64::from(connections));
        assert_eq!(result.measured.connections.reconnects, 0);
        assert!(result.measured.errors.is_empty());
    }
}

#[test]
fn templates_go_in_turn() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(vec![]));
    let kept = std::sync::Arc::clone(&seen);
    let (address, _) = serve(move |stream, head, _, _| {
        kept.lock().unwrap().push(head[4..6].to_owned());
        stream.write_all(HELLO).is_ok()
    });
    let requests = ["/a", "/b", "/c"].map(|path| get(path, BodyCheck::Any)).to_vec();
    conserved(&LoadSpec { requests: requests.into(), ..counted(address, 1, 7) });
    assert_eq!(*seen.lock().unwrap(), ["/a", "/b", "/c", "/a", "/b", "/c", "/a"]);
}

#[test]
fn one_connection_per_request_and_n_per_connection() {
    for (limit, connections) in [(1, 30), (7, 5), (30, 1)] {
        // The only request of a connection says so; the last of several does not.
        let announced = limit == 1;
        let (address, account) = serve(move |stream, head, _, _| {
            assert_eq!(head.contains("\r\nConnection: close\r\n"), announced, "{head}");
            stream.write_all(HELLO).is_ok()
        });
        let mut spec = counted(address, 1, 30);
        spec.connections.requests_per_connection = Some(limit);
        let result = conserved(&spec);
        assert_eq!(result.measured.requests.good, 30);
        assert_eq!(account.connections(), connections);
        assert_eq!(result.measured.connections.opened, connections);
        assert_eq!(result.measured.connections.reconnects, connections - 1);
        assert_eq!(result.measured.connections.closed_by_server, 0);
        assert_eq!(result.measured.spans.connect.count(), connections);
    }
}

#[test]
fn a_duration_ends_the_load_and_windows_cover_it() {
    let (address, account) = hello();
    let windows = std::sync::Mutex::new(vec![]);
    let keep = |window: &_| windows.lock().unwrap().push(Clone::clone(window));
    let stop = AtomicBool::new(false);
    let spec = LoadSpec {
        threads: 2,
        warm_up: WarmUp::Fixed { duration_ns: 400_000_000 },
        ..timed(counted(address, 4, 1), 1500)
    };
    let result =
        run(&spec, &Control { on_window: Some(&keep), ..Control::new(&stop, &|_| false) }).unwrap();
    crate::common::assert_conserved(&result.measured);
    assert_eq!(result.measured_to_ns - result.measured_from_ns, 1_500_000_000);
    assert_eq!(result.warm_up.duration_ns, 400_000_000);
    let starts: Vec<i64> = result.windows.iter().map(|window| window.from_ns).collect();
    assert_eq!(starts, [-400_000_000, 0, 1_000_000_000]);
    let in_windows: u64 = result.windows[1..].iter().map(|window| window.completed).sum();
    assert_eq!(in_windows, result.measured.requests.completed);
    assert_eq!(result.windows[0].completed, result.warm_up.completed);
    assert_eq!(*windows.lock().unwrap(), result.windows);
    // Of the censored ones the server may not have read all.
    let answered = result.warm_up.completed + result.measured.requests.completed;
    assert!(
        (answered..=answered + result.measured.requests.censored).contains(&account.requests())
    );
    assert_eq!(result.measured.connections.opened, 4);
    assert!(result.generator.cpu_ns > 0 && result.generator.cpu_ns_by_thread.len() == 2);
    assert!(!result.interrupted);
}

#[test]
fn wrong_answers_are_complete_but_not_good() {
    let (address, _) = serve(|stream, _, _, total| match total % 4 {
        0 => {
            stream.write_all(b"HTTP/1.1 500 Oops\r\nContent-Length: 12\r\n\r\nHello World!").is_ok()
        }
        1 => stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello world!").is_ok(),
        _ => stream.write_all(HELLO).is_ok(),
    });
    let measured = conserved(&counted(address, 1, 40)).measured;
    assert_eq!(
        (measured.requests.completed, measured.requests.good, measured.requests.failed),
        (40, 20, 0)
    );
    assert_eq!(
        measured.errors.into_iter().collect::<Vec<_>>(),
        [(ErrorKind::WrongStatus, 10), (ErrorKind::WrongBody, 10)]
    );
    assert_eq!((measured.status.class(2), measured.status.class(5)), (30, 10));
}

#[test]
fn each_kind_of_failure_is_told_apart() {
    type Case = (&'static [u8], bool, ErrorKind);
    let cases: [Case; 7] = [
        (b"", false, ErrorKind::CloseBeforeAnswer),
        (b"HTTP/1.1 200 OK\r\nContent-", false, ErrorKind::CloseBeforeAnswer),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello", false, ErrorKind::CloseInBody),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
            false,
            ErrorKind::CloseInBody,
        ),
        (b"220 smtp.example ESMTP\r\n", true, ErrorKind::Malformed),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n", true, ErrorKind::TooLarge),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello", true, ErrorKind::Timeout),
    ];
    for (bytes, open, kind) in cases {
        let (address, account) =
            serve(move |stream, _, _, _| stream.write_all(bytes).is_ok() && open);
        let mut spec = counted(address, 2, 6);
        // Only what is never answered makes this test wait.
        let limit_ns = if kind == ErrorKind::Timeout { 60_000_000 } else { 20_000_000_000 };
        spec.timeouts.request_ns = limit_ns;
        let measured = conserved(&spec).measured;
        assert_eq!(
            (measured.requests.sent, measured.requests.failed, measured.requests.completed),
            (6, 6, 0),
            "{kind:?}"
        );
        assert_eq!(measured.errors.into_iter().collect::<Vec<_>>(), [(kind, 6)]);
        // A crowded machine may let the server's threads read only after the generator has given
        // up.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while account.requests() < 6 && std::time::Instant::now() < deadline {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(
            account.requests() == 6 || (kind == ErrorKind::Timeout && account.requests() < 6),
            "{} for {kind:?}",
            account.requests()
        );
        if kind == ErrorKind::Timeout {
            assert_eq!(measured.spans.service_time.count(), 6);
            let min = measured.spans.service_time.min_ns().unwrap();
            assert!((59_900_000..=60_100_000).contains(&min), "{min}");
        }
    }
}

#[test]
fn nobody_listening_is_an_error_for_each_request_and_the_load_ends() {
    let port = Refusing::new().unwrap();
    let measured = conserved(&counted(port.address(), 2, 10)).measured;
    assert_eq!(
        (measured.requests.scheduled, measured.requests.sent, measured.requests.unsent),
        (10, 0, 10)
    );
    assert_eq!(measured.errors.into_iter().collect::<Vec<_>>(), [(ErrorKind::ConnectRefused, 10)]);
}

fn a_keep_alive_limit_is_found_and_is_no_error() {
    let announced =
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\nHello World!";
    for announce in [true, false] {
        let (address, account) = serve(move |stream, _, nth, _| {
            if nth < 4 {
                return stream.write_all(HELLO).is_ok();
            }
            let _ = stream.write_all(if announce { announced } else { HELLO });
            false
        });
        let mut spec = counted(address, 2, 100);
        // Between two requests, so that the close is seen before the next request leaves.
        spec.schedule = Schedule::Closed { think: Some(Spread::exactly(10_000_000)) };
        let measured = conserved(&spec).measured;
        in_time(announce || measured.requests.good == 100, || {
            format!("the server was late to close: {:?}", measured.requests)
        });
        assert_eq!(
            (measured.requests.good, measured.errors.len()),
            (100, 0),
            "{:?}",
            measured.errors
        );
        // 100 requests of two users, five to a connection; one user may have sent more of them than
        // the other.
        assert!((20..=21).contains(&account.connections()), "{}", account.connections());
        assert_eq!(measured.closes.requests_range(), Some((5, 5)));
        assert!(
            (18..=20).contains(&measured.connections.closed_by_server),
            "{:?}",
            measured.connections
        );
        assert_eq!(measured.connections.reconnects, account.connections() - 2);
    }
}

fn a_request_that_crosses_the_close_of_a_used_connection_is_sent_again() {
    let (address, account) = serve(|stream, _, nth, _| {
        let _ = stream.write_all(HELLO);
        nth < 4
    });
    let measured = conserved(&counted(address, 1, 200)).measured;
    // What the server's kernel took and the server never read is a failure. That is rare unless the
    // machine keeps the server from closing.
    in_time(measured.requests.failed <= 4, || format!("{:?}", measured.errors));
    assert_eq!(measured.requests.completed + measured.requests.failed, 200);
    assert!(account.connections() >= 40);
}

#[test]
fn an_answer_may_end_with_the_connection() {
    let (address, _) = serve(|stream, _, _, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nHello World!");
        false
    });
    let measured = conserved(&counted(address, 1, 10)).measured;
    assert_eq!((measured.requests.good, measured.connections.closed_by_server), (10, 10));
}

#[test]
fn bytes_after_the_answer_make_it_wrong() {
    let (address, _) =
        serve(|stream, _, _, _| stream.write_all(&[HELLO, b"surplus"].concat()).is_ok());
    let measured = conserved(&counted(address, 1, 5)).measured;
    assert_eq!((measured.requests.completed, measured.requests.good), (5, 0));
    assert_eq!(measured.errors.into_iter().collect::<Vec<_>>(), [(ErrorKind::Malformed, 5)]);
}

#[test]
fn a_large_body_is_read_through_the_small_buffer() {
    let body = std::sync::Arc::new((0..3_000_000_u32).map(|i| (i % 251) as u8).collect::<Vec<_>>());
    let kept = std::sync::Arc::clone(&body);
    let (address, _) = serve(move |stream, _, _, _| {
        stream
            .write_all(
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", kept.len()).as_bytes(),
            )
            .unwrap();
        stream.write_all(&kept).is_ok()
    });
    let requests = vec![get("/", BodyCheck::Exact(body.to_vec()))];
    let measured =
        conserved(&LoadSpec { requests: requests.into(), ..counted(address, 2, 10) }).measured;
    assert_eq!((measured.requests.good, measured.bytes.body), (10, 30_000_000));
}

#[test]
fn a_large_request_is_written_to_the_end() {
    let (address, _) = hello();
    let body = vec![b'x'; 4_000_000];
    let head = format!("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n", body.len());
    let sent = (head.len() + body.len()) as u64;
    let requests = vec![Request { method: "POST".into(), body, ..get("/", BodyCheck::Any) }];
    let result = conserved(&LoadSpec { requests: requests.into(), ..counted(address, 1, 1) });
    assert_eq!((result.measured.requests.good, result.measured.bytes.sent), (1, sent));
}

#[test]
fn pipelined_requests_are_answered_in_turn() {
    let (address, account) = serve(|stream, head, _, _| {
        let body = &head[4..6];
        stream
            .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{body}").as_bytes())
            .is_ok()
    });
    let requests = ["/a", "/b", "/c"].map(|path| get(path, BodyCheck::Exact(path.into()))).to_vec();
    let mut spec = LoadSpec { requests: requests.into(), ..counted(address, 2, 1000) };
    spec.connections.pipeline = 16;
    let measured = conserved(&spec).measured;
    assert_eq!((measured.requests.good, account.requests()), (1000, 1000));
}

#[test]
fn a_load_that_is_stopped_keeps_what_it_measured() {
    let (address, account) = hello();
    let stop = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while account.requests() < 100 {
                std::thread::sleep(Duration::from_millis(1));
            }
            stop.store(true, Ordering::Relaxed);
        });
        run(&timed(counted(address, 4, 1), 60_000), &Control::new(&stop, &|_| false)).unwrap()
    });
    assert!(result.interrupted);
    crate::common::assert_conserved(&result.measured);
    // Of the 100 that the server has read, each of 4 connections may wait for an answer.
    assert!(result.measured.requests.completed >= 96, "{:?}", result.measured.requests);
    assert!((1..60_000_000_000).contains(&result.measured.duration_ns));
}

fn a_warm_up_ends_when_the_throughput_is_steady_or_at_its_bound() {
    let (address, _) = hello();
    let spec = LoadSpec {
        warm_up: WarmUp::Auto { at_most_ns: 3_000_000_000 },
        ..timed(counted(address, 2, 1), 300)
    };
    let stop = AtomicBool::new(false);
    let run_with = |spec: &LoadSpec, steady: fn(&[f64]) -> bool| {
        run(spec, &Control::new(&stop, &steady)).unwrap()
    };
    let result = run_with(&spec, |rates| rates.len() >= 3);
    assert_eq!(result.warm_up.steady, Some(true));
    assert!(
        (600_000_000..3_000_000_000).contains(&result.warm_up.duration_ns),
        "{:?}",
        result.warm_up
    );
    assert!(result.warm_up.completed > 0);
    assert_eq!(result.measured.duration_ns, 300_000_000);
    crate::common::assert_conserved(&result.measured);
    let spec = LoadSpec { warm_up: WarmUp::Auto { at_most_ns: 500_000_000 }, ..spec };
    let result = run_with(&spec, |_| false);
    assert_eq!(result.warm_up.steady, Some(false));
    let length_ns = result.warm_up.duration_ns;
    assert!(length_ns >= 500_000_000, "{length_ns}");
    in_time(length_ns < 600_000_000, || format!("a warm-up of at most 500 ms: {length_ns} ns"));

    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = LoadSpec { addresses: vec![silent.local_addr().unwrap()], ..spec };
    assert_eq!(run_with(&spec, |_| false).warm_up.steady, None, "nothing was answered");
}
