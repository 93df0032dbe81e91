//! The warm-up of a load: how it ended, and what was seen of the target meanwhile.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::ErrorKind;

/// How the warm-up ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WarmUpResult {
    /// Its length in nanoseconds; 0 if there was none.
    pub duration_ns: u64,
    /// Whether the throughput had stopped trending; `None` if that was not checked or nothing was
    /// answered.
    pub steady: Option<bool>,
    /// Requests completed in it; no other figure counts them.
    pub completed: u64,
    /// Errors in it by kind, including wrong answers; no other figure counts them.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// What was seen of the target from its first load on, oldest first. Empty unless the warm-up
    /// ends by what is seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WarmUpWindow>,
}

/// What is seen of a target in a short window ([`WarmUpWindow::NS`]) of its warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct WarmUpWindow {
    /// Complete answers per second.
    pub answers_per_s: f64,
    /// Processors that the target kept busy; `None` if they cannot be seen.
    pub cores: Option<f64>,
    /// Its compiler; `None` if it has none that can be told from its other threads.
    pub compiler: Option<CompilerWindow>,
}

impl WarmUpWindow {
    /// How long a window lasts, in nanoseconds.
    pub const NS: u64 = 200_000_000;

    /// Processor time for an answer, in nanoseconds; `None` without an answer, or if it is not known.
    #[must_use]
    pub fn cpu_ns_per_answer(&self) -> Option<f64> {
        let cores = self.cores.filter(|cores| *cores > 0.0)?;
        (self.answers_per_s > 0.0).then(|| cores * 1e9 / self.answers_per_s)
    }
}

/// What a target's compiler did in a window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CompilerWindow {
    /// Processors that it kept busy.
    pub cores: f64,
    /// Processor time that it has used since its process began, in nanoseconds.
    pub so_far_ns: u64,
}
