//! `pippin run --explain`: what a profiler sees of the targets, and the message if there is none.
use super::support::{Checkout, pippin_with, plan};

fn checkout() -> Checkout {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("short", "hello", &["test/it"]);
    let sweep = "kind = \"sweep\"\nconnections = [1, 2]\nduration = \"300ms\"\n";
    checkout.write("plans/points.toml", &plan("hello", &["test/it"], sweep));
    checkout
}

/// If perf may be used, its section is on the page. If not, nothing is started and one line says
/// what to do.
#[test]
fn a_target_is_explained_or_it_is_said_what_is_missing() {
    let checkout = checkout();
    let arguments = ["run", "short", "--install", "--explain", "--out", "out"];
    let outcome = checkout.pippin(&arguments);
    if outcome.code == Some(2) {
        outcome.is_a_user_error(&["--explain"]);
        assert!(
            outcome.has("install linux-perf") || outcome.has("perf_event_paranoid"),
            "{outcome}"
        );
        return;
    }
    outcome.says(&[
        "test/it: explained with perf; nothing of this is measured",
        "Where the processor time goes",
    ]);
    let page = std::fs::read_to_string(checkout.path().join("out/report.html")).unwrap();
    for part in [
        "id=\"explained\"",
        "Context switches per request",
        "<figure class=\"flame\" tabindex=\"0\"",
    ] {
        assert!(page.contains(part), "{part}: {outcome}");
    }
    let left: Vec<String> = std::fs::read_dir(checkout.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("perf") || name.starts_with("counts"))
        .collect();
    assert_eq!(left, [""; 0], "nothing of the profiler is left");
    checkout.is_soon_left_by_all();
}

#[test]
fn what_cannot_be_explained_is_refused_before_anything_starts() {
    let checkout = checkout();
    checkout
        .pippin(&["run", "points", "--install", "--explain"])
        .is_a_user_error(&["--explain goes with a closed loop or one rate", "`sweep`"]);
    checkout.pippin(&["run", "short", "--explain", "--agents", "2"]).exits(2);
    let arguments = ["run", "short", "--install", "--explain"];
    pippin_with(&checkout, &arguments, &[("PATH", "/nonexistent")])
        .is_a_user_error(&["--explain needs perf: install linux-perf (Debian)"]);
}
