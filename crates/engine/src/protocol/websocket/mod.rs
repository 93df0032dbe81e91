//! WebSocket on the client's side (RFC 6455): a message is a request. The server's next message is
//! its answer, or its copies on all connections are.
//!
//! Like the decoder of HTTP/1.1, this owns no socket and reads no clock. It is used by the engine's
//! event loops and by [`client`], the blocking form for proofs and for one look before a load.
//! Why it is our own is said in docs/decisions/websocket.md.
//!
//! | module | what it knows |
//! |---|---|
//! | `handshake` | how a WebSocket is opened, and whether the server agreed |
//! | `frame` | how frames are written and read |
//! | `utf8` | whether a text that comes in pieces is UTF-8 |
//! | `session` | what a connection's frames mean |
//! | `random` | nonces, masks and numbers of messages |
//! | `line` | what every connection does, whatever its messages mean |
//! | `protocol` | messages and their answers, as a worker uses them |
//! | `broadcast` | messages that must come to all connections |
mod broadcast;
pub mod client;
mod frame;
mod handshake;
mod line;
mod protocol;
mod random;
mod session;
#[cfg(test)]
mod tests;
mod utf8;

pub(crate) use broadcast::Broadcast;
pub use handshake::Refusal;
pub(crate) use handshake::check;
pub(crate) use protocol::WebSocket;
