//! Messages and their answers, as a worker uses them.
use std::sync::Arc;

use pippin_model::load::websocket::{Messages, NUMBER_BYTES};
use pippin_model::load::{BodyCheck, LoadSpec};
use pippin_model::result::ErrorKind;

use super::line::{self, Content, Endpoint, Line};
use super::session::Decoded;
use crate::error::EngineError;
use crate::protocol::order::ByTag;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Alike, Answers, Asker, End, Greeted, Greeting, Greets, Protocol, Step};
use crate::request::check::NO_STATUS;
use crate::request::drawn::Value;
use crate::request::wire::Wire;

/// WebSocket: a connection has one message under way at a time, and the next message of the server
/// is its answer.
pub(crate) struct WebSocket {
    /// Has the payloads of messages; their masks and numbers vary.
    wire: Arc<Wire>,
    endpoint: Endpoint,
}

/// The only user of a connection has this place.
pub(super) const TAG: u32 = 0;

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    line: Line,
    under_way: UnderWay,
    /// An answer may still come that nobody waits for.
    is_spent: bool,
}

/// The message that waits for its answer.
#[derive(Debug, Default)]
struct UnderWay {
    number: [u8; NUMBER_BYTES],
    /// Its template, while its answer is being read.
    answering: Option<u32>,
    /// Bytes of the answer that were read.
    bytes: u64,
}

impl Protocol for WebSocket {
    type Session = Connection;
    type Out = Frames;
    type Order = ByTag;
    type Greeting = Upgrade;
    type Variation = Alike;
    type Reach = Asker;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        line::wire(spec)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        Self { wire: Arc::clone(wire), endpoint: Endpoint::new(spec) }
    }

    fn begin(&self, connection: &mut Connection, out: &mut Frames) {
        self.endpoint.begin(&mut connection.line, out);
    }

    #[inline]
    fn room(connection: &Connection, under_way: u32) -> u32 {
        let is_closed = connection.line.is_over || connection.is_spent;
        if is_closed { 0 } else { 1_u32.saturating_sub(under_way) }
    }

    fn is_spent(connection: &Connection) -> bool {
        connection.is_spent
    }

    /// The answer may still come, and would be taken for that of the next message.
    fn cancel(&mut self, connection: &mut Connection, _tag: u32, _out: &mut Frames) {
        connection.is_spent = true;
    }

    #[inline]
    fn render(
        &mut self,
        connection: &mut Connection,
        template: u32,
        _: u32,
        _: Value,
        out: &mut Frames,
    ) {
        let payload = self.wire.bytes(self.wire.slice(template));
        if let Some(number) = self.endpoint.put(payload, out) {
            connection.under_way.number = number;
        }
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        connection: &mut Connection,
        input: &[u8],
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        if self.endpoint.tells_apart() {
            return self.decode_whole(connection, input, answers, out);
        }
        let mut used = 0;
        while !connection.line.is_over {
            let answer = Answer {
                wire: &self.wire,
                messages: self.endpoint.messages,
                under_way: &mut connection.under_way,
                answers,
            };
            match self.endpoint.read(&mut connection.line, &input[used..], answer, out)? {
                Decoded::More => break,
                Decoded::Message { used: more } => {
                    used += more;
                    if connection.under_way.answering.take().is_some() {
                        return Ok(Step::Complete { tag: TAG, used });
                    }
                    self.endpoint.seen.unasked += 1;
                }
                Decoded::Close { code } => self.closed(connection, code, answers, out)?,
            }
        }
        Ok(Step::More)
    }

    fn end(connection: &mut Connection) -> End {
        if connection.under_way.answering.is_some() { End::InBody } else { connection.line.end() }
    }
}

