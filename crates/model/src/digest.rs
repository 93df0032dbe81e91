//! What lists show of a run, so that they need not read its trials.
use serde::{Deserialize, Serialize};

use crate::caveat::Verdict;
use crate::target::TargetId;

/// A run in short. It is made from the run's report and kept beside the run; it can be made again
/// at any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDigest {
    /// How many trials it was made from. A run that has more by now needs a new one.
    pub trials: u64,
    /// The figure that ranks: `goodput` or `response_p99`.
    pub ranked_by: String,
    /// The targets in the order of the report's table.
    pub targets: Vec<TargetDigest>,
    /// The worst verdict of a target; `None` if no target was judged.
    pub worst: Option<Verdict>,
    /// Slices that were made, and those of them that the host did not disturb; `None` if the run
    /// was not measured in slices.
    pub slices: Option<CalmSlices>,
    /// Right answers per second of the first target over time, at most [`RunDigest::SPARKS`]
    /// values.
    pub spark: Vec<f64>,
}

/// Slices and how many of them were calm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalmSlices {
    /// Those that were made.
    pub made: u64,
    /// Those during which the host disturbed nobody.
    pub calm: u64,
}

/// A target of a run in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetDigest {
    /// The target.
    pub target: TargetId,
    /// Its verdict; `None` without a trial.
    pub verdict: Option<Verdict>,
    /// The ranks that it may have, the best and the worst; `None` if it is not ranked.
    pub ranks: Option<(u32, u32)>,
    /// The median of the figure that ranks: requests per second, or nanoseconds.
    pub figure: Option<f64>,
}

impl RunDigest {
    /// Values of [`RunDigest::spark`] at the most.
    pub const SPARKS: usize = 40;

    /// The targets that may be the best.
    pub fn leaders(&self) -> impl Iterator<Item = &TargetDigest> {
        self.targets.iter().filter(|target| target.ranks.is_some_and(|(best, _)| best == 1))
    }
}
