//! The life of a target: how long it takes to start, what memory it takes, what is lost when it is
//! stopped. It is measured once in a run, after all repetitions, and is part of no other figure.
use serde::{Deserialize, Serialize};

use crate::target::TargetId;
use crate::trial::Exit;

/// The life of one target. What was not measured is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetLife {
    /// The target.
    pub target: TargetId,
    /// From its start to its first right answer, in nanoseconds. It is asked every 5 ms.
    pub start_ns: Option<u64>,
    /// From a second start, on the same port, to its first right answer, in nanoseconds: after its main
    /// process was killed by SIGKILL while users asked it.
    pub restart_ns: Option<u64>,
    /// Its memory.
    pub memory: LifeMemory,
    /// Its end by the signal that stops it, while users ask it.
    pub stop: Option<StopUnderLoad>,
    /// What its installation wrote into its folder, in bytes: dependencies and what was built.
    /// System packages are not counted.
    pub installed_bytes: Option<u64>,
    /// How long its installation took on this machine, in nanoseconds.
    pub install_ns: Option<u64>,
    /// Lines of its own files that are not blank, for all workloads that it serves. Lock files are
    /// not counted.
    pub own_lines: Option<u64>,
    /// Why a part is missing.
    pub failure: Option<String>,
}

/// Memory in bytes, of all its processes: the proportional set, in which shared pages count once,
/// or else the resident set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifeMemory {
    /// Right after its first right answer.
    pub started_bytes: Option<u64>,
    /// A second later, without requests.
    pub idle_bytes: Option<u64>,
    /// The highest under a load of the plan's connections.
    pub loaded_bytes: Option<u64>,
    /// A second after that load.
    pub rested_bytes: Option<u64>,
    /// Its processes that the kernel had killed at its limit of memory by the end of that load; `None`
    /// without a limit, or if the kernel does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed: Option<u64>,
}

/// What happens to users while a target is stopped. Each has a connection, asks for one answer
/// after the other, and connects again if its connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopUnderLoad {
    /// The users.
    pub users: u32,
    /// Right answers after the signal was asked for.
    pub answered: u64,
    /// Requests that were sent and never answered, because the connection ended. Those that met
    /// the close of an idle connection count too (RFC 9112 section 9.5).
    pub cut: u64,
    /// Answers that were not right: `503` of a server that drains.
    pub wrong: u64,
    /// The longest time that a right answer took, of those that came after the signal, in
    /// nanoseconds.
    pub longest_ns: Option<u64>,
    /// From the signal to the first refused connection, in nanoseconds; `None` if none was refused.
    pub refuses_after_ns: Option<u64>,
    /// From the signal to the end of its main process, in nanoseconds; `None` if that is not known.
    pub gone_after_ns: Option<u64>,
    /// Whether it had to be killed.
    pub forced: bool,
    /// How its main process ended.
    pub exit: Option<Exit>,
}

impl TargetLife {
    /// A life of which nothing is known yet.
    #[must_use]
    pub fn new(target: TargetId) -> Self {
        Self {
            target,
            start_ns: None,
            restart_ns: None,
            memory: LifeMemory::default(),
            stop: None,
            installed_bytes: None,
            install_ns: None,
            own_lines: None,
            failure: None,
        }
    }
}
