//! Nonces, masks and numbers of messages.
use std::cell::RefCell;

use pippin_model::workload::draw::Draw;
use ring::rand::{SecureRandom, SystemRandom};

/// Numbers that nobody can foresee who does not know the first one, which the kernel gives. A
/// number comes again after 2^64 of them only.
#[derive(Debug)]
pub(super) struct Random(RefCell<Draw>);

impl Random {
    /// Where the kernel gives no random numbers, the clock has to do: numbers must differ, and
    /// nothing that is secret hangs on them.
    pub fn new() -> Self {
        let mut seed = [0; 8];
        if SystemRandom::new().fill(&mut seed).is_err() {
            seed = crate::time::clock::now_ns().to_ne_bytes();
        }
        Self(RefCell::new(Draw::new(u64::from_ne_bytes(seed))))
    }

    #[inline]
    pub fn next(&self) -> u64 {
        self.0.borrow_mut().bits()
    }

    /// The key of a mask (RFC 6455 section 5.3).
    #[inline]
    pub fn mask(&self) -> [u8; 4] {
        (self.next() as u32).to_ne_bytes()
    }

    /// The nonce of a handshake (section 4.1).
    pub fn nonce(&self) -> [u8; 16] {
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&self.next().to_ne_bytes());
        nonce[8..].copy_from_slice(&self.next().to_ne_bytes());
        nonce
    }
}
