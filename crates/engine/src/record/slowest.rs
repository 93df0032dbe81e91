//! The slowest requests of a stretch, while a thread measures it.
use pippin_model::result::SlowRequest;

/// One request that took long. Instants are of the load's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slow {
    pub sent_at: u64,
    pub response_ns: u64,
    pub service_ns: u64,
    pub slot: u32,
    pub template: u32,
    /// `None` if it timed out.
    pub status: Option<u16>,
}

impl Slow {
    /// As plain data: its instant since 1970, the number of its connection and its name are known to
    /// who has all threads.
    pub fn named(self, sent_unix_ns: u64, connection: u32, request: String) -> SlowRequest {
        SlowRequest {
            sent_unix_ns,
            response_ns: self.response_ns,
            service_ns: self.service_ns,
            connection,
            request,
            status: self.status,
        }
    }
}

/// The slowest so far, in no order.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    kept: Vec<Slow>,
    most: usize,
    /// What a further one must exceed to be kept: the response time of the fastest kept one, once
    /// there are enough.
    above_ns: Option<u64>,
}

impl Slowest {
    /// Keeps so many.
    pub fn keeping(most: u32) -> Self {
        Self { most: most as usize, ..Self::default() }
    }

    /// Whether a request with this response time is to be kept. Most are not: this is all that they
    /// cost.
    #[inline]
    pub const fn wants(&self, response_ns: u64) -> bool {
        match self.above_ns {
            Some(above) => response_ns > above,
            None => self.most > 0,
        }
    }

    /// Keeps it in the place of the fastest one.
    #[cold]
    pub fn keep(&mut self, one: Slow) {
        if self.kept.len() < self.most {
            self.kept.push(one);
        } else if let Some(fastest) = self.kept.iter_mut().min_by_key(|kept| kept.response_ns) {
            *fastest = one;
        }
        if self.kept.len() == self.most {
            self.above_ns = self.kept.iter().map(|kept| kept.response_ns).min();
        }
    }

    /// All that are kept.
    pub fn kept(&self) -> &[Slow] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_slowest_are_kept_in_any_order(
            times in proptest::collection::vec(0..1_000u64, 0..200),
            most in 0..20u32,
        ) {
            let mut slowest = Slowest::keeping(most);
            for (sent_at, response_ns) in (0..).zip(times.iter().copied()) {
                let one = Slow {
                    sent_at,
                    response_ns,
                    service_ns: response_ns,
                    slot: 0,
                    template: 0,
                    status: Some(200),
                };
                if slowest.wants(response_ns) {
                    slowest.keep(one);
                }
            }
            let mut kept: Vec<u64> = slowest.kept().iter().map(|one| one.response_ns).collect();
            let mut wanted = times;
            kept.sort_unstable_by(|a, b| b.cmp(a));
            wanted.sort_unstable_by(|a, b| b.cmp(a));
            wanted.truncate(most as usize);
            prop_assert_eq!(kept, wanted);
        }
    }
}
