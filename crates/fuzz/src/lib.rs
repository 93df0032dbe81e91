//! Fuzzing of everything in Pippin that reads bytes from elsewhere (docs/decisions/fuzzing.md).
//!
//! | module | what it holds |
//! |---|---|
//! | [`target`] | the targets, and what must hold for any input |
//! | [`corpus`] | the inputs to begin with |
//! | [`mutation`] | how new inputs are made from others |
//! | [`run`] | feeds a target for a while |
//! | `fleet` | the messages of a fleet |
//! | `session` | a TLS session with a server in memory |
pub mod corpus;
mod fleet;
pub mod mutation;
pub mod run;
mod session;
pub mod target;
