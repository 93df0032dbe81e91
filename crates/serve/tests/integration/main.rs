//! The pages on a real socket, and as files.
#![allow(clippy::unwrap_used, clippy::expect_used)] // unwrap is how a test fails
mod serve;
mod site;
