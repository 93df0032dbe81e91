//! The open loop: arrivals that wait for nothing.
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pippin_model::load::*;
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::Refusing;

use crate::common::{conserved, counted, timed};
use crate::server::{HELLO, hello, serve};
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(
    a_constant_rate_is_kept_to_the_request,
    a_count_ends_an_open_load_when_all_are_answered,
    a_stall_is_seen_by_every_request_that_was_due_in_it,
    what_cannot_be_sent_is_unsent_and_counted,
    a_ramp_and_its_warm_up_are_told_apart,
    closed_connections_are_replaced_when_they_are_needed,
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

fn a_stall_is_seen_by_every_request_that_was_due_in_it() {
    // 200/s for 2 s; from 0.5 s on the server answers nothing for 1 s. With one connection, what is
    // due in the stall waits in the schedule.
    let start = Mutex::new(None::<Instant>);
    let (address, _) = serve(move |stream, _, _, _| {
        let begun = *start.lock().unwrap().get_or_insert_with(Instant::now);
        let since = begun.elapsed();
        if (Duration::from_millis(500)..Duration::from_millis(1500)).contains(&since) {
            std::thread::sleep(Duration::from_millis(1500) - since);
        }
        stream.write_all(HELLO).is_ok()
    });
    let measured = conserved(&at_rate(address, 1, 200.0, 2000)).measured;
    assert_eq!(measured.requests.scheduled, 400);
    in_time(measured.requests.completed >= 395, || format!("{:?}", measured.requests));
    let ms = |q| measured.spans.response_time.quantile_ns(q).unwrap() as f64 / 1e6;
    // Half of all requests are due in the stall and wait 1000, 995, ... 5 ms: the q-quantile is
    // 1000 (2 q - 1) ms.
    for (q, truth) in [(0.75, 500.0), (0.9, 800.0), (0.99, 980.0)] {
        // Sending what has piled up takes time too, more of it on a busy machine.
        in_time((0.95 * truth..1.3 * truth).contains(&ms(q)), || {
            format!("p{q}: {} for {truth}", ms(q))
        });
    }
    // The service time alone would hide it: one request saw the stall.
    let service_ns = measured.spans.service_time.quantile_ns(0.98).unwrap();
    in_time(service_ns < 100_000_000, || format!("service time p98 is {service_ns} ns"));
    let lag = |q| measured.spans.send_lag.quantile_ns(q).unwrap() as f64 / 1e6;
    in_time((760.0..1040.0).contains(&lag(0.9)), || format!("{}", lag(0.9)));
    let own_ns = measured.spans.own_lag.quantile_ns(0.9).unwrap();
    in_time(own_ns < 50_000_000, || {
        format!("own lag p90 is {own_ns} ns: waiting for a connection is not the generator's fault")
    });
}

fn what_cannot_be_sent_is_unsent_and_counted() {
    let (address, _) = serve(|stream, _, _, _| {
        std::thread::sleep(Duration::from_millis(100));
        stream.write_all(HELLO).is_ok()
    });
    // Two connections carry 20/s of the 200/s that are offered.
    let measured = conserved(&at_rate(address, 2, 200.0, 1000)).measured;
    let requests = measured.requests;
    assert_eq!(requests.scheduled, 200);
    assert!(requests.sent <= 22 && requests.unsent == 200 - requests.sent, "{requests:?}");
    in_time(requests.sent >= 10, || format!("{requests:?}"));
    assert_eq!(requests.censored, 2);
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

fn closed_connections_are_replaced_when_they_are_needed() {
    let (address, account) = serve(|stream, _, nth, _| {
        let _ = stream.write_all(HELLO);
        nth < 2
    });
    let measured = conserved(&at_rate(address, 4, 200.0, 500)).measured;
    in_time(measured.requests.good >= 90, || format!("{:?}", measured.requests));
    // A connection rests for 20 ms, in which the server closes it.
    in_time(measured.errors.is_empty(), || {
        format!("the server was late to close: {:?}", measured.errors)
    });
    assert_eq!(measured.closes.requests_range(), Some((3, 3)));
    let reconnects = measured.connections.reconnects;
    assert_eq!(account.connections_when(4 + reconnects), 4 + reconnects);
    in_time((26..=33).contains(&reconnects), || format!("{reconnects} reconnects"));
}
