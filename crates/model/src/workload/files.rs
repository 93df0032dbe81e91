//! The files of workloads whose answers are files of a folder.

/// Each file: its name, and its length in bytes. There are two of each length, and one of the two is
/// replaced while a load runs; which one is drawn for each start of a target.
pub const FILES: [(&str, u64); 8] = [
    ("1k-a.css", 1_000),
    ("1k-b.css", 1_000),
    ("64k-a.css", 64_000),
    ("64k-b.css", 64_000),
    ("1m-a.css", 1_000_000),
    ("1m-b.css", 1_000_000),
    ("10m-a.css", 10_000_000),
    ("10m-b.css", 10_000_000),
];

/// The place of a file in [`FILES`], by its name.
#[must_use]
pub fn place_of(name: &str) -> Option<usize> {
    FILES.iter().position(|(known, _)| *known == name)
}
