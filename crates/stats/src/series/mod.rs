//! Medians, trends, steady states, changes and modes: what a series of figures shows.
//!
//! | module | what it does |
//! |---|---|
//! | [`quantile`] | medians and other quantiles |
//! | [`trend`] | whether a series trends |
//! | [`steady`] | when a throughput has settled; whether a trial was steady |
//! | [`warm`] | when a target is warm: throughput, processor time per answer and its compiler together |
//! | [`course`] | what the start of a target looks like |
//! | [`changepoint`] | change points in a history |
//! | [`modes`] | the humps of a histogram |
//! | [`silence`] | when nobody was answered |
//! | [`within`] | the windows of a stretch of time |
pub mod changepoint;
pub mod course;
pub mod modes;
pub mod quantile;
pub mod silence;
pub mod steady;
pub mod trend;
pub mod warm;
pub mod within;
