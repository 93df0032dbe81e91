//! The life of targets: what starting, stopping and killing them takes and loses, beside servers
//! whose truth is known.
use super::support::{Outcome, pippin};
use pippin_model::run::life::TargetLife;
use pippin_model::trial::Exit;
use serde_json::Value;
use std::path::Path;

/// Runs a plan of `hello` with this server. Returns its life.
fn life_of(folder: &Path, server: &str) -> (TargetLife, Outcome) {
    life_with(folder, &format!("{server}\nserves = [\"hello\"]"), "hello")
}

/// Runs a plan of this workload with this server. Returns its life.
fn life_with(folder: &Path, server: &str, workload: &str) -> (TargetLife, Outcome) {
    std::fs::write(
        folder.join("pippin.toml"),
        format!(
            "[target.shop]\n{server}\n[plan.ci]\nworkload = \"{workload}\"\ntargets = [\"shop\"]\nrepetitions = 1\nlife = true\nconnections = 4\nduration = \"1s\"\nwarm_up = \"100ms\"\ncpus = {{ share = true }}\n"
        ),
    )
    .unwrap();
    let outcome = pippin(folder, &["run", "ci"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let exported = pippin(folder, &["export", "latest", "-f", "json"]);
    let view: Value = serde_json::from_str(&exported.stdout).unwrap();
    (serde_json::from_value(view["lives"][0].clone()).unwrap(), outcome)
}

/// After two starts, for the measurement and for its life, it leaves a file behind, which keeps it from
/// starting again.
const STARTS_TWICE: &str = "command = [\"sh\", \"-c\", \"test -e lock && [ $(cat lock) = 2 ] && exit 7; echo $(( $(cat lock 2>/dev/null || echo 0) + 1 )) >lock; exec python3 server.py\"]";

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
    let server = include_str!("life/cuts_five.py");
    std::fs::write(folder.path().join("server.py"), server).unwrap();
    let (life, outcome) = life_of(folder.path(), STARTS_TWICE);
    let failure = life.failure.unwrap();
    assert!(failure.contains("after SIGKILL it does not start again on its port"), "{failure}");
    assert!(life.start_ns.is_some() && life.restart_ns.is_none() && life.stop.is_none());
    outcome.says(&["not complete"]);
}

/// What a server answers, or prints, may repeat what it was asked.
#[test]
fn a_failure_keeps_nothing_of_the_users_own_requests() {
    let folder = tempfile::tempdir().unwrap();
    let server = include_str!("life/cuts_five.py").replace(
        "if path != b\"/\":",
        "print(path, flush=True)\n    if not path.startswith(b\"/\"):",
    );
    std::fs::write(folder.path().join("server.py"), server).unwrap();
    let workload =
        "[workload.home]\nrequest = { path = \"/?key=s3cret\" }\nanswer = { status = 200 }";
    let (life, _) = life_with(folder.path(), &format!("{STARTS_TWICE}\n{workload}"), "home");
    assert!(life.restart_ns.is_none(), "{life:?}");
    assert_eq!(
        life.failure.as_deref(),
        Some("it failed; --keep-requests keeps the reason, which may name secrets")
    );
    for format in ["json", "csv", "markdown", "html", "record"] {
        let exported = pippin(folder.path(), &["export", "latest", "-f", format]);
        assert!(!exported.exits(0).stdout.contains("s3cret"), "{format}");
    }
}

#[test]
fn a_life_of_messages_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = pippin(folder.path(), &["run", "websocket", "--quick", "--life"]);
    outcome.is_a_user_error(&["`life` goes with workloads of single requests"]);
}
