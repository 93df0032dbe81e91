//! The open loop: arrivals that wait for nothing.
use std::net::SocketAddr;

use pippin_model::load::*;
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::Refusing;

use crate::common::{conserved, counted, timed};
use crate::server::hello;
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(
    a_constant_rate_is_kept_to_the_request,
    a_count_ends_an_open_load_when_all_are_answered,
    a_ramp_and_its_warm_up_are_told_apart,
);

fn at_rate(address: SocketAddr, connections: u32, rate: f64, milliseconds: u64) -> LoadSpec {
    let stages =
        vec![Stage { duration_ns: milliseconds * 1_000_000, from_per_s: rate, to_per_s: rate }];
    LoadSpec {
        schedule: Schedule::Open { arrivals: Arrivals::Constant, stages },
        ..timed(counted(address, connections, 1), milliseconds)
    }
}

fn a_constant_rate_is_kept_to_the_request() {
    let (address, account) = hello();
    for threads in [1, 3] {
        let before = account.requests();
        let result = conserved(&LoadSpec { threads, ..at_rate(address, 8, 500.0, 1000) });
        assert_eq!(result.measured.requests.scheduled, 500);
        let requests = result.measured.requests;
        // What falls due while a crowded machine holds the last threads back stays unsent.
        in_time(requests.unsent <= 100, || format!("{requests:?}"));
        assert!((requests.completed..=requests.sent).contains(&(account.requests() - before)));
        assert_eq!(result.measured.connections.opened, 8);
        assert_eq!(result.measured.duration_ns, 1_000_000_000);
        assert!(result.measured.errors.is_empty());
    }
}

#[test]
fn poisson_arrivals_come_as_the_seed_says() {
    let (address, _) = hello();
    let mut spec = at_rate(address, 8, 1000.0, 500);
    if let Schedule::Open { arrivals, .. } = &mut spec.schedule {
        *arrivals = Arrivals::Poisson;
    }
    let one = conserved(&spec).measured.requests.scheduled;
    assert_eq!(conserved(&spec).measured.requests.scheduled, one);
    assert!((400..=600).contains(&one), "{one}");
    assert_ne!(conserved(&LoadSpec { seed: 8, ..spec }).measured.requests.scheduled, one);
}

fn a_count_ends_an_open_load_when_all_are_answered() {
    let (address, account) = hello();
    let mut spec = at_rate(address, 4, 1000.0, 5000);
    spec.stop = StopRule { duration_ns: None, requests: Some(101) };
    spec.threads = 2;
    let result = conserved(&spec);
    assert_eq!((result.measured.requests.good, account.requests()), (101, 101));
    assert!(result.measured.duration_ns >= 100_000_000, "{}", result.measured.duration_ns);
    in_time(result.measured.duration_ns < 1_000_000_000, || "the load took a second".into());
}

fn a_ramp_and_its_warm_up_are_told_apart() {
    let (address, account) = hello();
    let stages = vec![
        Stage { duration_ns: 500_000_000, from_per_s: 0.0, to_per_s: 400.0 },
        Stage { duration_ns: 500_000_000, from_per_s: 400.0, to_per_s: 400.0 },
    ];
    let spec = LoadSpec {
        schedule: Schedule::Open { arrivals: Arrivals::Constant, stages },
        warm_up: WarmUp::Fixed { duration_ns: 500_000_000 },
        ..timed(counted(address, 8, 1), 500)
    };
    let result = conserved(&spec);
    assert!(result.measured.requests.scheduled.abs_diff(200) <= 1);
    // A quarter of the square: 100 arrivals in the ramp, the last of which may be answered after
    // it.
    in_time((90..=101).contains(&result.warm_up.completed), || format!("{:?}", result.warm_up));
    in_time((290..=301).contains(&account.requests()), || format!("{}", account.requests()));
    assert_eq!(result.measured.connections.opened, 8);
}

#[test]
fn nobody_listening_leaves_everything_unsent() {
    let port = Refusing::new().unwrap();
    let measured = conserved(&at_rate(port.address(), 2, 100.0, 300)).measured;
    assert_eq!((measured.requests.scheduled, measured.requests.unsent), (30, 30));
    assert!(
        measured.errors[&ErrorKind::ConnectRefused] > 0 && measured.errors.len() == 1,
        "{:?}",
        measured.errors
    );
}
