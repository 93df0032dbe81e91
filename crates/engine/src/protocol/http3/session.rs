//! A connection: QUIC by `quinn-proto`, the control streams (RFC 9114 section 6.2), and whose stream
//! is whose.
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use pippin_model::result::{ErrorKind, QuicUse};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, ReadError, StreamEvent, StreamId, VarInt, WriteError,
};

use super::datagrams::Datagrams;
use super::frame::{Frames, Part, kind, number, put_frame, put_number};
use super::stream::{LastHead, Stream, Wrong};
use crate::protocol::http2::Limits;
use crate::protocol::{Answers, Step};

/// Errors of the application (RFC 9114 section 8.1).
mod code {
    pub const NO_ERROR: u32 = 0x0100;
    pub const GENERAL_PROTOCOL_ERROR: u32 = 0x0101;
    pub const REQUEST_REJECTED: u64 = 0x010B;
    pub const REQUEST_CANCELLED: u32 = 0x010C;
}

/// Types of the server's streams (RFC 9114 section 6.2, RFC 9204 section 4.2).
mod kind_of_stream {
    pub const CONTROL: u64 = 0x00;
    pub const PUSH: u64 = 0x01;
}

/// Our setting: the largest section of fields (RFC 9114 section 7.2.4.1).
const MAX_FIELD_SECTION_SIZE: u64 = 0x06;
/// So many datagrams at the most go out in one turn, whatever the windows allow.
const MOST_AT_ONCE: usize = 64;

/// The instant 0 of the engine's clock, as far as QUIC is concerned: it only compares instants, and the
/// standard library makes none of a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin(Instant);

impl Origin {
    pub fn new() -> Self {
        Self(Instant::now())
    }

    pub fn instant(self, now: u64) -> Instant {
        self.0 + Duration::from_nanos(now)
    }

    pub fn ns(self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.0).as_nanos() as u64
    }
}

/// What all connections of a thread have in common.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub endpoint: Arc<EndpointConfig>,
    pub client: ClientConfig,
    pub server_name: String,
    pub limits: Limits,
    pub most_streams: u32,
    pub counters: Arc<Counters>,
}

/// What connections have counted that are gone.
#[derive(Debug, Default)]
pub(super) struct Counters(Mutex<QuicUse>);

impl Counters {
    pub fn get(&self) -> QuicUse {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, quic: &Connection) {
        let stats = quic.stats();
        let one = QuicUse {
            sent: stats.udp_tx.datagrams,
            received: stats.udp_rx.datagrams,
            lost: stats.path.lost_packets,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).merge(&one);
    }
}

/// A connection.
pub(super) struct Session {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    quic: Connection,
    counters: Arc<Counters>,
    limits: Limits,
    most_streams: usize,
    pub streams: Vec<Stream>,
    tags: HashMap<StreamId, u32>,
    /// Streams that the server allows, and no request has yet; the next one first.
    pub spare: VecDeque<StreamId>,
    /// Requests whose body is not written to its end, because the server's windows are full.
    unwritten: Vec<u32>,
    /// The server's own streams.
    theirs: HashMap<StreamId, Theirs>,
    has_control: bool,
    last_head: LastHead,
    /// What became of requests, in order.
    steps: VecDeque<Step>,
    /// The datagram that is being read was handed to QUIC.
    has_taken: bool,
    lost: Option<ConnectionError>,
    /// A datagram came, and no request or window of ours waits behind it: what is to be sent is at most an
    /// acknowledgement.
    may_wait: bool,
    /// Why the request that failed last did so.
    pub why: &'static str,
    scratch: Vec<u8>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("streams", &self.streams).finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.counters.add(&self.quic);
    }
}

/// A stream that the server has opened.
#[derive(Debug, Default)]
enum Theirs {
    /// Its type has not come.
    #[default]
    Unknown,
    Control {
        frames: Frames,
        has_settings: bool,
        /// The payload of a GOAWAY.
        payload: Vec<u8>,
    },
    /// Encoder and decoder of QPACK, which say nothing without a dynamic table, and types that we do
    /// not know.
    Ignored,
}

/// The socket is connected: QUIC need not know to whom.
const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 443);

