//! `--within` and `--for`: runs and comparisons that go on until their figures are known.
use super::support::{Checkout, cheat, plan, until};
use pippin_model::run::{RunRecord, RunState};

const LOAD: &str = "kind = \"closed\"\nconnections = 2\nduration = \"300ms\"\nwarm_up = \"none\"\n";

/// Two good targets.
fn two() -> Checkout {
    // Answers after 5 ms, so that a generator on a busy machine is not the limit, which is INVALID.
    let checkout = Checkout::with_cheat("slow:5", &["hello"]);
    checkout.add_cheat("other", "slow:5", &["hello"]);
    checkout.write("plans/plan.toml", &plan("hello", &["test/it", "test/other"], LOAD));
    checkout
}

fn repetitions(record: &RunRecord) -> u32 {
    record.trials.iter().map(|trial| trial.spec.repetition + 1).max().unwrap_or(0)
}

/// The newest run as JSON. Its sentences are not wrapped.
fn exported(checkout: &Checkout) -> serde_json::Value {
    let json = checkout.pippin(&["export", "latest", "--format", "json"]);
    serde_json::from_str(&json.stdout).unwrap()
}

#[track_caller]
fn says(of: &serde_json::Value, text: &str) {
    assert!(of.as_str().is_some_and(|it| it.contains(text)), "it does not say {text:?}: {of}");
}

