//! A short form of a run for lists, so that they need not read its trials.
use serde::{Deserialize, Serialize};

use crate::run::labels::Labels;
use crate::target::TargetId;
use crate::target::conformance::KindCount;
use crate::verdict::Verdict;

/// A run in short. It is made from the run's report and stored beside the run. It can be made again
/// at any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDigest {
    /// The number of trials it was made from. If the run has more by now, it needs a new digest.
    pub trials: u64,
    /// How load was applied, in words.
    pub load: String,
    /// The revisions or values that were compared, in words: `main (0123456789) and HEAD
    /// (abcdef0123)`, `pool=5, 10, 20`; empty for other runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub compared: String,
    /// The ranking figure: `goodput` or `response_p99`.
    pub ranked_by: String,
    /// The targets in the order of the report's table.
    pub targets: Vec<TargetDigest>,
    /// The worst verdict of a target; `None` if no target was judged.
    pub worst: Option<Verdict>,
    /// Whether the run can be trusted, in words.
    pub trust: String,
    /// How many slices were made, and how many of them the host did not disturb; `None` if the run
    /// was not measured in slices.
    pub slices: Option<CalmSlices>,
    /// Right answers per second of the first target over time, at most [`RunDigest::SPARKS`]
    /// values.
    pub spark: Vec<f64>,
    /// What the user calls the run.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// The number of slices and of calm ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalmSlices {
    /// All slices.
    pub made: u64,
    /// Slices that the host did not disturb.
    pub calm: u64,
}

/// A target of a run in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetDigest {
    /// The target.
    pub target: TargetId,
    /// Its verdict; `None` without a trial.
    pub verdict: Option<Verdict>,
    /// Its possible ranks, the best and the worst; `None` if it is not ranked.
    pub ranks: Option<(u32, u32)>,
    /// The median of the ranking figure: requests per second, or nanoseconds.
    pub figure: Option<f64>,
    /// Its right answers at the edges of HTTP/1.1; empty if it was not asked.
    pub conformance: Vec<KindCount>,
    /// Right answers per second: the median, and of a sweep that of its best step.
    pub goodput_per_s: Option<f64>,
    /// The 99th percentile of the response time at the same place, in nanoseconds.
    pub p99_ns: Option<f64>,
    /// How sure these are, and what the target used; empty in digests of older versions.
    #[serde(default)]
    pub more: MoreFigures,
}

/// Further figures of a target. Each is `None` if it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MoreFigures {
    /// The ends of the 95 % interval of its right answers per second.
    pub goodput_within: Option<(f64, f64)>,
    /// The ends of the interval of its 99th percentile, in nanoseconds.
    pub p99_within: Option<(f64, f64)>,
    /// Its ranking figure divided by that of the reference.
    pub ratio: Option<f64>,
    /// The ends of the interval of that ratio.
    pub ratio_within: Option<(f64, f64)>,
    /// The target's processor time of a complete answer, in nanoseconds.
    pub cpu_ns: Option<f64>,
    /// The ends of its interval.
    pub cpu_within: Option<(f64, f64)>,
    /// Highest memory of its process tree, in bytes.
    pub memory_bytes: Option<f64>,
    /// How it warmed up.
    pub warm_up: Option<WarmUpDigest>,
}

/// How a target warmed up in a run: its starts together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUpDigest {
    /// Starts that show it.
    pub starts: u32,
    /// The class of at least two thirds of them: `flat`, `warms_up`, `slows_down`,
    /// `no_steady_state`; `None` if no class has so many.
    pub class: Option<String>,
    /// Of the starts in that class, from the first answer to the steady level, in nanoseconds: the
    /// median. `None` without a class, and without a steady state.
    pub steady_after_ns: Option<u64>,
}

impl TargetDigest {
    /// Whether it has a figure that may be read: it was measured, and is not INVALID.
    #[must_use]
    pub fn has_result(&self) -> bool {
        self.figure.is_some() && self.verdict.is_some_and(|verdict| verdict != Verdict::Invalid)
    }
}

/// Plans that stand for what somebody named on a command line. Their runs are no rounds of anything,
/// so that no board shows them.
pub const WITHOUT_BOARD: [&str; 2] = ["load", "compare"];

impl RunDigest {
    /// The maximum number of values in [`RunDigest::spark`].
    pub const SPARKS: usize = 40;

    /// The targets that may be the best.
    pub fn leaders(&self) -> impl Iterator<Item = &TargetDigest> {
        self.targets.iter().filter(|target| target.ranks.is_some_and(|(best, _)| best == 1))
    }
}
