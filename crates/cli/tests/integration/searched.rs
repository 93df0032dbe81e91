//! Capacity searches of servers whose capacity is known, over real sockets, from below and from
//! above. `make search` makes more of them, and with faster servers.
use super::support::pippin;
use crate::patience::in_time;
use pippin_reference::scripted::{Answer, Script, spawn};
use serde_json::Value;

crate::patience::patient_tests!(
    a_thousand_a_second_are_found_from_below,
    a_thousand_a_second_are_found_from_above,
    a_hundred_a_second_are_found_from_above,
);

/// Searches a server of this capacity from this rate on. A rate that is 1.5 % too high has a queue of
/// 15 ms at the end of a step of a second.
fn finds(truth_per_s: f64, start: &str) {
    let server = spawn(Script::at_most(truth_per_s, Answer::ok(b"hello"))).unwrap();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let objective = ["--objective", "p99 < 15ms, errors < 0.1%", "-d", "1s", "-c", "64"];
    let load = ["load", &url, "-R", start, "--no-store", "--quiet", "--json", "-"];
    let outcome = pippin(folder.path(), &[&load[..], &objective].concat());
    let json: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"));
    let found = json["capacity"]["searches"][0]["outcome"]["rate_per_s"].as_f64();
    in_time(found.is_some_and(|found| (found / truth_per_s - 1.0).abs() <= 0.05), || {
        format!("{truth_per_s}/s, and it is found: {found:?}\n{outcome}")
    });
    outcome.exits(0);
}

fn a_thousand_a_second_are_found_from_below() {
    finds(1_000.0, "100");
}

fn a_thousand_a_second_are_found_from_above() {
    finds(1_000.0, "3000");
}

fn a_hundred_a_second_are_found_from_above() {
    finds(100.0, "300");
}
