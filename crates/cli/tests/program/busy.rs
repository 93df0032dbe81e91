//! A machine that other programs keep busy, and a generator that stood still: no result is VALID,
//! and the output says why. The busy loops are real, on every processor.
use super::support::{Checkout, Outcome, plan};
use pippin_testing::scripted::{Answer, Script, spawn};
use serde_json::Value;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

pippin_testing::patient_tests!(
    no_load_is_valid_beside_busy_loops,
    no_row_of_a_plan_is_valid_beside_busy_loops,
    a_generator_that_was_stopped_is_named_and_not_the_target,
);

/// A loop on every processor, until this is dropped, for two minutes at most. They are no children
/// of the test's process, which is the server of a load: what it starts counts as the server's.
struct BusyLoops(Vec<String>);

impl BusyLoops {
    fn start() -> Self {
        let script = "timeout 120 sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 & echo $!";
        let one = |_| {
            let output = Command::new("sh").args(["-c", script]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        Self((0..available_parallelism().unwrap().get()).map(one).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        assert!(Command::new("kill").args(&self.0).status().unwrap().success());
    }
}

/// The answer says that the result cannot be trusted, and the reason names other programs.
#[track_caller]
fn is_not_trusted(outcome: &Outcome) {
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Can you trust it? No"), "{outcome}");
    assert!(said.contains("other programs"), "{outcome}");
}

fn no_load_is_valid_beside_busy_loops() {
    let server =
        spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(1)))).unwrap();
    let checkout = Checkout::new();
    let url = format!("http://{}/", server.address());
    let _busy = BusyLoops::start();
    for load in [
        "-d 500ms --warm-up none",
        "-d 2s --warm-up none",
        "-d 5s --warm-up none",
        "--sweep 1,4,8 -d 1s --warm-up none",
        "--devices 4 --think 100ms --ramp 200ms,1s,200ms",
    ] {
        let words: Vec<&str> = ["load", &url].into_iter().chain(load.split(' ')).collect();
        let outcome = checkout.pippin(&words);
        is_not_trusted(&outcome);
        let view = checkout.pippin(&["export", "--format", "json"]);
        let view: Value = serde_json::from_str(&view.stdout).unwrap();
        let loads = view["loads"].as_array().unwrap();
        assert!(!loads.is_empty(), "{outcome}");
        for one in loads {
            assert_ne!(one["verdict"], "VALID", "{load}: {outcome}");
        }
    }
    drop(server.stop());
}

fn no_row_of_a_plan_is_valid_beside_busy_loops() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_cheat("other", "right", &["hello"]);
    let _busy = BusyLoops::start();
    for profile in [
        "kind = \"closed\"\nconnections = 2\nduration = \"1s\"\nwarm_up = \"200ms\"\n",
        "kind = \"sweep\"\nconnections = [1, 2, 4]\nduration = \"500ms\"\nwarm_up = \"200ms\"\n",
        "kind = \"open\"\nrate = 100\nconnections = 4\nduration = \"1s\"\n",
    ] {
        let text = plan("hello", &["test/it", "test/other"], profile);
        checkout.write("plans/plan.toml", &text);
        let outcome = checkout.pippin(&["run", "plan", "--install", "--yes"]);
        is_not_trusted(&outcome);
        let report = checkout.pippin(&["report"]);
        is_not_trusted(&report);
        let view = checkout.pippin(&["export", "--format", "json"]);
        let view: Value = serde_json::from_str(&view.stdout).unwrap();
        let rows = view["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 2, "{outcome}");
        for row in rows {
            assert_ne!(row["verdict"], "VALID", "{profile}: {outcome}");
        }
        checkout.left_nothing();
    }
}

/// The caveats that name the generator.
const OF_THE_GENERATOR: [&str; 3] = ["generator_stopped", "send_lag", "held"];

fn a_generator_that_was_stopped_is_named_and_not_the_target() {
    for load in [
        "-R 500 -c 4 -d 3s",
        "-c 4 -d 3s --warm-up none",
        "--devices 20 --think 50ms --ramp 200ms,2s,200ms",
    ] {
        let asked = Arc::new(AtomicU64::new(0));
        let count = asked.clone();
        let script = Script::each(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            Answer::ok(b"hello").delay(Duration::from_millis(2))
        });
        let server = spawn(script).unwrap();
        let checkout = Checkout::new();
        let url = format!("http://{}/", server.address());
        let words = ["load", &url, "--no-store", "--json", "-"];
        let words: Vec<&str> = words.into_iter().chain(load.split(' ')).collect();
        let generator = checkout.start(&words);
        let has_begun = || asked.load(Ordering::Relaxed) > 100;
        assert!(super::support::until(has_begun), "{load}: the load did not begin");
        generator.signal(libc::SIGSTOP);
        sleep(Duration::from_secs(1));
        generator.signal(libc::SIGCONT);
        let outcome = generator.finish();
        let json: Value =
            serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{load}: {outcome}"));
        assert_ne!(json["verdict"], "VALID", "{load}: {json:#}");
        let caveats = json["caveats"].as_array().unwrap();
        let is_named =
            caveats.iter().any(|one| OF_THE_GENERATOR.contains(&one["id"].as_str().unwrap()));
        assert!(is_named, "{load}: {json:#}");
        // The target answered all the time: what is long is the generator's.
        let [own, service] =
            ["own_lag", "service_time"].map(|span| json[span]["max_ns"].as_u64().unwrap());
        assert!(own > 900_000_000, "{load}: own lag {own}");
        assert!(service < own / 2, "{load}: service time {service}, own lag {own}");
        drop(server.stop());
    }
}
