//! Compares the documentation with the tree. If you add a crate, a module, a caveat, a plan, a
//! workload or a target and do not document it, these tests tell you which line of which page is
//! missing.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a failure here is the test's message
mod caveats;
mod hints;
mod links;
mod map;
mod nuget;
mod pages;
mod proofs;
mod said;
mod slow;
mod tables;
mod words;
