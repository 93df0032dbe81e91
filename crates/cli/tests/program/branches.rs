//! `pippin compare` of two branches of a target: exit codes, and the user's checkout stays
//! unchanged.
use super::support::{self, Checkout, Outcome, counted, plan};
use pippin_testing::patience::in_time;

pippin_testing::patient_tests!(
    a_slower_branch_fails_its_bound_and_the_checkout_stays_as_it_is,
    a_branch_that_is_as_fast_passes,
    equal_files_are_refused_unless_the_noise_is_wanted,
);

/// A load long enough to tell the answers, which take 50 ms and more, apart from delays of a busy
/// machine.
const LOAD: &str = "kind = \"closed\"\nconnections = 4\nduration = \"1s\"\nwarm_up = \"none\"\n";

/// A checkout in its own repository. Its branch `main` has one target, `test/it`, that takes 50 ms
/// for an answer.
fn repository() -> Checkout {
    let checkout = Checkout::with_cheat("slow:50", &["hello"]);
    checkout.write("plans/quick.toml", &plan("hello", &["test/other"], LOAD));
    checkout.write(".gitignore", "/.pippin\n/runs\n");
    git(&checkout, &["init", "-q", "-b", "main"]);
    commit(&checkout, "A target");
    checkout
}

fn git(checkout: &Checkout, arguments: &[&str]) -> String {
    support::git(checkout.path(), arguments)
}

fn commit(checkout: &Checkout, what: &str) {
    support::commit(checkout.path(), what);
}

/// Makes a branch with another target, and goes back to `main`.
fn branch(checkout: &Checkout, name: &str, manifest: &str) {
    git(checkout, &["checkout", "-q", "-b", name]);
    checkout.write("targets/test/it/target.toml", manifest);
    commit(checkout, name);
    git(checkout, &["checkout", "-q", "main"]);
}

fn compare(checkout: &Checkout, a: &str, b: &str, more: &[&str]) -> Outcome {
    checkout.pippin(
        &[
            &[
                "compare",
                a,
                b,
                "--target",
                "test/it",
                "--plan",
                "quick",
                "--repeat",
                "3",
                "--install",
            ],
            more,
        ]
        .concat(),
    )
}

fn a_slower_branch_fails_its_bound_and_the_checkout_stays_as_it_is() {
    let checkout = repository();
    branch(&checkout, "feature/slower", &checkout.manifest("it", "slow:100", &["hello"]));
    checkout.write("targets/test/it/notes.txt", "not committed");
    let state = || {
        git(&checkout, &["status", "--porcelain=v2", "--branch", "--untracked-files=all"])
            + &git(&checkout, &["worktree", "list", "--porcelain"])
    };
    let before = state();
    let outcome = compare(
        &checkout,
        "main",
        "feature/slower",
        &["--fail-if", "goodput < -5%", "--fail-if", "p50 > 10%", "--out", "out"],
    );
    // So short a load without a warm-up does not show that the target is warm.
    assert!([Some(5), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&[
        "A main (commit ",
        "B feature/slower (commit ",
        "test/it@main -> test/it@feature-slower",
        "gate UNDECIDED  fail if goodput < -5%",
        "gate UNDECIDED  fail if p50 > 10%",
        "compared with test/it@main: ",
        "cannot show whether the target was warm",
    ]);
    let left: Vec<String> = std::fs::read_dir(checkout.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        left.contains(&"report.html".into())
            && !left.iter().any(|name| name.starts_with("branches")),
        "the copies are gone: {left:?}"
    );
    std::fs::remove_dir_all(checkout.path().join("out")).unwrap();
    assert_eq!(state(), before);
    let run = checkout.store().load("latest").unwrap();
    assert_eq!((run.trials.len(), run.header.plan.targets.len()), (6, 2));
    let order: Vec<String> = run.trials.iter().map(|trial| trial.spec.target.to_string()).collect();
    assert!(order.chunks(2).all(|pair| pair[0] != pair[1]), "each repetition has both: {order:?}");
    // In the other direction it is faster, so no gate fails. Gates of runs apply to this run too.
    let back = checkout.pippin(&[
        "compare",
        "latest#test/it@feature-slower",
        "latest#test/it@main",
        "--fail-if",
        "goodput < -5%",
    ]);
    in_time(back.code != Some(1), || back.to_string());
    checkout.left_nothing();
}

fn a_branch_that_is_as_fast_passes() {
    let checkout = repository();
    branch(
        &checkout,
        "same",
        &format!("# A remark.\n{}", checkout.manifest("it", "slow:50", &["hello"])),
    );
    let outcome = compare(&checkout, "main", "same", &["--fail-if", "errors > 0", "--json", "-"]);
    in_time(outcome.code == Some(0), || outcome.to_string());
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&json["a"]["revision"], &json["b"]["targets"][0]),
        (&"main".into(), &"test/it@same".into())
    );
    let goodput = &json["comparison"]["targets"][0]["changes"][0];
    let ratio = goodput["b"].as_f64().unwrap() / goodput["a"].as_f64().unwrap();
    in_time((ratio - 1.0).abs() < 0.1, || goodput.to_string());
    checkout.left_nothing();
}

