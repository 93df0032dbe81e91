//! Simulated devices, source addresses, and descriptors.
use std::collections::HashMap;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use pippin_model::load::*;
use pippin_model::text::units::Spread;

use crate::common::{conserved, counted};
use crate::server::{HELLO, hello, serve};
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(
    devices_ramp_up_are_replaced_and_ramp_down,
    each_device_sends_its_requests_on_one_connection,
);

fn devices(address: SocketAddr, devices: u32, requests_per_device: u32, think_ms: u64) -> LoadSpec {
    let think = Spread { mean_ns: think_ms * 1_000_000, jitter: 0.05 };
    let schedule = Schedule::Devices {
        devices,
        requests_per_device,
        think,
        ramp_up_ns: 500_000_000,
        sustain_ns: 1_000_000_000,
        ramp_down_ns: 400_000_000,
    };
    LoadSpec { schedule, stop: StopRule::default(), ..counted(address, 1, 1) }
}

fn devices_ramp_up_are_replaced_and_ramp_down() {
    let (address, account) = hello();
    let result = conserved(&LoadSpec { threads: 2, ..devices(address, 50, 5, 20) });
    let names: Vec<&str> = result.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["ramp_up", "sustain", "ramp_down"]);
    assert_eq!(result.phases[1].measured, result.measured);
    let lengths: Vec<u64> = result.phases.iter().map(|phase| phase.measured.duration_ns).collect();
    assert_eq!(lengths, [500_000_000, 1_000_000_000, 400_000_000]);
    assert_eq!(result.measured_to_ns - result.measured_from_ns, 1_000_000_000);
    let sent = |phase: usize| result.phases[phase].measured.requests.sent as f64;
    // A life is 4 think times of 20 ms: 5 requests in 80 ms and a bit. 50 devices send some 3,100/s
    // less what the exchange takes.
    in_time((1200.0..3200.0).contains(&sent(1)), || format!("{}", sent(1)));
    in_time((0.15..0.35).contains(&(sent(0) / sent(1))), || {
        format!("half the number in half the time: {}", sent(0) / sent(1))
    });
    in_time(sent(2) < 0.15 * sent(1), || format!("devices that end are not replaced: {}", sent(2)));
    let measured = &result.measured;
    assert_eq!((measured.connections.asked, measured.connections.peak), (50, 50));
    let total: u64 = result.phases.iter().map(|phase| phase.measured.requests.sent).sum();
    let censored: u64 = result.phases.iter().map(|phase| phase.measured.requests.censored).sum();
    assert!((total - censored..=total).contains(&account.requests()));
    let opened: u64 = result.phases.iter().map(|phase| phase.measured.connections.opened).sum();
    assert_eq!(opened, account.connections_when(opened));
    assert!(
        total.div_ceil(5) <= opened && opened <= total.div_ceil(5) + 50,
        "{total} requests on {opened} connections"
    );
    assert!(
        result.windows.iter().any(|window| window.from_ns == -500_000_000)
            && result.windows.iter().any(|window| window.from_ns == 0)
    );
}

fn each_device_sends_its_requests_on_one_connection() {
    let served = Arc::new(Mutex::new(HashMap::<SocketAddr, u64>::new()));
    let seen = Arc::clone(&served);
    let (address, _) = serve(move |stream, _, _, _| {
        *seen.lock().unwrap().entry(stream.peer_addr().unwrap()).or_default() += 1;
        stream.write_all(HELLO).is_ok()
    });
    conserved(&devices(address, 10, 7, 10));
    let served = served.lock().unwrap();
    assert!(served.values().all(|count| *count <= 7));
    // A busy machine makes the lives of devices longer, so that the end cuts off more of them.
    let whole = served.values().filter(|count| **count == 7).count();
    in_time(whole > served.len() * 9 / 10, || format!("{served:?}"));
}

#[test]
fn source_addresses_are_used_in_turn() {
    let sources = Arc::new(Mutex::new(HashMap::<IpAddr, u64>::new()));
    let seen = Arc::clone(&sources);
    let (address, _) = serve(move |stream, _, nth, _| {
        if nth == 0 {
            *seen.lock().unwrap().entry(stream.peer_addr().unwrap().ip()).or_default() += 1;
        }
        stream.write_all(HELLO).is_ok()
    });
    let source_addresses: Vec<IpAddr> = (1..=4).map(|n| IpAddr::from([127, 0, 3, n])).collect();
    conserved(&LoadSpec {
        source_addresses: source_addresses.clone(),
        threads: 3,
        ..counted(address, 40, 400)
    });
    let sources = sources.lock().unwrap();
    assert!(
        source_addresses.iter().all(|source| (8..=12).contains(&sources[source])),
        "{sources:?}"
    );
}

#[test]
fn several_targets_are_dealt_out_in_turn() {
    let servers = [hello(), hello(), hello()];
    let addresses = servers.iter().map(|(address, _)| *address).collect();
    conserved(&LoadSpec { addresses, ..counted(servers[0].0, 9, 90) });
    assert!(servers.iter().all(|(_, account)| account.connections() == 3));
}
