//! Quantiles and distributions of a histogram, as charts draw them.
use pippin_model::result::Measured;
use pippin_model::result::histogram::Histogram;
use pippin_stats::rank::due;
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

/// Steps until the remaining fraction is halved, as in HdrHistogram's percentile output.
const STEPS_PER_HALVING: i32 = 4;
/// The number of bins over a usual range. A wide range gets more.
const BINS: f64 = 45.0;

/// Bins for each factor of ten, so that about 45 bins reach from the shortest span to the 99.9th
/// percentile of all histograms. At least 20 (neighbours differ by 12 %), at most 200 (1.2 %, which
/// the histograms' precision still allows).
#[must_use]
pub fn bins_per_decade<'a>(histograms: impl IntoIterator<Item = &'a Histogram>) -> f64 {
    let ends = histograms
        .into_iter()
        .filter_map(|histogram| Some((histogram.min_ns()?, histogram.quantile_ns(0.999)?)));
    let (least, most) =
        ends.fold((u64::MAX, 0), |(least, most), (l, m)| (least.min(l), most.max(m)));
    if most <= least {
        20.0
    } else {
        (BINS / (most as f64 / least.max(1) as f64).log10()).clamp(20.0, 200.0).round()
    }
}

/// Quantiles of the response time at equal steps in the logarithm of `1 / (1 - q)`, as long as a
/// request is above them, then the maximum. They end where so many of the requests that were due never
/// had a right answer ([`due`]).
#[must_use]
pub fn quantiles(measured: &Measured) -> Vec<QuantilePoint> {
    let count = measured.spans.response_time.count() as f64;
    let mut points: Vec<QuantilePoint> = (0..)
        .map(|step| 1.0 - 0.5_f64.powf(f64::from(step) / f64::from(STEPS_PER_HALVING)))
        .take_while(|q| (1.0 - q) * count >= 1.0)
        .map_while(|q| due::quantile_ns(measured, q).map(|ns| QuantilePoint { q, ns }))
        .collect();
    if let (Some(ns), true) = (due::summary(measured).max_ns, count > 0.0) {
        points.push(QuantilePoint { q: 1.0 - 1.0 / (2.0 * count), ns });
    }
    points
}

/// The distribution over bins of equal width on a logarithmic axis, including empty bins between
/// the first and the last.
#[must_use]
pub fn bins(histogram: &Histogram, per_decade: f64) -> Vec<Bin> {
    let (Some(least), Some(most), total) =
        (histogram.min_ns(), histogram.max_ns(), histogram.count() as f64)
    else {
        return Vec::new();
    };
    let index = |ns: u64| ((ns.max(1) as f64).log10() * per_decade).floor() as i64;
    let (first, last) = (index(least), index(most));
    let mut counts = vec![0u64; (last - first + 1) as usize];
    for (ns, count) in histogram.buckets() {
        counts[(index(ns).clamp(first, last) - first) as usize] += count;
    }
    let edge = |i: i64| 10f64.powf(i as f64 / per_decade);
    let bin = |(i, count): (i64, u64)| Bin {
        from_ns: edge(i),
        to_ns: edge(i + 1),
        fraction: count as f64 / total,
    };
    (first..).zip(counts).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_rise_and_end_with_the_maximum() {
        let mut measured = Measured::default();
        (1..=1_000).for_each(|i| measured.spans.response_time.record(i * 1_000));
        let points = quantiles(&measured);
        assert!(points.windows(2).all(|w| w[0].q < w[1].q && w[0].ns <= w[1].ns), "{points:?}");
        assert_eq!(points.first().map(|p| p.q), Some(0.0));
        assert_eq!(points.last().map(|p| p.ns), measured.spans.response_time.max_ns());
        assert_eq!(quantiles(&Measured::default()), []);
    }

    #[test]
    fn quantiles_end_where_requests_had_no_answer() {
        let mut measured = Measured::default();
        (1..=1_000).for_each(|i| measured.spans.response_time.record(i * 1_000));
        (measured.requests.completed, measured.requests.good) = (1_000, 1_000);
        measured.requests.unsent = 1_000;
        let points = quantiles(&measured);
        assert!(points.iter().all(|point| point.q <= 0.5), "{points:?}");
        assert!(points.last().is_some_and(|point| point.ns > 900_000), "{points:?}");
    }

    #[test]
    fn bins_hold_every_span() {
        let mut histogram = Histogram::new();
        for ns in [150, 9_000, 9_100, 1_000_000] {
            histogram.record(ns);
        }
        let found = bins(&histogram, 20.0);
        assert!((found.iter().map(|bin| bin.fraction).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(
            found
                .iter()
                .any(|bin| bin.fraction == 0.5 && bin.from_ns <= 9_000.0 && bin.to_ns > 9_100.0),
            "{found:?}"
        );
        assert_eq!(bins(&Histogram::new(), 20.0), []);
    }
}
