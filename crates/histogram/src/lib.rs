//! The one histogram type: HDR, 3 significant digits, 100 ns to 1 h, in nanoseconds.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

mod v2;

/// Counts of time spans in nanoseconds (Tene's HdrHistogram, <https://hdrhistogram.org>).
///
/// Values above one hour are counted as one hour. Serialised as the base64 text of HdrHistogram's
/// V2 encoding, which the HdrHistogram libraries of other languages read. What was read stays
/// encoded until a figure is asked for, and is merged into others without being decoded. An empty one has no
/// counts in memory (about 290 kB): a record has many spans, most of them empty.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    counts: OnceLock<Counts>,
    /// The payload of the encoding that was read and checked, while nothing was added to it.
    payload: Box<[u8]>,
}

type Counts = hdrhistogram::Histogram<u64>;

/// The longest span that is distinguished: one hour, in nanoseconds.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;
const LOWEST_NS: u64 = 100;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A text that is not an encoded histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an HdrHistogram in V2 encoding: {0}")]
pub struct HistogramError(String);

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates all the memory that it will ever need, so that recording takes the same time from the first span on.
    pub fn reserve(&mut self) {
        self.counts();
    }

    fn counts(&self) -> &Counts {
        self.counts.get_or_init(|| {
            let mut counts = no_counts();
            add(&mut counts, &self.payload);
            counts
        })
    }

    #[inline]
    fn counts_mut(&mut self) -> &mut Counts {
        if self.counts.get().is_none() {
            self.counts();
            self.payload = Box::default();
        }
        #[allow(clippy::expect_used)] // set by the lines above
        self.counts.get_mut().expect("the counts are there")
    }

    /// Counts one span.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        // The last bucket reaches beyond one hour, but no span may count as longer than that.
        self.counts_mut().saturating_record(ns.min(HIGHEST_NS));
    }

    /// Counts `count` spans of the same length.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        self.counts_mut().saturating_record_n(ns.min(HIGHEST_NS), count);
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.has_none() {
            self.clone_from(other);
            return;
        }
        match other.counts.get() {
            // Both have the same bounds, so no value can be out of range.
            Some(counts) => drop(self.counts_mut().add(counts)),
            None if other.payload.is_empty() => {}
            None => add(self.counts_mut(), &other.payload),
        }
    }

    /// These counts without those of another histogram, whose spans are all among them.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        let mut rest = self.clone();
        // Both have the same bounds. What is not among them cannot be taken away, and stays out.
        if rest.counts_mut().subtract(part.counts()).is_err() {
            rest.clear();
        }
        rest
    }

    /// Clears all counts but keeps the memory.
    pub fn clear(&mut self) {
        if !self.has_none() {
            self.counts_mut().reset();
        }
    }

    /// The number of counted spans.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.has_none() { 0 } else { self.counts().len() }
    }

    /// Whether nothing was ever recorded or read.
    fn has_none(&self) -> bool {
        self.counts.get().is_none() && self.payload.is_empty()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The value at or below which the fraction `q` (0 to 1) of all spans lies, as exact as the
    /// histogram, and always within [`Self::min_ns`] and [`Self::max_ns`]; `None` if nothing was
    /// counted.
    #[must_use]
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        let (least, most) = (self.min_ns()?, self.max_ns()?);
        Some(self.resolved(self.counts().value_at_quantile(q)).clamp(least, most))
    }

    /// The shortest span, as exact as the histogram; `None` if nothing was counted.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.counts().min().min(HIGHEST_NS))
    }

    /// The longest span, as exact as the histogram, at most one hour; `None` if nothing was
    /// counted.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        // The upper end of its bucket, which for the last bucket may be above one hour.
        (self.count() > 0).then(|| self.resolved(self.counts().max()).min(HIGHEST_NS))
    }

    /// 0 for what the lowest bucket holds: the histogram cannot tell it from 0, and spans of 0 are
    /// frequent (a body in the same packet as its head).
    fn resolved(&self, ns: u64) -> u64 {
        if ns <= self.counts().highest_equivalent(0) { 0 } else { ns }
    }

    /// The arithmetic mean in nanoseconds; `None` if nothing was counted.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        // HdrHistogram takes the middle of each bucket, also of the lowest one.
        let surplus_ns =
            self.counts().count_at(0) as f64 * self.counts().median_equivalent(0) as f64;
        (self.count() > 0)
            .then(|| (self.counts().mean() - surplus_ns / self.count() as f64).max(0.0))
    }

    /// The standard deviation in nanoseconds; `None` if nothing was counted.
    #[must_use]
    pub fn stdev_ns(&self) -> Option<f64> {
        let most = self.max_ns()?;
        Some(if most == 0 { 0.0 } else { self.counts().stdev() })
    }

    /// The fraction of spans at or below `ns`; `None` if nothing was counted.
    #[must_use]
    pub fn fraction_at_or_below(&self, ns: u64) -> Option<f64> {
        (self.count() > 0).then(|| self.counts().quantile_below(ns))
    }

    /// Every recorded value with its count, ascending: (highest equivalent value in ns, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = (!self.has_none()).then(|| self.counts().iter_recorded());
        counts
            .into_iter()
            .flatten()
            .map(|v| (v.value_iterated_to().min(HIGHEST_NS), v.count_at_value()))
    }

    /// The figures that tables and JSON show.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let q = |q| self.quantile_ns(q);
        Summary {
            count: self.count(),
            min_ns: self.min_ns(),
            mean_ns: self.mean_ns(),
            stdev_ns: self.stdev_ns(),
            p50_ns: q(0.5),
            p75_ns: q(0.75),
            p90_ns: q(0.9),
            p95_ns: q(0.95),
            p99_ns: q(0.99),
            p999_ns: q(0.999),
            max_ns: self.max_ns(),
        }
    }

    /// HdrHistogram's V2 encoding, uncompressed.
    #[must_use]
    pub fn to_v2_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory only fails beyond 2^64 bytes or counts.
        let _ = V2Serializer::new().serialize(self.counts(), &mut bytes);
        bytes
    }

    /// Reads HdrHistogram's V2 encoding.
    ///
    /// # Errors
    /// If the bytes are not such an encoding.
    pub fn from_v2_bytes(mut bytes: &[u8]) -> Result<Self, HistogramError> {
        if let Some(payload) = v2::payload(bytes) {
            let mut is_empty = true;
            v2::walk(payload, |_, _| is_empty = false)?;
            let payload = if is_empty { Box::default() } else { payload.into() };
            return Ok(Self { counts: OnceLock::new(), payload });
        }
        let read: Counts = Deserializer::new()
            .deserialize(&mut bytes)
            .map_err(|error| HistogramError(error.to_string()))?;
        let mut fixed = Self::new();
        fixed.counts_mut().add(&read).map_err(|error| HistogramError(error.to_string()))?;
        Ok(fixed)
    }
}

