//! Quantiles, intervals, ranking, steady state, scalability fits, judges: pure functions, no clock, no I/O.
//!
//! Random numbers come from the caller, so that a seed fixes every result.
//!
//! | module | what it holds |
//! |---|---|
//! | [`quantile`], [`trend`], [`steady`] | medians; whether a series trends; when the warm-up ends |
//! | [`bootstrap`], [`interval`], [`ratio`], [`rank`], [`sequential`] | how sure a median is, who is ahead, when to stop |
//! | [`order`] | the interleaved order of repetitions |
pub mod bootstrap;
mod draw;
pub mod interval;
pub mod order;
pub mod quantile;
pub mod rank;
pub mod ratio;
pub mod sequential;
pub mod steady;
mod student_t;
#[cfg(test)]
mod test_noise;
pub mod trend;
