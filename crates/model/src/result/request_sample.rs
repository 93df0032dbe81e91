//! The requests of a stretch one by one: all of them, or a random sample.
use std::sync::Arc;

use super::Exchange;

/// Requests of the measured part, one by one: all that were sent, or as many of them, drawn at
/// random, as were asked for. Each had the same chance. It is no part of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestSample {
    /// How many requests were sent in all.
    pub of: u64,
    /// The names that the requests refer to: methods and paths, or steps.
    pub names: Vec<String>,
    /// The requests in the order in which they were sent. Clones share them.
    pub requests: Arc<[Exchange<u32>]>,
}

impl RequestSample {
    /// Whether it has all requests that were sent.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.requests.len() as u64 == self.of
    }

    /// The requests with their names.
    pub fn rows(&self) -> impl Iterator<Item = Exchange<&str>> {
        let name = |nth: u32| self.names.get(nth as usize).map_or("", String::as_str);
        self.requests.iter().map(move |one| one.clone().named(name))
    }
}
