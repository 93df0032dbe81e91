//! Captured segments put together to requests and answers.
use std::collections::{BTreeMap, VecDeque};

use super::capture::Segment;
use super::stream::Stream;
use pippin_reference::Error;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub(super) first: usize,
    pub(super) head: usize,
    pub(super) whole: usize,
    /// Which request it is, or answers: 0 where answers come in order.
    pub(super) tag: u32,
    pub(super) part: Part,
}

/// What of an answer a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Its head, with a body to come.
    Head,
    /// The end of its body.
    End,
}

impl Message {
    /// A message that begins at once.
    const fn at_once(head: usize, whole: usize) -> Self {
        Self::after(0, head, whole)
    }

    /// A message that comes after `others` bytes of something else.
    const fn after(others: usize, head: usize, whole: usize) -> Self {
        Self { first: others + 1, head, whole, tag: 0, part: Part::Whole }
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
    /// When the requests under way were sent, by tag.
    sent: BTreeMap<u32, VecDeque<u64>>,
    /// When the heads of answers came whose bodies are not complete.
    heads: BTreeMap<u32, u64>,
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
            while let Some((message, [first, ..])) = self.up.take(request) {
                wire.requests += 1;
                self.sent.entry(message.tag).or_default().push_back(first);
            }
            return Ok(());
        }
        self.down.push(segment);
        while let Some((Message { tag, part, .. }, [_, head, done])) = self.down.take(answer) {
            if part == Part::Head {
                self.heads.insert(tag, head);
                continue;
            }
            let head = self.heads.remove(&tag).unwrap_or(head);
            let sent = self.sent.get_mut(&tag).and_then(VecDeque::pop_front).ok_or_else(|| {
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

/// The requests and answers of HTTP/3 on `port`, in which each user has a connection of its own. What they say
/// is encrypted, but not how long they are: requests and answers have to be between 500 and 1,150 bytes, and
/// nothing else is: an acknowledgement is shorter, a probe of the path and a handshake are longer (RFC 9000
/// section 14).
///
/// # Errors
/// An answer has no request.
pub fn follow_datagrams(segments: &[Segment], port: u16) -> Result<Wire, Error> {
    let mut wire = Wire::default();
    let mut sent: BTreeMap<u16, VecDeque<u64>> = BTreeMap::new();
    for segment in segments {
        let is_up = segment.to_port == port;
        let peer = if is_up { segment.from_port } else { segment.to_port };
        let sent = sent.entry(peer).or_default();
        // The highest bit is that of the long headers of a handshake (section 17.2).
        let is_message = segment.payload.first().is_some_and(|first| first & 0x80 == 0)
            && (500..1_150).contains(&segment.payload.len());
        if !is_message {
            continue;
        }
        if is_up {
            wire.requests += 1;
            sent.push_back(segment.at_ns);
            continue;
        }
        let at_ns = sent
            .pop_front()
            .ok_or_else(|| Error::Capture(format!("an answer to port {peer} has no request")))?;
        wire.head.push(segment.at_ns.saturating_sub(at_ns));
        wire.service.push(segment.at_ns.saturating_sub(at_ns));
    }
    wire.connections = sent.len() as u64;
    wire.head.sort_unstable();
    wire.service.sort_unstable();
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
            return Some(Message::after(start, end, end));
        }
        start = end;
    }
}

/// The next message over a WebSocket, in however many frames; the opening handshake and control
/// frames are no messages (RFC 6455, section 5.2).
pub fn message(bytes: &[u8]) -> Option<Message> {
    const CONTROL: u8 = 0x08;
    let is_handshake = bytes.starts_with(b"GET ") || bytes.starts_with(b"HTTP/");
    let mut start = if is_handshake { head_end(bytes)? } else { 0 };
    let mut begun = None;
    loop {
        let (header, whole) = websocket_frame(bytes.get(start..)?)?;
        let (is_final, is_control) = (bytes[start] & 0x80 != 0, bytes[start] & CONTROL != 0);
        if !is_control {
            let (first, head) = *begun.get_or_insert((start, start + header));
            if is_final {
                return Some(Message::after(first, head, start + whole));
            }
        }
        start += whole;
    }
}

/// The length of a frame's header, and of the whole frame.
fn websocket_frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let [_, second, ..] = *bytes else { return None };
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    let (header, length) = match second & 0x7F {
        126 => (4, u64::from(u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?))),
        127 => (10, u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?)),
        short => (2, u64::from(short)),
    };
    let header = header + mask;
    Some((header, header + usize::try_from(length).ok()?))
}

