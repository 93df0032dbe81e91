//! A protocol's bytes for one connection that wait for the kernel.
use crate::protocol::{Bytes, Outgoing};

/// Frames that wait for the kernel.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub bytes: Vec<u8>,
    sent: usize,
    /// How many of the bytes that wait answer the server's questions, at the most.
    replies: usize,
}

/// If this many bytes of replies wait, the server floods us with questions and does not read the
/// answers.
const MOST_REPLIES: usize = 2 << 20;
/// Buffers for requests of usual size are kept for the next ones.
const KEPT_BYTES: usize = 16 * 1024;

impl Frames {
    /// How many bytes wait.
    pub const fn waiting(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Appends the answer to a question of the server, a ping for example. Returns whether the
    /// server floods us with questions and does not read the answers.
    pub fn reply(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> bool {
        let before = self.bytes.len();
        put(&mut self.bytes);
        self.replies += self.bytes.len() - before;
        self.replies > MOST_REPLIES
    }
}

impl Outgoing for Frames {
    #[inline]
    fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }
    #[inline]
    fn bytes(&self) -> Bytes<'_> {
        Bytes::Own(&self.bytes[self.sent..])
    }
    #[inline]
    fn took(&mut self, count: u32) {
        self.sent += count as usize;
        if self.is_empty() {
            (self.sent, self.replies) = (0, 0);
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
        } else if self.sent > self.waiting().max(KEPT_BYTES) {
            // More may always be waiting, so what was sent must not stay until nothing is. At least
            // half is forgotten, so that each byte moves once or so.
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        self.replies = self.replies.min(self.waiting());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_forgotten_though_more_waits() {
        let mut frames = Frames::default();
        for _ in 0..1_000 {
            frames.bytes.extend_from_slice(&[7; 10_000]);
            let Bytes::Own(waiting) = frames.bytes() else { panic!("own bytes") };
            assert!(waiting.iter().all(|byte| *byte == 7) && waiting.len() == frames.waiting());
            let some = frames.waiting().min(9_999) as u32;
            frames.took(some);
        }
        assert_eq!(frames.waiting(), 1_000);
        assert!(frames.bytes.len() < 100_000, "{} bytes are kept", frames.bytes.len());
    }

    #[test]
    fn only_replies_are_a_flood() {
        let mut frames = Frames::default();
        frames.bytes.resize(10 << 20, 0);
        assert!(!frames.reply(|bytes| bytes.extend_from_slice(b"pong")));
        assert!(frames.reply(|bytes| bytes.resize(bytes.len() + MOST_REPLIES, 0)));
        frames.took(frames.waiting() as u32 - 4);
        assert!(!frames.reply(|bytes| bytes.extend_from_slice(b"pong")), "they were sent");
    }
}
