//! The places of a connection: what it holds of requests under way and of users who wait.
//!
//! | module | what it does |
//! |---|---|
//! | `flights` | the requests under way: a ring where answers come in order, else a place for each user |
//! | `streams` | answers in any order: users who share a connection |
//! | `gathered` | answers that come on every connection (broadcasts) |
//! | `due` | users of a shared connection whose requests are due, in turn |
mod due;
pub(super) mod flights;
mod gathered;
pub(super) mod streams;
