//! Long texts over NATS. They are cut into pieces, only some are in transit at once, and each is
//! sent again until it has arrived. A server accepts messages up to a size (1 MiB by default), and
//! disconnects a client that does not read fast enough (64 MiB by default).
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The longest piece, in bytes of text.
pub const LONGEST: usize = 32 << 10;
/// The most pieces of one text: 256 MiB. An agent's result is far below that.
pub const MOST: u32 = 8_192;
/// The most texts of one sender that wait for one before them.
const MOST_TEXTS: u32 = 65_536;
/// How many pieces of all agents may be in transit to one coordinator: 16 MiB.
pub const UNDER_WAY: usize = 512;
/// A piece is sent again after this time, nanoseconds.
const AGAIN_NS: u64 = 1_000_000_000;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The number of its text, from 0.
    pub text_nth: u32,
    /// Its number within the text, from 0.
    pub nth: u32,
    /// The number of pieces of the text.
    pub of: u32,
    /// Its content.
    pub text: String,
}

/// Cuts a text into pieces of at most `longest` bytes (which must be at least 4). Returns at least
/// one piece.
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

/// Texts that have not arrived yet.
#[derive(Debug)]
pub struct Outbox {
    at_once: usize,
    texts: u32,
    waiting: VecDeque<Piece>,
    /// Pieces that were sent, with the instant at which to send them again.
    under_way: Vec<(Piece, u64)>,
}

impl Outbox {
    /// With at most this many pieces in transit, but at least one.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        let (waiting, under_way) = (VecDeque::new(), Vec::new());
        Self { at_once: at_once.max(1), texts: 0, waiting, under_way }
    }

    /// Adds a text.
    pub fn put(&mut self, text: &str) {
        let pieces = split(text, LONGEST);
        let (text_nth, of) = (self.texts, pieces.len() as u32);
        self.texts += 1;
        let piece = |(nth, text)| Piece { text_nth, nth, of, text };
        self.waiting.extend((0..).zip(pieces).map(piece));
    }

    /// A piece has arrived.
    pub fn got(&mut self, text_nth: u32, nth: u32) {
        self.under_way.retain(|(piece, _)| (piece.text_nth, piece.nth) != (text_nth, nth));
    }

    /// The pieces to send now.
    pub fn due(&mut self, now_ns: u64) -> Vec<Piece> {
        let free = self.at_once.saturating_sub(self.under_way.len());
        for piece in self.waiting.drain(..free.min(self.waiting.len())) {
            self.under_way.push((piece, now_ns));
        }
        let mut due = Vec::new();
        for (piece, again_ns) in self.under_way.iter_mut().filter(|(_, again)| *again <= now_ns) {
            *again_ns = now_ns + AGAIN_NS;
            due.push(piece.clone());
        }
        due
    }

    /// Whether everything has arrived.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }
}

/// Puts arriving texts together. Their pieces may come in any order and several times.
#[derive(Debug, Default)]
pub struct Inbox {
    next: u32,
    texts: BTreeMap<u32, BTreeMap<u32, String>>,
    /// How many pieces each text has.
    lengths: BTreeMap<u32, u32>,
    /// How many different pieces have come.
    pieces: u64,
}

impl Inbox {
    /// How many different pieces have come so far.
    #[must_use]
    pub const fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Takes a piece. Returns the texts that are complete now, in the order in which they were put.
    pub fn take(&mut self, piece: Piece) -> Vec<String> {
        let is_early = piece.text_nth.checked_sub(self.next).is_none_or(|ahead| ahead > MOST_TEXTS);
        if is_early || piece.of > MOST || piece.nth >= piece.of || piece.text.len() > LONGEST {
            return Vec::new();
        }
        // The first piece says how many there are.
        if *self.lengths.entry(piece.text_nth).or_insert(piece.of) != piece.of {
            return Vec::new();
        }
        let pieces = self.texts.entry(piece.text_nth).or_default();
        if pieces.insert(piece.nth, piece.text).is_none() {
            self.pieces += 1;
        }
        let mut whole = Vec::new();
        while let Some(pieces) = self.texts.get(&self.next)
            && self.lengths.get(&self.next).is_some_and(|of| pieces.len() as u64 == u64::from(*of))
        {
            whole.push(pieces.values().map(String::as_str).collect());
            self.texts.remove(&self.next);
            self.lengths.remove(&self.next);
            self.next += 1;
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cut_text_is_the_text(text in "\\PC{0,60}", longest in 4_usize..20) {
            let cut = split(&text, longest);
            prop_assert!(cut.iter().all(|piece| piece.len() <= longest));
            prop_assert_eq!(cut.concat(), text);
        }

        /// Each message gets lost, arrives, or arrives twice, as `fates` says.
        #[test]
        fn texts_arrive_whole_and_in_order_whatever_gets_lost(
            lengths in proptest::collection::vec(0_usize..4 * LONGEST, 1..4),
            at_once in 1_usize..5,
            fates in proptest::collection::vec(0_u8..4, 200),
        ) {
            let texts: Vec<String> = lengths.iter().map(|length| "é".repeat(length / 2)).collect();
            let (mut outbox, mut inbox) = (Outbox::new(at_once), Inbox::default());
            texts.iter().for_each(|text| outbox.put(text));
            let mut fates = fates.into_iter();
            let (mut now_ns, mut arrived) = (0, Vec::new());
            while !outbox.is_empty() {
                let due = outbox.due(now_ns);
                prop_assert!(due.len() <= at_once);
                for piece in due.into_iter().rev() {
                    // After the last fate, everything arrives.
                    let fate = fates.next().unwrap_or(3);
                    let (text_nth, nth) = (piece.text_nth, piece.nth);
                    if fate > 0 {
                        arrived.extend(inbox.take(piece.clone()));
                    }
                    if fate > 1 {
                        arrived.extend(inbox.take(piece));
                        outbox.got(text_nth, nth);
                    }
                }
                now_ns += AGAIN_NS;
            }
            prop_assert_eq!(arrived, texts);
        }
    }
}
