//! Simulated devices: each opens a connection, asks a few times with pauses, and is replaced.
use pippin_model::load::{IoChoice, LoadSpec, Schedule};
use pippin_model::text::units::Spread;
use pippin_testing::scripted::{Answer, Exchange, Script, spawn};
use std::collections::BTreeMap;

use crate::support::{MS, assert_within, closed_for, errors, on_each_loop, run};
use pippin_testing::patience::in_time;

on_each_loop!(devices_come_think_and_go);

/// 20 devices of 5 requests with 20 ms +-5 % between answer and next request; ramp-up 300 ms,
/// sustained for 600 ms, ramp-down 300 ms.
///
/// - A device thinks between its requests, and not after the last one: it lives 4 * 20 ms and what
///   its answers take, so 20 devices make at most 20 * 5 / 80 ms = 1,250 requests/s at full number,
///   750 in the sustained phase; how many fewer is the machine's doing.
/// - No connection carries more than 5 requests, and nearly all exactly 5 (those cut off by the end
///   carry fewer).
/// - On each connection, the next request is read not earlier than 19 ms after the answer before it
///   was handed over.
/// - There are never more than 20 connections, and 20 while it is sustained.
fn devices_come_think_and_go(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let think = Spread { mean_ns: 20 * MS, jitter: 0.05 };
    let schedule = Schedule::Devices {
        devices: 20,
        requests_per_device: 5,
        think,
        ramp_up_ns: 300 * MS,
        sustain_ns: 600 * MS,
        ramp_down_ns: 300 * MS,
    };
    let mut spec: LoadSpec = LoadSpec { schedule, ..closed_for(server.address(), io, 20, 1_200) };
    spec.stop.duration_ns = None;
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!(errors(&result), []);
    let names: Vec<&str> = result.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["ramp_up", "sustain", "ramp_down"]);
    assert_eq!(result.measured, result.phases[1].measured, "the headline is the sustained phase");
    let completed: u64 = result.phases.iter().map(|phase| phase.measured.requests.completed).sum();
    let censored: u64 = result.phases.iter().map(|phase| phase.measured.requests.censored).sum();
    assert_eq!(account.requests, completed + censored);
    assert_within("requests sustained", result.measured.requests.completed as f64, 200.0, 760.0);
    assert_eq!(result.measured.connections.peak, 20);
    // The server may accept a device's successor before it notices that the device has gone.
    assert_within("the most connections at once", account.peak_connections as f64, 18.0, 30.0);

    let mut by_connection: BTreeMap<u64, Vec<Exchange>> = BTreeMap::new();
    account
        .exchanges
        .iter()
        .for_each(|exchange| by_connection.entry(exchange.connection).or_default().push(*exchange));
    assert!(by_connection.values().all(|exchanges| exchanges.len() <= 5));
    let whole = by_connection.values().filter(|exchanges| exchanges.len() == 5).count();
    // A busy machine makes the lives of devices longer, so that the end cuts off more of them.
    in_time(whole * 10 >= by_connection.len() * 6, || {
        format!("{whole} of {}", by_connection.len())
    });
    for exchanges in by_connection.values() {
        for pair in exchanges.windows(2) {
            let thought_ns = pair[1].received_ns - pair[0].answered_ns.unwrap();
            assert!(thought_ns >= 19 * MS, "a device thought for {thought_ns} ns");
        }
    }
}
