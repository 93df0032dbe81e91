//! The conclusion on top of every form, against records whose truth is known.
use pippin_model::example::slices::Rounds;
use pippin_model::example::{ExampleTrial, caveat, failed, run as example};
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::trial::{Stage, TrialRecord};
use pippin_model::verdict::{Severity, Verdict};
use pippin_report::form::markdown;
use pippin_report::html;
use pippin_report::terminal::{Style, table};
use pippin_report::view::View;

/// A run of these trials.
fn run(trials: Vec<TrialRecord>) -> RunRecord {
    let mut names: Vec<String> = Vec::new();
    for trial in &trials {
        let name = trial.spec.target.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let profile = trials.first().map_or_else(example::closed, |trial| trial.spec.profile.clone());
    example::finished(example::header("hello", "Hello World", profile, &names), trials)
}

/// The numbers of a text, without their separators.
fn numbers(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let words = text.split(|c| !is_part(c)).map(|word| word.replace(',', ""));
    words.filter_map(|word| word.trim_end_matches('.').parse().ok()).collect()
}

/// Targets of this goodput and CPU time of a request, measured in rounds.
fn rounds(rounds: Rounds, targets: &[(&str, f64, f64)]) -> RunRecord {
    let of = |(name, per_s, cpu_us): &(&str, f64, f64)| rounds.trials(name, *per_s, *cpu_us);
    run(targets.iter().flat_map(of).collect())
}

fn conclusion(record: &RunRecord) -> String {
    View::of(record).conclusion
}

fn invalid(trials: &mut [TrialRecord]) {
    for trial in trials {
        trial.caveats.push(caveat("generator_busy", Severity::Invalid, "97 %", "more processors"));
        trial.verdict = Verdict::Invalid;
    }
}

#[test]
fn equal_leaders_are_not_told_apart_and_the_next_is_named() {
    let found = conclusion(&example::rounds());
    assert!(
        found.starts_with(
            "rust/axum and c/nginx lead and cannot be told apart, and go/net-http, the next, is 1.4"
        ) || found.starts_with(
            "c/nginx and rust/axum lead and cannot be told apart, and go/net-http, the next, is 1.4"
        ),
        "{found}"
    );
    assert!(found.contains(") slower than "), "{found}");
    assert!(found.contains(" of 96 slices were calm; differences below "), "{found}");
    assert!(found.ends_with(" % are noise here."), "{found}");
}

#[test]
fn it_stands_in_terminal_markdown_page_and_json() {
    let view = View::of(&example::rounds());
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for width in [80, 120] {
        assert!(words(&table(&view, &Style::plain(width))).contains(&view.conclusion));
    }
    assert!(markdown::render(&view).contains(&view.conclusion));
    assert!(html::page(&view).contains(&view.conclusion));
    assert!(pippin_report::form::json::render(&view).unwrap().contains(&view.conclusion));
}

/// Two that queue share their sentences; the third collapses.
#[test]
fn beyond_the_capacity_those_that_do_the_same_are_told_together() {
    let mut record = example::overload();
    let mut twin = record.trials[1].clone();
    twin.spec.target = record.trials[0].spec.target.clone();
    record.trials[0] = twin;
    assert_eq!(
        View::of(&record).conclusion,
        "rust/axum and go/net-http queue: at 3 times their capacity they still give 100 % of their best rate of right answers, and the others wait (median 900 ms, at half of the capacity 2.00 ms). Back at half of their capacity, their answers were as before within 5 s. javascript/express collapses: at 3 times its capacity it gives 11 % of its best rate of right answers. Back at half of its capacity, its answers were not as before after 10 s."
    );
    record.trials[0].caveats.push(caveat("send_lag", Severity::Invalid, "19 ms", ""));
    record.trials[0].verdict = Verdict::Invalid;
    let told = View::of(&record).conclusion;
    assert!(told.contains("The result of rust/axum is INVALID"), "{told}");
    assert!(told.contains("go/net-http queues: at 3 times its capacity"), "{told}");
}

#[test]
fn of_two_the_faster_leads_by_so_much() {
    let calm = Rounds { start: 0.001, slice: 0.005, ..Rounds::default() };
    let found =
        conclusion(&rounds(calm, &[("a/slow", 10_000.0, 20.0), ("a/fast", 20_000.0, 20.0)]));
    assert!(
        found.starts_with("a/fast leads, and a/slow, the next, is 2.0")
            || found.starts_with("a/fast leads, and a/slow, the next, is 1.99"),
        "{found}"
    );
    assert!(found.contains("; their CPU per request cannot be told apart. 48 of 48 slices were calm; differences below "), "{found}");
}

#[test]
fn two_equal_ones_are_undecided() {
    let found =
        conclusion(&rounds(Rounds::default(), &[("a/a", 10_000.0, 20.0), ("a/b", 10_000.0, 20.0)]));
    assert!(
        found.contains(" cannot be told apart; their CPU per request cannot be told apart. "),
        "{found}"
    );
}

#[test]
fn twelve_equal_ones_are_counted() {
    let names: Vec<String> = (0..12).map(|i| format!("a/s{i}")).collect();
    let targets: Vec<(&str, f64, f64)> =
        names.iter().map(|name| (name.as_str(), 10_000.0, 20.0)).collect();
    let found = conclusion(&rounds(Rounds::default(), &targets));
    assert!(found.starts_with("None of the 12 targets can be told apart; "), "{found}");
    let mut two_classes = targets;
    two_classes.iter_mut().take(6).for_each(|target| target.1 = 20_000.0);
    let found = conclusion(&rounds(Rounds::default(), &two_classes));
    assert!(found.contains(" and 4 others lead and cannot be told apart"), "{found}");
}

#[test]
fn one_target_has_a_figure_and_its_interval() {
    let found = conclusion(&rounds(Rounds::default(), &[("a/a", 10_000.0, 20.0)]));
    assert!(found.starts_with("a/a answers 10,000 requests/s ("), "{found}");
    assert!(found.ends_with("24 of 24 slices were calm."), "{found}");
}

#[test]
fn an_interval_without_meaning_has_no_ends() {
    let host = Rounds { repetitions: 2, start: 2.0, ..Rounds::default() };
    let found = conclusion(&rounds(host, &[("a/a", 10_000.0, 20.0)]));
    assert!(found.contains(" requests/s (the interval is too wide to say more)"), "{found}");
}

#[test]
fn with_one_start_it_says_what_is_not_known() {
    let once = Rounds { repetitions: 1, rounds: 12, ..Rounds::default() };
    let found = conclusion(&rounds(once, &[("a/a", 10_000.0, 20.0), ("a/b", 5_000.0, 40.0)]));
    assert!(
        found.ends_with("how starts differ is not known, as there was only one of each."),
        "{found}"
    );
}

/// As a target that is measured apart from the second repetition on.
#[test]
fn a_ratio_of_one_of_several_starts_is_told_as_that() {
    let several = Rounds { repetitions: 4, rounds: 12, ..Rounds::default() };
    let mut record = rounds(several, &[("a/a", 10_000.0, 20.0), ("a/b", 5_000.0, 40.0)]);
    let apart = record
        .trials
        .iter_mut()
        .filter(|trial| trial.spec.target.name == "b" && trial.spec.repetition > 0);
    apart.flat_map(|trial| &mut trial.slices).for_each(|slice| slice.round += 1_000);
    let found = conclusion(&record);
    assert!(
        found.ends_with(
            "the ratio of a/b rests on one start, in which it was measured in turn with the others."
        ),
        "{found}"
    );
}

#[test]
fn records_without_slices_have_one_too() {
    let found = conclusion(&example::hello());
    assert!(
        found.starts_with("rust/axum leads, and go/net-http, the next, is 1.39 times ("),
        "{found}"
    );
    assert!(found.contains("c/nginx is INVALID (generator busy) and not ranked."), "{found}");
    assert!(!found.contains("slice"), "{found}");
}

#[test]
fn what_is_invalid_or_missing_concludes_nothing() {
    let mut all = rounds(Rounds::default(), &[("a/a", 1_000.0, 20.0), ("a/b", 2_000.0, 20.0)]);
    invalid(&mut all.trials);
    let found = conclusion(&all);
    assert!(found.starts_with("All 2 results are INVALID: nobody is ranked."), "{found}");
    all.trials.retain(|trial| trial.spec.target.to_string() == "a/a");
    all.header.plan.targets.truncate(1);
    let found = conclusion(&all);
    assert!(found.starts_with("The result of a/a is INVALID (generator busy)."), "{found}");
    assert_eq!(conclusion(&run(vec![])), "No target has a result.");
}

#[test]
fn single_short_trials_name_the_way_out() {
    let trial = |target: &str| ExampleTrial::hello().target(target).seconds(2).build();
    let found = conclusion(&run(vec![trial("a/a"), trial("a/b")]));
    assert_eq!(
        found,
        "Nobody is ranked, as a single short trial has no interval: repeat it (--repeat 3)."
    );
}

#[test]
fn where_the_schedule_sets_the_rate_the_p99_leads() {
    let found = conclusion(&example::devices());
    assert!(
        found.starts_with("go/net-http leads, and javascript/node-http, the next, has 1.0"),
        "{found}"
    );
    assert!(found.contains(") its p99"), "{found}");
}

#[test]
fn ratios_are_to_the_reference_that_was_asked_for() {
    let go: TargetId = "go/net-http".parse().unwrap();
    let view = View::beside(&example::rounds(), Some(&go));
    assert_eq!(view.run.reference, Some(go));
    assert!(table(&view, &Style::plain(120)).contains("Ratios are to go/net-http, within rounds,"));
    let axum = view.rows.iter().find(|row| row.target.to_string() == "rust/axum").unwrap();
    assert!((axum.standing.to_reference.unwrap().goodput.unwrap().value / 1.4 - 1.0).abs() < 0.05);
    assert!(view.conclusion.contains("the CPU per request of go/net-http"), "{}", view.conclusion);
}

/// A reference that is asked for and cannot be one is named with the reason, never left out.
#[test]
fn a_reference_that_was_dropped_is_named_with_the_reason() {
    let of =
        |record: &RunRecord| View::beside(record, Some(&"go/net-http".parse().unwrap())).conclusion;
    let is_go = |trial: &&mut TrialRecord| trial.spec.target.to_string() == "go/net-http";
    let whole = example::rounds();
    assert!(!of(&whole).contains("Nothing is compared"), "{}", of(&whole));
    let mut doubted = whole.clone();
    for trial in doubted.trials.iter_mut().filter(is_go) {
        invalid(std::slice::from_mut(trial));
    }
    let mut lost = whole;
    for trial in lost.trials.iter_mut().filter(is_go) {
        *trial = failed(trial.clone(), Stage::Start, "it ended at once");
    }
    for (record, why) in [(doubted, "it is INVALID"), (lost, "it has no result")] {
        let wanted = format!("Nothing is compared with the reference go/net-http, because {why}.");
        assert!(of(&record).contains(&wanted), "{}", of(&record));
        let view = View::beside(&record, Some(&"go/net-http".parse().unwrap()));
        for text in [table(&view, &Style::plain(120)), markdown::render(&view), html::page(&view)] {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&wanted), "{text}");
        }
    }
}