impl Session {
    /// A connection whose first datagram waits.
    pub fn new(settings: &Settings, now: Instant) -> Result<Self, String> {
        let mut endpoint = Endpoint::new(Arc::clone(&settings.endpoint), None, true, None);
        let (handle, quic) = endpoint
            .connect(now, settings.client.clone(), SERVER, &settings.server_name)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            endpoint,
            handle,
            quic,
            counters: Arc::clone(&settings.counters),
            limits: settings.limits,
            most_streams: settings.most_streams as usize,
            streams: Vec::new(),
            tags: HashMap::new(),
            spare: VecDeque::new(),
            unwritten: Vec::new(),
            theirs: HashMap::new(),
            has_control: false,
            last_head: LastHead::default(),
            steps: VecDeque::new(),
            has_taken: false,
            lost: None,
            may_wait: false,
            why: "",
            scratch: Vec::new(),
        })
    }

    /// Hands a datagram to QUIC, or lets it look at its timers if there is none.
    fn take(&mut self, input: &[u8], now: Instant, out: &mut Datagrams) {
        self.may_wait = !input.is_empty();
        if input.is_empty() {
            self.quic.handle_timeout(now);
        } else {
            self.scratch.clear();
            let Self { endpoint, scratch, .. } = self;
            match endpoint.handle(now, SERVER, None, None, BytesMut::from(input), scratch) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => self.quic.handle_event(event),
                Some(DatagramEvent::Response(transmit)) => {
                    let mut response = Some(&self.scratch[..transmit.size]);
                    out.fill(|bytes| {
                        let response = response.take()?;
                        bytes.extend_from_slice(response);
                        Some(response.len())
                    });
                }
                // Nobody opens connections to us.
                Some(DatagramEvent::NewConnection(_)) | None => {}
            }
        }
        while let Some(event) = self.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.quic.handle_event(event);
            }
        }
    }

    /// Goes on with the handshake. Returns whether it is done.
    ///
    /// # Errors
    /// Why there is no connection.
    pub fn greet(
        &mut self,
        input: &[u8],
        now: Instant,
        out: &mut Datagrams,
    ) -> Result<bool, ConnectionError> {
        self.take(input, now, out);
        let mut is_done = false;
        while let Some(event) = self.quic.poll() {
            match event {
                Event::Connected => {
                    is_done = true;
                    self.introduce();
                    // What else came with it belongs to the connection.
                    break;
                }
                Event::ConnectionLost { reason } => {
                    self.transmit(now, out);
                    return Err(reason);
                }
                _ => {}
            }
        }
        self.transmit(now, out);
        Ok(is_done)
    }

    /// Opens our control stream (section 6.2.1).
    fn introduce(&mut self) {
        let Some(id) = self.quic.streams().open(Dir::Uni) else { return };
        let mut bytes = Vec::new();
        put_number(&mut bytes, kind_of_stream::CONTROL);
        let mut settings = Vec::new();
        put_number(&mut settings, MAX_FIELD_SECTION_SIZE);
        put_number(&mut settings, self.limits.head_bytes as u64);
        put_frame(&mut bytes, kind::SETTINGS, &settings);
        // The first bytes of a connection always find room: servers allow at least 1,024 (section 6.2).
        _ = self.quic.send_stream(id).write(&bytes);
        self.reserve();
    }

    /// Takes as many streams of those that the server allows as there are users.
    fn reserve(&mut self) {
        while self.spare.len() < self.most_streams
            && let Some(id) = self.quic.streams().open(Dir::Bi)
        {
            self.spare.push_back(id);
        }
    }

    /// The protocol that the server chose (ALPN), once it is known.
    pub fn alpn(&self) -> Option<String> {
        let data = self.quic.crypto_session().handshake_data()?;
        let data = data.downcast::<quinn_proto::crypto::rustls::HandshakeData>().ok()?;
        data.protocol.map(|name| String::from_utf8_lossy(&name).into_owned())
    }

    /// When [`Session::decode`] must be asked without a datagram; `None` for never.
    pub fn due(&mut self, now: Instant) -> Option<Instant> {
        if self.may_wait { Some(now) } else { self.quic.poll_timeout() }
    }

    /// Whether all that is to be sent may wait until the datagrams are read that have come: else each
    /// second one is acknowledged by a datagram of ours, although one for all of them says as much.
    pub fn may_wait(&self) -> bool {
        self.may_wait
    }

    /// Whether something came for a request under way.
    pub fn has_begun(&self) -> bool {
        self.streams.iter().any(|stream| stream.id.is_some() && stream.has_begun)
    }

    /// Begins a request in the place of this tag: its head is in the stream, and [`Session::write`]
    /// sends it with its body.
    pub fn open(&mut self, tag: u32, template: u32, has_no_body: bool) -> Option<&mut Stream> {
        let id = self.spare.pop_front()?;
        if self.streams.len() <= tag as usize {
            self.streams.resize_with(tag as usize + 1, Stream::default);
        }
        self.tags.insert(id, tag);
        let stream = &mut self.streams[tag as usize];
        stream.begin(id, template, has_no_body);
        self.may_wait = false;
        Some(stream)
    }

    /// Writes as much of a request as the windows allow.
    pub fn write(&mut self, tag: u32, body: &[u8]) {
        let Some(stream) = self.streams.get_mut(tag as usize) else { return };
        let Some(id) = stream.id.filter(|_| !stream.is_written) else { return };
        let head = stream.head.len();
        let all = head + body.len();
        let mut sending = self.quic.send_stream(id);
        while stream.written < all {
            let rest = match stream.written.checked_sub(head) {
                None => &stream.head[stream.written..],
                Some(at) => &body[at..],
            };
            match sending.write(rest) {
                Ok(count) => {
                    stream.written += count;
                    self.may_wait = false;
                }
                Err(WriteError::Blocked) => {
                    if !self.unwritten.contains(&tag) {
                        self.unwritten.push(tag);
                    }
                    return;
                }
                // The server wants no more of it, and answers all the same (section 4.1.2).
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => break,
            }
        }
        _ = sending.finish();
        stream.is_written = true;
        self.unwritten.retain(|other| *other != tag);
    }

    /// Requests whose body is not written to its end, and their templates.
    pub fn unwritten(&self) -> Vec<(u32, u32)> {
        let template = |tag: &u32| (*tag, self.streams[*tag as usize].template);
        self.unwritten.iter().map(template).collect()
    }

    /// Appends the datagrams that may go out now.
    pub fn transmit(&mut self, now: Instant, out: &mut Datagrams) {
        let mut left = MOST_AT_ONCE;
        self.may_wait = false;
        let Self { quic, scratch, .. } = self;
        out.fill(|bytes| {
            left = left.checked_sub(1)?;
            // It takes all of what it is given for the datagram.
            scratch.clear();
            let size = quic.poll_transmit(now, 1, scratch)?.size;
            bytes.extend_from_slice(&scratch[..size]);
            Some(size)
        });
    }

    /// Reads a datagram, at most to the end of one answer; without one, it looks at its timers. Whoever
    /// is given a step asks again with the same datagram.
    pub fn decode<A: Answers>(
        &mut self,
        input: &[u8],
        now: Instant,
        answers: &mut A,
        out: &mut Datagrams,
    ) -> Result<Step, Wrong> {
        if !std::mem::replace(&mut self.has_taken, true) {
            self.take(input, now, out);
        }
        loop {
            if let Some(step) = self.steps.pop_front() {
                return Ok(step);
            }
            let Some(event) = self.quic.poll() else { break };
            if let Err(wrong) = self.event(event, answers) {
                self.has_taken = false;
                self.quic.close(now, VarInt::from_u32(code::GENERAL_PROTOCOL_ERROR), Bytes::new());
                self.transmit(now, out);
                return Err(wrong);
            }
        }
        self.has_taken = false;
        self.reserve();
        match self.lost.take() {
            None => Ok(Step::More),
            Some(_) if self.tags.is_empty() => {
                answers.closing();
                self.spare.clear();
                Ok(Step::More)
            }
            Some(reason) => Err(why_lost(&reason)),
        }
    }

    fn event<A: Answers>(&mut self, event: Event, answers: &mut A) -> Result<(), Wrong> {
        match event {
            Event::Stream(StreamEvent::Readable { id }) => match self.tags.get(&id) {
                Some(tag) => self.answer(id, *tag, answers),
                None => self.read_theirs(id, answers),
            },
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                while let Some(id) = self.quic.streams().accept(Dir::Uni) {
                    self.theirs.insert(id, Theirs::default());
                    self.read_theirs(id, answers)?;
                }
                Ok(())
            }
            // Section 6.1.
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                Err(Wrong::fatal("a stream in both directions that the server has opened"))
            }
            Event::ConnectionLost { reason } => {
                self.lost = Some(reason);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reads what came of an answer.
    fn answer<A: Answers>(&mut self, id: StreamId, tag: u32, answers: &mut A) -> Result<(), Wrong> {
        let stream = &mut self.streams[tag as usize];
        let mut receiving = self.quic.recv_stream(id);
        let Ok(mut chunks) = receiving.read(true) else { return Ok(()) };
        let outcome = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    let read =
                        stream.read(tag, &chunk.bytes, self.limits, &mut self.last_head, answers);
                    if let Err(wrong) = read {
                        break Some(Err(wrong));
                    }
                }
                Ok(None) => break Some(stream.end()),
                Err(ReadError::Blocked) => break None,
                Err(ReadError::Reset(code)) => {
                    let _ = chunks.finalize();
                    self.was_reset(tag, code.into_inner());
                    return Ok(());
                }
            }
        };
        let _ = chunks.finalize();
        match outcome {
            None => Ok(()),
            Some(Ok(())) => {
                self.end(tag);
                self.steps.push_back(Step::Complete { tag, used: 0 });
                Ok(())
            }
            Some(Err(wrong)) if wrong.is_fatal => {
                answers.refused(wrong.why);
                Err(wrong)
            }
            Some(Err(wrong)) => {
                self.why = wrong.why;
                self.give_up(tag);
                self.steps.push_back(Step::Failed { tag, used: 0, kind: wrong.kind });
                Ok(())
            }
        }
    }

    /// The server has ended the stream of an answer before its end.
    fn was_reset(&mut self, tag: u32, code: u64) {
        self.end(tag);
        self.steps.push_back(if code == code::REQUEST_REJECTED {
            // Section 4.1.1: it was not looked at.
            Step::Refused { tag, used: 0 }
        } else {
            self.why = "the server reset the stream of the answer (RESET_STREAM)";
            Step::Failed { tag, used: 0, kind: ErrorKind::StreamReset }
        });
    }

    /// The place of a request is free again.
    fn end(&mut self, tag: u32) {
        let stream = &mut self.streams[tag as usize];
        let Some(id) = stream.id.take() else { return };
        if !stream.is_written {
            // Nobody reads the rest of the request.
            _ = self.quic.send_stream(id).reset(VarInt::from_u32(code::NO_ERROR));
        }
        self.tags.remove(&id);
        self.unwritten.retain(|other| *other != tag);
    }

    /// Ends a stream whose answer cannot be accepted, or is waited for no longer (section 4.1.1).
    pub fn give_up(&mut self, tag: u32) {
        let Some(id) = self.streams.get(tag as usize).and_then(|stream| stream.id) else { return };
        let cancelled = VarInt::from_u32(code::REQUEST_CANCELLED);
        _ = self.quic.recv_stream(id).stop(cancelled);
        self.end(tag);
    }

    /// Reads what came on a stream of the server's own (section 6.2).
    fn read_theirs<A: Answers>(&mut self, id: StreamId, answers: &mut A) -> Result<(), Wrong> {
        let Some(theirs) = self.theirs.get_mut(&id) else { return Ok(()) };
        let mut receiving = self.quic.recv_stream(id);
        let Ok(mut chunks) = receiving.read(true) else { return Ok(()) };
        let mut result = Ok(None);
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    match theirs.read(&chunk.bytes, &mut self.has_control) {
                        Ok(None) => {}
                        read => result = read,
                    }
                    if result.is_err() {
                        break false;
                    }
                }
                Ok(None) | Err(ReadError::Reset(_)) => break true,
                Err(ReadError::Blocked) => break false,
            }
        };
        let _ = chunks.finalize();
        let is_control = matches!(theirs, Theirs::Control { .. });
        if ended && is_control {
            return Err(Wrong::fatal("the server has ended its control stream"));
        }
        if let Some(last) = result? {
            self.goes_away(last, answers);
        }
        Ok(())
    }

    /// Section 5.2: the server takes no new requests, and has not looked at those from this stream on.
    fn goes_away<A: Answers>(&mut self, from: u64, answers: &mut A) {
        answers.closing();
        self.spare.clear();
        let mut refused: Vec<(u64, u32)> = self
            .tags
            .iter()
            .map(|(id, tag)| (u64::from(*id), *tag))
            .filter(|(id, _)| *id >= from)
            .collect();
        refused.sort_unstable();
        for (_, tag) in refused {
            self.give_up(tag);
            self.steps.push_back(Step::Refused { tag, used: 0 });
        }
    }

    /// Says that no more requests come, and forgets the connection.
    pub fn leave(&mut self, now: Instant, out: &mut Datagrams) {
        self.quic.close(now, VarInt::from_u32(code::NO_ERROR), Bytes::new());
        self.transmit(now, out);
    }
}

