//! HTTP/2 on the client's side (RFC 9113): the requests of a connection's users as streams.
//!
//! Like the decoder of HTTP/1.1, this owns no socket and reads no clock. It is used by the engine's
//! event loops and by [`client`], the blocking form for proofs and for one look before a load.
//! docs/decisions/http2.md says why it is our own.
//!
//! | module | what it knows |
//! |---|---|
//! | `frame` | how frames are written |
//! | `hpack` | how header fields are written |
//! | `head` | which header fields an answer may have |
//! | `stream` | what is remembered of a stream, and which stream is whose |
//! | `sending` | requests, windows for their bodies, and what else goes out |
//! | `session` | what a connection's frames mean |
//! | `protocol` | all of this as a worker uses it |
pub mod client;
mod frame;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod head;
mod hpack;
mod protocol;
mod sending;
mod session;
mod stream;
#[cfg(test)]
mod tests;

pub(in crate::protocol) use head::Head;
pub(in crate::protocol) use hpack::encode::Field;
pub(in crate::protocol) use hpack::literals;
pub(in crate::protocol) use protocol::fields;
pub(crate) use protocol::{Http2, check};
pub(in crate::protocol) use session::Limits;
