//! What a reference server saw and did, for cross-checking the client's figures.
use hdrhistogram::Histogram;

/// A server's own account. Counts are since its start or the last reset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    /// Connections accepted.
    pub connections: u64,
    /// Connections open now.
    pub live_connections: u64,
    /// The most connections open at once; for a server of several threads the sum of each thread's
    /// most.
    pub peak_connections: u64,
    /// Complete requests received.
    pub requests: u64,
    /// Answers handed to the kernel, at least in part.
    pub answers: u64,
    /// Requests that were no HTTP/1, answered 400.
    pub bad_requests: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes handed to the kernel.
    pub bytes_out: u64,
    /// Requests that had to wait, by design of the server: `calls` of the upstream, all of the
    /// device server.
    pub calls: u64,
    /// Calls by GET that were answered.
    pub answered_gets: u64,
    /// Calls waiting now.
    pub waiting: u64,
    /// The most calls waiting at once; for a server of several threads the sum of each thread's
    /// most.
    pub peak_waiting: u64,
    /// Calls whose client went away before their answer was due.
    pub abandoned: u64,
    /// How late waiting answers were.
    pub late: Lateness,
    /// The longest time between two looks of the event loop at its sockets, in nanoseconds. A
    /// request may have waited this long before the server noticed it; `late` does not include
    /// that.
    pub longest_turn_ns: u64,
    /// How often accepting had to pause because the descriptor table was full.
    pub descriptors_exhausted: u64,
}

impl Account {
    /// Adds another thread's account.
    pub fn merge(&mut self, other: &Self) {
        self.connections += other.connections;
        self.live_connections += other.live_connections;
        self.peak_connections += other.peak_connections;
        self.requests += other.requests;
        self.answers += other.answers;
        self.bad_requests += other.bad_requests;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.calls += other.calls;
        self.answered_gets += other.answered_gets;
        self.waiting += other.waiting;
        self.peak_waiting += other.peak_waiting;
        self.abandoned += other.abandoned;
        self.late.merge(&other.late);
        self.longest_turn_ns = self.longest_turn_ns.max(other.longest_turn_ns);
        self.descriptors_exhausted += other.descriptors_exhausted;
    }

    /// Resets all counts, except those of live connections and waiting calls.
    pub fn reset(&mut self) {
        *self = Self {
            live_connections: self.live_connections,
            peak_connections: self.live_connections,
            waiting: self.waiting,
            peak_waiting: self.waiting,
            ..Self::default()
        };
    }

    pub(crate) fn call_begins(&mut self) {
        self.calls += 1;
        self.waiting += 1;
        self.peak_waiting = self.peak_waiting.max(self.waiting);
    }
}

/// How late answers were: instant of the answer minus (instant of the request + wait), in
/// nanoseconds, to 2 digits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lateness {
    histogram: Option<Box<Histogram<u64>>>,
}

impl Lateness {
    pub(crate) fn record(&mut self, late_ns: u64) {
        if self.histogram.is_none() {
            // These bounds are valid, so this is always `Some` afterwards.
            self.histogram =
                Histogram::new_with_bounds(1_000, 60_000_000_000, 2).ok().map(Box::new);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(late_ns);
        }
    }

    fn merge(&mut self, other: &Self) {
        match (&mut self.histogram, &other.histogram) {
            // Same bounds everywhere, so that adding can't fail.
            (Some(mine), Some(theirs)) => _ = mine.add(theirs.as_ref()),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// How many answers were timed.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// The 99th percentile in nanoseconds, `None` without answers.
    #[must_use]
    pub fn p99_ns(&self) -> Option<u64> {
        self.filled().map(|histogram| histogram.value_at_quantile(0.99))
    }

    /// The greatest in nanoseconds, `None` without answers.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        self.filled().map(Histogram::max)
    }

    fn filled(&self) -> Option<&Histogram<u64>> {
        self.histogram.as_deref().filter(|histogram| !histogram.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, Lateness};

    #[test]
    fn no_answer_has_no_lateness() {
        let late = Lateness::default();
        assert_eq!((late.count(), late.p99_ns(), late.max_ns()), (0, None, None));
    }

    #[test]
    fn merged_lateness_is_that_of_all_answers() {
        let (mut all, mut other) = (Account::default(), Account::default());
        (1..=98).for_each(|_| all.late.record(100_000));
        (1..=2).for_each(|_| other.late.record(9_000_000));
        all.merge(&other);
        assert_eq!(all.late.count(), 100);
        let p99 = all.late.p99_ns().unwrap();
        assert!((8_900_000..=9_100_000).contains(&p99), "{p99}");
    }

    #[test]
    fn reset_keeps_what_is_still_there() {
        let mut account = Account {
            connections: 9,
            live_connections: 3,
            peak_connections: 8,
            ..Account::default()
        };
        account.call_begins();
        account.reset();
        assert_eq!(
            (account.connections, account.live_connections, account.peak_connections),
            (0, 3, 3)
        );
        assert_eq!((account.calls, account.waiting, account.peak_waiting), (0, 1, 1));
    }
}