#[test]
fn the_main_doubt_stands_beside_the_verdict() {
    let view = View::of(&example::rounds());
    let page = html::page(&view);
    for text in
        [table(&view, &Style::plain(120)), table(&view, &Style::plain(80)), markdown::render(&view)]
    {
        assert!(text.contains("SUSPECT no steady state"), "{text}");
    }
    assert!(page.contains("<span class=\"what wide\">no steady state</span>"));
}

/// Each of these runs is another: equal ones are told apart in one of twenty at the most, and what
/// is said of unequal ones holds their true ratio.
#[test]
fn over_many_runs_what_is_said_is_true() {
    const RUNS: u64 = 10;
    let (mut equal, mut covered, mut cpu) = (0, 0, 0);
    for seed in 1..=RUNS {
        let host = Rounds { seed, start: 0.004, slice: 0.02, ..Rounds::default() };
        let found = conclusion(&rounds(host, &[("a/a", 10_000.0, 20.0), ("a/b", 10_000.0, 20.0)]));
        let is_undecided = found.contains(" cannot be told apart; their CPU per request cannot be");
        equal += u64::from(!is_undecided);
        let found =
            conclusion(&rounds(host, &[("a/fast", 10_000.0, 20.0), ("a/slow", 9_000.0, 28.0)]));
        let Some((gap, rest)) = found.split_once("; ") else { continue };
        let Some(gap) = gap.strip_prefix("a/fast leads, and a/slow, the next, is ") else {
            continue;
        };
        let holds = |numbers: &[f64], truth| numbers[1] <= truth && truth <= numbers[2];
        covered += u64::from(holds(&numbers(gap), 1.0 / 0.9));
        let Some(dearer) = rest.strip_prefix("a/slow needs ") else { continue };
        // The slower one is dearer by its own CPU time, and its slices scatter as its goodput does.
        cpu += u64::from(holds(&numbers(dearer), 1.4));
    }
    assert!(equal <= 1, "{equal} of {RUNS} equal pairs are told apart");
    assert!(covered >= 8, "{covered} of {RUNS} gaps hold the truth");
    assert!(cpu >= 8, "{cpu} of {RUNS} costs hold the truth");
}

