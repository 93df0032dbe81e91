//! FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): a short key of bytes, the same in every
//! version of the program. It is no protection against anybody.

/// A hash under way.
#[derive(Debug, Clone, Copy)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// With further bytes.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, add))
    }

    /// The hash of all bytes so far.
    #[must_use]
    pub const fn finish(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of the draft's own test vectors.
    #[test]
    fn it_is_the_hash_of_the_draft() {
        let of = |text: &str| Fnv1a::default().with(text.as_bytes()).finish();
        assert_eq!((of(""), of("foobar")), (0xcbf2_9ce4_8422_2325, 0x8594_4171_f739_67e8));
        assert_eq!(Fnv1a::default().with(b"foo").with(b"bar").finish(), of("foobar"));
    }
}
