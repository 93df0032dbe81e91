//! The slowest requests of a stretch, each by itself.
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// One request that took long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowRequest {
    /// When it was sent, in nanoseconds since 1970, by the clock of the generator's machine.
    pub sent_unix_ns: u64,
    /// Its response time in nanoseconds. Of a request that timed out it is how long was waited.
    pub response_ns: u64,
    /// Its service time in nanoseconds: from when it was sent.
    pub service_ns: u64,
    /// The number of its connection, from 0 on. A connection that takes the place of a closed one has
    /// its number.
    pub connection: u32,
    /// Method and path, or the step of the scenario.
    pub request: String,
    /// The status of its answer; `None` if it timed out, or if its protocol has none.
    pub status: Option<u16>,
}

/// The slowest requests, the slowest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slowest {
    /// How many are kept.
    pub most: u32,
    /// The requests.
    pub requests: Vec<SlowRequest>,
}

impl Slowest {
    /// The slowest of these, at most so many.
    #[must_use]
    pub fn of(most: u32, mut requests: Vec<SlowRequest>) -> Self {
        // Equal ones in the order of time, so that the order of threads does not matter.
        requests.sort_by_key(|one| (Reverse(one.response_ns), one.sent_unix_ns, one.connection));
        requests.truncate(most as usize);
        Self { most, requests }
    }

    /// Adds those of another part of the load.
    pub fn merge(&mut self, other: &Self) {
        let most = self.most.max(other.most);
        let all = std::mem::take(&mut self.requests).into_iter();
        *self = Self::of(most, all.chain(other.requests.iter().cloned()).collect());
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

    fn request(response_ns: u64, sent_unix_ns: u64) -> SlowRequest {
        SlowRequest {
            sent_unix_ns,
            response_ns,
            service_ns: response_ns,
            connection: 0,
            request: "GET /".into(),
            status: Some(200),
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
            let all: Vec<SlowRequest> =
                times.iter().zip(0..).map(|(ns, sent)| request(*ns, sent)).collect();
            let mut merged = Slowest { most, requests: Vec::new() };
            for part in 0..parts {
                let own = all.iter().skip(part).step_by(parts).cloned().collect();
                merged.merge(&Slowest::of(most, own));
            }
            prop_assert_eq!(merged, Slowest::of(most, all));
        }
    }
}
