//! Connections that do not come about.
use pippin_model::load::{IoChoice, LoadSpec, Schedule, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use pippin_testing::scripted::{Answer, Refusing, Script, Unaccepting, spawn};
use std::net::IpAddr;

use crate::support::{
    MS, assert_counted, assert_within, closed, closed_for, errors, on_each_loop, run,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    refused,
    never_accepted,
    never_accepted_while_users_think,
    some_addresses_refuse,
    from_many_source_addresses
);

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

/// A full queue: connecting takes 100 ms, which is all that is allowed, so 2 users come to at most
/// 3 attempts each in 350 ms.
fn never_accepted(io: IoChoice) {
    let port = Unaccepting::new().unwrap();
    let timeouts = Timeouts { connect_ns: 100 * MS, ..Timeouts::default() };
    let result = run(&LoadSpec { timeouts, ..closed_for(port.address(), io, 2, 350) });
    assert_eq!(result.measured.requests.sent, 0);
    assert_eq!(errors(&result).len(), 1, "{:?}", errors(&result));
    assert_within("attempts", result.measured.errors[&ErrorKind::ConnectTimeout] as f64, 2.0, 6.0);
}

/// A server that never accepts, with 20 users who still think when their connections have taken too
/// long: each has one timer, whatever it waits for, and no request is due before its user has
/// thought.
fn never_accepted_while_users_think(io: IoChoice) {
    let port = Unaccepting::new().unwrap();
    let timeouts = Timeouts { connect_ns: 100 * MS, ..Timeouts::default() };
    let think = Some(Spread::exactly(60_000 * MS));
    let spec = LoadSpec {
        timeouts,
        schedule: Schedule::Closed { think },
        ..closed_for(port.address(), io, 20, 400)
    };
    let requests = run(&spec).measured.requests;
    // Some of 20 may have thought for nearly all of their minute when the load begins.
    assert!(requests.sent == 0 && requests.scheduled < 10, "{requests:?}");
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
