//! When requests leave.
//!
//! A call that sends first makes the kernel build a packet; then the kernel delivers it and wakes
//! the receiver. Beside a packet capture on the loopback the packet left after a fifth of the call
//! where requests follow each other, and after a third where the connection had rested (4 of 20 us,
//! 12 of 36 us).
//!
//! io_uring hands over queued sends in one call, which performs them one after the other. The last
//! of 16 leaves some 30 us after the first, so one instant for all of them would be too early for
//! most: a packet capture showed service times of 287 us in place of 264 us at 64 connections.
//!
//! The call that hands them over usually waits for answers too, and then its length says nothing.
//! So now and then they are handed over by a call of its own.

/// When a request left, by estimate, and the earliest instant at which it can have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Departure {
    left_at: u64,
    /// The call that sent it began so long before.
    after_ns: u32,
    /// It was the first that its thread sent since the last wait for events.
    leads: bool,
}

impl Departure {
    /// At this very instant.
    pub const fn at(now: u64) -> Self {
        Self { left_at: now, after_ns: 0, leads: false }
    }

    /// Within a call that took from `begin` to `end`: a quarter of the way through. A call that was
    /// interrupted says nothing, so there is a limit.
    #[inline]
    pub const fn within(begin: u64, end: u64) -> Self {
        const LIMIT_NS: u64 = 10_000;
        let quarter = end.saturating_sub(begin) / 4;
        Self::after(begin, if quarter < LIMIT_NS { quarter } else { LIMIT_NS })
    }

    const fn after(begin: u64, after_ns: u64) -> Self {
        let after_ns = if after_ns < u32::MAX as u64 { after_ns as u32 } else { u32::MAX };
        Self { left_at: begin + after_ns as u64, after_ns, leads: false }
    }

    /// When it left.
    #[inline]
    pub const fn left_at(self) -> u64 {
        self.left_at
    }

    /// It cannot have left before: the clock was read before the call.
    #[inline]
    pub const fn begun_at(self) -> u64 {
        self.left_at - self.after_ns as u64
    }

    /// The first of its batch, or one that followed.
    #[inline]
    pub const fn leading(self, leads: bool) -> Self {
        Self { leads, ..self }
    }

    /// Whether it was the first of its batch.
    #[inline]
    pub const fn leads(self) -> bool {
        self.leads
    }

    /// Whether an answer that arrived at this instant shows that the estimate is too late.
    #[inline]
    pub const fn is_refuted(self, arrived: u64) -> bool {
        arrived < self.left_at
    }

    /// The departure of a request whose answer arrived at this instant. An answer that came before
    /// the estimate shows that the estimate is too late; then the begin of the call is all that is
    /// known.
    #[inline]
    pub const fn before(self, arrived: u64) -> Self {
        if !self.is_refuted(arrived) {
            return self;
        }
        Self::at(self.begun_at()).leading(self.leads)
    }
}

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
/// A new batch has a weight of one in this many.
const MEMORY: u64 = 8;
/// One batch in this many is measured.
const MEASURE_EVERY: u32 = 64;

impl SendPace {
    /// When the packet of the send number `index` (from 0) of a batch that begins at `begin`
    /// leaves: after the sends before it, and a quarter of its own.
    #[inline]
    pub const fn at(&self, begin: u64, index: usize) -> Departure {
        Departure::after(begin, self.each_ns * index as u64 + self.each_ns / 4)
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
    use super::{Departure, SendPace};

    #[test]
    fn learns_the_pace_and_forgives_a_pause() {
        let mut pace = SendPace::default();
        let left = |pace: &SendPace, begin, index| pace.at(begin, index).left_at();
        assert_eq!(left(&pace, 5, 3), 5, "nothing is known yet");
        (0..100).for_each(|_| pace.learn(32_000, 16));
        let each = left(&pace, 0, 1) - left(&pace, 0, 0);
        assert!((1_980..=2_000).contains(&each), "{each}");
        assert_eq!(left(&pace, 0, 0), each / 4);
        pace.learn(4_000_000, 16);
        let after = left(&pace, 0, 1) - left(&pace, 0, 0);
        assert!(after < 2_500, "{after}");
    }

    #[test]
    fn an_answer_that_came_before_the_estimate_refutes_it() {
        let sent = Departure::within(1_000, 9_000);
        assert_eq!((sent.begun_at(), sent.left_at()), (1_000, 3_000));
        assert_eq!(sent.before(3_000), sent);
        assert_eq!(sent.before(2_999), Departure::at(1_000));
        assert!(sent.is_refuted(2_999) && !sent.is_refuted(3_000));
        assert!(sent.leading(true).before(2_999).leads() && !sent.leads());
        let interrupted = Departure::within(1_000, 4_001_000);
        assert_eq!((interrupted.begun_at(), interrupted.left_at()), (1_000, 11_000));
    }

    #[test]
    fn one_batch_in_64_is_measured() {
        let mut pace = SendPace::default();
        let due: Vec<usize> =
            (1..=200).filter(|_| pace.is_due().then(|| pace.learn(1_000, 1)).is_some()).collect();
        assert_eq!(due, [64, 128, 192]);
    }
}
