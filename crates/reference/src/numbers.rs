//! Numbers of 20 digits that reveal when they were issued, but only with the key.
//!
//! A number is the n-th of its issuer and the instant of its issue, permuted by Speck64/128
//! (Beaulieu et al. 2013, "The SIMON and SPECK families of lightweight block ciphers"). So no two
//! are alike, nobody can predict one, and the key is enough to read both values back.

/// The length of a number.
pub const DIGITS: usize = 20;

/// The resolution of instants, in nanoseconds.
pub const TICK_NS: u64 = 1 << 10;

/// Bits of the n-th, and of the instant in ticks (19.5 hours, then it begins again).
const NTH_BITS: u32 = 28;
const TICK_BITS: u32 = 64 - NTH_BITS;

/// How many different numbers there are at one instant.
pub const MOST: u32 = 1 << NTH_BITS;

const ROUNDS: usize = 27;

/// What issues numbers and reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers {
    key: u128,
    round_keys: [u32; ROUNDS],
}

/// What a number tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// Which of the issuer's numbers it is; below [`MOST`].
    pub nth: u32,
    /// When it was issued: CLOCK_MONOTONIC in ticks of [`TICK_NS`], modulo 2^36.
    tick: u64,
}

impl Issue {
    /// Whether it was issued at this instant (CLOCK_MONOTONIC, nanoseconds) or later, by at most 9
    /// hours.
    #[must_use]
    pub const fn is_not_before(self, instant_ns: u64) -> bool {
        self.since(instant_ns) < 1 << (TICK_BITS - 1)
    }

    /// Whether it was issued at this instant or before, by at most 9 hours.
    #[must_use]
    pub const fn is_not_after(self, instant_ns: u64) -> bool {
        let since = self.since(instant_ns);
        since == 0 || since >= 1 << (TICK_BITS - 1)
    }

    const fn since(self, instant_ns: u64) -> u64 {
        self.tick.wrapping_sub(instant_ns / TICK_NS) & ((1 << TICK_BITS) - 1)
    }
}

impl Numbers {
    /// With the key of 128 bits that issuer and reader share.
    #[must_use]
    pub fn new(key: u128) -> Self {
        let word = |nth: u32| (key >> (32 * nth)) as u32;
        let mut schedule = [word(1), word(2), word(3)];
        let mut round_keys = [word(0); ROUNDS];
        for nth in 0..ROUNDS - 1 {
            let (left, right) = round(schedule[nth % 3], round_keys[nth], nth as u32);
            schedule[nth % 3] = left;
            round_keys[nth + 1] = right;
        }
        Self { key, round_keys }
    }

    /// The key, with which another process reads the same numbers.
    #[must_use]
    pub const fn key(&self) -> u128 {
        self.key
    }

    /// The digits of the n-th number, issued at this instant (CLOCK_MONOTONIC, nanoseconds).
    #[must_use]
    pub fn issue(&self, nth: u32, issued_ns: u64) -> [u8; DIGITS] {
        let mut rest = self.permute((issued_ns / TICK_NS) << NTH_BITS | u64::from(nth % MOST));
        let mut digits = [b'0'; DIGITS];
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        digits
    }

    /// Reads digits back; `None` if they are not a number of 20 digits below 2^64.
    #[must_use]
    pub fn read(&self, digits: &[u8]) -> Option<Issue> {
        if digits.len() != DIGITS || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = digits.iter().try_fold(0_u64, |number, digit| {
            number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })?;
        let plain = self.permute_back(number);
        Some(Issue { nth: plain as u32 % MOST, tick: plain >> NTH_BITS })
    }

    fn permute(&self, block: u64) -> u64 {
        let (left, right) = self
            .round_keys
            .iter()
            .fold(((block >> 32) as u32, block as u32), |(left, right), key| {
                round(left, right, *key)
            });
        u64::from(left) << 32 | u64::from(right)
    }

    fn permute_back(&self, block: u64) -> u64 {
        let (left, right) = self.round_keys.iter().rev().fold(
            ((block >> 32) as u32, block as u32),
            |(left, right), key| {
                let right = (left ^ right).rotate_right(3);
                ((left ^ key).wrapping_sub(right).rotate_left(8), right)
            },
        );
        u64::from(left) << 32 | u64::from(right)
    }
}

const fn round(left: u32, right: u32, key: u32) -> (u32, u32) {
    let left = left.rotate_right(8).wrapping_add(right) ^ key;
    (left, right.rotate_left(3) ^ left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permutation_is_the_published_one() {
        // The paper's test vector for Speck64/128.
        let numbers = Numbers::new(0x1b1a_1918_1312_1110_0b0a_0908_0302_0100);
        assert_eq!(numbers.permute(0x3b72_6574_7475_432d), 0x8c6f_a548_454e_028b);
        assert_eq!(numbers.permute_back(0x8c6f_a548_454e_028b), 0x3b72_6574_7475_432d);
    }

    #[test]
    fn a_number_tells_what_it_was_issued_for() {
        let numbers = Numbers::new(7);
        for (nth, issued_ns) in [(0, 0), (1, 5_000_000_000), (MOST - 1, u64::MAX / 2)] {
            let issue = numbers.read(&numbers.issue(nth, issued_ns)).unwrap();
            assert_eq!(issue.nth, nth);
            assert!(issue.is_not_before(issued_ns) && issue.is_not_after(issued_ns));
            assert!(!issue.is_not_before(issued_ns + TICK_NS));
            if issued_ns > TICK_NS {
                assert!(!issue.is_not_after(issued_ns - TICK_NS));
            }
        }
    }

    #[test]
    fn what_is_no_number_tells_nothing() {
        let numbers = Numbers::new(7);
        for wrong in ["", "1234567890123456789", "99999999999999999999", "1234567890123456789x"] {
            assert_eq!(numbers.read(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
