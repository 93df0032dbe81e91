//! Servers with known behaviour. They calibrate the generator, serve as upstream for targets, and
//! serve tests.
//!
//! | module | what it serves | used by |
//! |---|---|---|
//! | [`null`] | an answer at once | `pippin calibrate`: the generator's ceiling; `bench` |
//! | [`upstream`] | another number after 500 ms for each call, counted | the workload `proxy` |
//! | [`device`] | 1,024 bytes after 100 ms +-5 %, on 100,000 connections | the device profile's calibration |
//! | [`corpus`] | what servers do that proofs must see, or not mind: a table | tests of proofs |
//! | [`scripted`] | whatever a test asks for: pauses, stalls, resets, lies | tests of the engine |
//! | [`hostile`] | what no client should meet, with what must be counted: a table | tests of the engine |
//! | [`door`] | another server, on IPv6, on a unix socket or behind a PROXY header | tests of the engine and of `pippin load` |
//! | [`frames`] | HTTP/2, frame by frame, right or wrong | tests of the engine and of `pippin load` |
//! | [`wire`] | nothing: it captures packets on the loopback | `bench`; tests of the engine |
//! | `messages` (the feature `websocket`) | WebSocket, frame by frame, right or wrong; and by other hands | tests of the engine, of proofs and of `pippin load` |
//! | `room` (the feature `websocket`) | what one WebSocket says to all of them, as a script tells | tests of the engine, of proofs and of `pippin load` |
//! | `tls` (a feature) | any of these behind TLS | tests of the engine and of `pippin load` |
//!
//! Each has `serve(listener, config, stop)`, which runs on the calling thread until `stop` is set
//! and returns the server's own account, and `spawn(config)`, which does so on a thread of its own
//! on a free loopback port. The first three share one small event loop (`server`): edge-triggered
//! epoll, two system calls per request, and a timing wheel (`wheel`) for answers that must wait.
mod account;
mod clock;
pub mod corpus;

pub mod device;
pub mod door;
mod error;
pub mod frames;
mod handle;
pub mod hostile;
#[cfg(feature = "websocket")]
pub mod messages;
pub mod null;
pub mod numbers;
mod poller;
mod prepared;
mod request;

#[cfg(feature = "websocket")]
pub mod room;
pub mod scripted;
mod server;
pub mod socket;
#[cfg(feature = "tls")]
pub mod tls;
pub mod upstream;
mod wheel;
pub mod wire;

pub use account::{Account, Lateness};
pub use clock::monotonic_ns;
pub use error::Error;
pub use handle::Running;
