//! Offering a target more than it can do: the rates of the profile `overload`.
use serde::{Deserialize, Serialize};

use crate::plan::objective::Objective;
use crate::schedule::Stage;

/// The rates of the rising part, as multiples of the capacity, ascending.
pub const MULTIPLES: [f64; 7] = [0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0];
/// The last of them.
pub const MOST: f64 = 3.0;
/// The rate afterwards.
pub const AFTER: f64 = 0.5;
/// The shortest step of the search for the capacity, in nanoseconds.
pub const SEARCH_STEP_NS: u64 = 2_000_000_000;
/// The precision of the search, as a fraction of the rate.
pub const SEARCH_PRECISION: f64 = 0.1;

/// How to find the capacity of each target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The objective that a target keeps at its capacity.
    pub objective: Objective,
}

/// The stages for a capacity: each multiple for `step_ns`, then `recovery_ns` at [`AFTER`].
#[must_use]
pub fn stages(capacity_per_s: f64, step_ns: u64, recovery_ns: u64) -> Vec<Stage> {
    let flat = |multiple: f64, duration_ns| {
        let rate = multiple * capacity_per_s;
        Stage { duration_ns, from_per_s: rate, to_per_s: rate }
    };
    let up = MULTIPLES.iter().map(|multiple| flat(*multiple, step_ns));
    up.chain([flat(AFTER, recovery_ns)]).collect()
}
