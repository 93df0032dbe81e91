//! Instructions per request.
use serde::{Deserialize, Serialize};

/// What two starts of a target under a counting tool say about its instructions.
///
/// It is started twice and asked by one user, once for each number of requests. What it does only at its
/// start is in both counts, so it is not in their difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instructions {
    /// Instructions in user space per request, of all processes of the target; `None` if they cannot be
    /// counted.
    pub per_request: Option<f64>,
    /// The requests of each start, and its instructions from its start to its end; empty if they cannot
    /// be counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<(u64, u64)>,
    /// Why they cannot be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Instructions {
    /// From the counts of two starts with so many requests, the smaller number first.
    ///
    /// # Errors
    /// If more requests took no more instructions, in words.
    pub fn between(requests: [u64; 2], counted: [u64; 2]) -> Result<Self, String> {
        let more = counted[1].checked_sub(counted[0]).filter(|more| *more > 0);
        let more =
            more.ok_or("more requests took no more instructions: its work was not counted")?;
        Ok(Self {
            per_request: Some(more as f64 / (requests[1] - requests[0]) as f64),
            counted: requests.into_iter().zip(counted).collect(),
            failure: None,
        })
    }

    /// They cannot be counted.
    #[must_use]
    pub fn unknown(why: impl Into<String>) -> Self {
        Self { per_request: None, counted: Vec::new(), failure: Some(why.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_start_takes_is_in_neither() {
        let found = Instructions::between([200, 1_200], [17_636_300, 25_166_300]).unwrap();
        assert_eq!(found.per_request, Some(7_530.0));
        assert_eq!(found.failure, None);
    }

    #[test]
    fn a_server_whose_work_is_elsewhere_has_no_count() {
        for counted in [[5_000, 5_000], [5_000, 4_999]] {
            let why = Instructions::between([200, 1_200], counted).unwrap_err();
            assert!(why.contains("was not counted"));
            assert_eq!(Instructions::unknown(why).per_request, None);
        }
    }
}
