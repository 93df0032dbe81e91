//! Simulated devices over sockets. Their instants are tested in virtual time (`worker/sim`).
use pippin_model::load::{IoChoice, LoadSpec, Schedule};
use pippin_model::text::units::Spread;
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{MS, closed_for, errors, on_each_loop, run};

on_each_loop!(devices_come_think_and_go);

/// 20 devices of 5 requests with 10 ms between answer and next request. No connection carries more
/// than 5 requests, and there are 20 at once while the load is sustained.
fn devices_come_think_and_go(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let schedule = Schedule::Devices {
        devices: 20,
        requests_per_device: 5,
        think: Spread { mean_ns: 10 * MS, jitter: 0.05 },
        ramp_up_ns: 100 * MS,
        sustain_ns: 200 * MS,
        ramp_down_ns: 100 * MS,
    };
    let mut spec: LoadSpec = LoadSpec { schedule, ..closed_for(server.address(), io, 20, 400) };
    spec.stop.duration_ns = None;
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!(errors(&result), []);
    let names: Vec<&str> = result.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["ramp_up", "sustain", "ramp_down"]);
    assert_eq!(result.measured, result.phases[1].measured, "the headline is the sustained phase");
    let of_phases = result.phases.iter().map(|phase| phase.measured.requests);
    assert_eq!(account.requests, of_phases.map(|it| it.completed + it.censored).sum::<u64>());
    let connections = result.measured.connections;
    let most = account.exchanges.iter().map(|exchange| exchange.number_on_connection).max();
    assert!(connections.peak <= 20 && most <= Some(4), "{connections:?} {most:?}");
    in_time(connections.peak == 20 && most == Some(4), || format!("{connections:?} {most:?}"));
}