/// A copy of one that was made once: a debug build writes 36,000 zeros one by one, and simulations make many.
fn no_counts() -> Counts {
    static NONE: OnceLock<Counts> = OnceLock::new();
    #[allow(clippy::expect_used)] // the three constants satisfy the constructor's conditions
    let made = || {
        Counts::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
            .expect("constant bounds are valid")
    };
    NONE.get_or_init(made).clone()
}

/// Adds a payload that was checked.
fn add(counts: &mut Counts, payload: &[u8]) {
    let _ = v2::walk(payload, |ns, count| counts.saturating_record_n(ns, count));
}

impl PartialEq for Histogram {
    /// Whether they count the same: the library also compares extremes, which an encoding has not.
    fn eq(&self, other: &Self) -> bool {
        self.count() == other.count() && self.buckets().eq(other.buckets())
    }
}

/// A histogram as base64 text in HdrHistogram's V2 encoding: some hundred bytes instead of 220 kB.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EncodedHistogram(String);

impl EncodedHistogram {
    /// The histogram; an empty text is an empty histogram.
    ///
    /// # Errors
    /// If the text is not such an encoding.
    pub fn decode(&self) -> Result<Histogram, HistogramError> {
        if self.0.is_empty() {
            return Ok(Histogram::new());
        }
        let bytes = STANDARD.decode(&self.0).map_err(|error| HistogramError(error.to_string()))?;
        Histogram::from_v2_bytes(&bytes)
    }
}

