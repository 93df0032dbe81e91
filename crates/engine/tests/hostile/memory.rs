//! What no server may make the engine do: take memory without bound.

/// How much more memory all rows together may take than the process had before, in kB. The servers
/// are in the same process: eight rows at once, one of which sends 4 MiB.
const MOST_KB: u64 = 250_000;

/// The most memory that this process ever had, in kB (VmHWM of proc_pid_status(5)).
pub fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Whether the process has stayed within bounds; says so.
pub fn is_bounded(before_kb: u64) -> bool {
    let grown_kb = peak_kb() - before_kb;
    eprintln!("memory: {grown_kb} kB more than before, {MOST_KB} kB are allowed");
    grown_kb <= MOST_KB
}
