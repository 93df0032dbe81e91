//! Why a row is INVALID: which repetitions of how many, in every form that people read.
use pippin_model::example::run as example;
use pippin_model::run::RunRecord;
use pippin_model::trial::{Failure, Stage, TrialRecord};
use pippin_model::verdict::{Caveat, Severity, Verdict};
use pippin_report::form::{json, markdown};
use pippin_report::html;
use pippin_report::terminal::{Style, table};
use pippin_report::view::View;

/// The run `hello` of three repetitions, with one trial of go/net-http changed.
fn with_second_repetition_of_go(change: impl Fn(&mut TrialRecord)) -> RunRecord {
    let mut record = example::hello();
    let second = record
        .trials
        .iter_mut()
        .find(|trial| trial.spec.target.to_string() == "go/net-http" && trial.spec.repetition == 1);
    change(second.unwrap());
    record
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn one_invalid_repetition_of_three_is_named_in_table_page_markdown_and_json() {
    let record = with_second_repetition_of_go(|trial| {
        let evidence = "generator core 97.3 % busy (limit 95 %)".into();
        trial.caveats = vec![Caveat {
            id: "generator_busy".into(),
            severity: Severity::Invalid,
            evidence,
            advice: "more processors".into(),
        }];
        trial.verdict = Verdict::Invalid;
    });
    let view = View::of(&record);
    let row = view.rows.iter().find(|row| row.target.to_string() == "go/net-http").unwrap();
    assert_eq!(
        (row.standing.rank, row.verdict, &row.invalid_repetitions),
        (None, Some(Verdict::Invalid), &vec![2])
    );
    let reason = "generator core 97.3 % busy (limit 95 %) (in 1 of 3 trials: repetition 2)";
    for width in [80, 120] {
        let text = words(&table(&view, &Style::plain(width)));
        assert!(text.contains("INVALID (1 of 3)") && text.contains(reason), "{text}");
    }
    let text = markdown::render(&view);
    assert!(
        text.contains("| INVALID (1 of 3) generator busy |") && text.contains(reason),
        "{text}"
    );
    let page = html::page(&view);
    assert!(page.contains("in 1 of 3 trials: repetition 2</span>") && page.contains(reason));
    let json: serde_json::Value = serde_json::from_str(&json::render(&view).unwrap()).unwrap();
    let row =
        json["rows"].as_array().unwrap().iter().find(|row| row["target"] == "go/net-http").unwrap();
    assert_eq!(row["invalid_repetitions"], serde_json::json!([2]));
    assert_eq!(row["caveats"][0]["repetitions"], serde_json::json!([2]));
}

#[test]
fn all_three_are_not_numbered() {
    let view = View::of(&example::hello());
    let nginx = view.rows.iter().find(|row| row.target.to_string() == "c/nginx").unwrap();
    assert_eq!((nginx.verdict, nginx.invalid_repetitions.len()), (Some(Verdict::Invalid), 3));
    assert!(!table(&view, &Style::plain(120)).contains(" of 3)"), "nothing is counted");
}

#[test]
fn a_repetition_that_failed_beside_others_is_named() {
    let record = with_second_repetition_of_go(|trial| {
        trial.load = None;
        trial.failure = Some(Failure {
            stage: Stage::Load,
            message: "it exited with status 1 while it was measured".into(),
            log_tail: vec![],
        });
        trial.verdict = Verdict::Invalid;
    });
    let view = View::of(&record);
    let said =
        "go/net-http: repetition 2 of 3 failed at the stage \"load\": it exited with status 1";
    assert!(words(&table(&view, &Style::plain(120))).contains(said));
    assert!(markdown::render(&view).contains(said));
    assert!(html::page(&view).contains(
        "repetition 2 of 3 failed at the stage &quot;load&quot;: it exited with status 1"
    ));
}
