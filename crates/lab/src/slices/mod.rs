//! Slices: the short measured stretches of which a trial is made (docs/decisions/slices.md).
//!
//! | module | what it does |
//! |---|---|
//! | [`length`] | how long a slice is, how many rounds there are, what is left out before each |
//! | [`making`] | makes one slice |
//! | [`stretch`] | what the host did, over long enough to tell |
//! | [`account`] | all slices of a target, and the record that they add up to |
//! | [`room`] | which targets fit into memory together |
//! | [`idle`] | what targets burn that nobody asks |
//! | [`resting`] | when a target rests after its slice |
pub mod account;
pub mod idle;
pub mod length;
pub mod making;
pub mod resting;
pub mod room;
pub mod stretch;
