//! Bodies that are made while they are sent. They are too long to be kept for each request, and no
//! two requests have the same one.
//!
//! A body is bytes that repeat every [`Content::BYTES`], with a number of [`DRAWN`] digits over its
//! first bytes and over its last ones. So who leaves out its begin, or its end, has another body.
use serde::{Deserialize, Serialize};

use super::DRAWN;
use crate::workload::draw::Draw;

/// How the body of a request is made and sent. Its number is [`super::Request::drawn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Upload {
    /// Its length in bytes.
    pub bytes: u64,
    /// In chunks (RFC 9112 section 7.1); otherwise with `Content-Length`.
    pub chunked: bool,
    /// From which the bytes between the numbers are drawn.
    pub key: u64,
}

/// The bytes of all bodies that have the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    base: Vec<u8>,
}

impl Content {
    /// How many bytes there are before they repeat.
    pub const BYTES: usize = 256 * 1024;

    /// The bytes of this key.
    #[must_use]
    pub fn from_key(key: u64) -> Self {
        let mut draw = Draw::new(key);
        let words = Self::BYTES / size_of::<u64>();
        Self { base: (0..words).flat_map(|_| draw.bits().to_le_bytes()).collect() }
    }

    /// The bytes without any number, [`Self::BYTES`] of them.
    #[must_use]
    pub fn base(&self) -> &[u8] {
        &self.base
    }

    /// Appends the bytes `from..to` of a body that has `bytes` in all and this number.
    pub fn put(&self, bytes: u64, number: [u8; DRAWN], from: u64, to: u64, out: &mut Vec<u8>) {
        let begin = out.len();
        let mut at = from;
        while at < to {
            let place = (at % Self::BYTES as u64) as usize;
            let length = (to - at).min((Self::BYTES - place) as u64) as usize;
            out.extend_from_slice(&self.base[place..place + length]);
            at += length as u64;
        }
        let mut write = |at: u64, byte: u8| {
            if (from..to).contains(&at) {
                out[begin + (at - from) as usize] = byte;
            }
        };
        for (nth, byte) in (0..bytes).zip(number) {
            write(nth, byte);
        }
        // In a body that has no room for both, the second one covers the first.
        for (nth, byte) in (0..).zip(number) {
            if let Some(at) = (bytes + nth).checked_sub(DRAWN as u64) {
                write(at, byte);
            }
        }
    }

    /// A whole body.
    #[must_use]
    pub fn whole(&self, bytes: u64, number: [u8; DRAWN]) -> Vec<u8> {
        let mut body = Vec::with_capacity(bytes as usize);
        self.put(bytes, number, 0, bytes, &mut body);
        body
    }
}

/// The number in this text of [`DRAWN`] digits; `None` if it is something else.
#[must_use]
pub fn number(digits: &str) -> Option<[u8; DRAWN]> {
    let number: [u8; DRAWN] = digits.as_bytes().try_into().ok()?;
    number.iter().all(u8::is_ascii_digit).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: [u8; DRAWN] = *b"12345678";

    #[test]
    fn a_body_has_its_number_at_both_ends_and_repeats_between_them() {
        let content = Content::from_key(7);
        let length = 3 * Content::BYTES + 1_000;
        let body = content.whole(length as u64, NUMBER);
        assert_eq!(body.len(), length);
        assert!(body.starts_with(&NUMBER) && body.ends_with(&NUMBER));
        assert_eq!(body[8..1_000], content.base()[8..1_000]);
        assert_eq!(body[Content::BYTES..2 * Content::BYTES], *content.base());
        assert_ne!(content, Content::from_key(8));
    }

    #[test]
    fn a_body_in_any_parts_is_the_whole_body() {
        let content = Content::from_key(7);
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 1_000, 262_143, 262_145, 600_000] {
            let whole = content.whole(length, NUMBER);
            for step in [3, 1_000, 16_384, 300_000] {
                if length / step > 1_000 {
                    continue;
                }
                let mut parts = Vec::new();
                let mut at = 0;
                while at < length {
                    let to = (at + step).min(length);
                    content.put(length, NUMBER, at, to, &mut parts);
                    at = to;
                }
                assert!(parts == whole, "{length} in parts of {step}");
            }
        }
        assert_eq!(content.whole(5, NUMBER), b"45678", "the second number covers the first");
        assert_eq!(content.whole(10, NUMBER), b"1212345678");
    }

    #[test]
    fn only_eight_digits_are_a_number() {
        assert_eq!(number("12345678"), Some(NUMBER));
        for other in ["", "1234567", "123456789", "1234567a"] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
