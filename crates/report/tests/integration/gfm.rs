//! Markdown as GitHub and GitLab read it: by comrak, the parser of GitLab, with the extensions of
//! both. Tables stay tables, and what others wrote stays text.
use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use pippin_model::example::run as example;
use pippin_model::verdict::{Caveat, Severity};
use pippin_report::form::markdown;
use pippin_report::gates::summary;
use pippin_report::view::View;

/// Everything that could end a cell, begin markup, or be read as a formula.
const ODD: &str = "a | b || *c* _d_ `e` [f](http://g/) ~~h~~ <b>i</b> &amp; $j$ k\\ \n| l |\n# m";
/// That text on one line, as it must be read.
const READ: &str = "a | b || *c* _d_ `e` [f](http://g/) ~~h~~ <b>i</b> &amp; $j$ k\\  | l | # m";

/// What a text has, once it is read.
#[derive(Debug, Default)]
struct Read {
    tables: usize,
    /// Rows of tables, their heads included.
    rows: usize,
    /// Tags that are left as HTML.
    tags: Vec<String>,
    /// All text without markup; nodes that begin a block begin a line.
    text: String,
    /// Nodes that Pippin never writes on purpose.
    others: Vec<String>,
}

fn read(markdown: &str) -> Read {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    let arena = Arena::new();
    let mut read = Read::default();
    for node in parse_document(&arena, markdown, &options).descendants() {
        match &node.data().value {
            NodeValue::Table(_) => read.tables += 1,
            NodeValue::TableRow(_) => {
                read.rows += 1;
                read.text.push('\n');
            }
            NodeValue::TableCell | NodeValue::Paragraph | NodeValue::Heading(_) => {
                read.text.push('\n');
            }
            NodeValue::Text(text) => read.text.push_str(text),
            NodeValue::HtmlInline(tag) => read.tags.push(tag.clone()),
            NodeValue::HtmlBlock(block) => read.tags.push(block.literal.trim().into()),
            NodeValue::Document
            | NodeValue::List(_)
            | NodeValue::Item(_)
            | NodeValue::SoftBreak
            | NodeValue::Strong
            | NodeValue::Strikethrough => {}
            other => read.others.push(format!("{other:?}")),
        }
    }
    read
}

/// Whether all that is written as a table is read as one, and no markup is there by accident.
#[track_caller]
fn assert_read_as_written(name: &str, markdown: &str) -> Read {
    let read = read(markdown);
    let written = |is: fn(&str) -> bool| markdown.lines().filter(|line| is(line)).count();
    let tables = written(|line| line.starts_with("| --"));
    assert!(tables > 0, "{name}: {markdown}");
    assert_eq!(read.tables, tables, "{name}: {markdown}");
    assert_eq!(read.rows, written(|line| line.starts_with("| ")) - tables, "{name}: {markdown}");
    assert_eq!(read.others, [""; 0], "{name}: {markdown}");
    for tag in &read.tags {
        let known = ["<sub>", "</sub>", "</details>", "<details>"];
        let is_fold = tag.starts_with("<details>") && tag.ends_with("</summary>");
        assert!(known.contains(&tag.as_str()) || is_fold, "{name}: {tag}");
    }
    read
}

#[test]
fn every_kind_of_run_is_read_as_written() {
    for (name, record) in example::OF_EVERY_KIND {
        let record = record();
        let markdown = markdown::render(&View::of(&record));
        assert_read_as_written(name, &markdown);
        let folded = summary::render(name, &[], &summary::Changes::default(), &markdown);
        assert_read_as_written(name, &folded);
    }
}

#[test]
fn what_others_wrote_stays_text() {
    for (name, record) in example::OF_EVERY_KIND {
        let mut record = record();
        record.header.plan.title = ODD.into();
        for trial in &mut record.trials {
            for caveat in &mut trial.caveats {
                caveat.evidence = ODD.into();
                caveat.advice = ODD.into();
            }
        }
        let read = assert_read_as_written(name, &markdown::render(&View::of(&record)));
        assert!(read.text.contains(READ), "{name}: {}", read.text);
    }
}

/// A comment on GitHub has room for it, whatever the number of targets, and what is not there is named.
#[test]
fn a_board_stays_short_and_names_what_it_leaves_out() {
    let few = markdown::render(&View::of(&example::many(7)));
    assert!(few.contains("<summary>All figures</summary>") && !few.contains("Left out here"));
    let mut record = example::many(86);
    for trial in &mut record.trials {
        trial.caveats = vec![Caveat {
            id: "stalls".into(),
            severity: Severity::Suspect,
            evidence: format!("{} stood still {}", trial.spec.target, "for a while, ".repeat(30)),
            advice: "look at its log".into(),
        }];
    }
    let many = markdown::render(&View::of(&record));
    assert!(many.len() <= 30_000, "{} bytes", many.len());
    let read = assert_read_as_written("many", &many);
    assert!(read.rows > 86, "{} rows", read.rows);
    assert!(
        many.contains(
            "Left out here, and on the page of the run: caveats, what the figures say.\n"
        ),
        "{many}"
    );
}
