//! WebSocket as a worker uses it.
use std::sync::Arc;

use pippin_model::load_result::ErrorKind;
use pippin_model::load_spec::{LoadSpec, Request};
use pippin_model::websocket::{Messages, NUMBER_BYTES, WebSocketUse};

use super::frame::{self, Breach, code, opcode};
use super::handshake::{self, Answer, Opening};
use super::random::Random;
use super::session::{Seen, Session, Sink};
use crate::check::NO_STATUS;
use crate::error::{EngineError, place};
use crate::outgoing::Frames;
use crate::protocol::{Answers, End, Greeting, Protocol, Step};
use crate::wire::{Template, Wire};

/// WebSocket: a connection has one message under way at a time, and the next message of the server
/// is its answer.
pub(crate) struct WebSocket {
    /// Has the payloads of messages; their masks and numbers vary.
    wire: Arc<Wire>,
    opening: Opening,
    messages: Messages,
    random: Random,
    head_bytes: usize,
    message_bytes: u64,
    /// Bytes of a message of ours that may wait for the kernel.
    own_bytes: usize,
    seen: WebSocketUse,
}

/// The only user of a connection has this place.
const TAG: u32 = 0;

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// Until the handshake is done.
    answer: Option<Box<Answer>>,
    session: Session,
    /// The number of the message under way.
    number: [u8; NUMBER_BYTES],
    /// The template of the message under way, while its answer is being read.
    answering: Option<u32>,
    /// Bytes of the answer that were read.
    bytes: u64,
    /// A Close frame has gone out: nothing follows it.
    is_over: bool,
    /// An answer may still come that nobody waits for.
    is_spent: bool,
}

impl Protocol for WebSocket {
    type Session = Connection;
    type Out = Frames;
    const IN_ORDER: bool = false;
    const GREETS: bool = true;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let first = spec.requests.first();
        let rendered = spec.requests.iter().enumerate().map(|(nth, request)| {
            let opens_like = |first: &Request| {
                (&first.target, &first.host, &first.headers)
                    == (&request.target, &request.host, &request.headers)
            };
            let checked = handshake::check(request).and_then(|()| {
                if first.is_none_or(opens_like) {
                    Ok(())
                } else {
                    Err("all messages of a load go over WebSockets of the same URL with the same headers: load each URL by itself".into())
                }
            });
            checked
                .map_err(|why| EngineError::UnsendableRequest { request: place(spec, nth), why })?;
            // Nobody knows whether a server that closes has read a message.
            let template =
                Template { check: request.check.clone(), may_repeat: false, head_only: false };
            Ok((request.body.clone(), template))
        });
        // Refused here, so that making the protocol cannot fail.
        if let Some(Err(why)) = first.map(Opening::of) {
            return Err(EngineError::UnsendableRequest { request: place(spec, 0), why });
        }
        Wire::new(rendered, spec.requests.turns(), 1)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        Self {
            wire: Arc::clone(wire),
            opening: spec
                .requests
                .first()
                .and_then(|one| Opening::of(one).ok())
                .unwrap_or_default(),
            messages: spec.messages.unwrap_or_default(),
            random: Random::new(),
            head_bytes: spec.limits.head_bytes as usize,
            message_bytes: spec.limits.body_bytes,
            own_bytes: wire.longest() + MOST_HEADER_BYTES,
            seen: WebSocketUse::default(),
        }
    }

    fn begin(&self, connection: &mut Connection, out: &mut Frames) {
        connection.answer = Some(self.opening.put(self.random.nonce(), &mut out.bytes));
    }

    fn greet(&mut self, connection: &mut Connection, input: &[u8]) -> Greeting {
        let Some(answer) = &mut connection.answer else { return Greeting::Done { used: 0 } };
        match answer.read(&self.opening, input, self.head_bytes) {
            Ok(None) => Greeting::UnderWay,
            Ok(Some(used)) => {
                connection.answer = None;
                Greeting::Done { used }
            }
            Err(why) => Greeting::Failed(why.to_string()),
        }
    }

    fn note_failure(&mut self, why: &str) {
        self.seen.fail(why);
    }

    fn into_seen(self) -> Option<WebSocketUse> {
        Some(self.seen)
    }

    #[inline]
    fn room(connection: &Connection, under_way: u32) -> u32 {
        if connection.is_over || connection.is_spent { 0 } else { 1_u32.saturating_sub(under_way) }
    }

    fn is_spent(connection: &Connection) -> bool {
        connection.is_spent
    }

    /// The answer may still come, and would be taken for that of the next message.
    fn cancel(connection: &mut Connection, _tag: u32, _out: &mut Frames) {
        connection.is_spent = true;
    }

    #[inline]
    fn render(&self, connection: &mut Connection, template: u32, _tag: u32, out: &mut Frames) {
        let payload = self.wire.bytes(self.wire.slice(template));
        let kind = if self.messages.binary { opcode::BINARY } else { opcode::TEXT };
        let mask = self.random.mask();
        frame::begin(&mut out.bytes, opcode::FINAL | kind, payload.len(), mask);
        let from = out.bytes.len();
        out.bytes.extend_from_slice(payload);
        let sent = &mut out.bytes[from..];
        if self.messages.numbered {
            connection.number = hexadecimal(self.random.next());
            let digits = sent.len().min(NUMBER_BYTES);
            sent[..digits].copy_from_slice(&connection.number[..digits]);
        }
        frame::mask(sent, mask);
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        connection: &mut Connection,
        input: &[u8],
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        let mut used = 0;
        while !connection.is_over {
            let mut parts = Parts {
                protocol: &*self,
                answers,
                out,
                number: &connection.number,
                answering: &mut connection.answering,
                bytes: &mut connection.bytes,
                pings: 0,
            };
            let seen = connection.session.decode(&input[used..], self.message_bytes, &mut parts);
            let pings = parts.pings;
            self.seen.pings += pings;
            match seen {
                Ok(Seen::More) => break,
                Ok(Seen::Message { used: more }) => {
                    used += more;
                    if connection.answering.take().is_some() {
                        return Ok(Step::Complete { tag: TAG, used });
                    }
                    self.seen.unasked += 1;
                }
                Ok(Seen::Close { code }) => return self.closed(connection, code, answers, out),
                Err(breach) => {
                    self.seen.fail(&breach.to_string());
                    self.part(connection, breach.code(), out);
                    return Err(match breach {
                        Breach::TooLarge => ErrorKind::TooLarge,
                        _ => ErrorKind::Malformed,
                    });
                }
            }
        }
        Ok(Step::More)
    }

    fn end(connection: &mut Connection) -> End {
        if connection.answering.is_some() {
            End::InBody
        } else {
            End::BeforeHead { untouched: !connection.session.is_inside() }
        }
    }

    fn leave(&self, connection: &mut Connection, out: &mut Frames) {
        if !connection.is_over && connection.answer.is_none() {
            self.part(connection, code::NORMAL, out);
        }
    }
}

