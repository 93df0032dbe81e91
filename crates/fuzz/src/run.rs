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

/// The limits of a run, which ends at the first one.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The longest time.
    pub time: Duration,
    /// The maximum number of inputs, without those of the corpus.
    pub inputs: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How many inputs were fed, including those of the corpus.
    pub inputs: u64,
    /// How many different outcomes were seen.
    pub outcomes: usize,
    /// The input that broke something, and the panic message.
    pub broken: Option<(Vec<u8>, String)>,
}

/// The input that is being fed, for the thread that watches.
pub type Current = Mutex<(u64, Vec<u8>)>;

/// The maximum number of inputs that are kept in memory.
const MOST_KEPT: usize = 4_096;

/// Feeds the corpus, and then mutations of it.
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

/// Feeds one input. Returns the message if it panics.
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

    /// Each run of the tests feeds the corpus and some mutations of it.
    #[test]
    fn nothing_breaks_and_much_is_seen() {
        for target in &TARGETS {
            let bounds = Bounds { time: Duration::from_secs(60), inputs: 3_000 };
            let outcome = run(target, bounds, 1, &Current::default()).unwrap();
            assert_eq!(outcome.broken, None, "{}", target.name);
            assert!(outcome.outcomes >= 10, "{}: {outcome:?}", target.name);
        }
    }

    /// If a target breaks its guarantee, that is reported with the input.
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
