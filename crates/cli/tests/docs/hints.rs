//! A hint leads somewhere for who installed only the program: each page that it names is inside of
//! the binary, under the name that the hint says.
use crate::pages::{root, rust_files};
use std::fs;
use std::path::PathBuf;

/// The lines of the program that people may see: everything but comments, and the doc comments of
/// the arguments, which are help texts.
fn seen_lines() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            rust_files(&source, &mut files);
        }
    }
    let mut lines = Vec::new();
    for path in files {
        let is_help = path.to_string_lossy().contains("/cli/src/arguments");
        let text = fs::read_to_string(&path).unwrap();
        let program = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in program.lines().map(str::trim_start) {
            if !line.starts_with("//") || is_help && line.starts_with("/// ") {
                let said = line.split(" // ").next().unwrap_or_default();
                lines.push((path.clone(), said.to_string()));
            }
        }
    }
    assert!(lines.len() > 10_000, "{}", lines.len());
    lines
}

#[test]
fn every_page_that_a_hint_names_is_inside_of_the_binary() {
    let mut named = Vec::new();
    for (path, line) in seen_lines() {
        for (at, hint) in line.match_indices("pippin help ") {
            let rest = &line[at + hint.len()..];
            let name: String =
                rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            if !name.is_empty() {
                let page = pippin_shipped::pages::named(&name);
                assert!(page.is_some(), "{}: no page {name}: {line}", path.display());
                named.push(name);
            }
        }
    }
    for page in ["gates", "fleet", "formats", "requests", "scenarios", "explain"] {
        assert!(named.iter().any(|name| name == page), "nothing names {page}: {named:?}");
    }
}

#[test]
fn no_message_names_a_file_of_the_checkout() {
    for (path, line) in seen_lines() {
        let hint = line.match_indices("docs/").find(|(at, _)| {
            let name = line[at + "docs/".len()..].split([' ', ')', '"', '`', ',']).next();
            name.is_some_and(|name| name.ends_with(".md"))
        });
        // The build script and `pippin help` find the pages by their files.
        let finds_pages = path.ends_with("shipped/src/pages.rs");
        assert!(hint.is_none() || finds_pages, "{}: {line}", path.display());
    }
}
