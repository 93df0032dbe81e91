//! Broadcasts: the first connection sends a message, and the answer to it is complete when every
//! connection has it, the first one included.
use std::sync::Arc;

use pippin_model::load::LoadSpec;
use pippin_model::load::websocket::NUMBER_BYTES;
use pippin_model::result::ErrorKind;

use super::line::{self, Content, Endpoint, Line};
use super::protocol::{TAG, Upgrade};
use super::session::Decoded;
use crate::error::EngineError;
use crate::protocol::order::ByTag;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Alike, Answers, End, Greeted, Greeting, Greets, Protocol, Reaches, Step};
use crate::request::check::NO_STATUS;
use crate::request::drawn::Value;
use crate::request::wire::Wire;

/// One broadcast is under way at a time. Its copies are known by its number, so that a late copy of
/// an earlier one, or a second copy, passes for none.
pub(crate) struct Broadcast {
    /// Has the payloads of messages; their masks and numbers vary.
    wire: Arc<Wire>,
    endpoint: Endpoint,
    /// Connections that each message must come to.
    receivers: u32,
    present: Present,
}

/// The broadcast under way, or the last one.
#[derive(Default)]
struct Present {
    is_under_way: bool,
    number: [u8; NUMBER_BYTES],
    /// From 1.
    nth: u64,
    template: u32,
    /// Connections that have it.
    heard: u32,
}

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    line: Line,
    copy: Arriving,
    /// The last broadcast that it has.
    heard: u64,
}

/// A message that is being read.
#[derive(Debug, Default)]
struct Arriving {
    number: [u8; NUMBER_BYTES],
    bytes: usize,
    /// It is not what was sent.
    differs: bool,
}

/// Everybody who is connected has each answer.
pub(crate) struct Everyone;

impl Reaches<Broadcast> for Everyone {
    const ALL: bool = true;

    fn lacks(Broadcast { present, .. }: &Broadcast, receiver: &Receiver) -> bool {
        present.is_under_way && receiver.heard != present.nth
    }
}

impl Protocol for Broadcast {
    type Session = Receiver;
    type Out = Frames;
    type Order = ByTag;
    type Greeting = Upgrade;
    type Variation = Alike;
    type Reach = Everyone;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        line::wire(spec)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        let mut endpoint = Endpoint::new(spec);
        let receivers = spec.connections.count;
        endpoint.seen.receivers = Some(receivers);
        Self { wire: Arc::clone(wire), endpoint, receivers, present: Present::default() }
    }

    fn begin(&self, receiver: &mut Receiver, out: &mut Frames) {
        self.endpoint.begin(&mut receiver.line, out);
    }

    #[inline]
    fn room(receiver: &Receiver, under_way: u32) -> u32 {
        if receiver.line.is_over { 0 } else { 1_u32.saturating_sub(under_way) }
    }

    /// The copies that did not come are lost. Should they come later, their number tells.
    fn cancel(&mut self, _receiver: &mut Receiver, _tag: u32, _out: &mut Frames) {
        if std::mem::take(&mut self.present.is_under_way) {
            self.endpoint.seen.lost += u64::from(self.receivers - self.present.heard);
        }
    }

    fn render(&mut self, _: &mut Receiver, template: u32, _: u32, _: Value, out: &mut Frames) {
        let payload = self.wire.bytes(self.wire.slice(template));
        let number = self.endpoint.put(payload, out).unwrap_or_default();
        let nth = self.present.nth + 1;
        self.present = Present { is_under_way: true, number, nth, template, heard: 0 };
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        receiver: &mut Receiver,
        input: &[u8],
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        let mut used = 0;
        while !receiver.line.is_over {
            let reading = Reading {
                copy: &mut receiver.copy,
                sent: self.wire.bytes(self.wire.slice(self.present.template)),
                is_binary: self.endpoint.messages.binary,
            };
            match self.endpoint.read(&mut receiver.line, &input[used..], reading, out)? {
                Decoded::More => break,
                Decoded::Message { used: more } => {
                    used += more;
                    if self.has_read(receiver, answers) {
                        return Ok(Step::Complete { tag: TAG, used });
                    }
                }
                Decoded::Close { code } => {
                    self.endpoint.closed(&mut receiver.line, code, out);
                    if Everyone::lacks(self, receiver) {
                        return Err(ErrorKind::CloseBeforeAnswer);
                    }
                    answers.closing();
                }
            }
        }
        Ok(Step::More)
    }

    fn end(receiver: &mut Receiver) -> End {
        receiver.line.end()
    }
}

impl Greets<Broadcast> for Upgrade {
    const CLOSED: &'static str =
        "the server closed the connection in the handshake of the WebSocket";

    fn greet(
        protocol: &mut Broadcast,
        receiver: &mut Receiver,
        input: &[u8],
        out: &mut Frames,
    ) -> Greeting {
        // A connection that was opened after a message was sent is none of its receivers.
        receiver.heard = protocol.present.nth;
        protocol.endpoint.greet(&mut receiver.line, input, out)
    }

    fn late(protocol: &Broadcast, receiver: &Receiver) -> String {
        protocol.endpoint.late(&receiver.line)
    }

    fn note_failure(protocol: &mut Broadcast, why: &str) {
        protocol.endpoint.seen.fail(why);
    }

    fn into_seen(protocol: Broadcast) -> Greeted {
        Greeted { websocket: Some(protocol.endpoint.seen), ..Greeted::default() }
    }

    fn leave(protocol: &Broadcast, receiver: &mut Receiver, out: &mut Frames) {
        protocol.endpoint.leave(&mut receiver.line, out);
    }
}

impl Broadcast {
    /// A connection has read a message: whether all of them have the broadcast now.
    #[inline]
    fn has_read<A: Answers>(&mut self, receiver: &mut Receiver, answers: &mut A) -> bool {
        let present = &mut self.present;
        let Arriving { number, bytes, differs } = receiver.copy;
        if !present.is_under_way || number != present.number || receiver.heard == present.nth {
            self.endpoint.seen.unasked += 1;
            return false;
        }
        receiver.heard = present.nth;
        present.heard += 1;
        let sent = self.wire.bytes(self.wire.slice(present.template));
        if present.heard == 1 {
            answers.head(TAG, NO_STATUS, false);
        }
        answers.heard(TAG);
        if differs || bytes != sent.len() {
            answers.wrong(TAG);
        }
        if present.heard < self.receivers {
            return false;
        }
        present.is_under_way = false;
        // Each copy was compared with it.
        answers.body(TAG, present.template, sent);
        true
    }
}

/// A message as it comes.
struct Reading<'a> {
    copy: &'a mut Arriving,
    /// What was sent, with the place of its number.
    sent: &'a [u8],
    is_binary: bool,
}

impl Content for Reading<'_> {
    #[inline]
    fn begin(&mut self, is_text: bool) {
        *self.copy = Arriving { differs: is_text == self.is_binary, ..Arriving::default() };
    }

    #[inline]
    fn piece(&mut self, piece: &[u8]) {
        let at = self.copy.bytes;
        self.copy.bytes += piece.len();
        let digits = piece.len().min(NUMBER_BYTES.saturating_sub(at));
        let (number, rest) = piece.split_at(digits);
        if digits > 0 {
            self.copy.number[at..at + digits].copy_from_slice(number);
        }
        self.copy.differs |= self.sent.get(at + digits..at + piece.len()) != Some(rest);
    }
}
