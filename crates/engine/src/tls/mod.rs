//! TLS as a codec between the event loop and HTTP: it turns received ciphertext into plaintext, and
//! requests into ciphertext.
//!
//! - [`config`]: what all connections of a load share; [`session`]: one connection's state;
//!   [`reason`]: what went wrong, in words; [`tickets`]: sessions to resume; [`verified`] and
//!   [`unverified`]: whom to trust, and trusting whoever answers.
//!
//! Nothing here opens, reads or writes a socket.
pub(crate) mod config;
pub(crate) mod reason;
pub(crate) mod session;
#[cfg(test)]
mod tests;
mod tickets;
mod unverified;
mod verified;

pub(crate) use config::Client;
pub(crate) use session::Session;
