//! The loads of `loads/` on the event loop that is chosen by itself: io_uring, or epoll where the
//! kernel forbids that.
#![allow(clippy::unwrap_used, clippy::expect_used)] // tests
#[path = "loads/addresses.rs"]
mod addresses;
#[path = "loads/closed.rs"]
mod closed;
#[path = "loads/common.rs"]
mod common;
#[path = "loads/open.rs"]
mod open;
#[path = "loads/server.rs"]
mod server;

use pippin_engine::EngineError;
use pippin_model::load::{IoChoice, LoadSpec};

const IO: IoChoice = IoChoice::Auto;

#[test]
fn the_loop_that_ran_is_named_and_io_uring_is_refused_where_it_is_forbidden() {
    let (address, _) = server::hello();
    let on = |io| common::load(&LoadSpec { io, ..common::counted(address, 1, 1) });
    assert_eq!(on(IoChoice::Epoll).unwrap().io, "epoll");
    match on(IoChoice::IoUring) {
        Ok(result) => assert_eq!(
            (result.io.as_str(), on(IoChoice::Auto).unwrap().io.as_str()),
            ("io_uring", "io_uring")
        ),
        Err(error) => {
            assert!(matches!(error, EngineError::IoUringUnavailable(_)), "{error}");
            assert!(error.to_string().contains("choose `auto` or `epoll`"));
            assert_eq!(on(IoChoice::Auto).unwrap().io, "epoll");
        }
    }
}
