//! The engine against servers whose truth is known: every figure that it reports has a right value,
//! worked out on paper beside the test.
//!
//! Each test runs on each event loop. Loads run one after the other, so that one does not disturb
//! the times of another; bounds on times are wide enough for a busy machine and narrow enough that
//! a wrong definition breaks them. On a machine that is too busy to tell, a test that missed such a
//! bound is tried again (`patience`); every other assertion fails at once.
//!
//! Servers that break the rules are rows of a table, which the test binary `hostile` walks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

mod closing;
mod connecting;
mod counting;
mod devices;
mod drawing;
mod early_answers;
mod early_bytes;
mod framing;
mod http2;
mod http3;
mod insecure;
mod old_certificates;
mod open_loop;
mod pausing;
mod reaching;
mod securing;
mod tunnelling;
mod uploading;
mod walking;
mod websocket;

/// Only what `in_time` demands may be tried again.
#[test]
fn a_wrong_count_fails_at_once_however_busy_the_machine_is() {
    let attempts = std::cell::Cell::new(0);
    let test = std::panic::AssertUnwindSafe(|| {
        pippin_testing::patience::patiently(|| {
            attempts.set(attempts.get() + 1);
            assert_eq!(attempts.get(), 2, "wrong the first time only, as a race is");
        });
    });
    assert!(std::panic::catch_unwind(test).is_err());
    assert_eq!(attempts.get(), 1);
}
