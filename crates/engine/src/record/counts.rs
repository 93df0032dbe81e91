//! Counts time spans on the hot path, with a quarter of the instructions of a histogram. The counts
//! go into histograms later (docs/decisions/engine-event-loops.md).
use pippin_model::result::histogram::{HIGHEST_NS, Histogram};

/// The unit of spans: 64 ns, the largest power of two below the histogram's least value.
const UNIT_BITS: u32 = 6;
/// ... and, from 2,048 units on, by their eleven highest bits: three significant digits.
const DIGIT_BITS: u32 = 10;

/// How many spans fell into which bucket of [`Histogram`]. With the usual digits the buckets are the
/// same (a test checks the constants), so nothing is lost; with fewer they are coarser and take less
/// memory. A count holds 2^32 spans, more than a thread can make in a second; then counts are moved
/// on.
#[derive(Debug)]
pub(crate) struct Counts<const DIGITS: u32 = DIGIT_BITS>(Box<[u32]>);

/// Empty counts are skipped in steps of this many.
const STEP: usize = 64;

impl<const DIGITS: u32> Counts<DIGITS> {
    pub fn new() -> Self {
        Self(vec![0; place::<DIGITS>(HIGHEST_NS) + 1].into_boxed_slice())
    }

    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        for (own, others) in self.0.iter_mut().zip(&other.0) {
            *own += others;
        }
    }

    /// Counts spans, in nanoseconds.
    #[inline]
    pub fn add(&mut self, spans_ns: impl Iterator<Item = u64>) {
        for ns in spans_ns {
            self.0[place::<DIGITS>(ns)] += 1;
        }
    }

    /// Hands over everything that was counted, each span with its count, and resets the counts.
    pub fn take(&mut self, mut each: impl FnMut(u64, u64)) {
        for (step, counts) in self.0.chunks_mut(STEP).enumerate() {
            if counts == &[0; STEP][..counts.len()] {
                continue;
            }
            for (place, count) in (step * STEP..).zip(counts) {
                if *count > 0 {
                    each(least_ns::<DIGITS>(place), u64::from(std::mem::take(count)));
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
const fn place<const DIGITS: u32>(ns: u64) -> usize {
    let units = (if ns < HIGHEST_NS { ns } else { HIGHEST_NS }) >> UNIT_BITS;
    let shift = 63 - DIGITS - (units | 1 << DIGITS).leading_zeros();
    ((shift as usize) << DIGITS) + (units >> shift) as usize
}

/// The shortest span that is counted there.
const fn least_ns<const DIGITS: u32>(place: usize) -> u64 {
    let shift = (place >> DIGITS).saturating_sub(1);
    ((place - (shift << DIGITS)) as u64) << shift << UNIT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_place_is_that_of_its_least_span_and_of_no_shorter_one() {
        fn check<const DIGITS: u32>() {
            let places = Counts::<DIGITS>::new().0.len();
            for at in 0..places {
                let least = least_ns::<DIGITS>(at);
                assert_eq!(place::<DIGITS>(least), at);
                assert!(at == 0 || place::<DIGITS>(least - 1) == at - 1, "{at}");
            }
            assert_eq!((place::<DIGITS>(0), place::<DIGITS>(u64::MAX)), (0, places - 1));
        }
        check::<DIGIT_BITS>();
        check::<5>();
    }

    /// Short ones, long ones, and those that no histogram tells apart.
    fn spans() -> impl Strategy<Value = Vec<u64>> {
        let span = (0..64u32, any::<u64>()).prop_map(|(bits, random)| random >> bits);
        proptest::collection::vec(span, 0..100)
    }

    proptest! {
        #[test]
        fn what_comes_out_is_what_a_histogram_would_have_counted(first in spans(), second in spans()) {
            let mut counts: Counts = Counts::new();
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
