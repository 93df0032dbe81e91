//! A random sample of a thread's requests, in memory that has a bound.
//!
//! Each request draws a random priority, and those with the lowest are kept. So each has the same
//! chance, and the sample of several threads is the lowest of all that they have kept.
use std::collections::BinaryHeap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::pace::random;
use crate::record::exchanges::Exchange;

/// Keeps these priorities apart from the arrivals and think times of the same seed.
const PURPOSE: u64 = 0x51A3_9C0D_77E4_2B6F;

/// The requests of one thread with the lowest priorities.
#[derive(Debug)]
pub(crate) struct Reservoir {
    most: usize,
    random: Xoshiro256PlusPlus,
    offered: u64,
    /// Priorities, the highest first, each with its place in `kept`.
    priorities: BinaryHeap<(u64, u32)>,
    kept: Vec<Exchange>,
}

impl Reservoir {
    /// Keeps so many. `stream` is the number of the thread's random numbers.
    pub fn new(most: u32, seed: u64, stream: u32) -> Self {
        Self {
            most: most as usize,
            random: random::generator(seed ^ PURPOSE, stream),
            offered: 0,
            priorities: BinaryHeap::new(),
            kept: Vec::new(),
        }
    }

    /// Keeps it, if it draws a priority that is low enough.
    pub fn offer(&mut self, one: Exchange) {
        self.offered += 1;
        let priority = self.random.next_u64();
        if self.kept.len() < self.most {
            self.priorities.push((priority, self.kept.len() as u32));
            self.kept.push(one);
        } else if let Some(mut highest) = self.priorities.peek_mut()
            && priority < highest.0
        {
            highest.0 = priority;
            self.kept[highest.1 as usize] = one;
        }
    }

    /// The sample of several threads: `most` of their requests, each with the number of its thread,
    /// and how many were offered in all.
    pub fn merged<'a>(
        most: u32,
        threads: impl Iterator<Item = (u32, &'a Self)>,
    ) -> (u64, Vec<(u32, Exchange)>) {
        let mut offered = 0;
        let mut all = Vec::new();
        for (thread, reservoir) in threads {
            offered += reservoir.offered;
            let kept = reservoir.priorities.iter();
            all.extend(
                kept.map(|(priority, place)| (*priority, thread, &reservoir.kept[*place as usize])),
            );
        }
        if all.len() > most as usize {
            all.select_nth_unstable_by_key(most as usize, |(priority, ..)| *priority);
            all.truncate(most as usize);
        }
        (offered, all.into_iter().map(|(_, thread, one)| (thread, *one)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::exchanges::tests::exchange;
    use proptest::prelude::*;

    /// A thread that was offered so many requests, sent at `first`, `first + 1` ...
    fn thread(most: u32, (seed, stream): (u64, u32), first: u64, count: u64) -> Reservoir {
        let mut reservoir = Reservoir::new(most, seed, stream);
        (first..first + count).for_each(|at| reservoir.offer(exchange(at, 1)));
        reservoir
    }

    /// When the requests of the sample were sent, ascending.
    fn sample(most: u32, threads: &[Reservoir]) -> (u64, Vec<u64>) {
        let (offered, kept) = Reservoir::merged(most, (0..).zip(threads));
        let mut sent: Vec<u64> = kept.into_iter().map(|(_, one)| one.sent_at).collect();
        sent.sort_unstable();
        (offered, sent)
    }

    proptest! {
        /// Bounded threads lose nothing: their sample is that of threads which keep everything.
        #[test]
        fn the_sample_of_threads_is_that_of_all_their_requests(
            counts in proptest::collection::vec(0..200u64, 1..6),
            most in 1..150u32,
            seed in any::<u64>(),
        ) {
            let threads = |each: u32| -> Vec<Reservoir> {
                let mut first = 0;
                let one = |(stream, count): (u32, &u64)| {
                    first += count;
                    thread(each, (seed, stream), first - count, *count)
                };
                (0..).zip(&counts).map(one).collect()
            };
            let (offered, kept) = sample(most, &threads(most));
            prop_assert_eq!(offered, counts.iter().sum::<u64>());
            prop_assert_eq!(kept.len() as u64, offered.min(most.into()));
            prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]), "each once");
            prop_assert_eq!(&kept, &sample(most, &threads(u32::MAX)).1);
            prop_assert_eq!(kept, sample(most, &threads(most)).1, "the same seed, the same choice");
        }
    }

    /// 4,000 samples of 20 out of 90 and 10 of two threads: each request is in 800 of them on average,
    /// with a standard deviation of 25.3. None of the 100 is further off than 4.5 of these.
    #[test]
    fn each_request_has_the_same_chance_whichever_thread_sent_it() {
        let mut seen = [0_u32; 100];
        for seed in 0..4_000 {
            let threads = [thread(20, (seed, 0), 0, 90), thread(20, (seed, 1), 90, 10)];
            sample(20, &threads).1.into_iter().for_each(|at| seen[at as usize] += 1);
        }
        assert_eq!(seen.iter().sum::<u32>(), 80_000);
        let furthest = seen.iter().map(|count| count.abs_diff(800)).max().unwrap();
        assert!(furthest <= 114, "{furthest} from 800: {seen:?}");
        assert_ne!(
            sample(20, &[thread(20, (1, 0), 0, 90)]),
            sample(20, &[thread(20, (2, 0), 0, 90)])
        );
    }
}
