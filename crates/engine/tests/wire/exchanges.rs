//! Captured segments put together to requests and answers.
use std::collections::{BTreeMap, VecDeque};

use crate::capture::Segment;

/// What the wire says of one load, in nanoseconds, each sorted.
#[derive(Debug, Default)]
pub struct Wire {
    pub connect: Vec<u64>,
    pub head: Vec<u64>,
    pub service: Vec<u64>,
    pub requests: u64,
    pub connections: u64,
}

/// The first message of a direction: how many bytes there are up to its first byte, the end of its
/// head and the end of the whole.
pub struct Message {
    first: usize,
    head: usize,
    whole: usize,
}

impl Message {
    /// A message that begins at once.
    const fn at_once(head: usize, whole: usize) -> Self {
        Self { first: 1, head, whole }
    }
}

/// How the bytes of one direction are cut into messages; `None` as long as it is unknown how long
/// the first one is.
pub type Cut = fn(&[u8]) -> Option<Message>;

/// One direction of a connection: bytes in order, each piece with the arrival of its segment.
#[derive(Default)]
struct Stream {
    next: Option<u32>,
    bytes: Vec<u8>,
    /// Up to which byte of `bytes` had arrived when.
    pieces: VecDeque<(usize, u64)>,
}

impl Stream {
    fn push(&mut self, segment: &Segment) {
        let next = self.next.get_or_insert(segment.sequence);
        // Nothing is lost or overtaken on the loopback; a repetition is left out.
        if segment.sequence != *next {
            return;
        }
        *next = next.wrapping_add(segment.payload.len() as u32);
        self.bytes.extend(&segment.payload);
        self.pieces.push_back((self.bytes.len(), segment.at_ns));
    }

    /// Takes the first message: when its first byte, its head and its last byte arrived.
    fn take(&mut self, cut: Cut) -> Option<[u64; 3]> {
        let Message { first, head, whole: all } = cut(&self.bytes)?;
        if self.bytes.len() < all {
            return None;
        }
        let at = |count: usize| self.pieces.iter().find(|(end, _)| *end >= count).unwrap().1;
        let times = [at(first), at(head), at(all)];
        self.bytes.drain(..all);
        self.pieces.retain_mut(|(end, _)| {
            let is_left = *end > all;
            *end = end.saturating_sub(all);
            is_left
        });
        Some(times)
    }
}

#[derive(Default)]
struct Connection {
    syn_at: u64,
    up: Stream,
    down: Stream,
    sent: VecDeque<u64>,
}

/// Follows all connections to `port`.
pub fn follow(segments: &[Segment], port: u16, request: Cut, answer: Cut) -> Wire {
    let mut wire = Wire::default();
    let mut connections: BTreeMap<u16, Connection> = BTreeMap::new();
    for segment in segments {
        let is_up = segment.to_port == port;
        let peer = if is_up { segment.from_port } else { segment.to_port };
        if segment.is_syn && is_up {
            wire.connections += 1;
            let up = Stream { next: Some(segment.sequence.wrapping_add(1)), ..Stream::default() };
            let fresh = Connection { syn_at: segment.at_ns, up, ..Connection::default() };
            connections.insert(peer, fresh);
            continue;
        }
        let Some(connection) = connections.get_mut(&peer) else { continue };
        if segment.is_syn {
            assert!(segment.is_ack);
            wire.connect.push(segment.at_ns - connection.syn_at);
            connection.down.next = Some(segment.sequence.wrapping_add(1));
        } else if segment.payload.is_empty() {
        } else if is_up {
            connection.up.push(segment);
            while let Some([first, ..]) = connection.up.take(request) {
                wire.requests += 1;
                connection.sent.push_back(first);
            }
        } else {
            connection.down.push(segment);
            while let Some([_, head, done]) = connection.down.take(answer) {
                let sent = connection.sent.pop_front();
                let sent = sent.unwrap_or_else(|| {
                    let unread = String::from_utf8_lossy(&connection.up.bytes);
                    panic!(
                        "answer {} has no request; not yet a request: {unread:?}",
                        wire.service.len()
                    )
                });
                wire.head.push(head - sent);
                wire.service.push(done - sent);
            }
        }
    }
    for spans in [&mut wire.connect, &mut wire.head, &mut wire.service] {
        spans.sort_unstable();
    }
    wire
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// A GET: a head alone.
pub fn get(bytes: &[u8]) -> Option<Message> {
    head_end(bytes).map(|head| Message::at_once(head, head))
}

/// An answer with a length, or in chunks whose data has no line breaks.
pub fn answer(bytes: &[u8]) -> Option<Message> {
    let head = head_end(bytes)?;
    let text = std::str::from_utf8(&bytes[..head]).unwrap().to_ascii_lowercase();
    if let Some(length) = text.split("content-length: ").nth(1) {
        let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
        return Some(Message::at_once(head, head + length));
    }
    assert!(text.contains("transfer-encoding: chunked"), "{text}");
    let end = bytes[head..].windows(5).position(|five| five == b"0\r\n\r\n")?;
    Some(Message::at_once(head, head + end + 5))
}

/// The first TLS record that carries application data, after all of the handshake (RFC 5246,
/// section 6.2.1: type, version, length).
pub fn record(bytes: &[u8]) -> Option<Message> {
    const APPLICATION_DATA: u8 = 23;
    let mut start = 0;
    loop {
        let header = bytes.get(start..start + 5)?;
        let end = start + 5 + usize::from(u16::from_be_bytes([header[3], header[4]]));
        if header[0] == APPLICATION_DATA {
            return Some(Message { first: start + 1, head: end, whole: end });
        }
        start = end;
    }
}
