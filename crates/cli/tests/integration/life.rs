//! The life of targets: what starting, stopping and killing them takes and loses, beside servers
//! whose truth is known.
use super::support::{Outcome, pippin};
use pippin_model::run::life::TargetLife;
use pippin_model::trial::Exit;
use serde_json::Value;
use std::path::Path;

/// Runs a plan with this server. Returns its life.
fn life_of(folder: &Path, server: &str) -> (TargetLife, Outcome) {
    std::fs::write(
        folder.join("pippin.toml"),
        format!(
            "[target.shop]\n{server}\nserves = [\"hello\"]\n[plan.ci]\nworkload = \"hello\"\ntargets = [\"shop\"]\nrepetitions = 1\nlife = true\nconnections = 4\nduration = \"1s\"\nwarm_up = \"100ms\"\ncpus = {{ share = true }}\n"
        ),
    )
    .unwrap();
    let outcome = pippin(folder, &["run", "ci"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let exported = pippin(folder, &["export", "latest", "-f", "json"]);
    let view: Value = serde_json::from_str(&exported.stdout).unwrap();
    (serde_json::from_value(view["lives"][0].clone()).unwrap(), outcome)
}

#[test]
fn a_server_that_cuts_off_five_requests_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = include_str!("life/cuts_five.py");
    std::fs::write(folder.path().join("server.py"), server).unwrap();
    let (life, outcome) = life_of(folder.path(), "command = [\"python3\", \"server.py\"]");
    assert_eq!(life.failure, None);
    // It listens after 0.4 s and answers after 0.3 s more. No machine makes that shorter.
    assert!(life.start_ns.min(life.restart_ns) >= Some(700_000_000), "{life:?}");
    let stop = life.stop.unwrap();
    assert_eq!((stop.cut, stop.wrong, stop.exit), (5, 0, Some(Exit::Code(0))), "{stop:?}");
    assert!(!stop.forced && stop.answered > 0, "{stop:?}");
    // It waits for a second after the signal, and refuses connections before that.
    assert!(stop.gone_after_ns >= Some(1_000_000_000), "{stop:?}");
    assert!(stop.refuses_after_ns.is_some() && stop.refuses_after_ns < stop.gone_after_ns);
    let memory = life.memory;
    assert!(memory.started_bytes > Some(1 << 20) && memory.loaded_bytes > Some(1 << 20));
    outcome.says(&["Life: start, memory, end", "cut off"]);
}

#[test]
fn a_server_that_ignores_its_signal_and_one_that_does_not_come_back_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        include_str!("life/cuts_five.py").replace("SIGTERM, stop", "SIGTERM, signal.SIG_IGN");
    std::fs::write(folder.path().join("server.py"), server).unwrap();
    let (life, outcome) = life_of(folder.path(), "command = [\"python3\", \"server.py\"]");
    let stop = life.stop.unwrap();
    assert!(stop.forced && stop.exit == Some(Exit::Signal(9)), "{stop:?}");
    outcome.says(&["(killed)"]);
    // After SIGKILL it leaves a file behind, which keeps it from starting again.
    let once = "command = [\"sh\", \"-c\", \"test -e lock && [ $(cat lock) = 2 ] && exit 7; echo $(( $(cat lock 2>/dev/null || echo 0) + 1 )) >lock; exec python3 server.py\"]";
    let server = include_str!("life/cuts_five.py");
    std::fs::write(folder.path().join("server.py"), server).unwrap();
    let (life, outcome) = life_of(folder.path(), once);
    let failure = life.failure.unwrap();
    assert!(failure.contains("after SIGKILL it does not start again on its port"), "{failure}");
    assert!(life.start_ns.is_some() && life.restart_ns.is_none() && life.stop.is_none());
    outcome.says(&["not complete"]);
}

#[test]
fn a_life_of_messages_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = pippin(folder.path(), &["run", "websocket", "--quick", "--life"]);
    outcome.is_a_user_error(&["`life` goes with workloads of single requests"]);
}