/// The time is over long before the first five, which are made in any case, and no more.
#[test]
fn five_repetitions_are_made_in_any_case_and_the_result_says_how_well_figures_are_known() {
    let checkout = two();
    let run = ["run", "plan", "--install", "--yes", "--within", "0.01%", "--for", "1s"];
    let outcome = checkout.pippin(&run);
    checkout.left_nothing();
    outcome.says(&["5 repetitions take about ", "longer than 1 s: they are made in any case"]);
    let record = checkout.store().load("latest").unwrap();
    assert_eq!((repetitions(&record), record.trials.len()), (5, 10), "{outcome}");
    assert_eq!(record.state, RunState::Finished);
    let view = exported(&checkout);
    says(&view["conclusion"], "±0.01 % was not reached in 5 repetitions");
    says(&view["run"]["load"], "as many repetitions as it takes for ±0.01 % (--within)");
    says(&view["run"]["load"], "none begun after 1 s (--for)");
    let goal = &view["goal"];
    assert_eq!((goal["reached"].as_bool(), goal["repetitions"].as_u64()), (Some(false), Some(5)));
    assert!(goal["repetition_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{goal}");
    let rows = goal["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(
        rows.iter().all(|row| row["reach"].as_f64().is_some_and(|reach| reach > 0.0)),
        "{goal}"
    );
}

/// What no noise of a machine prevents is reached at the first look.
#[test]
fn a_run_ends_as_soon_as_its_goal_is_reached() {
    let checkout = two();
    let text = plan("hello", &["test/it"], LOAD)
        .replace("repetitions = 1", "within = \"49%\"\nfor = \"10m\"");
    checkout.write("plans/wide.toml", &text);
    let outcome = checkout.pippin(&["run", "wide", "--install", "--yes"]);
    let record = checkout.store().load("latest").unwrap();
    assert!(repetitions(&record) >= 5, "{outcome}");
    says(&exported(&checkout)["conclusion"], "Every figure is known to ±49 % or better after ");
    // A number that is asked for takes its place.
    checkout.pippin(&["run", "wide", "--install", "--yes", "--repeat", "1"]);
    let record = checkout.store().load("latest").unwrap();
    assert_eq!((repetitions(&record), record.header.plan.goal), (1, None));
    checkout.left_nothing();
}

/// Further starts have as many rounds as were chosen after the first five.
#[test]
fn what_was_chosen_after_the_first_five_is_done() {
    let checkout = two();
    let load = LOAD
        .replace("warm_up = \"none\"", "warm_up = \"100ms\"")
        .replace("duration = \"300ms\"", "duration = \"450ms\"");
    let text = plan("hello", &["test/it", "test/other"], &load);
    let text = text.replace("repetitions = 1", "repetitions = 1\nslice = \"100ms\"");
    checkout.write("plans/sliced.toml", &text);
    let run = ["run", "sliced", "--install", "--yes", "--within", "0.01%", "--for", "25s"];
    let outcome = checkout.pippin(&run);
    let record = checkout.store().load("latest").unwrap();
    let goal = &exported(&checkout)["goal"];
    // A slow machine has no time for a sixth one: then nothing is chosen.
    let times = goal["choice"]["times"].as_f64().unwrap_or(1.0);
    for trial in &record.trials {
        // 3 slices of 100 ms fit into 450 ms, with 50 ms before each.
        let times = if trial.spec.repetition < 5 { 1.0 } else { times };
        let rounds = trial.company.as_ref().map(|company| f64::from(company.rounds));
        assert_eq!(rounds, Some((3.0 * times).round()), "{times}: {outcome}");
    }
    assert!(goal["told_apart"].as_f64().is_some_and(|differ| differ > 0.0), "{goal}");
    says(&exported(&checkout)["conclusion"], " are told apart with 90 % power");
    checkout.left_nothing();
}

#[test]
fn ctrl_c_keeps_what_was_measured_on_the_way() {
    let checkout = two();
    let run = checkout.start(&["run", "plan", "--install", "--yes", "--within", "0.01%"]);
    let has_some = || {
        checkout.store_path().is_file()
            && checkout.store().live_runs().iter().any(|run| run.finished.len() >= 4)
    };
    assert!(until(has_some), "nothing was measured");
    run.press_ctrl_c();
    run.finish().exits(130).says(&["Interrupted"]);
    checkout.left_nothing();
    let record = checkout.store().load("latest").unwrap();
    assert!(record.state == RunState::Interrupted && record.trials.len() >= 4);
}

#[test]
fn contradictions_are_refused_with_the_fix() {
    let checkout = two();
    let refused = |options: &[&str], texts: &[&str]| {
        checkout.pippin(&[&["run", "plan"], options].concat()).is_a_user_error(texts);
    };
    refused(
        &["--within", "2%", "--repeat", "3"],
        &[
            "--repeat makes that many repetitions, and --within as many as it takes: leave one of them out",
        ],
    );
    refused(&["--for", "1m", "--repeat", "3"], &["and --for as many as it takes"]);
    refused(&["--within", "2"], &["`2` is not a percentage"]);
    refused(&["--within", "60%"], &["must be at least 0.01 % and below 50 %"]);
    let text = plan("hello", &["test/it"], LOAD);
    let both = text.replace("repetitions = 1", "repetitions = 1\nwithin = \"2%\"");
    checkout.write("plans/both.toml", &both);
    checkout
        .pippin(&["run", "both"])
        .is_a_user_error(&["repetitions says when a run ends, and so does within"]);
    let search = "kind = \"capacity\"\nobjective = \"p99 < 50ms\"\nstart_rate = 9.0\nconnections = 8\nduration = \"5s\"\n";
    checkout.write("plans/search.toml", &plan("hello", &["test/it"], search));
    checkout
        .pippin(&["run", "search", "--within", "2%"])
        .is_a_user_error(&["--within and --for cannot be kept with kind = \"capacity\""]);
    checkout
        .pippin(&["compare", "latest", "latest", "--within", "2%"])
        .is_a_user_error(&["--within"]);
    checkout.left_nothing();
}

/// In a comparison, it is the change that is to be known.
#[test]
fn a_comparison_goes_on_until_its_change_is_known() {
    let checkout = Checkout::new();
    let command = |mode: &str| format!("'{}' {mode} {}", cheat().display(), checkout.marker());
    let (fast, slow) = (command("slow:20"), command("slow:60"));
    let servers = ["compare", "--command", &fast, "--command", &slow];
    let load = ["-c", "4", "-d", "300ms", "--warm-up", "none"];
    let goal = ["--within", "0.01%", "--for", "1s"];
    let outcome = checkout.pippin(&[&servers[..], &load, &goal].concat());
    says(
        &exported(&checkout)["conclusion"],
        "±0.01 points was not reached in 5 repetitions: the change of goodput from ",
    );
    let record = checkout.store().load("latest").unwrap();
    assert_eq!(repetitions(&record), 5, "{outcome}");
    assert_eq!(record.header.plan.goal.map(|goal| goal.changes.len()), Some(1));
    checkout.left_nothing();
}
