//! What every form shows, and that none says what was not found.
#![allow(clippy::unwrap_used, clippy::expect_used)] // unwrap is how a test fails
mod conclusion;
mod events;
mod formats;
mod gfm;
mod golden;
mod load;
mod narrow;
mod page;
mod printable;
mod reasons;
mod scenario;
mod verify;
