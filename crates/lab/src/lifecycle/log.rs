//! What a process wrote.
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The last lines of a log, at most `lines` of at most 400 characters each; empty if there is no
/// log.
#[must_use]
pub fn tail(path: &Path, lines: usize) -> Vec<String> {
    const ENOUGH_BYTES: u64 = 64 * 1024;
    let Ok(mut file) = File::open(path) else { return Vec::new() };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(length.saturating_sub(ENOUGH_BYTES))).is_err()
        || file.read_to_end(&mut bytes).is_err()
    {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    all[all.len().saturating_sub(lines)..]
        .iter()
        .map(|line| line.chars().filter(|c| !c.is_control()).take(400).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(tail(&path, 2), ["two", "three"]);
        assert!(tail(&folder.path().join("none"), 2).is_empty());
    }
}
