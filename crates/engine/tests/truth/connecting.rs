//! Connections that do not come about.
use pippin_model::load::{IoChoice, LoadSpec};
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::{Answer, Refusing, Script, spawn};
use std::net::IpAddr;

use crate::support::{assert_counted, closed, closed_for, errors, on_each_loop, run};
use pippin_testing::patience::in_time;

on_each_loop!(refused, some_addresses_refuse, from_many_source_addresses);

/// Nobody listens: nothing is sent, every attempt is counted, and attempts are not made by the ten
/// thousand.
fn refused(io: IoChoice) {
    let port = Refusing::new().unwrap();
    let result = run(&closed_for(port.address(), io, 2, 300));
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.completed), (0, 0));
    assert_eq!(requests.scheduled, requests.unsent);
    let refused = result.measured.errors[&ErrorKind::ConnectRefused];
    assert_eq!(errors(&result).len(), 1);
    assert_counted("attempts", refused as f64, 2.0, 1_000.0);
    assert_eq!(
        (result.measured.connections.peak, result.measured.spans.service_time.count()),
        (0, 0)
    );
    assert_eq!(result.measured.error_fraction(), Some(1.0));
}

/// Two addresses in turn, one of which refuses: half of the connections work, and the other half
/// does not hold them up.
fn some_addresses_refuse(io: IoChoice) {
    let port = Refusing::new().unwrap();
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let spec = LoadSpec {
        addresses: vec![server.address(), port.address()],
        ..closed_for(server.address(), io, 4, 300)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    in_time(result.measured.requests.good > 100, || format!("{:?}", result.measured.requests));
    assert!(result.measured.errors[&ErrorKind::ConnectRefused] > 0);
    assert_eq!(
        result.measured.requests.completed + result.measured.requests.censored,
        account.requests
    );
}

/// Given source addresses are used in turn, and nothing changes but where connections come from.
fn from_many_source_addresses(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let sources: Vec<IpAddr> = (1..=5).map(|last| IpAddr::from([127, 0, 0, last])).collect();
    let result =
        run(&LoadSpec { source_addresses: sources, ..closed(server.address(), io, 10, 100) });
    assert_eq!((result.measured.requests.good, server.stop().unwrap().connections), (100, 10));
}
