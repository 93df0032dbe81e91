//! What people read, held as files (`tests/integration/snapshots/`), so that a change is reviewed as a
//! difference.
use pippin_model::example::run as example;
use pippin_model::example::slices::Rounds;
use pippin_model::plan::scan::Values;
use pippin_report::form::{csv, markdown};
use pippin_report::terminal::{Style, table};
use pippin_report::view::View;

#[test]
fn terminal_at_80_and_120_columns() {
    let load: [(&str, example::Make); 1] = [("load", example::load)];
    for (name, record) in example::OF_EVERY_KIND.into_iter().chain(load) {
        let record = record();
        let view = View::of(&record);
        for width in [80, 120] {
            insta::assert_snapshot!(format!("{name}-{width}"), table(&view, &Style::plain(width)));
        }
    }
}

#[test]
fn a_load_with_all_that_was_counted_and_at_60_columns() {
    let view = View::of(&example::load());
    insta::assert_snapshot!("load-verbose", table(&view, &Style::plain(80).verbose(true)));
    insta::assert_snapshot!("load-60", table(&view, &Style::plain(60)));
}

#[test]
fn a_scan_of_a_pool() {
    let values = Values::parse("pool=1,2,4,8,16").unwrap();
    let slots = |value: &str| 100.0 * value.parse::<f64>().unwrap().min(8.0);
    let view = View::of(&example::scanned(&values, &Rounds::default(), slots));
    for width in [80, 120] {
        insta::assert_snapshot!(format!("scan-{width}"), table(&view, &Style::plain(width)));
    }
    insta::assert_snapshot!("scan-markdown", markdown::render(&view));
}

#[test]
fn markdown_and_csv() {
    for (name, record) in example::OF_EVERY_KIND {
        let record = record();
        let view = View::of(&record);
        insta::assert_snapshot!(format!("{name}-markdown"), markdown::render(&view));
        insta::assert_snapshot!(format!("{name}-csv"), csv::render(&view));
    }
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted_and_change_no_word() {
    let view = View::of(&example::hello());
    let plain = table(&view, &Style::plain(80));
    assert!(!plain.contains('\x1b'));
    let coloured = table(&view, &Style { colour: true, ..Style::plain(80) });
    assert!(
        coloured.contains("\x1b[31mINVALID\x1b[0m") && coloured.contains("\x1b[2;9m88,400\x1b[0m"),
        "INVALID figures are struck through"
    );
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(words(&stripped), words(&plain));
}

#[test]
fn what_is_invalid_has_no_rank_and_what_cannot_be_told_apart_shares_one() {
    let view = View::of(&example::hello());
    let rank = |target: &str| {
        view.rows.iter().find(|row| row.target.to_string() == target).unwrap().standing.rank
    };
    assert_eq!(
        [
            rank("rust/axum"),
            rank("go/net-http"),
            rank("elixir/cowboy"),
            rank("javascript/node-http")
        ],
        [Some(1), Some(2), Some(3), Some(3)]
    );
    assert_eq!(
        [rank("javascript/express"), rank("c/nginx"), rank("elixir/phoenix"), rank("elixir/plug")],
        [Some(5), None, None, None]
    );
    assert_eq!(view, View::of(&example::hello()), "the same record gives the same view");
}

#[test]
fn where_the_schedule_sets_the_rate_every_form_ranks_by_time_and_says_so() {
    let view = View::of(&example::devices());
    let [first, second] = view.rows.as_slice() else { panic!("{} rows", view.rows.len()) };
    assert_eq!(
        (first.standing.rank, second.standing.rank, first.goodput_per_s.unwrap().median),
        (Some(1), Some(2), second.goodput_per_s.unwrap().median)
    );
    assert!(first.ranked.unwrap().median < second.ranked.unwrap().median);
    let page = pippin_report::html::page(&view);
    assert!(page.contains("Ranked by p99, because the schedule sets requests/s"));
    assert!(page.contains("109 ms – 235 ms"), "p99 of one load is known no better");
    let closed = pippin_report::html::page(&View::of(&example::hello()));
    assert!(!closed.contains("Ranked by p99"));
}
