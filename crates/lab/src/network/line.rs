//! One direction of a connection: when a packet comes, and whether. It reads no clock.
use pippin_model::load::network::Network;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::Counts;

/// Says what becomes of packets.
#[derive(Debug)]
pub(super) struct Line {
    network: Network,
    random: Xoshiro256PlusPlus,
    counts: Arc<Counts>,
    /// When the last segment comes: those behind it come no sooner.
    last: Option<Instant>,
}

impl Line {
    pub fn new(network: Network, seed: u64, counts: Arc<Counts>) -> Self {
        Self { network, random: Xoshiro256PlusPlus::seed_from_u64(seed), counts, last: None }
    }

    fn round_trip(&self) -> Duration {
        Duration::from_nanos(self.network.round_trip_ns)
    }

    /// Whether the next packet is lost.
    fn loses(&mut self) -> bool {
        let is_lost = self.random.random_bool(self.network.loss);
        self.counts.packets.fetch_add(1, Relaxed);
        self.counts.lost.fetch_add(u64::from(is_lost), Relaxed);
        is_lost
    }

    /// A connection of TCP was asked for: to open it takes a round trip (RFC 9293 section 3.5).
    pub fn opens(&mut self, now: Instant) {
        self.last = Some(now + self.round_trip());
    }

    /// When a datagram comes that was sent now; `None` if it is lost.
    pub fn datagram(&mut self, now: Instant) -> Option<Instant> {
        (!self.loses()).then(|| now + self.round_trip() / 2)
    }

    /// When a segment of TCP comes that was sent now. If it is lost, the sender sees that by what comes
    /// behind it, and sends it again (fast retransmission, RFC 5681 section 3.2): it comes a round trip later. All
    /// that is behind it waits until then.
    pub fn segment(&mut self, now: Instant) -> Instant {
        let again = if self.loses() { self.round_trip() } else { Duration::ZERO };
        let comes = now + self.round_trip() / 2 + again;
        let comes = self.last.map_or(comes, |last| comes.max(last));
        self.last = Some(comes);
        comes
    }

    /// When the end of a stream comes, behind all of it.
    pub fn end(&self, now: Instant) -> Instant {
        let comes = now + self.round_trip() / 2;
        self.last.map_or(comes, |last| comes.max(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn line(network: &str, seed: u64) -> Line {
        Line::new(network.parse().unwrap(), seed, Arc::default())
    }

    #[test]
    fn without_loss_everything_comes_half_a_round_trip_later() {
        let (mut line, begin) = (line("20ms", 1), Instant::now());
        for nth in 0..100 {
            let now = begin + MS * nth;
            assert_eq!(line.datagram(now), Some(now + 10 * MS));
            assert_eq!(line.segment(now), now + 10 * MS);
            assert_eq!(line.end(now), now + 10 * MS);
        }
        line.opens(begin + 1_000 * MS);
        assert_eq!(line.segment(begin + 1_000 * MS), begin + 1_020 * MS);
    }

    /// Segments come in their order, each by at least half a round trip and at most what was lost last
    /// later; of datagrams, so many are missing as are said to be lost.
    #[test]
    fn losses_delay_segments_and_take_datagrams() {
        let begin = Instant::now();
        for seed in 0..20 {
            let (mut line, mut last) = (line("20ms,5%", seed), begin);
            let mut late = 0;
            for nth in 0..2_000 {
                let now = begin + MS * nth;
                let comes = line.segment(now);
                assert!(comes >= last && comes >= now + 10 * MS && comes <= now + 30 * MS);
                late += u32::from(comes > now + 10 * MS);
                last = comes;
            }
            // Each loss delays what is sent in the 20 ms behind it too.
            assert!(late > 500, "{late}");
            let came = (0..2_000).filter(|_| line.datagram(begin).is_some()).count();
            let (packets, lost) =
                (line.counts.packets.load(Relaxed), line.counts.lost.load(Relaxed));
            assert_eq!(packets, 4_000);
            assert!((120..280).contains(&lost) && came < 2_000, "{lost}");
        }
    }

    #[test]
    fn one_seed_has_one_fate() {
        let now = Instant::now();
        let fates = |seed| {
            let mut line = line("20ms,30%", seed);
            (0..64).map(|_| line.datagram(now).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(fates(7), fates(7));
        assert_ne!(fates(7), fates(8));
    }
}
