//! The second guard, for a supervisor that was killed, perhaps by the target itself.
//!
//! Pippin is a child subreaper too (prctl(2), PR_SET_CHILD_SUBREAPER): if a supervisor dies, its
//! descendants become children of Pippin. They differ from Pippin's other children by their
//! session. A supervisor has a session of its own, so has what it starts, and programs that Pippin
//! starts itself are in Pippin's session.
use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::descendants::{children, command_line, descendants};

/// The supervisors that live.
static SUPERVISORS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// How long no descendant must be seen until none is left: workers may appear after their master
/// has ended.
const QUIET: Duration = Duration::from_millis(50);

fn supervisors() -> MutexGuard<'static, BTreeSet<i32>> {
    SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a supervisor.
pub(super) fn start(supervisor: &mut Command) -> io::Result<Child> {
    // SAFETY: a plain system call with constant arguments. It fails only where the kernel does not
    // know it, and then there is no second guard.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    // Locked until the supervisor is registered, so that it is not taken for an orphan.
    let mut all = supervisors();
    let child = supervisor.spawn()?;
    all.insert(child.id() as i32);
    Ok(child)
}

/// A supervisor has ended and was waited for.
pub(super) fn ended(supervisor: &Child) {
    supervisors().remove(&(supervisor.id() as i32));
}

/// Kills what a dead supervisor has left. Returns the command lines.
pub(super) fn kill(limit: Duration) -> Vec<String> {
    let (begin, mut seen, mut named) = (Instant::now(), Instant::now(), Vec::new());
    let mut known = BTreeSet::new();
    while begin.elapsed() < limit && seen.elapsed() < QUIET {
        for orphan in orphans() {
            seen = Instant::now();
            for pid in std::iter::once(orphan).chain(descendants(orphan)) {
                if known.insert(pid) {
                    named.extend(command_line(pid));
                }
                // SAFETY: kill(2) and waitpid(2) on processes below us; no status is wanted.
                unsafe {
                    libc::kill(pid, libc::SIGKILL);
                    libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG);
                }
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    named
}

/// Children of this process that once were below a supervisor.
fn orphans() -> Vec<i32> {
    let all = supervisors();
    // SAFETY: getsid(2) takes no pointers; of a process that is gone it says so.
    let session = |pid| unsafe { libc::getsid(pid) };
    let own = session(0);
    let is_orphan = |pid: &i32| !all.contains(pid) && ![own, -1].contains(&session(*pid));
    children(std::process::id() as i32).into_iter().filter(is_orphan).collect()
}
