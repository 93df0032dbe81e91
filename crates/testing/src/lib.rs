//! What tests need and nobody ships: servers that follow a script or break the rules, TLS in front of
//! them, a packet capture, and patience with a busy machine.
//!
//! | module | what it serves | used by tests of |
//! |---|---|---|
//! | [`scripted`] | whatever a test asks for: pauses, stalls, resets, lies | everything that sends requests |
//! | [`hostile`] | what no client should meet, with what must be counted: a table | the engine; `fuzz` |
//! | [`frames`] | HTTP/2, frame by frame, right or wrong | the engine, the lab, `pippin load` |
//! | [`messages`] | WebSocket, frame by frame, right or wrong; and by other hands | the engine, proofs, `pippin load` |
//! | [`room`] | what one WebSocket says to all of them, as a script tells | the engine, proofs, `pippin load` |
//! | [`shapes`] | servers of the shapes that people run: workers, proxies, daemons, successors | the probe, `pippin load` |
//! | [`door`] | another server, on IPv6, on a unix socket or behind a PROXY header | the engine, `pippin load` |
//! | [`proxy`] | another server, through an HTTP proxy that keeps what it was asked, or breaks the rules | the engine, `pippin load` |
//! | [`tls`] | any of these behind TLS, with certificates made by the test | the engine, the lab, `pippin load` |
//! | [`wire`] | nothing: it captures packets on the loopback | the engine; `bench` |
//! | [`old_kernel`] | nothing: it takes a system call away | the engine, `pippin load` |
//! | [`skipped`] | nothing: it notes which tests cannot run here | tests of what needs rights or programs |
//! | `quiet` | nothing: it watches what else the machine does | [`patience`] |
//! | `examples` | how some of them are used, as tests | readers |
//! | [`patience`] | nothing: it tells a wrong program from a busy machine | all tests with a bound in time |
//!
//! The servers run on the event loop of `pippin-reference`.
pub mod door;
#[cfg(test)]
mod examples;
pub mod frames;
pub mod hostile;
pub mod messages;
pub mod old_kernel;
pub mod patience;
pub mod proxy;
mod quiet;
pub mod room;
pub mod scripted;
pub mod shapes;
pub mod skipped;
pub mod tls;
pub mod wire;

pub use pippin_reference::{Error, Running, monotonic_ns};
