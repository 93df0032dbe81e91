//! What Pippin says, as `docs/what-it-said.md` quotes it.
use crate::pages::{root, rows, rust_files, text, ticked};
use std::fs;

/// Quotations of less than this find themselves anywhere.
const SHORTEST: usize = 9;

#[test]
fn every_quotation_stands_in_a_message() {
    let page = text("docs/what-it-said.md");
    let mut files = Vec::new();
    for name in fs::read_dir(root().join("crates")).unwrap() {
        rust_files(&name.unwrap().path().join("src"), &mut files);
    }
    let source: String = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    // A text that goes on in the next line of the source is one text.
    let source = source.replace("\\\n", "").replace("{{", "{").replace("}}", "}");
    let lines: Vec<&str> = page.lines().collect();
    let rows = rows(&lines);
    assert!(rows.len() >= 71, "{} rows", rows.len());
    let mut missing = Vec::new();
    for cells in &rows {
        let [_, said, _] = &cells[..] else { panic!("{cells:?}") };
        let quoted = ticked(said);
        assert_eq!(quoted.len(), 1, "{said}");
        missing.extend(quoted.into_iter().filter(|it| it.len() < SHORTEST || !source.contains(it)));
    }
    assert!(missing.is_empty(), "docs/what-it-said.md: no message holds {missing:?}");
}
