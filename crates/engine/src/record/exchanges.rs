//! The requests that a thread keeps one by one, with what became of each: the slowest, and a random
//! sample.
use pippin_model::result::ErrorKind;

use crate::record::reservoir::Reservoir;
use crate::request::drawn::Value;

/// One request and what became of it. Instants are of the load's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub intended_at: u64,
    pub sent_at: u64,
    /// Response and service time: of an answer, or of a request that timed out.
    pub took: Option<(u64, u64)>,
    /// The thread's number of its user.
    pub user: u32,
    pub template: u32,
    /// What was drawn for it.
    pub value: Value,
    pub status: Option<u16>,
    pub error: Option<ErrorKind>,
    /// Of a complete answer.
    pub body_bytes: Option<u64>,
}

/// What a stretch keeps.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    pub slowest: Slowest,
    /// `None` in most loads.
    pub sample: Option<Box<Reservoir>>,
}

impl Exchanges {
    /// Whether a request with this response time is to be kept. Most are not: this is all that they
    /// cost.
    #[inline]
    pub const fn wants(&self, response_ns: u64) -> bool {
        self.slowest.wants(response_ns) || self.sample.is_some()
    }

    /// Keeps a request if it is one of the slowest, or is drawn. One without times is only drawn.
    #[cold]
    pub fn keep(&mut self, one: Exchange) {
        if let Some((response_ns, _)) = one.took
            && self.slowest.wants(response_ns)
        {
            self.slowest.keep(response_ns, one);
        }
        if let Some(sample) = &mut self.sample {
            sample.offer(one);
        }
    }
}

/// The slowest so far, in no order, each with its response time.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    kept: Vec<(u64, Exchange)>,
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

    /// Whether a request with this response time is to be kept.
    #[inline]
    const fn wants(&self, response_ns: u64) -> bool {
        match self.above_ns {
            Some(above) => response_ns > above,
            None => self.most > 0,
        }
    }

    /// Keeps it in the place of the fastest one.
    fn keep(&mut self, response_ns: u64, one: Exchange) {
        if self.kept.len() < self.most {
            self.kept.push((response_ns, one));
        } else if let Some(fastest) = self.kept.iter_mut().min_by_key(|kept| kept.0) {
            *fastest = (response_ns, one);
        }
        if self.kept.len() == self.most {
            self.above_ns = self.kept.iter().map(|kept| kept.0).min();
        }
    }

    /// All that are kept.
    pub fn kept(&self) -> impl Iterator<Item = Exchange> {
        self.kept.iter().map(|(_, one)| *one)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub fn exchange(sent_at: u64, response_ns: u64) -> Exchange {
        Exchange {
            intended_at: sent_at,
            sent_at,
            took: Some((response_ns, response_ns)),
            user: 0,
            template: 0,
            value: Value::default(),
            status: Some(200),
            error: None,
            body_bytes: Some(0),
        }
    }

    proptest! {
        #[test]
        fn the_slowest_are_kept_in_any_order(
            times in proptest::collection::vec(0..1_000u64, 0..200),
            most in 0..20u32,
        ) {
            let mut kept =
                Exchanges { slowest: Slowest::keeping(most), sample: None };
            for (sent_at, response_ns) in (0..).zip(times.iter().copied()) {
                if kept.wants(response_ns) {
                    kept.keep(exchange(sent_at, response_ns));
                }
            }
            let mut kept: Vec<u64> =
                kept.slowest.kept().filter_map(|one| Some(one.took?.0)).collect();
            let mut wanted = times;
            kept.sort_unstable_by(|a, b| b.cmp(a));
            wanted.sort_unstable_by(|a, b| b.cmp(a));
            wanted.truncate(most as usize);
            prop_assert_eq!(kept, wanted);
        }
    }
}
