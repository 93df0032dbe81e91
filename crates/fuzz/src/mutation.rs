//! Makes new inputs from others: bytes are changed, removed, repeated, or replaced by words of the
//! format; two inputs are joined.
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The longest input in bytes.
pub const MOST_BYTES: usize = 8_192;
/// The maximum number of changes at a time.
const MOST_CHANGES: usize = 6;
/// Bytes at which numbers overflow, and other special bytes.
const EDGES: [u8; 10] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'\r', b'\n', b' '];

/// Changes `input`, with the help of another input and words of its format.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], words: &[&[u8]], random: &mut Xoshiro256PlusPlus) {
    for _ in 0..random.random_range(1..=MOST_CHANGES) {
        change(input, other, words, random);
    }
    input.truncate(MOST_BYTES);
}

fn change(input: &mut Vec<u8>, other: &[u8], words: &[&[u8]], random: &mut Xoshiro256PlusPlus) {
    let length = input.len();
    let at = random.random_range(0..=length);
    let until = (at + random.random_range(0..=16)).min(length);
    match random.random_range(0..9) {
        0 if at < length => input[at] ^= 1 << random.random_range(0..8),
        1 if at < length => input[at] = EDGES[random.random_range(0..EDGES.len())],
        2 if at < length => {
            input[at] = input[at].wrapping_add(random.random_range(0..=8)).wrapping_sub(4)
        }
        3 => drop(input.drain(at..until)),
        4 => {
            let piece = input[at..until].repeat(random.random_range(1..=4));
            input.splice(at..at, piece);
        }
        5 => input.insert(at, random.random_range(0..=255)),
        6 if !other.is_empty() => {
            let from = random.random_range(0..other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        7 => input.truncate(at),
        _ if !words.is_empty() => {
            let word = words[random.random_range(0..words.len())];
            let until = if random.random_bool(0.5) { at } else { (at + word.len()).min(length) };
            input.splice(at..until, word.iter().copied());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::HashSet;

    #[test]
    fn inputs_change_in_many_ways_and_stay_bounded() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = HashSet::new();
        let mut input = Vec::new();
        for _ in 0..10_000 {
            mutate(&mut input, b"another input", &[b"word"], &mut random);
            assert!(input.len() <= MOST_BYTES);
            seen.insert(input.clone());
        }
        assert!(seen.len() > 8_000, "{}", seen.len());
    }
}
