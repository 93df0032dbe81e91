//! What the tests have in common.
mod checkout;
mod hosts;
mod pippin;
mod processes;

pub use checkout::{Checkout, cheat, plan};
pub use hosts::{Hosts, SITE, skip};
pub use pippin::{Outcome, Started, command, pippin, pippin_with, start};
pub use processes::{alive_with, until};
