//! Reads the pages and the tree.
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The text of a file below the root.
pub fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names in a folder below the root, without hidden entries.
pub fn entries(folder: &str) -> BTreeSet<String> {
    let found =
        fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    found
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

/// The names of the TOML files in a folder, without their ending.
pub fn toml_names(folder: &str) -> BTreeSet<String> {
    entries(folder)
        .iter()
        .filter_map(|name| name.strip_suffix(".toml"))
        .map(str::to_string)
        .collect()
}

/// The lines between a heading and the next one of the same or a higher level.
pub fn section<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let level = heading.bytes().take_while(|byte| *byte == b'#').count();
    let ends = |line: &&str| {
        let depth = line.bytes().take_while(|byte| *byte == b'#').count();
        depth == 0 || depth > level
    };
    let lines: Vec<&str> =
        page.lines().skip_while(|line| *line != heading).skip(1).take_while(ends).collect();
    assert!(!lines.is_empty(), "no section `{heading}`");
    lines
}

/// The cells of each row of the tables in these lines, without head and rule.
pub fn rows<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let tables = lines.split(|line| !line.starts_with('|')).filter(|table| table.len() > 2);
    tables
        .flat_map(|table| {
            table[2..].iter().map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        })
        .collect()
}

/// The texts in backticks.
pub fn ticked(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// The texts in backticks in the first cell of each row.
pub fn named_in(lines: &[&str]) -> BTreeSet<String> {
    rows(lines).iter().flat_map(|cells| ticked(cells[0])).collect()
}

/// Fails with both differences and says what to do.
pub fn assert_same(page: &str, what: &str, named: &BTreeSet<String>, real: &BTreeSet<String>) {
    let missing: Vec<_> = real.difference(named).collect();
    let gone: Vec<_> = named.difference(real).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "{page}, {what}: add {missing:?}; take out {gone:?}"
    );
}

/// The folders at the root that belong to the project, without those that builds and runs create.
pub fn tracked_folders() -> BTreeSet<String> {
    let made: Vec<String> =
        text(".gitignore").lines().map(|line| line.trim_matches('/').to_string()).collect();
    let is_folder = |name: &String| root().join(name).is_dir();
    entries("")
        .into_iter()
        .filter(is_folder)
        .filter(|name| !made.contains(name))
        .map(|name| format!("{name}/"))
        .collect()
}

/// The Rust files below a folder.
pub fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}
