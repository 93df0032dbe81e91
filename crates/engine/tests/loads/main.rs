//! Whole loads against tiny servers in the test's own process, on epoll. `loads_auto.rs` runs the
//! same on io_uring.
#![allow(clippy::unwrap_used, clippy::expect_used)] // tests
mod addresses;
mod closed;
mod common;
mod open;
mod refusals;
mod server;

const IO: pippin_model::load::IoChoice = pippin_model::load::IoChoice::Epoll;
