//! The steps of a scenario, as each form shows them.
use pippin_model::example::run as example;
use pippin_model::example::scenario::walked;
use pippin_model::run::RunRecord;
use pippin_report::form::markdown;
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
    assert!(markdown::of(&view).contains("| step | requests | errors | p50 | p99 |"));
}

#[test]
fn other_loads_have_none() {
    let view = View::of(&example::hello());
    assert!(view.rows.iter().all(|row| row.scenario.is_empty()));
    assert!(!terminal::table(&view, &terminal::Style::plain(100)).contains("Step "));
    assert!(!html::page(&view).contains("Steps of the scenario"));
}