/// The next request over HTTP/2 that has no body: a header block, known by its stream (RFC 9113,
/// section 4.1).
pub fn h2_request(bytes: &[u8]) -> Option<Message> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let start = if bytes.starts_with(PREFACE) { PREFACE.len() } else { 0 };
    h2_frame(bytes, start, |kind, _| (kind == HEADERS).then_some(Part::Whole))
}

/// The next head or end of an answer over HTTP/2.
pub fn h2_answer(bytes: &[u8]) -> Option<Message> {
    h2_frame(bytes, 0, |kind, flags| match (kind, flags & END_STREAM != 0) {
        (HEADERS, true) => Some(Part::Whole),
        (HEADERS, false) => Some(Part::Head),
        (DATA, true) => Some(Part::End),
        _ => None,
    })
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const END_STREAM: u8 = 1;

/// The first frame from `start` on that is a part of what is looked for.
fn h2_frame(
    bytes: &[u8],
    mut start: usize,
    part_of: impl Fn(u8, u8) -> Option<Part>,
) -> Option<Message> {
    loop {
        let [a, b, c, kind, flags, stream @ ..] = bytes.get(start..)?.first_chunk::<9>()?;
        let end = start + 9 + u32::from_be_bytes([0, *a, *b, *c]) as usize;
        if let Some(part) = part_of(*kind, *flags) {
            let tag = u32::from_be_bytes(*stream) & 0x7FFF_FFFF;
            return Some(Message { tag, part, ..Message::after(start, end, end) });
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_websocket_are_found_behind_handshake_and_control_frames() {
        let handshake = b"GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
        let start = handshake.len();
        // A ping with a mask, then "hi" in two frames with a ping between them.
        let frames = b"\x89\x80mask\x01\x81maskh\x89\x80mask\x80\x81maski";
        let bytes = [&handshake[..], frames].concat();
        let whole = bytes.len();
        assert_eq!(message(&bytes), Some(Message::after(start + 6, start + 12, whole)));
        assert_eq!(message(&bytes[..whole - 6]), None, "its second frame is missing");
        let long = [&b"\x82\x7e\x01\x00"[..], &[0; 256]].concat();
        assert_eq!(message(&long), Some(Message::at_once(4, 260)));
        assert_eq!(message(b"\x88\x00"), None, "a Close is no message");
    }

    #[test]
    fn frames_of_http2_belong_to_their_streams() {
        let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
            let head = [0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream];
            [&head[..], payload].concat()
        };
        let settings = frame(4, 0, 0, b"");
        let up = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..], &frame(1, 5, 3, b"xy")];
        let up = up.concat();
        let request = h2_request(&up).unwrap();
        assert_eq!((request.first, request.whole), (24 + 9 + 1, up.len()));
        assert_eq!((request.tag, request.part), (3, Part::Whole));
        let down = [settings, frame(1, 4, 3, b"x"), frame(0, 0, 3, b"hel"), frame(0, 1, 3, b"lo")];
        let down = down.concat();
        let head = h2_answer(&down).unwrap();
        assert_eq!((head.tag, head.part, head.whole), (3, Part::Head, 9 + 10));
        let end = h2_answer(&down[head.whole..]).unwrap();
        assert_eq!((end.tag, end.part, end.whole), (3, Part::End, down.len() - head.whole));
    }
}
