//! Bytes that nobody chose, for everything in Pippin that reads bytes from elsewhere
//! (docs/decisions/fuzzing.md).
//!
//! | module | what it holds |
//! |---|---|
//! | [`target`] | what is fed, with what is known to be right for any input |
//! | [`corpus`] | the inputs that mutation begins with |
//! | [`mutation`] | how one input becomes another |
//! | [`run`] | feeds a target for a while |
//! | `session` | a TLS session with a server in memory |
pub mod corpus;
pub mod mutation;
pub mod run;
mod session;
pub mod target;
