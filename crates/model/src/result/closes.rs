//! When a server closed connections that could have stayed open: after how many requests, or after
//! how long without one.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A connection that was without requests for at least this long, in nanoseconds, counts as closed
/// because of that.
pub const IDLE_NS: u64 = 100_000_000;

/// Numbers below this are exact; of greater ones the first three digits are kept.
const EXACT_BELOW: u64 = 1_000;

/// How often each whole number was seen. Numbers from 1,000 on are rounded down to three digits, so
/// that there are never more than 900 in each power of ten. In JSON, a list of pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Frequencies(BTreeMap<u64, u64>);

impl From<Vec<(u64, u64)>> for Frequencies {
    fn from(pairs: Vec<(u64, u64)>) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl From<Frequencies> for Vec<(u64, u64)> {
    fn from(all: Frequencies) -> Self {
        all.0.into_iter().collect()
    }
}

impl Frequencies {
    /// Counts a number so many times.
    pub fn add(&mut self, number: u64, times: u64) {
        if times > 0 {
            *self.0.entry(to_three_digits(number)).or_default() += times;
        }
    }

    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        for (number, times) in &other.0 {
            self.add(*number, *times);
        }
    }

    /// How many numbers were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Those that are below a number.
    #[must_use]
    pub fn below(&self, number: u64) -> Self {
        Self(self.0.range(..number).map(|(number, times)| (*number, *times)).collect())
    }

    /// The number at or below which the fraction `q` (0 to 1) lies; `None` if nothing was counted.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = (q * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.0.iter().find_map(|(number, times)| {
            seen += times;
            (seen >= rank).then_some(*number)
        })
    }

    /// The share of a number, from 0 to 1; `None` if nothing was counted.
    #[must_use]
    pub fn share_of(&self, number: u64) -> Option<f64> {
        let times = self.0.get(&to_three_digits(number)).copied().unwrap_or(0);
        (self.count() > 0).then(|| times as f64 / self.count() as f64)
    }

    /// The most frequent number, the least of several, with its share; `None` if nothing was
    /// counted.
    #[must_use]
    pub fn most_frequent(&self) -> Option<(u64, f64)> {
        let (number, _) = self.0.iter().rev().max_by_key(|(_, times)| **times)?;
        Some((*number, self.share_of(*number)?))
    }
}

const fn to_three_digits(number: u64) -> u64 {
    let mut step = 1;
    while number / step >= EXACT_BELOW {
        step *= 10;
    }
    number / step * step
}

/// The connections that a server closed while no answer was under way. Each is counted once: by its
/// idle time if that was long, otherwise by its requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closes {
    /// By the number of requests that the connection had served. There is one number if the server
    /// has a limit, and 1 if it keeps no connection alive.
    pub by_requests: Frequencies,
    /// By the time, in nanoseconds, for which the connection had been without a request, where that
    /// was at least 0.1 s. They are alike if the server has an idle timeout.
    pub by_idle_ns: Frequencies,
}

impl Closes {
    /// Counts a close after so many answers, by a server that had got no request for so long.
    pub fn add(&mut self, served: u64, idle_ns: u64) {
        if idle_ns >= IDLE_NS {
            self.by_idle_ns.add(idle_ns, 1);
        } else {
            self.by_requests.add(served, 1);
        }
    }

    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.by_requests.merge(&other.by_requests);
        self.by_idle_ns.merge(&other.by_idle_ns);
    }

    /// How many closes were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.by_requests.count() + self.by_idle_ns.count()
    }

    /// The least and the greatest number of requests after which a connection was closed that was
    /// not idle; `None` if none was.
    #[must_use]
    pub fn requests_range(&self) -> Option<(u64, u64)> {
        self.by_requests.quantile(0.0).zip(self.by_requests.quantile(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_kept_to_three_digits() {
        assert_eq!([0, 7, 999].map(to_three_digits), [0, 7, 999]);
        assert_eq!(
            [1_000, 1_009, 1_019, 123_456].map(to_three_digits),
            [1_000, 1_000, 1_010, 123_000]
        );
        assert_eq!(to_three_digits(u64::MAX), 18_400_000_000_000_000_000);
    }

    #[test]
    fn a_close_is_told_by_its_wait_or_by_its_requests() {
        let mut closes = Closes::default();
        closes.add(100, 5);
        closes.add(7, IDLE_NS - 1);
        closes.add(3, 1_000_000_000);
        assert_eq!((closes.count(), closes.requests_range()), (3, Some((7, 100))));
        assert_eq!(closes.by_idle_ns.most_frequent(), Some((1_000_000_000, 1.0)));
        let text = serde_json::to_string(&closes).unwrap();
        assert_eq!(serde_json::from_str::<Closes>(&text).unwrap(), closes);
    }

    proptest! {
        /// Quantiles and shares are those of the sorted numbers, in however many parts they came.
        #[test]
        fn quantiles_are_those_of_the_sorted_numbers(
            numbers in prop::collection::vec(0..50_u64, 1..60), cut in 0..60_usize, q in 0.0..=1.0_f64
        ) {
            let (mut one, mut other) = (Frequencies::default(), Frequencies::default());
            for (place, number) in numbers.iter().enumerate() {
                if place < cut { one.add(*number, 1) } else { other.add(*number, 1) }
            }
            one.merge(&other);
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let rank = ((q * sorted.len() as f64).ceil() as usize).max(1);
            prop_assert_eq!(one.quantile(q), Some(sorted[rank - 1]));
            let (most, share) = one.most_frequent().unwrap();
            let times = |wanted| sorted.iter().filter(|number| **number == wanted).count();
            prop_assert_eq!(share, times(most) as f64 / sorted.len() as f64);
            prop_assert!(sorted.iter().all(|number| times(*number) <= times(most)));
        }
    }
}