impl Theirs {
    /// Takes bytes of the stream. Returns from which stream on requests are not looked at, if the
    /// server says so.
    fn read(&mut self, mut input: &[u8], has_control: &mut bool) -> Result<Option<u64>, Wrong> {
        if let Self::Unknown = self {
            // Known types have one byte; longer ones are unknown to us, whatever they are.
            let Some(first) = input.first() else { return Ok(None) };
            *self = match u64::from(*first) {
                kind_of_stream::CONTROL if std::mem::replace(has_control, true) => {
                    return Err(Wrong::fatal("a second control stream"));
                }
                kind_of_stream::CONTROL => Self::Control {
                    frames: Frames::default(),
                    has_settings: false,
                    payload: Vec::new(),
                },
                kind_of_stream::PUSH => {
                    return Err(Wrong::fatal("a push, which we have not allowed"));
                }
                _ => Self::Ignored,
            };
            input = &input[1..];
        }
        let Self::Control { frames, has_settings, payload } = self else { return Ok(None) };
        let mut from = None;
        while let Some((part, used)) = frames.next(input) {
            match part {
                Part::Begins { kind: kind::SETTINGS, .. } => {
                    if std::mem::replace(has_settings, true) {
                        return Err(Wrong::fatal("SETTINGS twice"));
                    }
                }
                Part::Begins { .. } if !*has_settings => {
                    return Err(Wrong::fatal("a control stream that does not begin with SETTINGS"));
                }
                Part::Begins { kind: kind::GOAWAY, length } if length > 8 || length == 0 => {
                    return Err(Wrong::fatal("GOAWAY of a wrong form"));
                }
                Part::Begins {
                    kind: kind::DATA | kind::HEADERS | kind::PUSH_PROMISE | kind::MAX_PUSH_ID,
                    ..
                } => {
                    return Err(Wrong::fatal(
                        "a frame on the control stream that must not be there",
                    ));
                }
                Part::Begins { kind, .. } if kind::RESERVED.contains(&kind) => {
                    return Err(Wrong::fatal("a frame of HTTP/2"));
                }
                Part::Payload { kind: kind::GOAWAY, bytes, ends } => {
                    payload.extend_from_slice(bytes);
                    if ends {
                        let (id, length) =
                            number(payload).ok_or(Wrong::fatal("GOAWAY of a wrong form"))?;
                        if length != payload.len() {
                            return Err(Wrong::fatal("GOAWAY of a wrong form"));
                        }
                        payload.clear();
                        from = Some(id);
                    }
                }
                Part::Begins { .. } | Part::Payload { .. } => {}
            }
            input = &input[used..];
        }
        Ok(from)
    }
}

/// What the loss of a connection means for the requests on it.
fn why_lost(reason: &ConnectionError) -> Wrong {
    let (kind, why) = match reason {
        ConnectionError::TransportError(_) | ConnectionError::VersionMismatch => {
            (ErrorKind::Malformed, "the server broke the rules of QUIC")
        }
        ConnectionError::TimedOut => {
            (ErrorKind::CloseBeforeAnswer, "nothing came for QUIC's idle time")
        }
        ConnectionError::Reset => (
            ErrorKind::CloseBeforeAnswer,
            "the server knows nothing of the connection (stateless reset)",
        ),
        _ => (ErrorKind::CloseBeforeAnswer, "the server closed the connection"),
    };
    Wrong { kind, why, is_fatal: true }
}