impl Histogram {
    /// The histogram as text.
    #[must_use]
    pub fn encode(&self) -> EncodedHistogram {
        EncodedHistogram(STANDARD.encode(self.to_v2_bytes()))
    }
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(self.to_v2_bytes()))
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
        Self::from_v2_bytes(&bytes).map_err(serde::de::Error::custom)
    }
}

/// The figures of a histogram that tables and JSON show; all `None` if nothing was counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the fields are quantiles in nanoseconds
pub struct Summary {
    /// The number of counted spans.
    pub count: u64,
    pub min_ns: Option<u64>,
    pub mean_ns: Option<f64>,
    /// Standard deviation.
    pub stdev_ns: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p75_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p95_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    pub max_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_histogram_knows_nothing() {
        let summary = Histogram::new().summary();
        assert_eq!(summary, Summary::default());
    }

    #[test]
    fn quantiles_are_right_within_three_digits() {
        let mut h = Histogram::new();
        for i in 1..=1_000 {
            h.record(i * 1_000_000);
        }
        let near = |q: f64, want: f64| {
            let got = h.quantile_ns(q).unwrap() as f64;
            assert!((got / want - 1.0).abs() < 0.001, "{q}: {got} for {want}");
        };
        near(0.5, 500e6);
        near(0.99, 990e6);
        assert!((h.mean_ns().unwrap() / 500.5e6 - 1.0).abs() < 0.001);
    }

    #[test]
    fn what_is_longer_than_an_hour_is_one_hour_in_every_figure() {
        // Slightly longer spans would fit into the last bucket without being cut.
        for ns in [HIGHEST_NS, HIGHEST_NS + HIGHEST_NS / 50, u64::MAX] {
            let mut h = Histogram::new();
            h.record(ns);
            h.record_n(ns, 2);
            let summary = h.summary();
            assert_eq!(
                (summary.p50_ns, summary.p999_ns, summary.max_ns),
                (Some(HIGHEST_NS), Some(HIGHEST_NS), Some(HIGHEST_NS))
            );
            assert!(
                summary.min_ns.unwrap() as f64 > HIGHEST_NS as f64 * 0.999
                    && summary.min_ns.unwrap() <= HIGHEST_NS
            );
            assert_eq!(h.buckets().collect::<Vec<_>>(), [(HIGHEST_NS, 3)]);
        }
    }

    #[test]
    fn spans_of_zero_are_zero_in_every_figure() {
        let mut h = Histogram::new();
        h.record_n(0, 3);
        let Summary { min_ns, mean_ns, stdev_ns, p50_ns, max_ns, .. } = h.summary();
        assert_eq!((min_ns, p50_ns, max_ns), (Some(0), Some(0), Some(0)));
        assert_eq!((mean_ns, stdev_ns), (Some(0.0), Some(0.0)));
        h.record(4_000_000);
        assert!((h.mean_ns().unwrap() / 1e6 - 1.0).abs() < 0.001, "{:?}", h.mean_ns());
    }

    proptest::proptest! {
        #[test]
        fn every_quantile_lies_between_the_extremes_and_these_are_right_within_three_digits(spans in proptest::collection::vec(0..2 * HIGHEST_NS, 1..40), q in 0.0..=1.0f64) {
            let mut h = Histogram::new();
            spans.iter().for_each(|ns| h.record(*ns));
            for h in [h.clone(), serde_json::from_str(&serde_json::to_string(&h).unwrap()).unwrap()] {
                let (least, at, most) = (h.min_ns().unwrap(), h.quantile_ns(q).unwrap(), h.max_ns().unwrap());
                proptest::prop_assert!(least <= at && at <= most && most <= HIGHEST_NS, "{least} {at} {most}");
                let (true_least, true_most) = (*spans.iter().min().unwrap(), (*spans.iter().max().unwrap()).min(HIGHEST_NS));
                // 64 ns is the resolution of the shortest spans.
                proptest::prop_assert!(most as f64 <= true_most as f64 * 1.001 + 64.0 && most + 64 > true_most);
                proptest::prop_assert!(least as f64 >= true_least.min(HIGHEST_NS) as f64 * 0.999 - 64.0 && least <= true_least);
            }
        }
    }

