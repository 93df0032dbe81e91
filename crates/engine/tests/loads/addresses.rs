//! Addresses, of servers and of the generator.
use std::collections::HashMap;
use std::io::Write;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use pippin_model::load::*;

use crate::common::{conserved, counted};
use crate::server::{HELLO, hello, serve};

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