/// a/a beats a/c, and a/b may be either's equal: two lead, and the sentence does not say more.
#[test]
fn between_two_that_differ_one_may_be_undecided() {
    let wide = Rounds { slice: 0.05, start: 0.02, ..Rounds::default() };
    let found = conclusion(&rounds(
        wide,
        &[("a/a", 10_000.0, 20.0), ("a/b", 9_900.0, 20.0), ("a/c", 5_000.0, 20.0)],
    ));
    let ahead = found.split(" lead and cannot be told apart").next().unwrap();
    assert!(ahead.contains("a/a") && ahead.contains("a/b") && !ahead.contains("a/c"), "{found}");
}

#[test]
fn what_beyond_the_capacity_does_is_said_of_each() {
    let found = conclusion(&example::overload());
    for target in ["rust/axum", "go/net-http", "javascript/express"] {
        assert!(found.contains(target), "{target}: {found}");
    }
    assert!(!found.contains("lead") && !found.contains("told apart"), "{found}");
}

#[test]
fn nothing_is_said_of_what_an_invalid_overload_showed() {
    let mut run = example::overload();
    let of_axum = |trial: &&mut TrialRecord| trial.spec.target.to_string() == "rust/axum";
    for trial in run.trials.iter_mut().filter(of_axum) {
        trial.caveats.push(caveat("send_lag", Severity::Invalid, "19 ms", "more processors"));
        trial.verdict = Verdict::Invalid;
    }
    let found = conclusion(&run);
    assert!(found.contains("The result of rust/axum is INVALID (send lag)."), "{found}");
    assert!(!found.contains("rust/axum: back") && found.contains("go/net-http"), "{found}");
}
