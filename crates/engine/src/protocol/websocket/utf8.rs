//! Whether a text that comes in pieces is UTF-8.

/// The begin of a character whose end has not come.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    partial: [u8; 4],
    have: u8,
}

impl Utf8 {
    /// Whether the text may go on after these bytes.
    #[inline]
    pub fn accepts(&mut self, piece: &[u8]) -> bool {
        let mut rest = piece;
        while self.have > 0 {
            let Some((byte, behind)) = rest.split_first() else { return true };
            rest = behind;
            self.partial[usize::from(self.have)] = *byte;
            self.have += 1;
            match str::from_utf8(&self.partial[..usize::from(self.have)]) {
                Ok(_) => self.have = 0,
                // The fourth byte completes a character or proves that there is none.
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match str::from_utf8(rest) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let tail = &rest[error.valid_up_to()..];
                self.partial[..tail.len()].copy_from_slice(tail);
                self.have = tail.len() as u8;
                true
            }
        }
    }

    /// Whether the text may end here.
    pub const fn is_complete(&self) -> bool {
        self.have == 0
    }

    pub const fn reset(&mut self) {
        self.have = 0;
    }
}
