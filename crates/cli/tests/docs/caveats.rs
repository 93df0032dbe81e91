//! Compares the table of caveats in docs/methodology.md with the judges.
use crate::pages::{assert_same, named_in, root, rows, section, text};
use pippin_stats::interval::unsure;
use pippin_stats::judge::settled::SEEN_AT_THE_STOP;
use pippin_stats::judge::{EXPLANATIONS, RUN_JUDGES, TARGET_JUDGES, TRIAL_JUDGES};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/methodology.md";
const HEADING: &str = "## All caveats";

/// The names with which judges are registered, and those that other code gives.
fn real() -> BTreeSet<String> {
    let trial = TRIAL_JUDGES.iter().flat_map(|(names, ..)| names.iter());
    let explained = EXPLANATIONS.iter().flat_map(|(names, ..)| names.iter());
    let target = TARGET_JUDGES.iter().map(|(name, _)| name);
    let run = RUN_JUDGES.iter().flat_map(|(names, _)| names.iter());
    let all = trial.chain(explained).chain(target).chain(run);
    let mut found: BTreeSet<String> = all.map(|name| (*name).to_string()).collect();
    found.insert(unsure::ID.to_string());
    found.extend(given_elsewhere(&root().join("crates")));
    found
}

/// `Caveat { id: "..."` in sources outside their tests.
fn given_elsewhere(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        if entry.is_dir() && !["tests", "examples", "target"].contains(&name) {
            found.extend(given_elsewhere(&entry));
        } else if name.ends_with(".rs") && !name.starts_with("test") {
            let source = fs::read_to_string(&entry).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            let literals = source
                .split("Caveat {")
                .skip(1)
                .filter_map(|rest| rest.trim_start().strip_prefix("id: \"")?.split('"').next());
            found.extend(literals.map(str::to_string));
        }
    }
    found
}

#[test]
fn every_caveat_is_in_the_table_and_every_row_is_a_caveat() {
    let page = text(PAGE);
    assert_same(PAGE, HEADING, &named_in(&section(&page, HEADING)), &real());
}

#[test]
fn every_row_says_severity_threshold_and_advice() {
    let page = text(PAGE);
    for cells in rows(&section(&page, HEADING)) {
        assert_eq!(cells.len(), 4, "{PAGE}: {cells:?}");
        let severity = cells[1].split([' ', ',']).next().unwrap();
        assert!(
            ["INVALID", "SUSPECT", "NOTE"].contains(&severity),
            "{PAGE}: severity of {}: {severity}",
            cells[0]
        );
        assert!(
            cells.iter().all(|cell| !cell.is_empty()),
            "{PAGE}: an empty cell beside {}",
            cells[0]
        );
    }
}

#[test]
fn the_caveats_outside_the_judges_are_those_that_are_seen_when_a_target_is_stopped() {
    let known = SEEN_AT_THE_STOP.map(|(id, _)| id.to_string());
    assert_eq!(given_elsewhere(&root().join("crates/lab")), BTreeSet::from(known));
}
