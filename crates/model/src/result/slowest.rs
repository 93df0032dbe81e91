//! The slowest requests of a stretch, each by itself.
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

use super::Exchange;

/// The slowest requests, the slowest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slowest {
    /// How many are kept.
    pub most: u32,
    /// The requests.
    pub requests: Vec<Exchange>,
}

impl Slowest {
    /// The slowest of these, at most so many.
    #[must_use]
    pub fn from_requests(most: u32, mut requests: Vec<Exchange>) -> Self {
        // Equal ones in the order of time, so that the order of threads does not matter.
        requests.sort_by_key(|one| (Reverse(one.response_ns), one.sent_unix_ns, one.connection));
        requests.truncate(most as usize);
        Self { most, requests }
    }

    /// Adds those of another part of the load.
    pub fn merge(&mut self, other: &Self) {
        let most = self.most.max(other.most);
        let all = std::mem::take(&mut self.requests).into_iter();
        *self = Self::from_requests(most, all.chain(other.requests.iter().cloned()).collect());
    }

    /// Whether there is nothing to keep.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.most == 0 && self.requests.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(response_ns: u64, sent_unix_ns: u64) -> Exchange {
        Exchange {
            intended_unix_ns: sent_unix_ns,
            sent_unix_ns,
            response_ns: Some(response_ns),
            service_ns: Some(response_ns),
            connection: 0,
            user: 0,
            request: "GET /".into(),
            id: None,
            status: Some(200),
            error: None,
            body_bytes: Some(5),
        }
    }

    proptest! {
        /// However a load is cut into parts, the slowest are those of the whole.
        #[test]
        fn parts_have_the_slowest_of_the_whole(
            times in proptest::collection::vec(0..50u64, 0..60),
            parts in 1..5usize,
            most in 0..20u32,
        ) {
            let all: Vec<Exchange> =
                times.iter().zip(0..).map(|(ns, sent)| request(*ns, sent)).collect();
            let mut merged = Slowest { most, requests: Vec::new() };
            for part in 0..parts {
                let own = all.iter().skip(part).step_by(parts).cloned().collect();
                merged.merge(&Slowest::from_requests(most, own));
            }
            prop_assert_eq!(merged, Slowest::from_requests(most, all));
        }
    }
}
