//! Polling for the answer of an open loop's request. Waking up takes a thread some 5 us on bare
//! metal and 40 us in a virtual machine, all of which a sleeper would measure as the target's:
//! where answers come soon, it pays to stay awake for them.

/// Decides after each send whether to stay awake for its answer, by what the last ones did.
pub(crate) struct AnswerPolling {
    /// How long at the most; 0 never polls.
    at_most_ns: u64,
    until: u64,
    /// Nothing has come since the send.
    is_awaited: bool,
    /// How sure it is that polling pays.
    pays: u32,
    sends: u32,
}

/// Where polling does not pay, every so many sends are tried all the same: the target may have
/// become faster.
const TRY_EVERY: u32 = 32;
const SURE: u32 = 8;

impl AnswerPolling {
    /// Polls for at most so many nanoseconds.
    pub const fn new(at_most_ns: u64) -> Self {
        Self { at_most_ns, until: 0, is_awaited: false, pays: SURE, sends: 0 }
    }

    /// A request was sent.
    #[inline]
    pub const fn sent(&mut self, now: u64) {
        if self.is_awaited && now >= self.until {
            self.pays /= 2;
        }
        self.sends = self.sends.wrapping_add(1);
        self.is_awaited =
            self.at_most_ns > 0 && (self.pays > 0 || self.sends.is_multiple_of(TRY_EVERY));
        self.until = if self.is_awaited { now + self.at_most_ns } else { 0 };
    }

    /// Something arrived.
    #[inline]
    pub fn came(&mut self, now: u64) {
        if std::mem::replace(&mut self.is_awaited, false) {
            self.pays = if now <= self.until { (self.pays + 1).min(SURE) } else { self.pays / 2 };
        }
    }

    /// Whether to poll at this instant.
    #[inline]
    pub const fn polls(&self, now: u64) -> bool {
        self.is_awaited && now < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls for a hundred answers that take so long; how many sends were polled for.
    fn polled(polling: &mut AnswerPolling, answer_ns: u64) -> usize {
        (0..100)
            .filter(|i| {
                let sent = 1_000_000 * (i + 1);
                polling.sent(sent);
                let polls = polling.polls(sent + 1);
                polling.came(sent + answer_ns);
                polls
            })
            .count()
    }

    #[test]
    fn quick_answers_are_waited_for_awake_and_slow_ones_asleep() {
        let mut polling = AnswerPolling::new(100_000);
        assert_eq!(polled(&mut polling, 60_000), 100);
        let slow = polled(&mut polling, 500_000);
        assert!((4..=8).contains(&slow), "{slow}: a few until it is noticed, then every 32nd");
        assert!(polled(&mut polling, 60_000) > 60, "and back again");
    }

    #[test]
    fn nothing_is_polled_for_without_spin_or_before_a_send() {
        let mut polling = AnswerPolling::new(0);
        assert_eq!(polled(&mut polling, 1), 0);
        assert!(!AnswerPolling::new(100).polls(5));
    }

    #[test]
    fn polling_ends_with_its_time_and_with_the_answer() {
        let mut polling = AnswerPolling::new(100);
        polling.sent(1_000);
        assert!(polling.polls(1_099) && !polling.polls(1_100));
        polling.came(1_050);
        assert!(!polling.polls(1_051));
    }
}
