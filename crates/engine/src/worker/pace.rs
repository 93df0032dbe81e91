//! How long the kernel takes for each send of a batch.
//!
//! io_uring hands over queued sends in one call, which performs them one after the other. The last
//! of 16 leaves some 30 us after the first, so one instant for all of them would be too early for
//! most: a packet capture showed service times of 287 us in place of 264 us at 64 connections.
//!
//! The call that hands them over usually waits for answers too, and then its length says nothing.
//! So now and then they are handed over by a call of its own.

/// What a send of a batch takes, learned from the batches before.
#[derive(Debug, Default)]
pub(super) struct SendPace {
    each_ns: u64,
    /// Batches since the last one that was measured.
    unmeasured: u32,
}

/// A thread that lost its processor in the middle of a batch says nothing about sends: no batch may
/// raise the pace beyond twice of what it was and this.
const STEP_NS: u64 = 1_000;
/// The share of a new batch is one in so many.
const MEMORY: u64 = 8;
/// One batch in so many is measured.
const MEASURE_EVERY: u32 = 64;

impl SendPace {
    /// When the packet of the send number `index` (from 0) of a batch that begins at `begin` leaves:
    /// after the sends before it, and a quarter of its own ([`left_at`](super::sending::left_at)).
    #[inline]
    pub const fn at(&self, begin: u64, index: usize) -> u64 {
        begin + self.each_ns * index as u64 + self.each_ns / 4
    }

    /// Whether a batch is to be measured now.
    #[inline]
    pub const fn is_due(&mut self) -> bool {
        self.unmeasured += 1;
        self.unmeasured >= MEASURE_EVERY
    }

    /// A batch of `count` sends took `span_ns`.
    pub fn learn(&mut self, span_ns: u64, count: usize) {
        self.unmeasured = 0;
        let each = (span_ns / count.max(1) as u64).min(2 * self.each_ns + STEP_NS);
        self.each_ns = (self.each_ns * (MEMORY - 1) + each) / MEMORY;
    }
}

#[cfg(test)]
mod tests {
    use super::SendPace;

    #[test]
    fn learns_the_pace_and_forgives_a_pause() {
        let mut pace = SendPace::default();
        assert_eq!(pace.at(5, 3), 5, "nothing is known yet");
        (0..100).for_each(|_| pace.learn(32_000, 16));
        let each = pace.at(0, 1) - pace.at(0, 0);
        assert!((1_980..=2_000).contains(&each), "{each}");
        assert_eq!(pace.at(0, 0), each / 4);
        pace.learn(4_000_000, 16);
        let after = pace.at(0, 1) - pace.at(0, 0);
        assert!(after < 2_500, "{after}");
    }

    #[test]
    fn one_batch_in_64_is_measured() {
        let mut pace = SendPace::default();
        let due: Vec<usize> =
            (1..=200).filter(|_| pace.is_due().then(|| pace.learn(1_000, 1)).is_some()).collect();
        assert_eq!(due, [64, 128, 192]);
    }
}
