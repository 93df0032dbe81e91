//! Quantiles and distributions of a histogram, as charts draw them.
use pippin_model::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// A value and the fraction of all spans at or below it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QuantilePoint {
    /// The quantile, 0 to 1.
    pub q: f64,
    /// The value in nanoseconds.
    pub ns: u64,
}

/// How many spans lie between two values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The lower end in nanoseconds.
    pub from_ns: f64,
    /// The upper end.
    pub to_ns: f64,
    /// The fraction of all spans in it.
    pub fraction: f64,
}

/// Steps to each halving of what lies above, as HdrHistogram's percentile output has them.
const STEPS_PER_HALVING: i32 = 4;
/// Bins to each factor of ten: neighbours differ by about 12 %.
const BINS_PER_DECADE: f64 = 20.0;

/// Quantiles with equal steps in the logarithm of `1 / (1 - q)`, as far as there are at least ten spans beyond one, then the maximum.
#[must_use]
pub fn quantiles(histogram: &Histogram) -> Vec<QuantilePoint> {
    let count = histogram.count() as f64;
    let mut points: Vec<QuantilePoint> = (0..)
        .map(|step| 1.0 - 0.5_f64.powf(f64::from(step) / f64::from(STEPS_PER_HALVING)))
        .take_while(|q| (1.0 - q) * count >= 1.0)
        .filter_map(|q| histogram.quantile_ns(q).map(|ns| QuantilePoint { q, ns }))
        .collect();
    if let (Some(ns), true) = (histogram.max_ns(), count > 0.0) {
        points.push(QuantilePoint { q: 1.0 - 1.0 / (2.0 * count), ns });
    }
    points
}

/// The distribution over bins of equal width on a logarithmic axis, empty bins between the first and the last included.
#[must_use]
pub fn bins(histogram: &Histogram) -> Vec<Bin> {
    let (Some(least), Some(most), total) = (histogram.min_ns(), histogram.max_ns(), histogram.count() as f64) else { return Vec::new() };
    let index = |ns: u64| ((ns.max(1) as f64).log10() * BINS_PER_DECADE).floor() as i64;
    let (first, last) = (index(least), index(most));
    let mut counts = vec![0u64; (last - first + 1) as usize];
    for (ns, count) in histogram.buckets() {
        counts[(index(ns).clamp(first, last) - first) as usize] += count;
    }
    let edge = |i: i64| 10f64.powf(i as f64 / BINS_PER_DECADE);
    let bin = |(i, count): (i64, u64)| Bin { from_ns: edge(i), to_ns: edge(i + 1), fraction: count as f64 / total };
    (first..).zip(counts).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_rise_and_end_with_the_maximum() {
        let mut histogram = Histogram::new();
        (1..=1_000).for_each(|i| histogram.record(i * 1_000));
        let points = quantiles(&histogram);
        assert!(points.windows(2).all(|w| w[0].q < w[1].q && w[0].ns <= w[1].ns), "{points:?}");
        assert_eq!(points.first().map(|p| p.q), Some(0.0));
        assert_eq!(points.last().map(|p| p.ns), histogram.max_ns());
        assert_eq!(quantiles(&Histogram::new()), []);
    }

    #[test]
    fn bins_hold_every_span() {
        let mut histogram = Histogram::new();
        for ns in [150, 9_000, 9_100, 1_000_000] {
            histogram.record(ns);
        }
        let found = bins(&histogram);
        assert!((found.iter().map(|bin| bin.fraction).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(found.iter().any(|bin| bin.fraction == 0.5 && bin.from_ns <= 9_000.0 && bin.to_ns > 9_100.0), "{found:?}");
        assert_eq!(bins(&Histogram::new()), []);
    }
}
