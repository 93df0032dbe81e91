//! Helpers that the tests share.
mod checkout;
mod hosts;
mod installed;
mod namespace;
mod pippin;
mod processes;
mod repository;
mod scripted_host;

pub use checkout::{Checkout, cheat, copy, counted, plan};
pub use hosts::{Hosts, SITE};
pub use installed::{succeeds, virtual_environment};
pub use namespace::{may_mount, with_mount};
pub use pippin::{Outcome, Started, command, pippin, pippin_with, start};
pub use pippin_testing::skipped::skip;
pub use processes::{alive_with, until};
pub use repository::{commit, git, without_job};
pub use scripted_host::{Others, ScriptedHost};
