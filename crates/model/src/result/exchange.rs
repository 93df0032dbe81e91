//! One request and what became of it.
use serde::{Deserialize, Serialize};

use super::ErrorKind;

/// One request and what became of it. `N` names it: by itself, or by a place in a table of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange<N = String> {
    /// When it was due, in nanoseconds since 1970, by the clock of the generator's machine.
    pub intended_unix_ns: u64,
    /// When it was sent, in nanoseconds since 1970, by the clock of the generator's machine.
    pub sent_unix_ns: u64,
    /// Its response time in nanoseconds. Of a request that timed out it is how long was waited; `None`
    /// if it failed in another way, or was in progress when the measured part ended.
    pub response_ns: Option<u64>,
    /// Its service time in nanoseconds: from when it was sent. `None` where the response time is.
    pub service_ns: Option<u64>,
    /// The number of its connection, from 0 on. A connection that takes the place of a closed one has
    /// its number.
    pub connection: u32,
    /// The number of its user, from 0 on: that of the connection, unless users share connections
    /// (HTTP/2).
    pub user: u32,
    /// Method and path, or the step of the scenario.
    pub request: N,
    /// What the server's log calls it, if the load gave each request a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The status of its answer; `None` without a complete answer, or if its protocol has none.
    pub status: Option<u16>,
    /// What went wrong; `None` if its answer was right, or it was in progress when the measured part
    /// ended.
    pub error: Option<ErrorKind>,
    /// The length of its answer's body in bytes; `None` without a complete answer.
    pub body_bytes: Option<u64>,
}

impl<N> Exchange<N> {
    /// Renames it, for example from a place in a table of names to the name.
    pub fn named<M>(self, name: impl FnOnce(N) -> M) -> Exchange<M> {
        Exchange {
            intended_unix_ns: self.intended_unix_ns,
            sent_unix_ns: self.sent_unix_ns,
            response_ns: self.response_ns,
            service_ns: self.service_ns,
            connection: self.connection,
            user: self.user,
            request: name(self.request),
            id: self.id,
            status: self.status,
            error: self.error,
            body_bytes: self.body_bytes,
        }
    }
}
