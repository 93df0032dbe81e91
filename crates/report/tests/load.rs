//! What a terminal shows at the end of a load of a URL.
#![allow(clippy::unwrap_used, clippy::expect_used)] // unwrap is how a test fails
use pippin_model::example::run as example;
use pippin_report::terminal::{Style, table};
use pippin_report::view::View;

fn text(width: usize) -> String {
    table(&View::of(&example::load()), &Style::plain(width))
}

#[test]
fn the_histogram_comes_first() {
    let text = text(100);
    let line = |start: &str| {
        let found = text.lines().position(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no line begins with {start}: {text}"))
    };
    let order =
        ["Requests/s ", "Response time within", "  50 % of", "Verdict ", "Measured ", "Server "];
    let places = order.map(line);
    assert!(places.is_sorted() && places[1] == places[0] + 1, "{places:?}: {text}");
    assert!(text.lines().nth(line("  99 % of")).unwrap().contains('█'), "{text}");
}

#[test]
fn doubts_have_the_names_of_all_other_forms_and_fit_the_terminal() {
    for width in [80, 120] {
        let text = text(width);
        let doubt = text.find("  SUSPECT no steady state: throughput changed by -9.1 %");
        let advice = text.find("          → measure longer (-d 60s)");
        let note = text.find("  note    not cpu bound: ");
        // The gravest first.
        assert!(doubt < advice && advice < note && doubt.is_some(), "{text}");
        let lines = text.lines().skip_while(|line| !line.starts_with("Verdict"));
        let widest = lines.take_while(|line| !line.is_empty()).map(|line| line.chars().count());
        assert!(widest.max().unwrap() <= width, "{text}");
        assert!(!text.contains("no_steady_state"), "{text}");
    }
}

/// When the server closed: never "after a complete answer" where there was none.
#[test]
fn closes_are_told_by_what_came_before_them() {
    let told = |before: &[u64]| {
        let mut record = example::load();
        let load = record.trials[0].load.as_mut().unwrap();
        load.measured.connections.closed_by_server = 8;
        before.iter().for_each(|requests| load.measured.closes.by_requests.add(*requests, 1));
        let text = table(&View::of(&record), &Style::plain(120));
        text.lines().find(|line| line.contains("8 closed by the server")).unwrap().to_owned()
    };
    assert!(told(&[0, 0]).contains("8 closed by the server before any answer,"));
    assert!(told(&[3, 9]).contains("8 closed by the server after a complete answer,"));
    for unknown in [&[0, 9][..], &[]] {
        assert!(told(unknown).contains("8 closed by the server, "), "{}", told(unknown));
    }
}
