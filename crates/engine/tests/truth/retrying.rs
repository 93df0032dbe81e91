//! Connections that fail are tried again, and not too often; what never comes about ends in time.
use pippin_model::load::tls::TlsSpec;
use pippin_model::load::{IoChoice, LoadSpec, Timeouts};
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_testing::scripted::{Answer, OnConnect, Script, Unaccepting, spawn};

use crate::support::{
    MS, assert_counted, assert_takes, closed_for, errors, on_each_loop, open, run,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    closed_again,
    reset_again,
    few_are_opened_at_once_in_an_open_loop,
    setting_up_ends_without_success,
    never_speaks_tls
);

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

/// Connections are accepted, and nothing is ever said on them. 500 ms and a timeout of 200 ms for
/// everything: 2 users try three times at the most, and what setting up left under way counts too.
fn never_speaks_tls(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello")).on_connect(OnConnect::Ignore)).unwrap();
    let tls = TlsSpec {
        server_name: "127.0.0.1".into(),
        extra_roots_pem: None,
        verify: false,
        resume: false,
        client: None,
    };
    let spec = closed_for(server.address(), io, 2, 500);
    let result = run(&LoadSpec { tls: Some(tls), timeouts: short_connects(200), ..spec });
    let failed = result.measured.errors_total();
    assert_eq!(errors(&result), [(ErrorKind::Tls, failed)]);
    assert_counted("attempts", failed as f64, 1.0, 8.0);
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.unsent), (0, requests.scheduled));
    let failures = result.tls.unwrap().failures;
    let reasons: Vec<&str> = failures.keys().map(String::as_str).collect();
    assert_eq!(reasons, ["the handshake did not end in time"]);
}
