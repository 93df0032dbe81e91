//! Quantiles, intervals, ranking, steady state, scalability fits, judges: pure functions, no clock,
//! no I/O.
//!
//! Random numbers come from the caller, so a seed fixes every result.
//!
//! | module | what it holds |
//! |---|---|
//! | [`quantile`], [`trend`], [`steady`] | medians; whether a series trends; when the warm-up ends |
//! | [`bootstrap`], [`interval`], [`ratio`], [`rank`], [`standing`], [`sequential`] | how certain a median is, which target is ahead, when to stop |
//! | [`rounds`], [`paired`] | figures by round of slices; targets compared within rounds |
//! | [`criterion`], [`due`] | the figure that ranks targets; quantiles over all due requests |
//! | [`order`] | the interleaved order of repetitions and rounds |
//! | [`calm`] | which slices the host left undisturbed, and which of them the figures use |
//! | [`modes`], [`silence`], [`littles_law`], [`concurrency`], [`bound`], [`cost`] | what one trial's figures show about generator and target |
//! | [`usl`], [`knee`], [`predict`], [`sweep`], [`capacity`], [`objective`] | scalability: fit, knee, prediction before each point, a whole sweep, the search for the highest rate that keeps an objective |
//! | [`helpers`] | which processes worked together with a target |
//! | [`overload`] | what a target does beyond its capacity |
//! | [`judge`] | the caveats |
//! | [`explain`] | why a target is as fast as it is |
//! | [`compare`], [`unfinished`], [`gate`], [`changepoint`] | two sets of trials compared; interrupted runs; gates; changes in a history |
//! | [`lost`] | gates that cannot be passed any more while a load is under way |
//! | [`summary`], [`resources`] | all trials of a target as the figures that tables show; resource use |
pub mod bootstrap;
pub mod bound;
pub mod calm;
pub mod capacity;
pub mod changepoint;
pub mod compare;
pub mod concurrency;
pub mod cost;
pub mod criterion;
pub mod device_plan;
mod draw;
pub mod due;
pub mod explain;
pub mod gate;
pub mod helpers;
pub mod interval;
pub mod judge;
pub mod knee;
mod least_squares;
pub mod littles_law;
pub mod lost;
mod moderated;
pub mod modes;
pub mod objective;
pub mod order;
pub mod overload;
pub mod paired;
pub mod predict;
pub mod quantile;
pub mod rank;
pub mod ratio;
pub mod resources;
pub mod rounds;
pub mod sequential;
pub mod silence;
mod special;
pub mod standing;
pub mod steady;
mod student_t;
pub mod summary;
pub mod sweep;
#[cfg(test)]
mod test_degenerate;
#[cfg(test)]
mod test_noise;
pub mod trend;
pub mod unfinished;
pub mod usl;
