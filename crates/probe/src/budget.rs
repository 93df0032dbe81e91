//! How often something that costs processor time may be looked at.

/// What looks may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// None begins sooner than this after the last one, nanoseconds.
    pub every_ns: u64,
    /// All together use at most this part of one processor: 200 is half a percent.
    pub share: u64,
    /// They may use so much CPU time at once, in nanoseconds, before that holds.
    pub credit_ns: u64,
}

/// What looks have taken so far, and when the next one may begin.
#[derive(Debug, Default)]
pub struct Budget {
    began_ns: Option<u64>,
    spent_ns: u64,
    due_ns: u64,
}

impl Budget {
    /// Whether a look may begin at this instant.
    #[must_use]
    pub const fn is_due(&self, at_ns: u64) -> bool {
        at_ns >= self.due_ns
    }

    /// Notes a look that began at an instant and used so much CPU time, in nanoseconds. The time
    /// until the next one counts from `until_ns`.
    pub fn spend(&mut self, limits: Limits, at_ns: u64, used_ns: u64, until_ns: u64) {
        self.spent_ns += used_ns;
        let began_ns = *self.began_ns.get_or_insert(at_ns);
        let affordable_ns =
            began_ns + self.spent_ns.saturating_sub(limits.credit_ns) * limits.share;
        self.due_ns = affordable_ns.max(until_ns + limits.every_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const LIMITS: Limits = Limits { every_ns: 100 * MS, share: 250, credit_ns: 50 * MS };

    #[test]
    fn looks_are_as_frequent_as_they_are_cheap() {
        /// The share of a processor over so many seconds, if each look costs this much.
        fn share(look_ns: u64, seconds: u64) -> f64 {
            let mut budget = Budget::default();
            while budget.due_ns < seconds * 1_000 * MS {
                budget.spend(LIMITS, budget.due_ns, look_ns, budget.due_ns);
            }
            budget.spent_ns as f64 / (seconds * 1_000 * MS) as f64
        }
        assert!((share(MS / 10, 60) - 0.001).abs() < 1e-5, "ten looks per second");
        for look_ms in [1, 10, 40] {
            let most = 0.004 + (50.0 + look_ms as f64) / 60_000.0;
            assert!((0.004..=most).contains(&share(look_ms * MS, 60)), "{look_ms}");
        }
    }
}
