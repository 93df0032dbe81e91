//! HTTP/3 on the client's side (RFC 9114), over QUIC (RFC 9000): the requests of a connection's users
//! as streams.
//!
//! QUIC is `quinn-proto`'s, which owns no socket and reads no clock: datagrams and instants go in, and
//! datagrams and timers come out. HTTP/3 and QPACK are here (docs/decisions/http3.md says why). Each
//! connection has a UDP socket of its own, which is connected, so that the kernel sorts datagrams by
//! connection and stamps each of them.
//!
//! | module | what it knows |
//! |---|---|
//! | `qpack` | how header fields are written, without a dynamic table |
//! | `frame` | variable-length numbers, and frames of a stream that comes in pieces |
//! | `stream` | what is remembered of a request, and what its answer says |
//! | `session` | a connection: QUIC, the control streams, and whose stream is whose |
//! | `datagrams` | datagrams that wait for the kernel |
//! | `protocol` | all of this as a worker uses it |
//! | [`client`] | one request at a time over a blocking socket |
pub mod client;
mod datagrams;
mod frame;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod protocol;
mod qpack;
mod session;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use protocol::{Http3, check};
