//! A result in pieces: a NATS server takes messages up to a size (1 MiB by default).
use std::collections::BTreeMap;

/// The longest piece, in bytes of text.
pub const LONGEST: usize = 256 << 10;

/// Cuts a text into pieces of at most `longest` bytes (and at least 4); at least one piece.
#[must_use]
pub fn split(text: &str, longest: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > longest {
        let end = (0..=longest).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(longest);
        let (piece, tail) = rest.split_at(end.max(1));
        pieces.push(piece.to_string());
        rest = tail;
    }
    pieces.push(rest.to_string());
    pieces
}

/// The pieces that have arrived, in any order, some of them several times.
#[derive(Debug, Default)]
pub struct Pieces {
    of: u32,
    have: BTreeMap<u32, String>,
}

impl Pieces {
    /// Takes a piece; the whole text once all are there.
    pub fn take(&mut self, nth: u32, of: u32, text: String) -> Option<String> {
        if of != self.of {
            (self.of, self.have) = (of, BTreeMap::new());
        }
        if nth < of {
            self.have.insert(nth, text);
        }
        (self.have.len() as u64 == u64::from(of)).then(|| self.have.values().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_in_any_order_are_the_text(text in "\\PC{0,60}", longest in 4_usize..20, turn in 0_usize..20) {
            let mut cut = split(&text, longest);
            prop_assert!(cut.iter().all(|piece| piece.len() <= longest));
            let of = cut.len() as u32;
            let mut numbered: Vec<(u32, String)> = (0..).zip(cut.drain(..)).collect();
            numbered.rotate_left(turn % of as usize);
            let mut pieces = Pieces::default();
            let mut whole = None;
            for (nth, piece) in numbered {
                prop_assert!(whole.is_none());
                // The same piece twice changes nothing.
                pieces.take(nth, of, piece.clone());
                whole = pieces.take(nth, of, piece);
            }
            prop_assert_eq!(whole, Some(text));
        }
    }
}
