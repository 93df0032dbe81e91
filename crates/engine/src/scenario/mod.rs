//! Users who go through steps: their values, cookies and checks (docs/scenarios.md). Nothing here
//! knows sockets or when a request is due.
//!
//! | module | what it is |
//! |---|---|
//! | [`filled`] | texts whose names were looked up once |
//! | [`reference`] | where a captured URL leads |
//! | [`redirection`] | which request follows a redirection |
//! | [`script`] | what is asked of the answers to each step |
//! | [`cookies`] | the cookies of one user |
//! | [`walker`] | one user, and all users of a worker |
pub(crate) mod cookies;
pub(crate) mod filled;
pub(crate) mod redirection;
pub(crate) mod reference;
pub(crate) mod script;
pub(crate) mod walker;

pub(crate) use filled::Filled;
pub(crate) use script::Fault;
pub(crate) use walker::{Walker, Walkers};

/// An answer that is kept whole until it is judged.
#[derive(Debug, Default)]
pub(crate) struct WholeAnswer {
    /// From the status line to the empty line.
    pub head: Vec<u8>,
    /// The first bytes of the body, as many as its step needs.
    pub body: Vec<u8>,
}
