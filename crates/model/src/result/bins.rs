//! A coarse distribution of response times, small enough to keep for every window.
use serde::{Deserialize, Serialize};

use crate::result::histogram::Histogram;

/// Bins for each factor of ten. A bin is 26 % wide.
const PER_DECADE: f64 = 10.0;

/// How many response times are in each bin: pairs of bin and count, ascending, without empty bins.
/// Bin `i` reaches from 10^(i/10) ns up to, but not including, 10^((i+1)/10) ns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResponseBins(Vec<(u16, u64)>);

impl ResponseBins {
    /// The bins of a histogram.
    #[must_use]
    pub fn from_histogram(histogram: &Histogram) -> Self {
        let mut bins: Vec<(u16, u64)> = Vec::new();
        for (ns, count) in histogram.buckets() {
            let bin = ((ns.max(1) as f64).log10() * PER_DECADE) as u16;
            match bins.last_mut() {
                Some((last, sum)) if *last == bin => *sum += count,
                _ => bins.push((bin, count)),
            }
        }
        Self(bins)
    }

    /// The lower and the upper end of a bin, nanoseconds.
    #[must_use]
    pub fn ends_ns(bin: u16) -> (f64, f64) {
        let edge = |place: f64| 10f64.powf(place / PER_DECADE);
        (edge(f64::from(bin)), edge(f64::from(bin) + 1.0))
    }

    /// Bins and counts, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the counts of another set.
    pub fn merge(&mut self, other: &Self) {
        for (bin, count) in other.iter() {
            match self.0.binary_search_by_key(&bin, |(own, _)| *own) {
                Ok(place) => self.0[place].1 += count,
                Err(place) => self.0.insert(place, (bin, count)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_between_the_ends_of_its_bin() {
        let mut histogram = Histogram::new();
        for ns in [1_000, 1_200, 100_000, 100_100, 7_000_000] {
            histogram.record(ns);
        }
        let bins = ResponseBins::from_histogram(&histogram);
        let told: Vec<(u16, u64)> = bins.iter().collect();
        // The bin from 10^3.0 to 10^3.1 = 1,259 ns has the first two.
        assert_eq!(told, [(30, 2), (50, 2), (68, 1)]);
        let (from, to) = ResponseBins::ends_ns(68);
        assert!(from <= 7e6 && 7e6 < to, "{from} {to}");
    }

    #[test]
    fn bins_of_peers_add_up() {
        let bins = |values: &[u64]| {
            let mut histogram = Histogram::new();
            values.iter().for_each(|ns| histogram.record(*ns));
            ResponseBins::from_histogram(&histogram)
        };
        let mut all = bins(&[1_000, 5_000_000]);
        all.merge(&bins(&[1_000, 40_000]));
        assert_eq!(all, bins(&[1_000, 1_000, 40_000, 5_000_000]));
        assert_eq!(serde_json::to_string(&all).unwrap(), "[[30,2],[46,1],[66,1]]");
    }
}
