//! Streams of server-sent events, as each form shows them.
use pippin_model::example::run as example;
use pippin_model::result::EventCounts;
use pippin_model::run::RunRecord;
use pippin_report::form::{csv, json};
use pippin_report::view::View;
use pippin_report::{html, terminal};
use std::path::Path;

/// Targets whose streams had 900 events, one of which came late, and lacked 3.
fn run() -> RunRecord {
    let mut run = example::hello();
    for load in run.trials.iter_mut().filter_map(|trial| trial.load.as_mut()) {
        let measured = &mut load.measured;
        measured.events = EventCounts { received: 900, lost: 3, late: 1, ..EventCounts::default() };
        measured.spans.first_event.record_n(2_000_000, 9);
        measured.spans.event_gap.record_n(100_000_000, 890);
        measured.spans.event_gap.record(350_000_000);
    }
    run
}

#[test]
fn each_form_has_what_came_and_how_evenly() {
    let view = View::of(&run());
    let row = &view.rows[0];
    let repetitions = u64::from(row.measured);
    assert_eq!((row.events.received, row.events.lost), (900 * repetitions, 3 * repetitions));
    assert!(row.events_per_s.is_some_and(|per_s| per_s > 0.0));

    let text = terminal::table(&view, &terminal::Style::plain(120));
    let titles = ["events/s", "first p99", "gap p50", "gap p99", "longest gap", "lost", "late"];
    let line = text.lines().find(|line| line.contains("events/s")).unwrap();
    assert!(titles.iter().all(|title| line.contains(title)), "{line}");
    assert!(text.contains("100 ms") && text.contains("350 ms"), "{text}");

    let page = html::page(&view);
    assert!(page.contains("<section id=\"events\"") && page.contains("href=\"#events\""));

    let text = csv::render(&view);
    let mut rows = ::csv::Reader::from_reader(text.as_bytes());
    let place = rows.headers().unwrap().iter().position(|title| title == "events_lost").unwrap();
    let first = rows.records().next().unwrap().unwrap();
    assert_eq!(first[place], (3 * repetitions).to_string());
}

#[test]
fn the_schema_knows_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/report.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value = serde_json::from_str(&json::render(&View::of(&run())).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
    assert_eq!(errors, [""; 0]);
}

#[test]
fn other_loads_have_none() {
    let view = View::of(&example::hello());
    assert_eq!(view.rows[0].events_per_s, None);
    assert!(!terminal::table(&view, &terminal::Style::plain(100)).contains("Server-sent"));
    assert!(!html::page(&view).contains("id=\"events\""));
    assert!(!json::render(&view).unwrap().contains("\"events\":"));
}
