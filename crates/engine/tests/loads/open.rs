//! The open loop: arrivals that wait for nothing.
use std::net::SocketAddr;

use pippin_model::load::*;

use crate::common::{conserved, counted, timed};
use crate::server::hello;
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(a_constant_rate_is_kept_to_the_request);

fn at_rate(address: SocketAddr, connections: u32, rate: f64, milliseconds: u64) -> LoadSpec {
    let stages =
        vec![Stage { duration_ns: milliseconds * 1_000_000, from_per_s: rate, to_per_s: rate }];
    LoadSpec {
        schedule: Schedule::Open { arrivals: Arrivals::Constant, stages },
        ..timed(counted(address, connections, 1), milliseconds)
    }
}

fn a_constant_rate_is_kept_to_the_request() {
    for threads in [1, 3] {
        // A server each: what one load leaves unread would be counted in the next.
        let (address, account) = hello();
        let result = conserved(&LoadSpec { threads, ..at_rate(address, 8, 500.0, 1000) });
        assert_eq!(result.measured.requests.scheduled, 500);
        let requests = result.measured.requests;
        // What falls due while a crowded machine holds the last threads back stays unsent.
        in_time(requests.unsent <= 100, || format!("{requests:?}"));
        assert!((requests.completed..=requests.sent).contains(&account.requests()));
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
