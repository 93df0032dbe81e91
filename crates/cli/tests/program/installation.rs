//! Installing: tools, steps, routes, system packages and consent. A stand-in for apt is asked for
//! packages, so that no test changes the machine.
use super::support::{Checkout, pippin_with};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The cheating server with these tables before `[start]`.
fn with_tables(tables: &str) -> Checkout {
    let checkout = Checkout::new();
    add(&checkout, "it", tables);
    checkout
}

fn add(checkout: &Checkout, name: &str, tables: &str) {
    let manifest = checkout
        .manifest(name, "right", &["hello"])
        .replace("[start]", &format!("{tables}[start]"));
    checkout.write(&format!("targets/test/{name}/target.toml"), &manifest);
}

const MISSING_TOOL: &str = "[needs]\ntools = [\"no-such-tool >= 3\"]\n";
const FAILING_STEP: &str = "[install]\nsteps = [[\"sh\", \"-c\", \"echo compiling; echo 'error: no rule' >&2; exit 2\"]]\n";

#[test]
fn a_missing_tool_makes_a_target_unavailable_and_the_others_go_on() {
    let checkout = with_tables(MISSING_TOOL);
    checkout.add_cheat("good", "right", &["hello"]);
    let check = checkout.pippin(&["targets", "check", "--all", "--install", "--yes"]);
    check.exits(0).says(&[
        "unavailable  install: missing: no-such-tool >= 3 (not on PATH); install no-such-tool >= 3 (see its website)",
        "targets: 1 passed, 0 failed, 1 unavailable",
    ]);
    let required = checkout.pippin(&[
        "targets",
        "check",
        "test/it",
        "--install",
        "--yes",
        "--require",
        "test/it",
    ]);
    required.exits(1).says(&["not checked, but required: test/it"]);
    // A target that is named must be checked.
    let named = checkout.pippin(&["targets", "check", "test/it", "--install", "--yes"]);
    named.exits(1).says(&["not checked, but required: test/it"]);
    checkout.add_plan("plan", "hello", &["test/it", "test/good"]);
    let run = checkout.pippin(&["run", "plan", "--install", "--yes", "--json", "run.json"]);
    assert!(matches!(run.code, Some(0 | 3)), "{run}");
    let json = std::fs::read_to_string(checkout.path().join("run.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 2, "{json}");
    run.says(&["test/it is unavailable: missing: no-such-tool >= 3 (not on PATH)", "[1/1] "]);
    let record = checkout.store().load("latest").unwrap();
    assert_eq!(record.trials.len(), 1);
    let unavailable =
        record.header.targets[&"test/it".parse().unwrap()].unavailable.as_ref().unwrap();
    assert!(unavailable.message.contains("no-such-tool"));
    let strict = checkout.pippin(&["run", "plan", "--install", "--yes", "--strict"]);
    assert!(matches!(strict.code, Some(1 | 3)), "{strict}");
}

#[test]
fn a_tool_that_is_too_old_is_named_with_what_was_found() {
    let checkout = with_tables("[needs]\ntools = [\"bash >= 99\"]\n");
    checkout
        .pippin(&["targets", "check", "test/it", "--install", "--yes"])
        .exits(1)
        .says(&["missing: bash >= 99 (found "]);
}

#[test]
fn a_run_without_any_available_target_is_no_success() {
    let checkout = with_tables(MISSING_TOOL);
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout
        .pippin(&["run", "plan", "--install", "--yes"])
        .exits(4)
        .says(&["test/it is unavailable"]);
}

#[test]
fn a_run_of_which_nothing_is_installed_is_one_line_and_no_run() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("plan", "hello", &["test/it"]);
    let run = checkout.pippin(&["run", "plan"]);
    run.is_a_user_error(&["nothing is installed: add --install"]);
    assert_eq!((run.stdout.as_str(), run.stderr.lines().count()), ("", 1), "{run}");
    assert_eq!(checkout.store().list().unwrap().len(), 0);
}

#[test]
fn what_is_not_installed_is_named_with_the_command_that_does_it() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let check = checkout.pippin(&["targets", "check", "test/it"]);
    check.exits(1).says(&["unavailable  install: not installed; run `pippin targets install test/it` or add --install"]);
    checkout
        .pippin(&["targets", "install", "test/it", "--yes"])
        .exits(0)
        .says(&["test/it: installed by route default"]);
    checkout.pippin(&["targets", "check", "test/it"]).exits(0).says(&["pass"]);
}

