//! Reads HdrHistogram's V2 encoding without the memory of a histogram: of a thousand agents, each
//! sends hundreds of them, and most are empty.
//!
//! The encoding: 40 bytes of head (big-endian: cookie, length of the payload, normalizing offset,
//! significant digits, lowest and highest value, ratio of integers to doubles), then the counts in
//! the order of their values, each as a zigzag LEB128 of at most 9 bytes; a negative number is a run
//! of so many counts of 0 (HdrHistogram's `AbstractHistogram.fillBufferFromCountsArray`, 2.1.12).
use super::{HIGHEST_NS, HistogramError, LOWEST_NS, SIGNIFICANT_DIGITS};

const COOKIE: u32 = 0x1c84_9313;
const HEAD: usize = 40;
/// Values are told apart in units of 64 ns: the largest power of 2 up to the lowest value.
const UNIT: u32 = LOWEST_NS.ilog2();
/// Half of the least power of 2 that holds twice 10^digits: 1,024 counts for each doubling.
const HALF: u64 = (2 * 10_u64.pow(SIGNIFICANT_DIGITS as u32)).next_power_of_two() / 2;

/// The payload of an encoding with the bounds of our histograms; `None` for all other bytes.
pub(super) fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let head = bytes.get(..HEAD)?;
    let u32_at = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let u64_at = |at: usize| Some(u64::from_be_bytes(head.get(at..at + 8)?.try_into().ok()?));
    let is_ours = u32_at(0)? == COOKIE
        && u32_at(8)? == 0
        && u32_at(12)? == u32::from(SIGNIFICANT_DIGITS)
        && (u64_at(16)?, u64_at(24)?) == (LOWEST_NS, HIGHEST_NS)
        && u64_at(32)? == 1_f64.to_bits();
    bytes.get(HEAD..HEAD.checked_add(u32_at(4)? as usize)?).filter(|_| is_ours)
}

/// Calls `each` with the lowest value (ns) of each count that is not 0, ascending, and that count.
///
/// # Errors
/// If the payload ends within a number, or has more counts than our histograms.
pub(super) fn walk(
    mut payload: &[u8],
    mut each: impl FnMut(u64, u64),
) -> Result<(), HistogramError> {
    let mut index = 0_u64;
    while !payload.is_empty() {
        let number = number(&mut payload).ok_or_else(|| wrong("it ends within a number"))?;
        if number > 0 {
            let value = value(index).ok_or_else(|| wrong("it has too many counts"))?;
            each(value, number.unsigned_abs());
        }
        let counts = if number < 0 { number.unsigned_abs() } else { 1 };
        index = index.checked_add(counts).ok_or_else(|| wrong("it has too many counts"))?;
    }
    Ok(())
}

fn wrong(what: &str) -> HistogramError {
    HistogramError(what.into())
}

/// The next number: seven bits a byte, the least first; the ninth byte has eight.
fn number(payload: &mut &[u8]) -> Option<i64> {
    let mut coded = 0_u64;
    for nth in 0..9 {
        let (byte, rest) = payload.split_first()?;
        *payload = rest;
        let bits = if nth == 8 { *byte } else { byte & 0x7f };
        coded |= u64::from(bits) << (7 * nth);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some((coded >> 1) as i64 ^ -((coded & 1) as i64))
}

/// The lowest value of a count; `None` beyond the last doubling, which holds the highest value.
fn value(index: u64) -> Option<u64> {
    let doubling = u32::try_from((index / HALF).saturating_sub(1)).ok()?;
    let within = if index < HALF { index } else { index % HALF + HALF };
    let bits = HALF.ilog2() + 1 + UNIT;
    let most = HIGHEST_NS.ilog2() + 1 - bits;
    (doubling <= most).then(|| within << (doubling + UNIT))
}
