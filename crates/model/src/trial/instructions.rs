//! Instructions per request.
use serde::{Deserialize, Serialize};

/// What a start of a target under a counting tool says about its instructions.
///
/// The target is started twice and asked by one user, once for each number of requests. What it does
/// only at its start is in both counts, so it is not in their difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instructions {
    /// Instructions in user space per request, of all processes of the target; `None` if they cannot be
    /// counted.
    pub per_request: Option<f64>,
    /// The requests of the two starts.
    pub requests: [u64; 2],
    /// Instructions from the start to the end of each; empty if they cannot be counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<u64>,
    /// Why they cannot be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Instructions {
    /// From the counts of two starts with so many requests, the smaller number first.
    #[must_use]
    pub fn between(requests: [u64; 2], counted: [u64; 2]) -> Self {
        let more = counted[1].checked_sub(counted[0]).filter(|more| *more > 0);
        let per_request = more.map(|more| more as f64 / (requests[1] - requests[0]) as f64);
        let failure = per_request
            .is_none()
            .then(|| "more requests took no more instructions: its work was not counted".into());
        Self { per_request, requests, counted: counted.into(), failure }
    }

    /// They cannot be counted.
    #[must_use]
    pub fn unknown(requests: [u64; 2], why: impl Into<String>) -> Self {
        Self { per_request: None, requests, counted: Vec::new(), failure: Some(why.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_start_takes_is_in_neither() {
        let found = Instructions::between([200, 1_200], [17_636_300, 25_166_300]);
        assert_eq!(found.per_request, Some(7_530.0));
        assert_eq!(found.failure, None);
    }

    #[test]
    fn a_server_whose_work_is_elsewhere_has_no_count() {
        for counted in [[5_000, 5_000], [5_000, 4_999]] {
            let found = Instructions::between([200, 1_200], counted);
            assert_eq!(found.per_request, None);
            assert!(found.failure.unwrap().contains("was not counted"));
        }
    }
}
