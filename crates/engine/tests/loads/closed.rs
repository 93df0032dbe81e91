//! The closed loop.
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pippin_engine::{Control, run};
use pippin_model::load::*;

use crate::common::{conserved, counted, get, timed};
use crate::server::{HELLO, hello, serve};
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(
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
