//! The hashes of RFC 7616 section 3.4.1, and those of RFC 2069 where no quality of protection is asked.
use md5::{Digest as _, Md5};
use sha2::Sha256;

use super::Challenge;

/// What is hashed with (RFC 7616 section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hash {
    Md5,
    Sha256,
}

/// A hash under way. What many texts begin with is hashed once.
#[derive(Debug, Clone)]
pub(super) enum Hashing {
    Md5(Md5),
    Sha256(Sha256),
}

/// The hexadecimal digits of a hash, in lower case.
pub(super) struct Hex {
    digits: [u8; 64],
    length: usize,
}

impl std::ops::Deref for Hex {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.digits[..self.length]
    }
}

impl Hashing {
    /// The parts joined by colons.
    pub fn from_parts(hash: Hash, parts: &[&[u8]]) -> Self {
        let begun = match hash {
            Hash::Md5 => Self::Md5(Md5::new()),
            Hash::Sha256 => Self::Sha256(Sha256::new()),
        };
        let Some((first, others)) = parts.split_first() else { return begun };
        others.iter().fold(begun.and(&[first]), |text, part| text.and(&[b":", part]))
    }

    /// With these bytes behind it.
    #[inline]
    pub fn and(mut self, parts: &[&[u8]]) -> Self {
        for part in parts {
            match &mut self {
                Self::Md5(text) => text.update(part),
                Self::Sha256(text) => text.update(part),
            }
        }
        self
    }

    #[inline]
    pub fn hex(self) -> Hex {
        match self {
            Self::Md5(text) => Hex::from_bytes(&text.finalize()),
            Self::Sha256(text) => Hex::from_bytes(&text.finalize()),
        }
    }
}

impl Hex {
    #[inline]
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
            pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
            pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        Self { digits, length: bytes.len() * 2 }
    }
}

/// What every response of a nonce begins with: H(A1) and the nonce (sections 3.4.1 and 3.4.2).
pub(super) fn begun((user, password): (&str, &str), asked: &Challenge, cnonce: &[u8]) -> Hashing {
    let Challenge { hash, realm, nonce, .. } = asked;
    let parts = [user, realm, password].map(str::as_bytes);
    let mut secret = Hashing::from_parts(*hash, &parts).hex();
    if asked.is_session {
        secret = Hashing::from_parts(*hash, &[&secret, nonce.as_bytes(), cnonce]).hex();
    }
    Hashing::from_parts(*hash, &[&secret, nonce.as_bytes()])
}

/// The response to a challenge for one request. `counted` is the number of the request and the
/// client's own nonce, where they are asked for.
#[inline]
pub(super) fn response(
    begun: &Hashing,
    hash: Hash,
    counted: Option<(&[u8], &[u8])>,
    (method, target): (&str, &str),
) -> Hex {
    let asked = Hashing::from_parts(hash, &[method.as_bytes(), target.as_bytes()]).hex();
    let text = match counted {
        Some((count, cnonce)) => begun.clone().and(&[b":", count, b":", cnonce, b":auth"]),
        None => begun.clone(),
    };
    text.and(&[b":", &asked]).hex()
}
