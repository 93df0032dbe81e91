//! The order of a run's trials and slices. Repetitions and rounds are interleaved, so a drift of
//! the machine affects all targets equally.
use rand::Rng;

use crate::interval::draw::shuffle;

/// Every target once per repetition, in a new random order each time: `(repetition, target)`.
///
/// So a machine that slows down over the run costs every target the same on average. It would not
/// if one target's repetitions followed each other.
pub fn interleaved<T: Clone, R: Rng + ?Sized>(
    targets: &[T],
    repetitions: u32,
    rng: &mut R,
) -> Vec<(u32, T)> {
    let mut order = Vec::with_capacity(targets.len() * repetitions as usize);
    for repetition in 0..repetitions {
        let mut round = targets.to_vec();
        shuffle(&mut round, rng);
        order.extend(round.into_iter().map(|target| (repetition, target)));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn order(seed: u64) -> Vec<(u32, char)> {
        interleaved(&['a', 'b', 'c', 'd'], 5, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    #[test]
    fn every_repetition_has_every_target_once() {
        for (index, round) in order(7).chunks(4).enumerate() {
            let mut targets: Vec<char> = round.iter().map(|(_, target)| *target).collect();
            targets.sort_unstable();
            assert_eq!(targets, ['a', 'b', 'c', 'd']);
            assert!(round.iter().all(|(repetition, _)| *repetition as usize == index));
        }
    }

    #[test]
    fn the_seed_fixes_the_order() {
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let rounds: std::collections::BTreeSet<Vec<char>> =
            order(1).chunks(4).map(|round| round.iter().map(|(_, t)| *t).collect()).collect();
        assert!(rounds.len() > 1, "the repetitions must not all have one order");
    }

    #[test]
    fn the_order_of_a_seed_stays_what_it_was() {
        // A stored seed must give the same order in every later version.
        let first: String = order(42)[..4].iter().map(|(_, target)| *target).collect();
        assert_eq!(first, "bacd");
    }
}
