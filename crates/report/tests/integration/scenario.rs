//! The steps of a scenario, as each form shows them.
use pippin_model::example::run as example;
use pippin_model::example::scenario::walked;
use pippin_model::run::RunRecord;
use pippin_report::form::{csv, markdown};
use pippin_report::view::View;
use pippin_report::{html, terminal};

/// Three targets, each loaded by users of two steps; the last one got a wrong answer each time.
fn run() -> RunRecord {
    let mut run = example::hello();
    for trial in &mut run.trials {
        *trial = walked(trial.clone(), &[None, None]);
    }
    run
}

#[test]
fn each_form_has_a_table_by_step_with_what_was_wrong_first() {
    let view = View::of(&run());
    let row = &view.rows[0];
    let [first, last] = row.scenario.as_slice() else { panic!("{:?}", row.scenario) };
    let repetitions = u64::from(row.trials);
    assert_eq!((first.errors_total(), last.errors_total()), (0, repetitions));
    assert_eq!(last.good, last.requests - repetitions);
    assert_eq!(first.requests, last.requests);

    let text = terminal::table(&view, &terminal::Style::plain(100));
    assert!(text.contains("Step      requests  errors"), "{text}");
    assert!(
        text.contains(&format!(
            "  step 2: {repetitions} wrong_body\n    the body does not contain `total`"
        )),
        "{text}"
    );

    assert!(text.contains(" walks through all steps\n"), "{text}");

    let page = html::page(&view);
    assert!(page.contains("Steps of the scenario") && page.contains("href=\"#scenario\""));
    assert!(page.contains("<code>the body does not contain `total` (status 200, 2 bytes: "));
    assert!(markdown::render(&view).contains("| step | requests | errors | p50 | p99 |"));
}

/// Of the second of two scenarios with one step each, one answer was wrong in each repetition.
#[test]
fn each_form_has_figures_for_each_scenario_of_a_mix_and_for_all() {
    let mut mixed = run();
    for trial in &mut mixed.trials {
        let steps = trial.load.iter_mut().flat_map(|load| &mut load.measured.steps);
        for (step, name) in steps.zip(["browse", "buy"]) {
            step.scenario = Some(name.into());
        }
    }
    let view = View::of(&mixed);
    let row = &view.rows[0];
    let [browse, buy, all] = row.mix.as_slice() else { panic!("{:?}", row.mix) };
    let repetitions = u64::from(row.trials);
    assert_eq!((browse.whole, buy.whole), (browse.walks, buy.walks - repetitions));
    assert_eq!((all.walks, all.whole), (browse.walks + buy.walks, browse.whole + buy.whole));
    assert_eq!((all.name.as_deref(), all.errors), (None, repetitions));
    // A walk is one step: the mean of all is that of both, as often as each was walked through.
    let weighed = |way: &pippin_report::view::walks::WayView| {
        way.mean_walk_ns.unwrap() * way.whole as f64 / all.whole as f64
    };
    assert!((all.mean_walk_ns.unwrap() / (weighed(browse) + weighed(buy)) - 1.0).abs() < 1e-9);

    let text = terminal::table(&view, &terminal::Style::plain(100));
    assert!(text.contains("Scenario") && text.contains("\n  buy: step 2 "), "{text}");
    let page = html::page(&view);
    assert!(page.contains("<td>browse</td>") || page.contains(">browse<"), "no scenarios");
    let markdown = markdown::render(&view);
    assert!(markdown.contains("| scenario | walks | whole | whole/s | a walk |"), "{markdown}");
    let rows = csv::render(&view);
    let of_ways = rows.lines().filter(|row| row.contains(",browse,")).count();
    assert_eq!(of_ways, view.rows.iter().filter(|row| !row.mix.is_empty()).count());
}

#[test]
fn other_loads_have_none() {
    let view = View::of(&example::hello());
    assert!(view.rows.iter().all(|row| row.scenario.is_empty() && row.mix.is_empty()));
    assert!(View::of(&run()).rows.iter().all(|row| row.mix.is_empty()), "one alone");
    assert!(!terminal::table(&view, &terminal::Style::plain(100)).contains("Step "));
    assert!(!html::page(&view).contains("Steps of the scenario"));
}
