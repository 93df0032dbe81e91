//! What others wrote (titles, versions, logs, evidence) reaches no form with control characters in
//! it, and no form breaks on it.
use pippin_model::example::run as example;
use pippin_model::run::RunRecord;
use pippin_model::text::printable::is_printable;
use pippin_model::trial::{Failure, Stage};
use pippin_report::form::svg::Ground;
use pippin_report::form::{csv, json, markdown, prometheus, svg};
use pippin_report::terminal::{Style, table};
use pippin_report::view::View;
use pippin_report::{gates, html};
use resvg::usvg::roxmltree;

/// Moves the cursor, sets a title, rings, ends a text, turns letters around; and markup.
const ODD: &str = "\x1b[2J\x1b]0;owned\x07\u{0}\u{9b}31m\u{202e}\u{ffff}\r</title><b>&\"'`|";

/// A run that quotes it wherever others have their say.
fn quoting() -> RunRecord {
    let mut record = example::hello();
    let header = &mut record.header;
    header.plan.title.push_str(ODD);
    header.plan.summary = Some(ODD.into());
    header.workload.title.push_str(ODD);
    header.host.hostname = Some(ODD.into());
    header.host.cpu_model = Some(ODD.into());
    for info in header.targets.values_mut() {
        info.route = Some(ODD.into());
        info.versions.insert(format!("program{ODD}"), ODD.into());
        if let Some(manifest) = &mut info.manifest {
            manifest.framework.push_str(ODD);
            manifest.website = Some(ODD.into());
        }
    }
    for trial in &mut record.trials {
        for caveat in &mut trial.caveats {
            caveat.evidence.push_str(ODD);
            caveat.advice.push_str(ODD);
        }
    }
    let failed = record.trials.last_mut().unwrap();
    failed.load = None;
    failed.failure =
        Some(Failure { stage: Stage::Load, message: ODD.into(), log_tail: vec![ODD.into()] });
    record
}

#[track_caller]
fn assert_plain(form: &str, text: &str) {
    let odd: String = text.chars().filter(|c| !is_printable(*c)).collect();
    assert!(odd.is_empty(), "{form} has {odd:?}");
    assert!(text.contains('\u{fffd}'), "{form} quotes nothing");
}

#[test]
fn no_form_has_control_characters() {
    let record = quoting();
    let view = View::of(&record);
    assert_plain("the table", &table(&view, &Style::plain(100)));
    assert_plain("HTML", &html::page(&view));
    assert_plain("Markdown", &markdown::render(&view));
    assert_plain("JSON", &json::render(&view).unwrap());
    // These quote little, and JUnit leaves out what XML forbids.
    let junit = gates::junit::render("run", &record.trials, &[], Default::default());
    roxmltree::Document::parse(&junit).unwrap();
    // Lines of CSV end in CR and LF (RFC 4180).
    for text in [junit, csv::render(&view).replace("\r\n", "\n"), prometheus::render(&view)] {
        assert!(text.chars().all(is_printable), "{text}");
    }
}

/// Colours are the only escape sequences on a terminal.
#[test]
fn only_colours_reach_a_terminal() {
    let coloured = table(&View::of(&quoting()), &Style { colour: true, ..Style::plain(100) });
    let mut parts = coloured.split('\x1b');
    assert!(parts.next().unwrap().chars().all(is_printable));
    let mut count = 0;
    for part in parts {
        let code = part.strip_prefix('[').and_then(|part| part.split_once('m')).unwrap();
        assert!(code.0.chars().all(|c| c.is_ascii_digit() || c == ';'), "{code:?}");
        assert!(code.1.chars().all(is_printable), "{code:?}");
        count += 1;
    }
    assert!(count > 10, "{coloured}");
}

#[test]
fn every_chart_is_well_formed_and_plain() {
    let view = View::of(&quoting());
    let names = svg::names(&view);
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        for ground in [Ground::Light, Ground::Dark] {
            let text = svg::render(&view, &name, ground).unwrap();
            assert_plain(&name, &text);
            let document = roxmltree::Document::parse(&text).unwrap();
            assert!(!document.descendants().any(|node| node.has_tag_name("b")), "{name}");
        }
    }
}

/// Markup in what others wrote stays text.
#[test]
fn markup_stays_text() {
    let view = View::of(&quoting());
    assert!(!html::page(&view).contains("</title><b>"));
    assert!(!markdown::render(&view).contains("<b>"));
}