impl WebSocket {
    /// Reads whole messages, because only those tell which are answers.
    fn decode_whole<A: Answers>(
        &mut self,
        connection: &mut Connection,
        input: &[u8],
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        let mut used = 0;
        while !connection.line.is_over {
            match self.endpoint.read_whole(&mut connection.line, &input[used..], out)? {
                Decoded::More => break,
                Decoded::Message { used: more } => {
                    used += more;
                    if self.endpoint.is_own(&mut connection.line, out)? {
                        continue;
                    }
                    let message = std::mem::take(&mut connection.line.whole);
                    let mut answer = Answer {
                        wire: &self.wire,
                        messages: self.endpoint.messages,
                        under_way: &mut connection.under_way,
                        answers: &mut *answers,
                    };
                    answer.begin(message.is_text);
                    if !message.bytes.is_empty() {
                        answer.piece(&message.bytes);
                    }
                    connection.line.whole = message;
                    if connection.under_way.answering.take().is_some() {
                        return Ok(Step::Complete { tag: TAG, used });
                    }
                    self.endpoint.seen.unasked += 1;
                }
                Decoded::Close { code } => self.closed(connection, code, answers, out)?,
            }
        }
        Ok(Step::More)
    }

    /// The server has ended the connection with this code.
    fn closed<A: Answers>(
        &mut self,
        connection: &mut Connection,
        code: u16,
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<(), ErrorKind> {
        self.endpoint.closed(&mut connection.line, code, out);
        if answers.template(TAG).is_some() {
            return Err(ErrorKind::CloseBeforeAnswer);
        }
        answers.closing();
        Ok(())
    }
}

/// The opening handshake and the close of a WebSocket (RFC 6455 sections 4 and 7).
pub(crate) struct Upgrade;

impl Greets<WebSocket> for Upgrade {
    const CLOSED: &'static str =
        "the server closed the connection in the handshake of the WebSocket";

    fn greet(
        protocol: &mut WebSocket,
        connection: &mut Connection,
        input: &[u8],
        out: &mut Frames,
    ) -> Greeting {
        protocol.endpoint.greet(&mut connection.line, input, out)
    }

    fn late(protocol: &WebSocket, connection: &Connection) -> String {
        protocol.endpoint.late(&connection.line)
    }

    fn note_failure(protocol: &mut WebSocket, why: &str) {
        protocol.endpoint.seen.fail(why);
    }

    fn into_seen(protocol: WebSocket) -> Greeted {
        Greeted { websocket: Some(protocol.endpoint.seen), ..Greeted::default() }
    }

    fn leave(protocol: &WebSocket, connection: &mut Connection, out: &mut Frames) {
        protocol.endpoint.leave(&mut connection.line, out);
    }
}

/// The answer to the message under way, as it comes.
struct Answer<'a, A> {
    wire: &'a Wire,
    messages: Messages,
    under_way: &'a mut UnderWay,
    answers: &'a mut A,
}

impl<A> Answer<'_, A> {
    /// Whether any message is a right answer, text or binary and whatever its number.
    fn takes_any(&self) -> bool {
        let check = |template| &self.wire.template(template).check;
        self.under_way.answering.is_some_and(|template| check(template).body == BodyCheck::Any)
    }
}

impl<A: Answers> Content for Answer<'_, A> {
    #[inline]
    fn begin(&mut self, is_text: bool) {
        self.under_way.bytes = 0;
        self.under_way.answering = self.answers.template(TAG);
        if self.under_way.answering.is_none() {
            return;
        }
        self.answers.head(TAG, NO_STATUS, false);
        if is_text == self.messages.binary && !self.takes_any() {
            self.answers.wrong(TAG);
        }
    }

    /// In place of a number goes what the template has there; that of another message is wrong.
    #[inline]
    fn piece(&mut self, piece: &[u8]) {
        let Some(template) = self.under_way.answering else { return };
        let at = self.under_way.bytes;
        self.under_way.bytes += piece.len() as u64;
        let mut rest = piece;
        if self.messages.numbered && at < NUMBER_BYTES as u64 {
            let number = &self.under_way.number;
            let at = at as usize;
            let (digits, behind) = piece.split_at(piece.len().min(NUMBER_BYTES - at));
            let place = self.wire.bytes(self.wire.slice(template)).get(at..at + digits.len());
            if digits != &number[at..at + digits.len()] && !self.takes_any() {
                self.answers.wrong(TAG);
            }
            self.answers.body(TAG, template, place.unwrap_or(digits));
            rest = behind;
        }
        if !rest.is_empty() {
            self.answers.body(TAG, template, rest);
        }
    }
}
