//! The probes on real processes and on this host.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]
mod forked;
mod jvm;
mod process_trees;
mod runtime_cost;
mod runtimes;
mod sampling;
mod serving;
