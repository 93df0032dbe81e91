//! Connections that do not come about.
use pippin_model::load::{IoChoice, LoadSpec};
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::{Answer, Refusing, Script, spawn};
use std::net::IpAddr;

use crate::support::{closed, closed_for, on_each_loop, run};
use pippin_testing::patience::in_time;

on_each_loop!(some_addresses_refuse, from_many_source_addresses);

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