fn equal_files_are_refused_unless_the_noise_is_wanted() {
    let checkout = repository();
    git(&checkout, &["branch", "twin"]);
    compare(&checkout, "main", "twin", &[]).is_a_user_error(&[
        "test/it has the same files in `main`",
        "and `twin`",
        "--force measures both anyway",
    ]);
    let both = compare(&checkout, "main", "main", &["--force", "--fail-if", "errors > 0"]);
    both.says(&["test/it@main-a -> test/it@main-b"]);
    in_time(both.code == Some(0), || both.to_string());
    checkout.left_nothing();
}

#[test]
fn a_branch_that_does_not_start_has_no_result_and_says_why() {
    let checkout = repository();
    branch(&checkout, "broken", &checkout.manifest("it", "exits", &["hello"]));
    compare(&checkout, "main", "broken", &["--fail-if", "goodput < -5%"])
        .exits(4)
        .says(&["broken: no result: start: ", "the copies of both branches are left in"]);
    checkout.left_nothing();
}

#[test]
fn what_is_invalid_is_no_basis_for_a_comparison() {
    let checkout = Checkout::with_cheat("wrong-after:300", &["hello"]);
    checkout.write("plans/plan.toml", &plan("hello", &["test/it"], &counted(4, 500)));
    checkout.pippin(&["run", "plan", "--install"]).exits(3);
    checkout
        .pippin(&["compare", "latest", "latest"])
        .is_a_user_error(&["both sides are one run", "there is nothing to compare"]);
    let first = checkout.store().load("latest").unwrap().header.id;
    checkout.pippin(&["run", "plan", "--install"]).exits(3);
    checkout
        .pippin(&["compare", &first, "latest"])
        .exits(3)
        .says(&["test/it: INVALID, so its figures cannot be trusted", "--force"]);
    checkout.pippin(&["compare", &first, "latest", "--force"]).exits(0).says(&["INVALID"]);
}

#[test]
fn slips_name_place_and_fix() {
    let checkout = repository();
    branch(&checkout, "next", &checkout.manifest("it", "slow:60", &["hello"]));
    git(&checkout, &["checkout", "-q", "-b", "without"]);
    git(&checkout, &["rm", "-q", "-r", "targets/test/it"]);
    checkout.add_cheat("ti", "right", &["hello"]);
    commit(&checkout, "Another name");
    git(&checkout, &["checkout", "-q", "main"]);
    compare(&checkout, "mian", "next", &[])
        .is_a_user_error(&["git knows no revision `mian`; did you mean `main`?"]);
    compare(&checkout, "main", "without", &[])
        .is_a_user_error(&["revision `without` has no target `test/it`; did you mean `test/ti`?"]);
    let say =
        |arguments: &[&str]| checkout.pippin(&[&["compare", "main", "next"], arguments].concat());
    say(&["--target", "test/it", "--plan", "quick"]).is_a_user_error(&["add --install"]);
    say(&["--target", "test/it"]).is_a_user_error(&["--target needs a plan"]);
    say(&["--plan", "quick"]).is_a_user_error(&["--plan goes with --target TARGET"]);
    say(&["--quick"]).is_a_user_error(&["--quick goes with --target TARGET only"]);
    say(&["--target", "it", "--plan", "quick", "--install"])
        .is_a_user_error(&["--target: `it` is not the name of a target"]);
    say(&["--target", "test/it", "--plan", "quikc", "--install"])
        .is_a_user_error(&["there is no plan `quikc`; did you mean `quick`?"]);
    say(&["--target", "test/it:fast", "--plan", "quick", "--install"])
        .is_a_user_error(&["there is no variant `test/it@main:fast`"]);
    say(&["--target", "test/it", "--plan", "quick", "--install", "--fail-if", "speed < 1%"])
        .exits(2)
        .says(&["`speed < 1%` is not a condition: there is no figure `speed`"]);
    say(&["--fail-if", "goodput < -5% vs next"])
        .is_a_user_error(&["changes are measured from A here; write `vs A`"]);
    say(&[]).is_a_user_error(&["`main` is a revision of git", "add --target TARGET --plan PLAN"]);
    let outside = Checkout::with_cheat("right", &["hello"]);
    outside.add_plan("quick", "hello", &["test/it"]);
    compare(&outside, "main", "next", &[])
        .is_a_user_error(&["is in no git repository that can be read"]);
}
