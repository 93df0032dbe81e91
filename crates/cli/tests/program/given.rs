//! `pippin compare` of URLs, commands and images from the command line.
use super::support::{Checkout, cheat, pippin_with};
use pippin_testing::patience::in_time;
use pippin_testing::scripted::{Answer, Script, spawn};
use std::time::Duration;

pippin_testing::patient_tests!(
    two_commands_are_started_and_the_slower_one_fails_its_bound,
    two_urls_are_compared_and_their_paths_may_differ
);

const SHORT: [&str; 8] = ["-c", "4", "-d", "300ms", "--warm-up", "none", "--repeat", "5"];

fn command(mode: &str, checkout: &Checkout) -> String {
    format!("'{}' {mode} {}", cheat().display(), checkout.marker())
}

fn two_commands_are_started_and_the_slower_one_fails_its_bound() {
    let checkout = Checkout::new();
    let (fast, slow) = (command("slow:20", &checkout), command("slow:60", &checkout));
    // A command needs no --command: no run, revision or URL has white space.
    let commands = ["compare", &fast, "--command", &slow, "--out", "out"];
    let named = ["--name", "twenty", "--name", "sixty"];
    let bound = ["--fail-if", "goodput < -20%", "--fail-if", "errors.timeout < 1"];
    let outcome = checkout.pippin(&[&commands[..], &named, &SHORT, &bound].concat());
    in_time(outcome.code == Some(1), || outcome.to_string());
    outcome.says(&[
        "closed loop, 4 connections",
        "95 % interval",
        "no proof says what it does",
        "gate FAILED  fail if errors.timeout < 1",
        "gate UNDECIDED  fail if goodput < -20%",
    ]);
    let run = checkout.store().load("latest").unwrap();
    let names: Vec<String> = run.trials.iter().map(|t| t.spec.target.to_string()).collect();
    assert_eq!(names.len(), 10);
    assert!(
        names.iter().all(|name| ["command/twenty", "command/sixty"].contains(&&**name)),
        "{names:?}"
    );
    assert!(names.chunks(2).all(|pair| pair[0] != pair[1]), "interleaved: {names:?}");
    assert!(
        run.trials
            .iter()
            .all(|trial| { trial.usage.as_ref().is_some_and(|usage| usage.roles.len() == 2) })
    );
    assert!(checkout.path().join("out/report.html").is_file());
    checkout.left_nothing();
}

fn two_urls_are_compared_and_their_paths_may_differ() {
    let server = |ms: u64| {
        spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(ms)))).unwrap()
    };
    let (fast, slow) = (server(10), server(30));
    let checkout = Checkout::new();
    let urls = [format!("{}/a", fast.address()), format!("http://{}/b", slow.address())];
    let compare = ["compare", urls[0].as_str(), &urls[1], "--json", "-"];
    let outcome = checkout.pippin(&[&compare[..], &SHORT].concat());
    in_time(outcome.code == Some(0), || outcome.to_string());
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let goodput = &json["comparison"]["targets"][0]["changes"][0];
    let ratio = goodput["b"].as_f64().unwrap() / goodput["a"].as_f64().unwrap();
    in_time((ratio - 0.33).abs() < 0.1, || goodput.to_string());
    let run = checkout.store().load("latest").unwrap();
    let asked = |trial: &pippin_model::trial::TrialRecord| {
        let request = &trial.load_spec.as_ref().unwrap().requests[0];
        (request.host.clone(), request.target.clone())
    };
    for (server, path) in [(&fast, "/a"), (&slow, "/b")] {
        let host = server.address().to_string();
        assert_eq!(
            run.trials.iter().filter(|trial| asked(trial) == (host.clone(), path.into())).count(),
            5
        );
    }
    drop((fast.stop(), slow.stop()));
}

#[test]
fn a_command_that_does_not_serve_says_why() {
    let checkout = Checkout::new();
    let good = command("right", &checkout);
    checkout
        .pippin(&[&["compare", "--command", "false", "--command", &good], &SHORT[..]].concat())
        .exits(4)
        .says(&["command/false", "it exited with code 1 before it listened", "no result"]);
    checkout
        .pippin(
            &[&["compare", "--command", "no-such-program", "--command", &good], &SHORT[..]]
                .concat(),
        )
        .exits(4)
        .says(&["no-such-program"]);
    checkout.left_nothing();
}

#[test]
fn what_does_not_go_together_is_refused() {
    let checkout = Checkout::new();
    let refused = |arguments: &[&str], texts: &[&str]| {
        checkout.pippin(&[&["compare"], arguments].concat()).is_a_user_error(texts);
    };
    refused(&[], &["name two runs, two branches (with --target), or servers"]);
    refused(&["http://127.0.0.1:1/"], &["nobody answers at 127.0.0.1:1"]);
    refused(&["--command", "a"], &["name at least two things to compare"]);
    let two = ["--command", "a", "--command", "b"];
    refused(&[&two[..], &["--name", "x"]].concat(), &["--name is given 1 times for 2 servers"]);
    refused(
        &[&two[..], &["--name", "x", "--name", "a b"]].concat(),
        &["--name a b: a name has letters"],
    );
    refused(&["--command", "'a", "--command", "b"], &["a quote is not closed"]);
    refused(&["node a.js"], &["name at least two things to compare"]);
    refused(&["node a.js > log", "node b.js"], &["`>` is a shell's"]);
    refused(
        &["latest", "--command", "b"],
        &["`latest` is not a URL, and cannot be compared with one"],
    );
    refused(&["a", "b", "-c", "3"], &["--connections goes with URLs, --command and --image only"]);
    refused(&["a", "b", "--repeat", "3"], &["--repeat goes with --target, URLs"]);
    refused(&["--command", "a", "--command", "b", "--path", "x"], &["a path begins with `/`"]);
    refused(
        &["http://127.0.0.1:1/x", "http://127.0.0.1:1/", "--path", "/y"],
        &["already has a path"],
    );
    refused(&["http://192.0.2.1/", "http://127.0.0.1:1/"], &["--allow-host 192.0.2.1"]);
}

#[test]
fn without_docker_and_podman_that_is_said_with_the_fix() {
    let checkout = Checkout::new();
    let empty = checkout.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    // Programs that fail, in place of those that may be installed.
    for name in ["docker", "podman"] {
        let path = empty.join(name);
        std::fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", empty.display());
    pippin_with(
        &checkout,
        &["compare", "--image", "a", "--image", "b"],
        &[("PATH", path.as_str())],
    )
    .is_a_user_error(&[
        "no container can be started",
        "`docker info` fails",
        "install one of them",
    ]);
}
