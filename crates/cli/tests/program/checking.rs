//! `pippin targets check` of many targets: how often each is installed, what is left out, what it
//! prints at the end.
use super::support::{Checkout, Outcome, skip};
use std::fs;

/// A target with these variants that counts its installations in the file `count`.
fn counting(checkout: &Checkout, name: &str, end_of_step: &str, variants: &[&str]) {
    let mut manifest = checkout.manifest(name, "right", &["hello"]).replace(
        "[start]",
        &format!(
            "[install]\nsteps = [[\"sh\", \"-c\", \"echo x >> count; {end_of_step}\"]]\n[start]"
        ),
    );
    for variant in variants {
        manifest += &format!("[[variant]]\nname = \"{variant}\"\nabout = \"the same\"\n");
    }
    checkout.write(&format!("targets/test/{name}/target.toml"), &manifest);
    checkout.write(&format!("targets/test/{name}/.gitignore"), "/count\n/.pippin/\n");
}

fn installations(checkout: &Checkout, name: &str) -> usize {
    fs::read_to_string(checkout.path().join(format!("targets/test/{name}/count")))
        .map_or(0, |text| text.lines().count())
}

fn check(checkout: &Checkout, arguments: &[&str]) -> Outcome {
    checkout.pippin(&[&["targets", "check"], arguments].concat())
}

#[test]
fn an_installation_that_fails_is_tried_once_and_concerns_all_variants() {
    let checkout = Checkout::new();
    counting(&checkout, "it", "exit 1", &["one", "two"]);
    let outcome = check(&checkout, &["--all", "--install", "--yes"]);
    outcome.exits(0).says(&[
        "targets: 0 passed, 0 failed, 3 unavailable",
        "    3  unavailable: install: ... exited with code #",
        "test/it, test/it:one, test/it:two",
    ]);
    assert_eq!(installations(&checkout, "it"), 1);
}

#[test]
fn a_workload_that_does_not_exist_is_named_before_anything_is_installed() {
    let checkout = Checkout::new();
    counting(&checkout, "it", "true", &[]);
    let path = checkout.path().join("targets/test/it/target.toml");
    let manifest = fs::read_to_string(&path).unwrap().replace("[\"hello\"]", "[\"helo\"]");
    fs::write(&path, manifest).unwrap();
    check(&checkout, &["--all", "--install", "--yes"]).is_a_user_error(&[
        "targets/test/it/target.toml",
        "helo",
        "did you mean `hello`?",
    ]);
    assert_eq!(installations(&checkout, "it"), 0);
}

#[test]
fn who_names_a_target_and_a_workload_that_it_does_not_serve_is_told() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    check(&checkout, &["test/it", "--workloads", "page", "--install", "--yes"]).exits(1).says(&[
        "not checked  serves none of these workloads",
        "not checked, but required: test/it",
    ]);
}

#[test]
fn many_are_checked_side_by_side_and_taken_up_again_where_it_ended() {
    let checkout = Checkout::new();
    for name in ["a", "b", "c"] {
        counting(&checkout, name, "true", &["one"]);
    }
    checkout.add_cheat("wrong", "wrong-body", &["hello"]);
    let all = ["--all", "--install", "--yes", "--jobs", "4"];
    let first = check(&checkout, &all);
    first.exits(1).says(&["targets: 6 passed, 1 failed, 0 unavailable", "failed: hello: "]);
    checkout.left_nothing();

    // Failed and changed targets are tried again.
    checkout.write("targets/test/b/source", "changed");
    let again = check(&checkout, &[&all[..], &["--resume"]].concat());
    again.exits(1).says(&[
        "test/a                           not checked  passed before",
        "test/b                           pass",
        "targets: 2 passed, 1 failed, 0 unavailable, 4 not checked",
    ]);
    assert_eq!(["a", "b", "c"].map(|name| installations(&checkout, name)), [1, 2, 1]);
}

#[test]
fn when_the_time_is_over_what_is_left_is_named() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let late = check(&checkout, &["--all", "--install", "--yes", "--within", "1ns"]);
    late.exits(0).says(&[
        "targets: 0 passed, 0 failed, 0 unavailable, 1 not checked",
        "not checked  no time left",
    ]);
    check(&checkout, &["test/it", "--install", "--yes", "--within", "1ns"])
        .exits(1)
        .says(&["not checked, but required: test/it"]);
    check(&checkout, &["test/it", "--optional", "--install", "--within", "1ns"]).exits(0);
}

/// One installation ends, and the other would go on for longer than the time that there is.
#[test]
fn an_installation_under_way_is_stopped_when_the_time_is_over() {
    let checkout = Checkout::new();
    counting(&checkout, "long", "sleep 1000", &["one"]);
    counting(&checkout, "short", "true", &[]);
    let within = ["--all", "--install", "--yes", "--jobs", "2", "--within", "5s"];
    check(&checkout, &within).exits(0).says(&[
        "test/long                        not checked  no time left to install it",
        "test/long:one                    not checked  no time left to install it",
        "test/short                       pass",
        "targets: 1 passed, 0 failed, 0 unavailable, 2 not checked",
    ]);
    checkout.left_nothing();
}

/// Every skeleton whose tools are installed serves what its manifest names, and the others are named.
/// Cargo and Python are always here.
#[test]
fn what_targets_new_writes_passes_the_check() {
    let checkout = Checkout::new();
    let languages = [
        ("c", "cc"),
        ("csharp", "dotnet"),
        ("go", "go"),
        ("java", "javac"),
        ("javascript", "node"),
        ("perl", "starman"),
        ("php", "php"),
        ("python", "python3"),
        ("ruby", "puma"),
        ("rust", "cargo"),
    ];
    let path = std::env::var("PATH").unwrap();
    let mut here = Vec::new();
    for (language, tool) in languages {
        let name = format!("{language}/new");
        checkout.pippin(&["targets", "new", &name]).exits(0);
        if path.split(':').any(|folder| fs::metadata(format!("{folder}/{tool}")).is_ok()) {
            here.push(name);
        } else {
            skip(&format!("the skeleton {name}"), &format!("there is no {tool}"));
        }
    }
    let mut arguments: Vec<&str> = here.iter().map(String::as_str).collect();
    arguments.extend(["--install", "--yes", "--jobs", "2"]);
    let passed = format!("targets: {} passed, 0 failed, 0 unavailable", here.len());
    check(&checkout, &arguments).exits(0).says(&["rust/new", "hello ok, json ok", &passed]);
}

#[test]
fn what_targets_new_copies_passes_the_check() {
    let checkout = Checkout::with_cheat("right", &["hello", "json"]);
    let copied = checkout.pippin(&["targets", "new", "test/copy", "--from", "test/it"]);
    copied.exits(0).says(&["targets/test/copy", "prove the copy"]);
    check(&checkout, &["test/copy", "--install"])
        .exits(0)
        .says(&["test/copy", "hello ok, json ok"]);
}
