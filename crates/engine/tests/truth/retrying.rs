//! Connections that fail are tried again, and not too often; what never comes about ends in time.
use std::net::SocketAddr;
use std::time::Instant;

use pippin_model::load::tls::TlsSpec;
use pippin_model::load::{IoChoice, LoadSpec, Timeouts};
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_testing::scripted::{Answer, OnConnect, Refusing, Script, Unaccepting, spawn};

use crate::support::{
    MS, assert_counted, assert_takes, closed_for, errors, on_each_loop, open, run,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    refused_again,
    refused_many_times,
    closed_again,
    reset_again,
    few_are_opened_at_once,
    few_are_opened_at_once_in_an_open_loop,
    setting_up_ends_without_success,
    never_accepts,
    never_speaks_tls
);

/// A user waits for 10 ms at the least, so that each tries 31 times in 300 ms at the most.
fn refused_again(io: IoChoice) {
    let port = Refusing::new().unwrap();
    let result = run(&closed_for(port.address(), io, 2, 300));
    let refused = result.measured.errors[&ErrorKind::ConnectRefused];
    assert_eq!(errors(&result), [(ErrorKind::ConnectRefused, refused)]);
    assert_counted("attempts", refused as f64, 2.0, 62.0);
    in_time(refused >= 10, || format!("{refused} attempts"));
}

/// 1,000 users wait for 100 ms: 4 times each in 300 ms at the most.
fn refused_many_times(io: IoChoice) {
    let port = Refusing::new().unwrap();
    let result = run(&closed_for(port.address(), io, 1_000, 300));
    let refused = result.measured.errors[&ErrorKind::ConnectRefused];
    assert_counted("attempts", refused as f64, 1.0, 4_000.0);
    in_time(refused >= 1_500, || format!("{refused} attempts"));
}

/// A server that accepts and closes at once is asked no more often than one that refuses: 31 times
/// by each of 2 users, and before the load once for each. Whatever was sent has failed.
fn assert_backs_off(io: IoChoice, on_connect: OnConnect) -> LoadResult {
    let server = spawn(Script::always(Answer::ok(b"hello")).on_connect(on_connect)).unwrap();
    let result = run(&closed_for(server.address(), io, 2, 300));
    let account = server.stop().unwrap();
    assert_counted("connections", account.connections as f64, 2.0, 64.0);
    in_time(account.connections >= 10, || format!("{} connections", account.connections));
    let requests = result.measured.requests;
    assert_eq!((requests.completed, account.requests), (0, 0));
    let count = |kind| result.measured.errors.get(&kind).copied().unwrap_or(0);
    // Whether a request is out before the end comes is a race of the kernels; each way has its
    // kind.
    let (early, late) = (count(ErrorKind::ConnectReset), count(ErrorKind::CloseBeforeAnswer));
    assert_eq!(early + late, result.measured.errors_total(), "{:?}", errors(&result));
    assert_eq!(requests.failed, late);
    assert!((early..=early + 2).contains(&requests.unsent), "{requests:?} {early}");
    result
}

fn closed_again(io: IoChoice) {
    assert_backs_off(io, OnConnect::Close);
}

fn reset_again(io: IoChoice) {
    assert_backs_off(io, OnConnect::Reset);
}

fn short_connects(connect_ms: u64) -> Timeouts {
    Timeouts { connect_ns: connect_ms * MS, ..Timeouts::default() }
}

/// Connecting takes 100 ms and fails: 64 of 200 users at once, in 500 ms 6 times at the most.
fn few_are_opened_at_once(io: IoChoice) {
    let port = Unaccepting::new().unwrap();
    let result = run(&LoadSpec {
        timeouts: short_connects(100),
        ..closed_for(port.address(), io, 200, 500)
    });
    let timeouts = result.measured.errors[&ErrorKind::ConnectTimeout];
    assert_eq!(errors(&result), [(ErrorKind::ConnectTimeout, timeouts)]);
    assert_counted("attempts", timeouts as f64, 1.0, 6.0 * 64.0);
    in_time(timeouts >= 128, || format!("{timeouts} attempts"));
}

/// Few connections are opened at once for arrivals that no connection is open for. All 200 were
/// tried before the load, so that every attempt in it is a further one.
fn few_are_opened_at_once_in_an_open_loop(io: IoChoice) {
    let port = Unaccepting::new().unwrap();
    let result = run(&LoadSpec {
        timeouts: short_connects(100),
        ..open(port.address(), io, 200, 2_000.0, 500)
    });
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, requests.sent, requests.unsent), (1_000, 0, 1_000));
    let timeouts = result.measured.errors[&ErrorKind::ConnectTimeout];
    assert_eq!(errors(&result), [(ErrorKind::ConnectTimeout, timeouts)]);
    // Setting up ends after 100 ms with 128 attempts at the most, which count here.
    assert_counted("attempts", timeouts as f64, 1.0, 128.0 + 6.0 * 64.0);
}

/// 200 connections in rows of 64 would take 800 ms; after 200 ms without success the load begins.
fn setting_up_ends_without_success(io: IoChoice) {
    let port = Unaccepting::new().unwrap();
    let result = run(&LoadSpec {
        timeouts: short_connects(200),
        ..closed_for(port.address(), io, 200, 100)
    });
    let set_up_ms = (result.measured_from_ns - result.started_ns) as f64 / 1e6;
    assert_takes("setting up in ms", set_up_ms, 200.0, 400.0);
    assert_eq!((result.measured.requests.sent, result.measured.connections.opened), (0, 0));
}

/// 2 s and a timeout of 1 s for everything: the load ends within 4 s and says what happened. 2
/// users try twice, and what setting up left under way counts too.
fn assert_ends_in_time(address: SocketAddr, io: IoChoice, tls: Option<TlsSpec>) -> LoadResult {
    let timeouts =
        Timeouts { connect_ns: 1_000 * MS, request_ns: 1_000 * MS, ..Timeouts::default() };
    let kind = if tls.is_some() { ErrorKind::Tls } else { ErrorKind::ConnectTimeout };
    let begin = Instant::now();
    let result = run(&LoadSpec { tls, timeouts, ..closed_for(address, io, 2, 2_000) });
    assert_takes("the load in s", begin.elapsed().as_secs_f64(), 2.0, 4.0);
    let failed = result.measured.errors_total();
    assert_eq!(errors(&result), [(kind, failed)]);
    assert_counted("attempts", failed as f64, 1.0, 6.0);
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.unsent), (0, requests.scheduled));
    result
}

/// The listen queue is full.
fn never_accepts(io: IoChoice) {
    let port = Unaccepting::new().unwrap();
    assert_ends_in_time(port.address(), io, None);
}

/// Connections are accepted, and nothing is ever said on them.
fn never_speaks_tls(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello")).on_connect(OnConnect::Ignore)).unwrap();
    let tls = TlsSpec {
        server_name: "127.0.0.1".into(),
        extra_roots_pem: None,
        verify: false,
        resume: false,
        client: None,
    };
    let result = assert_ends_in_time(server.address(), io, Some(tls));
    let failures = result.tls.unwrap().failures;
    let reasons: Vec<&str> = failures.keys().map(String::as_str).collect();
    assert_eq!(reasons, ["the handshake did not end in time"]);
}
