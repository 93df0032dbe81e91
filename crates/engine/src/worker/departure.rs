//! When requests leave.
//!
//! A call that sends first makes the kernel build a packet; then the kernel delivers it and wakes
//! the receiver. Beside a packet capture on the loopback the packet left after a fifth of the call
//! where requests follow each other, and after a third where the connection had rested (4 of 20 us,
//! 12 of 36 us).
//!
//! Whether the estimates are right is looked at now and then ([`sampling`](super::sampling)).

/// No answer comes sooner after its request left. Between the two lie the receipt of a packet, a
/// call of the server that reads, and one that sends. The least that a packet capture on a loopback
/// saw was 3.9 us.
const LEAST_EXCHANGE_NS: u64 = 2_000;

/// When a request left, by estimate, and the earliest instant at which it can have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Departure {
    left_at: u64,
    /// The call that sent it began so long before.
    after_ns: u32,
    /// How many its thread had sent before it since the last wait for events.
    place: u32,
}

impl Departure {
    /// At this very instant.
    pub const fn at(now: u64) -> Self {
        Self { left_at: now, after_ns: 0, place: 0 }
    }

    /// Within a call that took from `begin` to `end`: a quarter of the way through. A call that was
    /// interrupted says nothing, so there is a limit.
    #[inline]
    pub const fn within(begin: u64, end: u64) -> Self {
        const LIMIT_NS: u64 = 10_000;
        let quarter = end.saturating_sub(begin) / 4;
        let after_ns = if quarter < LIMIT_NS { quarter } else { LIMIT_NS };
        Self { left_at: begin + after_ns, after_ns: after_ns as u32, place: 0 }
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

    /// With so many of its batch before it.
    #[inline]
    pub const fn in_place(self, place: u32) -> Self {
        Self { place, ..self }
    }

    /// How many of its batch were sent before it.
    #[inline]
    pub const fn place(self) -> u32 {
        self.place
    }

    /// Whether it was the first of its batch.
    #[inline]
    pub const fn leads(self) -> bool {
        self.place == 0
    }

    /// Whether an answer that arrived at this instant shows that the estimate is too late: it came
    /// sooner than any answer can.
    #[inline]
    pub const fn is_refuted(self, arrived: u64) -> bool {
        arrived < self.left_at + LEAST_EXCHANGE_NS
    }

    /// Whether an answer that arrived at this instant came sooner than any answer can, whenever
    /// within the call the request left.
    #[inline]
    pub const fn is_impossible(self, arrived: u64) -> bool {
        arrived < self.begun_at() + LEAST_EXCHANGE_NS
    }

    /// The departure of a request whose answer arrived at this instant. An answer that came sooner
    /// than any answer can shows that the estimate is too late; then the begin of the call is all
    /// that is known.
    #[inline]
    pub const fn before(self, arrived: u64) -> Self {
        if !self.is_refuted(arrived) {
            return self;
        }
        Self::at(self.begun_at()).in_place(self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::Departure;

    #[test]
    fn an_answer_that_came_before_the_estimate_refutes_it() {
        let sent = Departure::within(1_000, 9_000);
        assert_eq!((sent.begun_at(), sent.left_at()), (1_000, 3_000));
        assert_eq!(sent.before(5_000), sent);
        assert_eq!(sent.before(4_999), Departure::at(1_000));
        assert!(sent.is_refuted(4_999) && !sent.is_refuted(5_000));
        assert!(sent.is_impossible(2_999) && !sent.is_impossible(3_000));
        assert!(sent.leads() && sent.in_place(7).before(2_999).place() == 7);
        let interrupted = Departure::within(1_000, 4_001_000);
        assert_eq!((interrupted.begun_at(), interrupted.left_at()), (1_000, 11_000));
    }

    proptest::proptest! {
        /// The law of the least time: whatever the estimate was, a service time is at least what an
        /// exchange takes, or the answer is known to be impossible. It never begins before the call.
        #[test]
        fn no_service_time_is_shorter_than_an_exchange_in_silence(
            begin in 1_000_000_u64..2_000_000,
            took in 0_u64..200_000,
            after in 0_u64..100_000,
        ) {
            let sent = Departure::within(begin, begin + took);
            let arrived = begin + after;
            let used = sent.before(arrived);
            proptest::prop_assert!(used.begun_at() == begin && used.left_at() >= begin);
            proptest::prop_assert!(
                arrived >= used.left_at() + super::LEAST_EXCHANGE_NS || used.is_impossible(arrived)
            );
            proptest::prop_assert_eq!(sent.is_refuted(arrived), used != sent || sent.is_impossible(arrived));
        }
    }
}
