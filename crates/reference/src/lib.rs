//! Servers with known behaviour, as the program ships them: they calibrate the generator and serve as
//! upstream for targets. Servers that only tests need are in the crate `pippin-testing`, which builds
//! on the event loop here.
//!
//! | module | what it serves | used by |
//! |---|---|---|
//! | [`null`] | an answer at once | `pippin calibrate`: the generator's ceiling; `bench` |
//! | [`upstream`] | another number after 500 ms for each call, counted | the workload `proxy` |
//! | [`device`] | 1,024 bytes after 100 ms +-5 %, on 100,000 connections | the device profile's calibration |
//! | [`corpus`] | what servers do that proofs must see, or not mind: a table | tests of proofs |
//!
//! Each has `serve(listener, config, stop)`, which runs on the calling thread until `stop` is set
//! and returns the server's own account, and `spawn(config)`, which does so on a thread of its own
//! on a free loopback port. The first three share one small event loop (`server`): edge-triggered
//! epoll, two system calls per request, and a timing wheel (`wheel`) for answers that must wait.
mod account;
mod clock;
pub mod corpus;
pub mod device;
mod error;
pub mod handle;
pub mod null;
pub mod numbers;
pub mod poller;
mod prepared;
pub mod request;
mod server;
pub mod socket;
pub mod upstream;
pub mod wheel;

pub use account::{Account, Lateness};
pub use clock::monotonic_ns;
pub use error::Error;
pub use handle::Running;
