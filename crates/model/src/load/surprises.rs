//! What a server cannot foresee in a load: which requests are of another kind than the others, and
//! which answers are examined.
use serde::{Deserialize, Serialize};

/// What comes at places that nobody can know before. Both are drawn by each thread of the generator
/// when the load begins, over all of its connections together, so that the requests of one
/// connection have no period. Not for scenarios and WebSocket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surprises {
    /// So many requests at the end of the list are of another kind. They are sent only in place of
    /// others.
    pub others: u32,
    /// One request in this many, on average, is of another kind; never more than twice as many lie
    /// between two.
    pub others_every: u32,
    /// One answer in this many, on average, is examined. It is chosen when its head arrives, so that
    /// the request says nothing of it. Answers to requests of another kind are not examined. 0
    /// examines none.
    pub examined_every: u32,
    /// The media type that an examined answer must have, without parameters: `text/html`; `None`
    /// accepts any.
    pub content_type: Option<String>,
    /// Whether the referee of the load gets the body of examined answers, besides their check.
    pub by_referee: bool,
}
