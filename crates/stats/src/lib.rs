//! Quantiles, intervals, ranking, steady state, scalability fits, judges: pure functions, no clock,
//! no I/O.
//!
//! Random numbers come from the caller, so a seed fixes every result.
//!
//! | module | what it holds |
//! |---|---|
//! | [`series`] | medians, trends, steady states, the end of a warm-up, changes, modes |
//! | [`interval`] | how certain a median or a ratio is; the functions behind p-values |
//! | [`rounds`] | what was observed in rounds of slices; targets against each other within them; which slices were calm |
//! | [`planning`] | how many repetitions a precision needs, and whether it was reached |
//! | [`rank`] | which target is ahead, the ratios to a reference, when to stop |
//! | [`compare`] | comparison of two runs |
//! | [`gate`] | whether figures pass their gates, and which gates are lost while a load is in progress |
//! | [`capacity`] | the search for the highest rate that keeps an objective; what a target does beyond its capacity |
//! | [`scalability`] | the fit of the USL, the knee, predictions, sweeps, device plans |
//! | [`bottleneck`] | what the figures of one trial say about generator and target; who helped it |
//! | [`judge`] | the caveats, one file for each |
//! | [`explain`] | what limits a target, in a paragraph |
//! | [`summary`] | all trials of a target, summed up in the figures that tables show; what it used |
//! | `simulated` | noise and degenerate figures for tests |
pub mod bottleneck;
pub mod capacity;
pub mod compare;
pub mod explain;
pub mod gate;
pub mod interval;
pub mod judge;
pub mod planning;
pub mod rank;
pub mod rounds;
pub mod scalability;
pub mod series;
#[cfg(test)]
mod simulated;
pub mod summary;
