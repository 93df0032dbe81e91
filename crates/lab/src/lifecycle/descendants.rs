//! Everything below a process.
use std::fs;

/// The descendants of a process: direct children first (proc(5): `/proc/PID/task/TID/children`).
///
/// A process that is forked during the walk may be missed. To get them all, ask again until none is
/// left.
#[must_use]
pub fn descendants(pid: i32) -> Vec<i32> {
    let mut found: Vec<i32> = children(pid);
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        found.extend(children(pid));
        next += 1;
    }
    found
}

/// The children of a process.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| {
            text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>()
        })
        .collect()
}

/// The command line of a process, for people; its short name where the command line is empty,
/// `None` where it is gone.
#[must_use]
pub fn command_line(pid: i32) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_string();
    if text.is_empty() {
        fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim().to_string())
    } else {
        Some(text)
    }
}
