//! Noise and degenerate figures for tests.
//!
//! | module | what it does |
//! |---|---|
//! | [`test_noise`] | noise as of a virtual machine |
//! | [`test_degenerate`] | figures that are missing or 0 |
pub(crate) mod test_degenerate;
pub(crate) mod test_noise;
