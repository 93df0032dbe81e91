//! The engine against servers whose truth is known: every figure that it reports has a right value,
//! worked out on paper beside the test.
//!
//! Each test runs on each event loop. Loads run one after the other, so that one does not disturb
//! the times of another; bounds on times are wide enough for a busy machine and narrow enough that
//! a wrong definition breaks them; on a machine that is too busy to tell, a test is tried again.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod patience;
mod support;

mod closing;
mod connecting;
mod counting;
mod devices;
mod framing;
mod insecure;
mod lying;
mod open_loop;
mod pausing;
mod pipelining;
mod securing;
mod stalling;
mod waiting;
mod warming_up;
