//! Instructions per request.
use serde::{Deserialize, Serialize};

use super::TrialRecord;

/// What counts instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Callgrind, under which the target runs: from its start to its end.
    #[default]
    Callgrind,
    /// The counter of the processor, while the target gets requests.
    Processor,
}

impl Counter {
    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Callgrind => "callgrind",
            Self::Processor => "the processor's counter",
        }
    }
}

/// What two loads of a target say about its instructions.
///
/// One user asks it, once for each number of requests. What is in both counts, as what it does only at its
/// start, is not in their difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instructions {
    /// Instructions in user space per request, of all processes of the target; `None` if they cannot be
    /// counted.
    pub per_request: Option<f64>,
    /// What counted them.
    #[serde(default)]
    pub by: Counter,
    /// The requests of each load, and the instructions that were counted; empty if they cannot be counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<(u64, u64)>,
    /// Why they cannot be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Instructions {
    /// From the counts of two loads with so many requests, the smaller number first.
    ///
    /// # Errors
    /// If more requests took no more instructions, in words.
    pub fn between(by: Counter, requests: [u64; 2], counted: [u64; 2]) -> Result<Self, String> {
        let more = counted[1].checked_sub(counted[0]).filter(|more| *more > 0);
        let more =
            more.ok_or("more requests took no more instructions: its work was not counted")?;
        Ok(Self {
            per_request: Some(more as f64 / (requests[1] - requests[0]) as f64),
            by,
            counted: requests.into_iter().zip(counted).collect(),
            failure: None,
        })
    }

    /// They cannot be counted.
    #[must_use]
    pub fn unknown(why: impl Into<String>) -> Self {
        let (by, counted) = (Counter::default(), Vec::new());
        Self { per_request: None, by, counted, failure: Some(why.into()) }
    }
}

/// Whether one counter counted all of these trials that were counted, so that their counts may be compared.
#[must_use]
pub fn are_alike<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> bool {
    let known = |trial: &'a TrialRecord| {
        trial.instructions.as_ref().filter(|counted| counted.per_request.is_some())
    };
    let mut counters = trials.into_iter().filter_map(known).map(|counted| counted.by);
    let first = counters.next();
    counters.all(|counter| Some(counter) == first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::trial::ExampleTrial;

    fn between(counted: [u64; 2]) -> Result<Instructions, String> {
        Instructions::between(Counter::Callgrind, [200, 1_200], counted)
    }

    #[test]
    fn what_a_start_takes_is_in_neither() {
        let found = between([17_636_300, 25_166_300]).unwrap();
        assert_eq!(found.per_request, Some(7_530.0));
        assert_eq!(found.failure, None);
    }

    #[test]
    fn counts_of_two_counters_are_not_alike() {
        let trial = |by: Option<Counter>| TrialRecord {
            instructions: by.map(|by| Instructions { by, ..between([0, 1_000]).unwrap() }),
            ..ExampleTrial::hello().build()
        };
        let [callgrind, processor] = [Counter::Callgrind, Counter::Processor].map(Some).map(trial);
        let unknown =
            TrialRecord { instructions: Some(Instructions::unknown("why")), ..processor.clone() };
        assert!(are_alike([&callgrind, &trial(None), &callgrind, &unknown]));
        assert!(are_alike([&trial(None)]));
        assert!(!are_alike([&callgrind, &callgrind, &processor]));
    }

    #[test]
    fn a_server_whose_work_is_elsewhere_has_no_count() {
        for counted in [[5_000, 5_000], [5_000, 4_999]] {
            let why = between(counted).unwrap_err();
            assert!(why.contains("was not counted"));
            assert_eq!(Instructions::unknown(why).per_request, None);
        }
    }
}
