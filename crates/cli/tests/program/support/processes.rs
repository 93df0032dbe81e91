//! Inspects the processes of this machine.
use std::fs;
use std::time::{Duration, Instant};

/// The command lines of living processes (not zombies) that contain `marker` or run in a folder
/// below it.
pub fn alive_with(marker: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let pids = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    pids.filter(|pid| *pid != own && pid.bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|pid| command_line_with(&pid, marker))
        .collect()
}

fn command_line_with(pid: &str, marker: &str) -> Option<String> {
    // A zombie's command line is empty, and its folder cannot be read.
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&bytes).replace('\0', " ");
    let folder = fs::read_link(format!("/proc/{pid}/cwd"))
        .map(|path| path.to_string_lossy().into_owned())
        .unwrap_or_default();
    (line.contains(marker) || folder.contains(marker)).then(|| format!("{pid} {line}"))
}

/// Waits at most a minute until this holds. Returns whether it did.
pub fn until(holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    holds()
}
