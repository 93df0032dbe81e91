//! Compares docs/architecture.md with crates, modules and dependencies.
use crate::pages::{assert_same, entries, named_in, root, rows, rust_files, section, text, ticked};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/architecture.md";

/// The crates with their folders.
fn crates() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = entries("crates")
        .into_iter()
        .map(|name| (name.clone(), format!("crates/{name}")))
        .collect();
    found.push(("bench".into(), "bench".into()));
    found
}

#[test]
fn every_crate_has_a_section_and_every_section_a_crate() {
    let page = text(PAGE);
    let headings =
        page.lines().filter_map(|line| line.strip_prefix("### ")).flat_map(ticked).collect();
    assert_same(
        PAGE,
        "headings ### of crates",
        &headings,
        &crates().into_iter().map(|(name, _)| name).collect(),
    );
}

#[test]
fn every_module_is_named_with_its_job() {
    let page = text(PAGE);
    for (name, folder) in crates() {
        let named = named_in(&section(&page, &format!("### `{name}`")));
        assert_same(PAGE, &format!("table of `{name}`"), &named, &modules(&folder));
    }
}

/// The modules that a crate's root declares.
fn modules(folder: &str) -> BTreeSet<String> {
    let source = ["src/lib.rs", "src/main.rs"]
        .iter()
        .map(|file| format!("{folder}/{file}"))
        .find(|path| crate::pages::root().join(path).is_file());
    let source =
        text(&source.unwrap_or_else(|| panic!("{folder} has neither src/lib.rs nor src/main.rs")));
    let declared = source
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let found: BTreeSet<String> = declared.map(str::to_string).collect();
    assert!(!found.is_empty(), "{folder} declares no module");
    found
}

/// Whether the documentation in a file has a program: a block of code that is not said to be text.
fn has_a_program(path: &Path) -> bool {
    let source = fs::read_to_string(path).unwrap();
    let fences = source.lines().filter_map(|line| {
        let comment = line.trim_start();
        comment.strip_prefix("//!").or(comment.strip_prefix("///"))?.trim().strip_prefix("```")
    });
    // Every second fence ends a block.
    fences.step_by(2).any(|kind| kind != "text")
}

// rustdoc takes 170 seconds of processor time to look for programs, so `doctest = false` says that there are none.
#[test]
fn documentation_has_no_program_because_none_would_be_run() {
    for (name, folder) in crates() {
        let mut files = Vec::new();
        rust_files(&root().join(&folder).join("src"), &mut files);
        let with_one = files.iter().find(|path| has_a_program(path));
        assert_eq!(with_one, None, "{name}: make a test of it, or say that it is ```text");
        let is_library = root().join(&folder).join("src/lib.rs").is_file();
        let says_so = text(&format!("{folder}/Cargo.toml")).contains("\n[lib]\ndoctest = false\n");
        assert_eq!(is_library, says_so, "{name}: `doctest = false` in its Cargo.toml");
    }
}

#[test]
fn the_table_of_dependencies_is_what_the_crates_say() {
    let page = text(PAGE);
    let table = rows(&section(&page, "## Who may depend on whom"));
    let listed: BTreeSet<String> = table.iter().flat_map(|cells| ticked(cells[0])).collect();
    assert_same(
        PAGE,
        "rows of the table of dependencies",
        &listed,
        &crates().into_iter().map(|(name, _)| name).collect(),
    );
    for cells in &table {
        let name = ticked(cells[0]).pop_first().unwrap();
        let (_, folder) = crates().into_iter().find(|(other, _)| *other == name).unwrap();
        assert_same(PAGE, &format!("dependencies of `{name}`"), &ticked(cells[1]), &uses(&folder));
    }
}

/// The crates of this workspace that a crate uses outside its tests.
fn uses(folder: &str) -> BTreeSet<String> {
    let manifest = text(&format!("{folder}/Cargo.toml"));
    let section = manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    section
        .filter_map(|line| line.strip_prefix("pippin-")?.split(['.', ' ', '=']).next())
        .map(str::to_string)
        .collect()
}

#[test]
fn every_folder_is_named() {
    let page = text(PAGE);
    let named = named_in(&section(&page, "## Folders"));
    let folders = crate::pages::tracked_folders();
    assert_same(PAGE, "table of folders", &named, &folders);
}

/// A new kind of schedule has an arm in every file that has one for each kind: these are to be no
/// more than the page says.
#[test]
fn one_file_has_an_arm_for_each_kind_of_schedule() {
    let model = text("crates/model/src/schedule/mod.rs");
    let (_, rest) = model.split_once("pub enum Schedule {").unwrap();
    let kinds: Vec<&str> = rest
        .lines()
        .take_while(|line| *line != "}")
        .filter_map(|line| line.strip_prefix("    ")?.strip_suffix(" {"))
        .collect();
    assert!(kinds.contains(&"Closed") && kinds.len() >= 3, "{kinds:?}");
    let has_all = |path: &PathBuf| {
        let source = fs::read_to_string(path).unwrap();
        let is_arm = |kind: &&str| {
            let arm = format!("Schedule::{kind}");
            source.lines().any(|line| line.trim_start().trim_start_matches("| ").starts_with(&arm))
        };
        kinds.iter().all(is_arm)
    };
    let mut sources = Vec::new();
    for (_, folder) in crates() {
        rust_files(&root().join(folder).join("src"), &mut sources);
    }
    let found: Vec<PathBuf> = sources.into_iter().filter(has_all).collect();
    assert_eq!(found, [root().join("crates/engine/src/pace/mod.rs")]);
}
