//! One direction of a TCP connection.
use std::collections::VecDeque;

use super::capture::Segment;
use super::exchanges::{Cut, Message};

/// Bytes in order, each piece with the arrival of its segment.
#[derive(Debug, Default)]
pub(super) struct Stream {
    next: Option<u32>,
    bytes: Vec<u8>,
    /// Up to which byte of `bytes` had arrived when.
    pieces: VecDeque<(usize, u64)>,
    /// Segments that came before their turn.
    early: Vec<Segment>,
}

impl Stream {
    /// The stream of a connection whose SYN had this number.
    pub fn after_syn(sequence: u32) -> Self {
        Self { next: Some(sequence.wrapping_add(1)), ..Self::default() }
    }

    /// Adds a segment. What is repeated is left out; a repetition may carry new bytes at its end.
    pub fn push(&mut self, segment: &Segment) {
        self.early.push(segment.clone());
        while let Some(at) = self.early.iter().position(|one| self.known(one).is_some()) {
            let segment = self.early.swap_remove(at);
            let known = self.known(&segment).unwrap_or_default();
            let Some(fresh) = segment.payload.get(known..).filter(|bytes| !bytes.is_empty()) else {
                continue;
            };
            self.next = Some(segment.sequence.wrapping_add(segment.payload.len() as u32));
            self.bytes.extend(fresh);
            self.pieces.push_back((self.bytes.len(), segment.at_ns));
        }
    }

    /// How many of the segment's bytes are here already; `None` if others must come before it.
    /// Numbers wrap around (RFC 9293, section 3.4).
    fn known(&self, segment: &Segment) -> Option<usize> {
        let next = self.next.unwrap_or(segment.sequence);
        usize::try_from(next.wrapping_sub(segment.sequence).cast_signed()).ok()
    }

    /// Takes the first message, and when its first byte, the end of its head and its last byte
    /// arrived.
    pub fn take(&mut self, cut: Cut) -> Option<(Message, [u64; 3])> {
        let message @ Message { first, head, whole, .. } = cut(&self.bytes)?;
        if self.bytes.len() < whole {
            return None;
        }
        let at = |count: usize| {
            self.pieces.iter().find(|(end, _)| *end >= count).map(|(_, at_ns)| *at_ns)
        };
        let times = [at(first)?, at(head)?, at(whole)?];
        self.bytes.drain(..whole);
        self.pieces.retain_mut(|(end, _)| {
            let is_left = *end > whole;
            *end = end.saturating_sub(whole);
            is_left
        });
        Some((message, times))
    }

    /// What is no whole message yet.
    pub fn rest(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchanges;
    use super::{Segment, Stream};

    fn segment(at_ns: u64, sequence: u32, payload: &[u8]) -> Segment {
        Segment {
            at_ns,
            from_port: 1,
            to_port: 2,
            sequence,
            is_syn: false,
            is_ack: true,
            payload: payload.to_vec(),
        }
    }

    #[test]
    fn repetitions_and_early_segments_are_put_in_order() {
        let mut stream = Stream::after_syn(u32::MAX - 1);
        stream.push(&segment(1, u32::MAX, b"GET / "));
        // It came before what precedes it, and then again together with that.
        stream.push(&segment(2, 13, b"\r\n\r\n"));
        stream.push(&segment(3, u32::MAX, b"GET / HTTP/1.1\r\n\r\nGET"));
        assert_eq!(stream.take(exchanges::get).unwrap().1, [1, 3, 3]);
        assert_eq!(stream.rest(), b"GET");
    }
}
