//! What this host can do, and what a plan needs of it.
//!
//! | module | what it does |
//! |---|---|
//! | [`demand`] | what a plan needs from this host |
//! | [`descriptors`] | open files and connections: which targets cannot hold a plan's connections |
//! | [`calibrate`] | what the generator itself can do |
pub mod calibrate;
pub mod demand;
pub mod descriptors;
