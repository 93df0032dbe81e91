//! Captured segments put together to requests and answers.
use std::collections::{BTreeMap, VecDeque};

use super::capture::Segment;
use super::stream::Stream;
use crate::Error;

/// What the wire says of one load, in nanoseconds, each sorted.
#[derive(Debug, Default)]
pub struct Wire {
    /// From the SYN to the SYN that answers it.
    pub connect: Vec<u64>,
    /// From the first byte of a request to the end of its answer's head.
    pub head: Vec<u64>,
    /// From the first byte of a request to the last byte of its answer.
    pub service: Vec<u64>,
    /// Requests that were whole.
    pub requests: u64,
    /// Connections that were asked for.
    pub connections: u64,
}

impl Wire {
    /// The quantile `q` of sorted spans, by the nearest rank; `None` without any.
    pub fn quantile(sorted: &[u64], q: f64) -> Option<u64> {
        let rank = (sorted.len() as f64 * q).ceil() as usize;
        sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
    }
}

/// The first message of a direction: how many bytes there are up to its first byte, the end of its
/// head and the end of the whole.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub(super) first: usize,
    pub(super) head: usize,
    pub(super) whole: usize,
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

#[derive(Default)]
struct Connection {
    syn_at: u64,
    up: Stream,
    down: Stream,
    sent: VecDeque<u64>,
}

impl Connection {
    fn push(
        &mut self,
        segment: &Segment,
        is_up: bool,
        cuts: [Cut; 2],
        wire: &mut Wire,
    ) -> Result<(), Error> {
        let [request, answer] = cuts;
        if is_up {
            self.up.push(segment);
            while let Some([first, ..]) = self.up.take(request) {
                wire.requests += 1;
                self.sent.push_back(first);
            }
            return Ok(());
        }
        self.down.push(segment);
        while let Some([_, head, done]) = self.down.take(answer) {
            let sent = self.sent.pop_front().ok_or_else(|| {
                let unread = String::from_utf8_lossy(self.up.rest());
                Error::Capture(format!("an answer has no request; not yet a request: {unread:?}"))
            })?;
            wire.head.push(head.saturating_sub(sent));
            wire.service.push(done.saturating_sub(sent));
        }
        Ok(())
    }
}

/// Follows all connections to `port`; `request` and `answer` cut the two directions.
///
/// # Errors
/// An answer has no request.
pub fn follow(segments: &[Segment], port: u16, request: Cut, answer: Cut) -> Result<Wire, Error> {
    let mut wire = Wire::default();
    let mut connections: BTreeMap<u16, Connection> = BTreeMap::new();
    for segment in segments {
        let is_up = segment.to_port == port;
        let peer = if is_up { segment.from_port } else { segment.to_port };
        if segment.is_syn && is_up {
            wire.connections += 1;
            let up = Stream::after_syn(segment.sequence);
            let fresh = Connection { syn_at: segment.at_ns, up, ..Connection::default() };
            connections.insert(peer, fresh);
            continue;
        }
        let Some(connection) = connections.get_mut(&peer) else { continue };
        if segment.is_syn {
            wire.connect.push(segment.at_ns.saturating_sub(connection.syn_at));
            connection.down = Stream::after_syn(segment.sequence);
        } else if !segment.payload.is_empty() {
            connection.push(segment, is_up, [request, answer], &mut wire)?;
        }
    }
    for spans in [&mut wire.connect, &mut wire.head, &mut wire.service] {
        spans.sort_unstable();
    }
    Ok(wire)
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
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    if let Some(length) = text.split("content-length: ").nth(1) {
        let length: usize = length.split("\r\n").next()?.parse().ok()?;
        return Some(Message::at_once(head, head + length));
    }
    if !text.contains("transfer-encoding: chunked") {
        return None;
    }
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
