//! How throughput grows with users: fits, predictions, plans.
//!
//! | module | what it does |
//! |---|---|
//! | [`usl`] | the fit of the Universal Scalability Law |
//! | [`least_squares`] | non-linear least squares |
//! | [`knee`] | the number of connections beyond which more bring little |
//! | [`ladder`] | several rates in turn: with which a target keeps up |
//! | [`rate_knee`] | the offered rate beyond which higher ones bring few more right answers |
//! | [`predict`] | the prediction of each point from those before it |
//! | [`scan`] | a parameter of a server over its values: ratios, the best, the knee |
//! | [`sweep`] | a whole sweep |
//! | [`device_plan`] | how many devices a machine holds, from measured device runs |
pub mod device_plan;
pub mod knee;
pub mod ladder;
pub(crate) mod least_squares;
pub mod predict;
pub mod rate_knee;
pub mod scan;
pub mod sweep;
pub mod usl;
