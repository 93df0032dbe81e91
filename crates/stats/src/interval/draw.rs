//! Random draws that a seed fixes permanently, even if later versions of the random-number crates
//! change.
use rand::Rng;

/// A whole number below `n`, each equally likely (rejection of the uneven rest); 0 if `n` is 0.
pub(crate) fn below<R: Rng + ?Sized>(rng: &mut R, n: usize) -> usize {
    let n = n as u64;
    if n < 2 {
        return 0;
    }
    let limit = u64::MAX - u64::MAX % n;
    loop {
        let drawn = rng.next_u64();
        if drawn < limit {
            return (drawn % n) as usize;
        }
    }
}

/// Shuffles in place (Fisher and Yates, in Durstenfeld's form).
pub(crate) fn shuffle<T, R: Rng + ?Sized>(items: &mut [T], rng: &mut R) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn every_order_is_equally_likely() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut rng);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1_150).contains(n)), "{seen:?}");
    }
}