#[test]
fn a_step_that_fails_is_named_with_its_last_line_and_its_output_is_kept() {
    let checkout = with_tables(FAILING_STEP);
    checkout
        .pippin(&["targets", "install", "test/it", "--yes"])
        .exits(1)
        .says(&["test/it: unavailable: `sh -c", "exited with code 2: error: no rule"]);
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout
        .pippin(&["run", "plan", "--install", "--yes"])
        .exits(4)
        .says(&["test/it is unavailable: `sh -c", "exited with code 2: error: no rule"]);
    let record = checkout.store().load("latest").unwrap();
    let failure = record.header.targets[&"test/it".parse().unwrap()].unavailable.clone().unwrap();
    assert_eq!(failure.log_tail, ["compiling", "error: no rule"]);
}

#[test]
fn a_step_whose_program_is_not_there_is_named() {
    let checkout = with_tables("[install]\nsteps = [[\"no-such-program\", \"build\"]]\n");
    checkout
        .pippin(&["targets", "install", "test/it", "--yes"])
        .exits(1)
        .says(&["cannot start `no-such-program`"]);
}

const ROUTES: &str = "[[route]]\nname = \"registry\"\nsteps = [[\"sh\", \"-c\", \"echo registry unreachable; exit 1\"]]\n\
    [[route]]\nname = \"debian\"\nsteps = [[\"sh\", \"-c\", \"echo $FROM > built\"]]\nenv = { FROM = \"{DIR}/debian\" }\n";

#[test]
fn the_first_route_that_works_is_used_and_recorded() {
    let checkout = with_tables(ROUTES);
    checkout.write("targets/test/it/.gitignore", "/built\n/.pippin/\n");
    let check = checkout.pippin(&["targets", "check", "test/it", "--install", "--yes"]);
    check.exits(0).says(&[
        "test/it: route registry does not work here: `sh -c",
        "registry unreachable",
        "pass",
        "(route debian)",
    ]);
    let folder = checkout.path().join("targets/test/it");
    assert_eq!(
        fs::read_to_string(folder.join("built")).unwrap().trim(),
        folder.join("debian").display().to_string()
    );
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout.pippin(&["run", "plan"]);
    let record = checkout.store().load("latest").unwrap();
    assert_eq!(record.header.targets[&"test/it".parse().unwrap()].route.as_deref(), Some("debian"));
}

#[test]
fn when_no_route_works_every_reason_is_given() {
    let checkout =
        with_tables(&ROUTES.replace("echo $FROM > built", "echo no such package; exit 100"));
    let outcome = checkout.pippin(&["targets", "install", "test/it", "--yes"]);
    outcome.exits(1).says(&[
        "route registry: `sh -c",
        "registry unreachable",
        "| route debian: `sh -c",
        "exited with code 100: no such package",
    ]);
}

#[test]
fn steps_run_once_and_again_when_the_source_has_changed() {
    let checkout = with_tables("[install]\nsteps = [[\"sh\", \"-c\", \"echo x >> count\"]]\n");
    checkout.write("targets/test/it/.gitignore", "/count\n/.pippin/\n");
    let count = || {
        fs::read_to_string(checkout.path().join("targets/test/it/count")).unwrap().lines().count()
    };
    checkout.pippin(&["targets", "install", "test/it", "--yes"]).exits(0);
    checkout.pippin(&["targets", "check", "test/it", "--install", "--yes"]).exits(0);
    assert_eq!(count(), 1);
    checkout.write("targets/test/it/server.src", "changed");
    checkout.pippin(&["targets", "check", "test/it"]).exits(1).says(&["not installed"]);
    checkout.pippin(&["targets", "install", "test/it", "--yes"]).exits(0);
    assert_eq!(count(), 2);
}

#[test]
fn a_version_command_that_does_not_work_leaves_its_version_unknown() {
    let checkout = with_tables("");
    let path = checkout.path().join("targets/test/it/target.toml");
    let manifest = fs::read_to_string(&path).unwrap()
        + "[versions]\nshell = [\"echo\", \"shell 1.2\"]\nnone = [\"no-such-program\"]\nfails = [\"false\"]\n";
    fs::write(&path, manifest).unwrap();
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout.pippin(&["run", "plan", "--install", "--yes"]);
    let record = checkout.store().load("latest").unwrap();
    let versions = &record.header.targets[&"test/it".parse().unwrap()].versions;
    assert_eq!(
        versions.iter().map(|(label, text)| (label.as_str(), text.as_str())).collect::<Vec<_>>(),
        [("shell", "shell 1.2")]
    );
}

