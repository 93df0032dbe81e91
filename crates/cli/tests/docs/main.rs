//! Holds the documentation against the tree: whoever adds a crate, a module, a caveat, a plan, a
//! workload or a target and forgets to say so is told here which line of which page is missing.
#![allow(clippy::unwrap_used, clippy::expect_used)] // unwrap is how a test fails
mod caveats;
mod links;
mod map;
mod pages;
mod proofs;
mod readme;
