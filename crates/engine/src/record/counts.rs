//! Counts time spans on the hot path, with a quarter of the instructions of a histogram. The counts
//! go into histograms later (docs/decisions/engine-event-loops.md).
use pippin_model::result::histogram::{HIGHEST_NS, Histogram};

/// The unit of spans: 64 ns, the largest power of two below the histogram's least value.
const UNIT_BITS: u32 = 6;
/// ... and, from 2,048 units on, by their eleven highest bits: three significant digits.
const DIGIT_BITS: u32 = 10;
/// Places of all spans up to [`HIGHEST_NS`].
const PLACES: usize = place(HIGHEST_NS) + 1;

/// How many spans fell into which bucket of [`Histogram`]. The buckets are the same (a test checks
/// the constants), so nothing is lost. A count holds 2^32 spans, more than a thread can make in a
/// second; then counts are moved on.
#[derive(Debug)]
pub(crate) struct Counts(Box<[u32]>);

/// Empty counts are skipped in steps of this many.
const STEP: usize = 64;

impl Counts {
    pub fn new() -> Self {
        Self(vec![0; PLACES].into_boxed_slice())
    }

    /// Counts spans, in nanoseconds.
    #[inline]
    pub fn add(&mut self, spans_ns: impl Iterator<Item = u64>) {
        for ns in spans_ns {
            self.0[place(ns)] += 1;
        }
    }

    /// Hands over everything that was counted, each span with its count, and resets the counts.
    pub fn take(&mut self, mut each: impl FnMut(u64, u64)) {
        for (step, counts) in self.0.chunks_mut(STEP).enumerate() {
            if counts.iter().fold(0, |all, count| all | count) == 0 {
                continue;
            }
            for (place, count) in (step * STEP..).zip(counts) {
                if *count > 0 {
                    each(least_ns(place), u64::from(std::mem::take(count)));
                }
            }
        }
    }

    /// Moves everything that was counted to a histogram.
    pub fn move_to(&mut self, histogram: &mut Histogram) {
        self.take(|ns, count| histogram.record_n(ns, count));
    }
}

/// Where a span is counted.
#[inline]
const fn place(ns: u64) -> usize {
    let units = (if ns < HIGHEST_NS { ns } else { HIGHEST_NS }) >> UNIT_BITS;
    let shift = 63 - DIGIT_BITS - (units | 1 << DIGIT_BITS).leading_zeros();
    ((shift as usize) << DIGIT_BITS) + (units >> shift) as usize
}

/// The shortest span that is counted there.
const fn least_ns(place: usize) -> u64 {
    let shift = (place >> DIGIT_BITS).saturating_sub(1);
    ((place - (shift << DIGIT_BITS)) as u64) << shift << UNIT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_place_is_that_of_its_least_span_and_of_no_shorter_one() {
        for at in 0..PLACES {
            assert_eq!(place(least_ns(at)), at);
            assert!(at == 0 || place(least_ns(at) - 1) == at - 1, "{at}");
        }
        assert_eq!((place(0), place(u64::MAX)), (0, PLACES - 1));
    }

    /// Short ones, long ones, and those that no histogram tells apart.
    fn spans() -> impl Strategy<Value = Vec<u64>> {
        let span = (0..64u32, any::<u64>()).prop_map(|(bits, random)| random >> bits);
        proptest::collection::vec(span, 0..100)
    }

    proptest! {
        #[test]
        fn what_comes_out_is_what_a_histogram_would_have_counted(first in spans(), second in spans()) {
            let mut counts = Counts::new();
            let (mut moved, mut direct) = (Histogram::new(), Histogram::new());
            for row in [first, second] {
                counts.add(row.iter().copied());
                counts.move_to(&mut moved);
                row.iter().for_each(|ns| direct.record(*ns));
            }
            prop_assert_eq!(moved.summary(), direct.summary());
            prop_assert_eq!(moved.buckets().collect::<Vec<_>>(), direct.buckets().collect::<Vec<_>>());
        }
    }
}
