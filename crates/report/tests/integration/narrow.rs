//! No terminal is so narrow that its edge breaks a figure: of every kind of run, at every width.
use pippin_model::example::run as example;
use pippin_model::example::scenario::walked;
use pippin_model::run::RunRecord;
use pippin_report::terminal::{Style, table};
use pippin_report::view::View;

/// One load, of a scenario, and in repetitions.
fn loads() -> [(&'static str, RunRecord); 3] {
    let one = example::load();
    let mut scenario = one.clone();
    scenario.trials[0] = walked(one.trials[0].clone(), &[None, None]);
    let mut repeated = one.clone();
    repeated.header.plan.repetitions = 3;
    for repetition in [1, 2] {
        let mut trial = one.trials[0].clone();
        trial.spec.repetition = repetition;
        repeated.trials.push(trial);
    }
    [("load", one), ("scenario", scenario), ("repetitions", repeated)]
}

/// Units that stand behind a figure. The program has a list of its own.
const UNITS: [&str; 12] =
    ["%", "ns", "µs", "ms", "s", "min", "B", "KiB", "MiB", "GiB", "requests/s", "walks/s"];

fn begins_with_unit(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    UNITS.contains(&first.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '%'))
}

#[track_caller]
fn assert_whole(name: &str, width: usize, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for (place, line) in lines.iter().enumerate() {
        // A line of a log is quoted as it is, and a word cannot be broken.
        let is_one_word = line.split_whitespace().count() == 1;
        let fits = line.chars().count() <= width || line.contains('│') || is_one_word;
        assert!(fits, "{name} at {width}: {line}\n{text}");
        let is_torn = line.ends_with(|c: char| c.is_ascii_digit())
            && lines.get(place + 1).is_some_and(|next| begins_with_unit(next));
        assert!(!is_torn, "{name} at {width}: {line}\n{text}");
    }
}

#[test]
fn no_figure_is_broken_at_any_width() {
    let kinds = example::OF_EVERY_KIND.into_iter().map(|(name, make)| (name, make()));
    for (name, record) in kinds.chain(loads()) {
        let view = View::of(&record);
        for width in 40..=200 {
            for verbose in [false, true] {
                let text = table(&view, &Style::plain(width).verbose(verbose));
                assert_whole(name, width, &text);
            }
        }
    }
}

/// What a wide terminal shows as a figure is there on a narrow one too.
#[test]
fn no_figure_of_the_answer_is_lost() {
    for (name, record) in loads() {
        let view = View::of(&record);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in pippin_report::view::answer::parts(&view) {
            for width in [40, 60, 80] {
                let text = words(&table(&view, &Style::plain(width)));
                let count = text.matches(&part).count();
                assert!(count >= 2, "{name} at {width}: {part}\n{text}");
            }
        }
    }
}

/// What a step came to can be long, and figures can be wide. Their table is one all the same.
#[test]
fn a_search_is_a_table_on_a_usual_terminal() {
    let mut view = View::of(&example::capacity());
    let sweep = view.rows.iter_mut().find_map(|row| row.sweep.as_mut()).unwrap();
    let point = sweep.points.first_mut().unwrap();
    point.seen = ["missed (disturbed)", "missed", "missed"].map(Into::into).to_vec();
    let outcomes = point.kept();
    for width in [80, 120] {
        let text = table(&view, &Style::plain(width));
        let titles = text.lines().filter(|line| line.contains("offered/s")).count();
        assert_eq!(titles, 1, "{text}");
        assert!(text.lines().any(|line| line.contains(&outcomes)), "{text}");
    }
}
