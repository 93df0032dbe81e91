//! What the figures of one trial say about generator and target.
//!
//! | module | what it does |
//! |---|---|
//! | [`littles_law`] | whether users, rate and times agree (Little's law) |
//! | [`concurrency`] | how many requests a target serves at a time |
//! | [`bound`] | whether a target is at the limit of its processors |
//! | [`cost`] | CPU time, energy and money by answer |
//! | [`helpers`] | which processes beside a target worked with it |
pub mod bound;
pub mod concurrency;
pub mod cost;
pub mod helpers;
pub mod littles_law;
