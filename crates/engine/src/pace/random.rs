//! Random numbers that are the same on every platform for the same seed.
use pippin_model::text::units::Spread;
use pippin_model::workload::draw::Draw;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The generator of one thread of a load. (The seeding spreads neighbouring seeds by SplitMix64.)
pub(crate) fn generator(seed: u64, thread: u32) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ u64::from(thread).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// 53 random bits as a number from 0 to 1, 1 excluded.
#[inline]
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number from 0 to 1, 1 excluded, that depends on the seed and a place alone.
#[inline]
pub(crate) fn at(seed: u64, place: u64) -> f64 {
    unit(Draw::at(seed, place).bits())
}

/// Draws think times.
#[derive(Debug)]
pub(crate) struct ThinkTimes {
    spread: Spread,
    random: Xoshiro256PlusPlus,
}

impl ThinkTimes {
    pub fn new(spread: Spread, seed: u64, thread: u32) -> Self {
        Self { spread, random: generator(seed, thread) }
    }

    #[inline]
    pub fn draw_ns(&mut self) -> u64 {
        self.spread.at(unit(self.random.next_u64()))
    }

    /// The rest of a think time that began at a random instant before: uniform from 0 to the mean.
    pub fn draw_remainder_ns(&mut self) -> u64 {
        (self.spread.mean_ns as f64 * unit(self.random.next_u64())) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_uniform_within_their_spread_and_repeat_with_the_seed() {
        let spread = Spread { mean_ns: 900_000_000, jitter: 0.05 };
        let draw = |seed| {
            let mut think = ThinkTimes::new(spread, seed, 0);
            (0..10_000).map(|_| think.draw_ns()).collect::<Vec<_>>()
        };
        let drawn = draw(3);
        assert!(drawn.iter().all(|ns| (855_000_000..=945_000_000).contains(ns)));
        let mean = drawn.iter().sum::<u64>() as f64 / 10_000.0;
        assert!((mean / 900e6 - 1.0).abs() < 0.002);
        let variance = drawn.iter().map(|ns| (*ns as f64 - mean).powi(2)).sum::<f64>() / 10_000.0;
        assert!((variance.sqrt() / (90e6 / 12_f64.sqrt()) - 1.0).abs() < 0.03);
        assert_eq!(drawn, draw(3));
        assert_ne!(drawn, draw(4));
    }
}
