//! HTTP/1.1 on the client's side: requests as bytes, answers decoded strictly and incrementally
//! (RFC 9112).
//!
//! The decoder holds no buffer of its own as long as heads arrive in one piece, so that a hundred
//! thousand connections can each have one. It is used by the engine's event loops and by
//! [`client`], the blocking form for proofs and readiness checks.
mod body;
pub mod client;
mod decoder;
mod digested;
mod drawn;
mod head;
mod protocol;
pub mod request;
#[cfg(test)]
mod tests;
pub(crate) mod tunnel;
mod upload;
mod varied;

pub use decoder::{Decoder, Eof, Rules, Sink, Step};
pub(crate) use digested::Digested;
pub(crate) use drawn::Drawn;
pub use head::{Framing, HeadCache, HeadInfo, MAX_FIELDS};
pub(crate) use protocol::Http1;
pub(crate) use upload::Uploading;
pub(crate) use varied::Varied;

/// Why an answer cannot be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Not HTTP/1.1, or HTTP that must be rejected because its end can be read in two ways.
    #[error("malformed answer: {0}")]
    Malformed(&'static str),
    /// Beyond a limit of [`Rules`].
    #[error("answer too large: {0}")]
    TooLarge(&'static str),
}
