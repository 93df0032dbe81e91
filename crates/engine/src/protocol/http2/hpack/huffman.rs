//! The Huffman code of header strings (RFC 7541 section 5.2 and appendix B).
//!
//! The code is canonical: codes of one length are consecutive numbers in the order of their
//! symbols, and the next length continues from there. So the lengths define the code.

/// The length of each symbol's code in bits; the last symbol is the end of the string.
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];
const SYMBOLS: usize = 257;
/// The end of a string, which no string may hold.
const END: u16 = 256;
const LONGEST: usize = 30;

/// What decoding needs, made from [`LENGTHS`] when this is compiled.
struct Code {
    /// All symbols, those with short codes first.
    sorted: [u16; SYMBOLS],
    /// For each length: the first code of it, shifted to the left of 32 bits.
    first: [u32; LONGEST + 2],
    /// For each length: where its symbols begin in `sorted`.
    offset: [u16; LONGEST + 2],
    /// For each symbol: its code.
    codes: [u32; SYMBOLS],
    /// For each byte that begins with a whole code: its symbol and length; else a length of 0.
    short: [(u8, u8); 256],
}

static CODE: Code = Code::new();

impl Code {
    const fn new() -> Self {
        let mut code = Self {
            sorted: [0; SYMBOLS],
            first: [0; LONGEST + 2],
            offset: [0; LONGEST + 2],
            codes: [0; SYMBOLS],
            short: [(0, 0); 256],
        };
        let (mut next, mut place, mut length) = (0_u64, 0, 1);
        while length <= LONGEST {
            code.first[length] = (next << (32 - length)) as u32;
            code.offset[length] = place;
            let mut symbol = 0;
            while symbol < SYMBOLS {
                if LENGTHS[symbol] as usize == length {
                    code.sorted[place as usize] = symbol as u16;
                    code.codes[symbol] = next as u32;
                    if length <= 8 {
                        let mut byte = (next << (8 - length)) as usize;
                        let end = byte + (1 << (8 - length));
                        while byte < end {
                            code.short[byte] = (symbol as u8, length as u8);
                            byte += 1;
                        }
                    }
                    place += 1;
                    next += 1;
                }
                symbol += 1;
            }
            next <<= 1;
            length += 1;
        }
        code.first[LONGEST + 1] = u32::MAX;
        code.offset[LONGEST + 1] = place;
        code
    }

    /// The symbol with which these 32 bits begin, and the length of its code.
    fn long(&self, bits: u32) -> (u16, u32) {
        let mut length = 9;
        while length < LONGEST && bits >= self.first[length + 1] {
            length += 1;
        }
        let behind = (bits - self.first[length]) >> (32 - length);
        (self.sorted[self.offset[length] as usize + behind as usize], length as u32)
    }
}

/// Appends the decoded string to `out`; `None` if it holds the end of the string, or its padding is
/// longer than 7 bits or not the beginning of that end.
#[must_use]
pub(super) fn decode(encoded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // The lowest `count` bits are still to be decoded.
    let (mut bits, mut count, mut rest) = (0_u64, 0_u32, encoded.iter());
    loop {
        while count <= 48 {
            let Some(byte) = rest.next() else { break };
            bits = bits << 8 | u64::from(*byte);
            count += 8;
        }
        if count == 0 {
            return Some(());
        }
        // The next 32 bits, with ones behind the last.
        let ahead = match count.checked_sub(32) {
            Some(behind) => (bits >> behind) as u32,
            None => (((bits + 1) << (32 - count)) - 1) as u32,
        };
        let (symbol, length) = match CODE.short[(ahead >> 24) as usize] {
            (_, 0) => CODE.long(ahead),
            (symbol, length) => (u16::from(symbol), u32::from(length)),
        };
        if length > count {
            let is_ones = bits & ((1 << count) - 1) == (1 << count) - 1;
            return (count < 8 && is_ones).then_some(());
        }
        if symbol == END {
            return None;
        }
        out.push(symbol as u8);
        count -= length;
        bits &= (1 << count) - 1;
    }
}

/// The encoded form of a string.
pub(super) fn encode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0_u64, 0_u32);
    for byte in text {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(CODE.codes[usize::from(*byte)]);
        count += length;
        while count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        out.push((bits << (8 - count)) as u8 | (0xFF >> count));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(encoded: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(encoded, &mut out).map(|()| out)
    }

    /// RFC 7541 appendix C.4 and C.6.
    #[test]
    fn the_examples_of_the_rfc() {
        for (text, encoded) in [
            (
                "www.example.com",
                &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..],
            ),
            ("no-cache", &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]),
            ("302", &[0x64, 0x02]),
            ("private", &[0xae, 0xc3, 0x77, 0x1a, 0x4b]),
        ] {
            assert_eq!(encode(text.as_bytes()), encoded);
            assert_eq!(decoded(encoded).as_deref(), Some(text.as_bytes()));
        }
    }

    /// RFC 7541 section 5.2: padding of 8 bits or more, padding that is not ones, and the end of
    /// the string are errors.
    #[test]
    fn bad_ends_are_refused() {
        assert_eq!(decoded(&[0xFF]), None);
        assert_eq!(decoded(&[0x64, 0x02, 0xFF]), None);
        // `0` is five zeros; what follows must be ones.
        assert_eq!(decoded(&[0b0000_0111]).as_deref(), Some(&b"0"[..]));
        assert_eq!(decoded(&[0b0000_0110]), None);
        assert_eq!(decoded(&[0xFF; 4]), None);
    }

    #[test]
    fn every_byte_has_a_code() {
        for byte in 0..=255_u8 {
            assert_eq!(decoded(&encode(&[byte])).as_deref(), Some(&[byte][..]));
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(text: Vec<u8>) {
            prop_assert_eq!(decoded(&encode(&text)), Some(text));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            if let Some(text) = decoded(&bytes) {
                prop_assert_eq!(encode(&text), bytes);
            }
        }
    }
}