    #[test]
    fn merging_what_was_read_needs_no_histogram_in_memory() {
        let mut recorded = Histogram::new();
        recorded.record_n(5_000, 3);
        let read = Histogram::from_v2_bytes(&recorded.to_v2_bytes()).unwrap();
        let none = Histogram::from_v2_bytes(&Histogram::new().to_v2_bytes()).unwrap();
        let mut all = Histogram::new();
        [&read, &none, &read].into_iter().for_each(|one| all.merge(one));
        assert!(read.counts.get().is_none() && none.counts.get().is_none());
        assert_eq!((all.count(), none.count(), none.is_empty()), (6, 0, true));
        let mut read = read;
        read.record(7_000);
        read.merge(&none);
        assert_eq!((read.count(), read.payload.len()), (4, 0));
    }

    proptest::proptest! {
        /// The judge is the library's own reader.
        #[test]
        fn an_encoding_is_read_as_the_library_reads_it(spans in proptest::collection::vec((0..2 * HIGHEST_NS, 0..u64::MAX >> 20), 0..40)) {
            let mut h = Histogram::new();
            spans.iter().for_each(|(ns, count)| h.record_n(*ns, *count));
            let bytes = h.to_v2_bytes();
            let theirs: Counts = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            let own = Histogram::from_v2_bytes(&bytes).unwrap();
            proptest::prop_assert!(own.counts.get().is_none());
            let theirs = Histogram { counts: theirs.into(), payload: Box::default() };
            proptest::prop_assert_eq!(own.summary(), theirs.summary());
            proptest::prop_assert!(own == theirs);
        }

        #[test]
        fn any_payload_is_read_or_refused_as_the_library_does(payload in proptest::collection::vec(0..=255_u8, 0..60)) {
            let mut bytes = Histogram::new().to_v2_bytes()[..40].to_vec();
            bytes[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
            bytes.extend(&payload);
            let own = Histogram::from_v2_bytes(&bytes);
            let theirs = Deserializer::new().deserialize::<u64, _>(&mut &bytes[..]);
            proptest::prop_assert_eq!(own.is_ok(), theirs.is_ok());
            if let (Ok(own), Ok(theirs)) = (own, theirs) {
                let theirs = Histogram { counts: theirs.into(), payload: Box::default() };
                proptest::prop_assert!(own == theirs, "{:?} {:?}", own.summary(), theirs.summary());
            }
        }
    }

    #[test]
    fn the_last_count_is_the_librarys() {
        let last = no_counts().distinct_values() as i64;
        let encoded = |zeros: i64| {
            let mut bytes = Histogram::new().to_v2_bytes()[..40].to_vec();
            // A run of zeros and one count of 1, as zigzag LEB128.
            let run = (zeros * 2 - 1) as u64;
            let payload =
                [(run & 0x7f) as u8 | 0x80, (run >> 7 & 0x7f) as u8 | 0x80, (run >> 14) as u8, 2];
            bytes[4..8].copy_from_slice(&4_u32.to_be_bytes());
            bytes.extend(payload);
            Histogram::from_v2_bytes(&bytes)
        };
        assert_eq!(encoded(last - 1).unwrap().count(), 1);
        assert!(encoded(last).is_err());
    }

    #[test]
    fn a_round_trip_keeps_every_count() {
        let mut h = Histogram::new();
        for ns in [0, 100, 5_000, 1_000_000, HIGHEST_NS, u64::MAX] {
            h.record(ns);
        }
        let json = serde_json::to_string(&h).unwrap();
        let back: Histogram = serde_json::from_str(&json).unwrap();
        assert_eq!(back, h);
        assert!(serde_json::from_str::<Histogram>("\"AAAA\"").is_err());
    }
}
