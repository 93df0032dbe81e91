//! Feeds a target for a while.
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::mutation::{MOST_BYTES, mutate};
use crate::target::Target;

/// How long to go on: until the first of both.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// No longer.
    pub time: Duration,
    /// No more inputs, those of the corpus left out.
    pub inputs: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Inputs that were fed, those of the corpus too.
    pub inputs: u64,
    /// Different outcomes that were seen.
    pub outcomes: usize,
    /// The input that broke something, and what was said of it.
    pub broken: Option<(Vec<u8>, String)>,
}

/// The input that is being fed, for whoever watches.
pub type Current = Mutex<(u64, Vec<u8>)>;

/// More inputs are not kept in memory.
const MOST_KEPT: usize = 4_096;

/// Feeds the corpus, and then what mutation makes of it.
///
/// # Errors
/// If the corpus cannot be read.
pub fn run(target: &Target, bounds: Bounds, seed: u64, current: &Current) -> io::Result<Outcome> {
    let begin = Instant::now();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut corpus = target.corpus()?;
    corpus.iter_mut().for_each(|input| input.truncate(MOST_BYTES));
    let mut seen = HashSet::new();
    let mut inputs = 0;
    for input in &corpus {
        inputs += 1;
        match feed(target, inputs, input, current) {
            Ok(outcome) => _ = seen.insert(outcome),
            Err(why) => return Ok(broken(inputs, seen.len(), input, why)),
        }
    }
    if corpus.is_empty() {
        corpus.push(Vec::new());
    }
    let mut input = Vec::new();
    while inputs < bounds.inputs && begin.elapsed() < bounds.time {
        let one = random.random_range(0..corpus.len());
        let other = random.random_range(0..corpus.len());
        input.clone_from(&corpus[one]);
        mutate(&mut input, &corpus[other], target.words, &mut random);
        inputs += 1;
        match feed(target, inputs, &input, current) {
            Ok(outcome) => {
                if seen.insert(outcome) && corpus.len() < MOST_KEPT {
                    corpus.push(input.clone());
                }
            }
            Err(why) => return Ok(broken(inputs, seen.len(), &input, why)),
        }
    }
    Ok(Outcome { inputs, outcomes: seen.len(), broken: None })
}

fn broken(inputs: u64, outcomes: usize, input: &[u8], why: String) -> Outcome {
    Outcome { inputs, outcomes, broken: Some((input.to_vec(), why)) }
}

/// Feeds one input; what a panic said.
fn feed(target: &Target, number: u64, input: &[u8], current: &Current) -> Result<u64, String> {
    {
        let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
        current.0 = number;
        current.1.clear();
        current.1.extend_from_slice(input);
    }
    catch_unwind(AssertUnwindSafe(|| (target.feed)(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into()))
            .unwrap_or_else(|| "it panicked".into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TARGETS;

    /// The corpus, and some of what mutation makes of it, on each run of the tests.
    #[test]
    fn nothing_breaks_and_much_is_seen() {
        for target in &TARGETS {
            let bounds = Bounds { time: Duration::from_secs(60), inputs: 3_000 };
            let outcome = run(target, bounds, 1, &Current::default()).unwrap();
            assert_eq!(outcome.broken, None, "{}", target.name);
            assert!(outcome.outcomes >= 10, "{}: {outcome:?}", target.name);
        }
    }

    /// A target that breaks its word is found, with the input.
    #[test]
    fn what_breaks_is_told() {
        fn feed(input: &[u8]) -> u64 {
            assert!(!input.contains(&b'x'), "there is an x");
            0
        }
        let [mut target, ..] = TARGETS;
        target.feed = feed;
        let bounds = Bounds { time: Duration::from_secs(60), inputs: 100_000 };
        let outcome = run(&target, bounds, 1, &Current::default()).unwrap();
        let (input, why) = outcome.broken.unwrap();
        assert!(input.contains(&b'x') && why == "there is an x", "{why}");
    }
}
