//! Whether the estimated instants of sending are right: now and then the kernel is asked when a
//! request left. A thread can lose its processor within the call that sends, and nothing else shows
//! it.
use super::departure::Departure;
use pippin_model::load::LoadSpec;
use pippin_model::result::StampCounts;

/// One request in so many is looked at. A look costs a system call and a packet of the kernel's.
const EVERY: u32 = 128;
/// At first looks are more frequent, so that a short load has some: each is so many requests farther
/// from the one before than that was.
const FARTHER: u32 = 4;
/// After so many times as many requests, a look that got no answer is given up.
const PATIENCE: u32 = 16;
/// An estimate that misses by more is counted.
const OFF_NS: u64 = 5_000;
/// Stamps have another clock, whose offset is known so well.
const OFFSET_NS: u64 = 1_000;

/// Which request is looked at.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    /// Requests since the last look.
    since: u32,
    /// Requests from that look to the next.
    every: u32,
    /// The connection whose request was sent with a stamp that was not read yet.
    looked_at: Option<u32>,
    /// Whether nothing is looked at.
    is_off: bool,
}

impl Sampling {
    /// For a load. Sends over unix sockets have no stamps, and one that asks for them is refused
    /// (unix(7) knows no such control message).
    pub fn from_spec(spec: &LoadSpec) -> Self {
        Self { is_off: spec.unix_socket.is_some(), ..Self::default() }
    }

    /// Whether the request that is sent now is to be looked at.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.since += 1;
        !self.is_off
            && self.since >= self.every
            && (self.looked_at.is_none() || self.since >= EVERY * PATIENCE)
    }

    /// The request that this connection carries is looked at.
    pub fn begin(&mut self, slot: u32) {
        self.every = (self.every + FARTHER).min(EVERY);
        (self.since, self.looked_at) = (0, Some(slot));
    }

    /// Whether the request that this connection carries is looked at. It is not from then on.
    #[inline]
    pub fn ends(&mut self, slot: u32) -> bool {
        self.looked_at.take_if(|its| *its == slot).is_some()
    }
}

/// Counts a request that left at this instant by the kernel's stamp.
pub(super) const fn count(stamps: &mut StampCounts, estimate: Departure, left_at: u64) {
    stamps.sampled += 1;
    stamps.sampled_off += (left_at.abs_diff(estimate.left_at()) > OFF_NS) as u64;
    stamps.sampled_outside += (left_at + OFFSET_NS < estimate.begun_at()) as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the requests that are looked at, if every look gets its answer, or none.
    fn looks(answers: bool) -> Vec<u32> {
        let mut sampling = Sampling::default();
        let looks = (1..=20_000).filter(|nth| {
            let is_due = sampling.is_due();
            if is_due {
                sampling.begin(7);
                assert!(!sampling.ends(8) && (!answers || sampling.ends(7)), "{nth}");
            }
            is_due
        });
        looks.collect()
    }

    #[test]
    fn one_request_in_128_is_looked_at_and_more_at_first() {
        let looks = looks(true);
        assert_eq!(looks[..4], [1, 5, 13, 25]);
        let last = &looks[looks.len() - 3..];
        assert_eq!(last[2] - last[1], EVERY);
        assert_eq!(last[1] - last[0], EVERY);
    }

    #[test]
    fn a_look_without_an_answer_is_given_up() {
        let looks = looks(false);
        assert!(looks.windows(2).all(|pair| pair[1] - pair[0] == EVERY * PATIENCE), "{looks:?}");
    }

    #[test]
    fn estimates_that_miss_are_counted() {
        let mut stamps = StampCounts::default();
        let sent = Departure::within(1_000_000, 1_020_000);
        for left_at in [1_000_000, 1_005_000, 1_010_000, 1_010_001, 999_100, 998_900] {
            count(&mut stamps, sent, left_at);
        }
        let StampCounts { sampled, sampled_off, sampled_outside, .. } = stamps;
        assert_eq!((sampled, sampled_off, sampled_outside), (6, 3, 1));
    }
}
