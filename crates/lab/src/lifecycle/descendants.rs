//! Everything below a process, and how it is ended.
use std::fs;
use std::time::{Duration, Instant};

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

/// Kills what `alive` lists, again and again: each round also catches what was forked during the one
/// before. `is_over` gets the list, takes in those that have ended (waitpid(2)), and says whether
/// that is all. Returns those that are left when the time is over.
pub(super) fn kill(
    limit: Duration,
    mut alive: impl FnMut() -> Vec<i32>,
    mut is_over: impl FnMut(&[i32]) -> bool,
) -> Vec<i32> {
    let begin = Instant::now();
    loop {
        let found = alive();
        if begin.elapsed() >= limit {
            return found;
        }
        for pid in &found {
            // SAFETY: kill(2) on a process below us.
            unsafe { libc::kill(*pid, libc::SIGKILL) };
        }
        if is_over(&found) {
            return Vec::new();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Takes in a process that has ended, or any with -1. Returns what waitpid(2) does: 0 if none has
/// ended, -1 if there is none.
pub(super) fn take_in(pid: i32) -> i32 {
    // SAFETY: waitpid(2) without a status.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) }
}

/// Processes as people know them: pid and command line. Those that are gone are left out.
pub(super) fn named(pids: &[i32]) -> Vec<String> {
    pids.iter().filter_map(|pid| Some(format!("{pid} {}", command_line(*pid)?))).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::process::{Child, Command};

    /// A process that has ended and that nobody takes in. Like one that waits for a device, it is
    /// there whatever signal it gets.
    pub fn zombie() -> Child {
        let child = Command::new("true").spawn().unwrap();
        // SAFETY: siginfo_t is plain data, and lives during the call, which leaves the child as it
        // is.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, child.id(), &raw mut info, libc::WEXITED | libc::WNOWAIT);
        }
        child
    }

    const LIMIT: Duration = Duration::from_millis(30);

    fn is_there(pid: i32) -> bool {
        fs::exists(format!("/proc/{pid}")).unwrap()
    }

    #[test]
    fn what_can_be_killed_is_gone_and_nobody_is_left() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id() as i32;
        let alive = || [pid].into_iter().filter(|pid| is_there(*pid)).collect();
        let left = kill(Duration::from_secs(60), alive, |_| take_in(pid) == pid);
        assert!(left.is_empty() && !is_there(pid), "{left:?}");
        // It has been taken in already.
        assert!(child.wait().is_err());
    }

    #[test]
    fn what_cannot_be_killed_is_given_up_at_the_limit_and_named() {
        let mut child = zombie();
        let pid = child.id() as i32;
        let mut rounds = 0;
        let left = kill(
            LIMIT,
            || vec![pid],
            |found| {
                rounds += 1;
                assert_eq!(found, [pid]);
                false
            },
        );
        assert_eq!(left, [pid]);
        assert!(rounds > 0, "it was tried");
        assert_eq!(named(&left), [format!("{pid} true")]);
        child.wait().unwrap();
        assert!(named(&left).is_empty(), "it is gone by now");
    }
}