impl WebSocket {
    /// The server ends the connection, and gets the same code back (RFC 6455 section 5.5.1).
    #[cold]
    fn closed<A: Answers>(
        &mut self,
        connection: &mut Connection,
        closed: u16,
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        *self.seen.close_codes.entry(closed).or_default() += 1;
        self.part(connection, if closed == code::NONE { code::NORMAL } else { closed }, out);
        if answers.template(TAG).is_some() {
            return Err(ErrorKind::CloseBeforeAnswer);
        }
        answers.closing();
        Ok(Step::More)
    }

    /// Ends the connection from our side.
    fn part(&self, connection: &mut Connection, code: u16, out: &mut Frames) {
        connection.is_over = true;
        frame::put_close(&mut out.bytes, code, self.random.mask());
    }
}

/// Hands on what a session finds.
struct Parts<'a, A> {
    protocol: &'a WebSocket,
    answers: &'a mut A,
    out: &'a mut Frames,
    number: &'a [u8; NUMBER_BYTES],
    answering: &'a mut Option<u32>,
    bytes: &'a mut u64,
    pings: u64,
}

impl<A: Answers> Sink for Parts<'_, A> {
    #[inline]
    fn begin(&mut self, is_text: bool) {
        *self.bytes = 0;
        *self.answering = self.answers.template(TAG);
        if self.answering.is_none() {
            return;
        }
        self.answers.head(TAG, NO_STATUS, false);
        if is_text == self.protocol.messages.binary {
            self.answers.wrong(TAG);
        }
    }

    /// In place of a number goes what the template has there; that of another message is wrong.
    #[inline]
    fn piece(&mut self, piece: &[u8]) {
        let Some(template) = *self.answering else { return };
        let at = *self.bytes;
        *self.bytes += piece.len() as u64;
        let mut rest = piece;
        if self.protocol.messages.numbered && at < NUMBER_BYTES as u64 {
            let at = at as usize;
            let (digits, behind) = piece.split_at(piece.len().min(NUMBER_BYTES - at));
            let wire = &self.protocol.wire;
            let place = wire.bytes(wire.slice(template)).get(at..at + digits.len());
            if digits != &self.number[at..at + digits.len()] {
                self.answers.wrong(TAG);
            }
            self.answers.body(TAG, template, place.unwrap_or(digits));
            rest = behind;
        }
        if !rest.is_empty() {
            self.answers.body(TAG, template, rest);
        }
    }

    fn ping(&mut self, payload: &[u8]) -> Result<(), Breach> {
        self.pings += 1;
        let mask = self.protocol.random.mask();
        frame::put(&mut self.out.bytes, opcode::FINAL | opcode::PONG, payload, mask);
        if self.out.is_flooded(self.protocol.own_bytes) { Err(Breach::Flood) } else { Ok(()) }
    }
}

/// The longest header of a frame of ours.
const MOST_HEADER_BYTES: usize = 14;

fn hexadecimal(number: u64) -> [u8; NUMBER_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|at| DIGITS[(number >> (60 - 4 * at)) as usize & 0xF])
}