const PACKAGE: &str = "[needs]\ntools = [\"frobnicate\"]\napt = [\"frobnicator\"]\n";

/// A stand-in for apt. No package is installed at first; installing one creates the tool
/// `frobnicate`; it logs every call.
fn stand_in_for_apt(checkout: &Checkout) -> String {
    let bin = checkout.path().join("bin");
    let script = |name: &str, text: &str| {
        let path = checkout.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let folder = bin.display();
    script("dpkg-query", "exit 1");
    script("sudo", "exec \"$@\"");
    script(
        "apt-get",
        &format!(
            "echo apt-get \"$@\" >> {folder}/calls\ncase \"$*\" in *frobnicator*) printf '#!/bin/sh\\necho 1.0\\n' > {folder}/frobnicate; chmod +x {folder}/frobnicate;; esac"
        ),
    );
    format!("{folder}:{}", std::env::var("PATH").unwrap())
}

#[test]
fn system_packages_need_consent_which_nobody_can_give_off_a_terminal() {
    let checkout = with_tables(PACKAGE);
    checkout.add_plan("plan", "hello", &["test/it"]);
    let path = stand_in_for_apt(&checkout);
    for arguments in [
        &["targets", "install", "test/it"][..],
        &["targets", "check", "test/it", "--install"],
        &["run", "plan", "--install"],
    ] {
        let outcome = pippin_with(&checkout, arguments, &[("PATH", &path)]);
        outcome.is_a_user_error(&[
            "apt-get install -y",
            "frobnicator",
            "needs consent: add --yes, or run it on a terminal",
        ]);
    }
    assert!(!checkout.path().join("bin/calls").exists(), "apt was called");
}

#[test]
fn with_consent_packages_are_installed_and_the_target_goes_on() {
    let checkout = with_tables(PACKAGE);
    let path = stand_in_for_apt(&checkout);
    let outcome = pippin_with(
        &checkout,
        &["targets", "check", "test/it", "--install", "--yes"],
        &[("PATH", &path)],
    );
    outcome.exits(0).says(&["pass"]);
    let calls = fs::read_to_string(checkout.path().join("bin/calls")).unwrap();
    assert_eq!(
        calls.lines().collect::<Vec<_>>(),
        [
            "apt-get update",
            "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=900 -- frobnicator"
        ]
    );
}

#[test]
fn a_package_that_does_not_bring_the_tool_leaves_the_target_unavailable() {
    let checkout = with_tables(&PACKAGE.replace("frobnicator", "something-else"));
    let path = stand_in_for_apt(&checkout);
    let outcome = pippin_with(
        &checkout,
        &["targets", "check", "test/it", "--install", "--yes"],
        &[("PATH", &path)],
    );
    outcome.exits(1).says(&[
        "unavailable  install: missing: frobnicate (not on PATH); apt-get install something-else",
    ]);
}

#[test]
fn the_steps_of_a_target_are_shown_and_need_consent_too() {
    let checkout = with_tables(
        "[install]\nsteps = [[\"sh\", \"-c\", \"echo x >> count\"], [\"touch\", \"b\"]]\n",
    );
    checkout.add_plan("plan", "hello", &["test/it"]);
    for arguments in [
        &["targets", "install", "test/it"][..],
        &["targets", "check", "test/it", "--install"],
        &["run", "plan", "--install"],
    ] {
        checkout.pippin(arguments).is_a_user_error(&[
            "test/it in targets/test/it:",
            "  sh -c 'echo x >> count'",
            "  touch b",
            "with your rights",
            "needs consent: add --yes",
        ]);
        assert!(!checkout.path().join("targets/test/it/count").exists(), "{arguments:?}");
    }
    checkout.pippin(&["targets", "install", "test/it", "--yes"]).exits(0).says(&["touch b"]);
    // A tool that exists needs no consent.
    checkout.pippin(&["targets", "install", "test/it"]).exits(0).keeps_quiet_about(&["touch b"]);
}

#[test]
fn a_word_that_apt_would_take_for_an_option_is_refused_in_the_file() {
    let checkout =
        with_tables("[needs]\napt = [\"nginx\", \"-oDPkg::Pre-Invoke::=touch /tmp/x\"]\n");
    checkout
        .pippin(&["targets", "install", "test/it", "--yes"])
        .is_a_user_error(&["target.toml:8", "is not the name of a Debian package"]);
}
