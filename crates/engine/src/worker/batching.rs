//! How long answers may lie unread so that several are picked up together.
//!
//! A server wakes a sleeping generator with each packet, and both pay for it. With many users the
//! next answers are so near that waking for each one gains nothing. By Little's law (N = X R), one
//! user in a hundred is answered in a hundredth of the mean service time. So a thread that lets
//! answers lie for so long holds at most one in a hundred of its users.

/// The share of the mean service time for which answers may lie.
const SHARE: f64 = 0.01;
/// With fewer users under way, less than one answer comes in that time.
const LEAST_USERS: u64 = 100;
/// The kernel counts a stay in microseconds.
const LEAST_NS: u64 = 1_000;
/// An answer has a weight of one in this many.
const MEMORY: f64 = 1024.0;

/// The mean service time of late.
#[derive(Debug, Default)]
pub(super) struct Batching {
    service_ns: f64,
}

impl Batching {
    /// An answer took so long.
    #[inline]
    pub fn learn(&mut self, service_ns: u64) {
        self.service_ns += (service_ns as f64 - self.service_ns) / MEMORY;
    }

    /// How long answers may lie in a wait of at most `wait_ns`, in nanoseconds, while so many users
    /// have requests under way. 0: none may.
    #[inline]
    pub fn stay_ns(&self, users: u64, wait_ns: u64) -> u64 {
        let stay_ns = wait_ns.min((self.service_ns * SHARE) as u64);
        if users < LEAST_USERS || stay_ns < LEAST_NS { 0 } else { stay_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::{Batching, LEAST_USERS};

    const LONG_NS: u64 = 10_000_000;

    fn after(answers: u32, service_ns: u64) -> Batching {
        let mut batching = Batching::default();
        (0..answers).for_each(|_| batching.learn(service_ns));
        batching
    }

    #[test]
    fn answers_may_lie_for_a_hundredth_of_what_they_take() {
        let stay_ns = after(20_000, 3_000_000).stay_ns(LEAST_USERS, LONG_NS);
        assert!((29_900..=30_000).contains(&stay_ns), "{stay_ns}");
        let stay_ns = after(20_000, 3_000_000).stay_ns(LEAST_USERS, 25_000);
        assert_eq!(stay_ns, 25_000, "the wait ends earlier");
    }

    #[test]
    fn no_answer_lies_where_it_would_save_nothing() {
        assert_eq!(after(0, 0).stay_ns(10_000, LONG_NS), 0, "nothing is known yet");
        assert_eq!(after(20_000, 3_000_000).stay_ns(LEAST_USERS - 1, LONG_NS), 0, "few users");
        assert_eq!(after(20_000, 50_000).stay_ns(10_000, LONG_NS), 0, "fast answers");
        assert_eq!(after(20_000, 3_000_000).stay_ns(10_000, 500), 0, "something else is due");
    }
}
