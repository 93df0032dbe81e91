//! The second guard, for a supervisor that was killed, perhaps by the target itself.
//!
//! Pippin is a child subreaper too (prctl(2), PR_SET_CHILD_SUBREAPER): if a supervisor dies, its
//! descendants become children of Pippin. They differ from Pippin's other children by their
//! session. A supervisor has a session of its own, so has what it starts, and programs that Pippin
//! starts itself are in Pippin's session.
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::descendants::{self, children, command_line, descendants};

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

/// What a dead supervisor has left.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// The command lines of those that were killed.
    pub killed: Vec<String>,
    /// Pid and command line of those that could not be killed.
    pub stuck: Vec<String>,
}

/// Kills what a dead supervisor has left.
pub(super) fn kill(limit: Duration) -> Left {
    let (mut seen, mut known) = (Instant::now(), BTreeMap::new());
    let alive = || {
        let of = |orphan| std::iter::once(orphan).chain(descendants(orphan));
        let found: Vec<i32> = orphans().into_iter().flat_map(of).collect();
        for pid in &found {
            known.entry(*pid).or_insert_with(|| command_line(*pid));
        }
        found
    };
    let is_over = |found: &[i32]| {
        if !found.is_empty() {
            seen = Instant::now();
        }
        found.iter().for_each(|pid| _ = descendants::take_in(*pid));
        seen.elapsed() >= QUIET
    };
    let stuck = descendants::kill(limit, alive, is_over);
    known.retain(|pid, _| !stuck.contains(pid));
    Left { killed: known.into_values().flatten().collect(), stuck: descendants::named(&stuck) }
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
