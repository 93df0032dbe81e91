//! Medians, trends, steady states, changes and modes: what a series of figures shows.
//!
//! | module | what it does |
//! |---|---|
//! | [`quantile`] | medians and other quantiles |
//! | [`trend`] | whether a series trends |
//! | [`steady`] | when the warm-up ends |
//! | [`changepoint`] | change points in a history |
//! | [`modes`] | the humps of a histogram |
pub mod changepoint;
pub mod modes;
pub mod quantile;
pub mod steady;
pub mod trend;
