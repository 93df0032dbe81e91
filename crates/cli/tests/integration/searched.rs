//! Capacity searches of servers whose capacity is known, over real sockets, from below and from
//! above. `make search` makes more of them, and with faster servers.
use super::support::pippin;
use crate::patience::in_time;
use pippin_reference::scripted::{Answer, Script, spawn};
use serde_json::Value;

crate::patience::patient_tests!(
    a_thousand_a_second_are_found_from_below,
    a_thousand_a_second_are_found_from_above,
);

const TRUTH_PER_S: f64 = 1_000.0;

/// Searches a server of this capacity from this rate on. A rate that is 1.5 % too high has a queue of
/// 15 ms at the end of a step of a second. A busy machine may keep rates from being measured: then
/// the search must say so, and never give a wrong rate for a right one.
fn finds_it_from(start: &str) {
    let server = spawn(Script::at_most(TRUTH_PER_S, Answer::ok(b"hello"))).unwrap();
    let (url, folder) = (format!("http://{}/", server.address()), tempfile::tempdir().unwrap());
    let objective = ["--objective", "p99 < 15ms, errors < 0.1%", "-d", "1s", "-c", "64"];
    let load = ["load", &url, "-R", start, "--no-store", "--quiet", "--json", "-"];
    let outcome = pippin(folder.path(), &[&load[..], &objective].concat());
    let json: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"));
    let search = &json["capacity"]["searches"][0]["outcome"];
    let found = search["rate_per_s"].as_f64();
    let is_right = found.is_some_and(|found| (found / TRUTH_PER_S - 1.0).abs() <= 0.05);
    assert_eq!(outcome.code == Some(0), search["of"] == "found", "{outcome}");
    // What the machine took from the server is not the server's: less may be found, but no more.
    assert!(found.is_none_or(|found| found <= TRUTH_PER_S * 1.05), "{found:?}: {outcome}");
    in_time(is_right, || format!("{TRUTH_PER_S}/s, and this is found: {search}"));
}

fn a_thousand_a_second_are_found_from_below() {
    finds_it_from("100");
}

fn a_thousand_a_second_are_found_from_above() {
    finds_it_from("3000");
}
