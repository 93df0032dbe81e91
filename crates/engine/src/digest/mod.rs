//! Digest authentication (RFC 7616): what a server asks, and what each request then says of who sends
//! it (docs/decisions/digest.md). Nothing here knows event loops.
//!
//! | module | what it is |
//! |---|---|
//! | [`challenge`] | what a server asks, and whether it can be answered |
//! | [`formula`] | the hashes of the standard |
//! | [`grant`] | a nonce in the hands of one user, and the field of each of its requests |
//! | [`asking`] | a nonce for each user before the load, over blocking connections |
pub(crate) mod asking;
pub(crate) mod challenge;
mod formula;
pub(crate) mod grant;

pub(crate) use challenge::Challenge;
pub(crate) use grant::{Authorizer, Grant};
