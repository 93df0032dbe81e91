//! Doc comments stand alone.
use crate::pages::{root, rust_files};
use std::fs;

/// "The same, but longer than 0" says nothing to somebody who reads one item, and neither does "in
/// nanoseconds, likewise": such a comment repeats what it is the same as.
#[test]
fn every_doc_comment_stands_alone() {
    let mut sources = Vec::new();
    for folder in ["crates", "bench"] {
        rust_files(&root().join(folder), &mut sources);
    }
    assert!(sources.len() > 500, "{} files", sources.len());
    let begins = |lines: &[&str]| {
        let words = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::to_string)
        };
        words(lines[0]).is_none_or(|before| before.trim().is_empty())
            && words(lines[1]).is_some_and(|first| first.starts_with(" The same"))
    };
    for path in sources {
        let source = format!("\n{}", fs::read_to_string(&path).unwrap());
        let lines: Vec<&str> = source.lines().collect();
        let points = |line: &str| {
            let line = line.trim_start();
            line.starts_with("//")
                && (line.trim_end_matches('.').ends_with("likewise") || line.contains("Likewise"))
        };
        let same = lines.windows(2).position(begins).map(|at| at + 1);
        if let Some(at) = same.or_else(|| lines.iter().position(|line| points(line))) {
            panic!("{}:{at}: write this comment whole: {}", path.display(), lines[at]);
        }
    }
}
