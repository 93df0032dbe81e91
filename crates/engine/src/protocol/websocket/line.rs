//! What every connection over WebSocket does, whatever its messages mean: it is opened, answers
//! pings, and ends.

use pippin_model::load::first_words::{FirstWords, Meaning, Step};
use pippin_model::load::websocket::{Messages, NUMBER_BYTES, WebSocketUse};
use pippin_model::load::{LoadSpec, Request};
use pippin_model::result::ErrorKind;

use super::frame::{self, Breach, code, opcode};
use super::handshake::{self, Answer, Opening};
use super::random::Random;
use super::session::{Decoded, Session, Sink};
use crate::error::{EngineError, place};
use crate::protocol::outgoing::Frames;
use crate::protocol::{End, Greeting};
use crate::request::wire::{Template, Wire};

/// What the connections of a worker have in common.
pub(super) struct Endpoint {
    opening: Opening,
    /// What is said before the first message.
    words: FirstWords,
    pub messages: Messages,
    random: Random,
    head_bytes: usize,
    message_bytes: u64,
    pub seen: WebSocketUse,
}

/// A connection.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Until the handshake is done.
    answer: Option<Box<Answer>>,
    session: Session,
    /// How many of the first words are said and heard.
    said: usize,
    /// A message that is looked at as a whole.
    pub whole: Whole,
    /// A Close frame has gone out: nothing follows it.
    pub is_over: bool,
}

/// A message, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub is_text: bool,
    pub bytes: Vec<u8>,
}

impl Content for &mut Whole {
    fn begin(&mut self, is_text: bool) {
        self.is_text = is_text;
        self.bytes.clear();
    }

    fn piece(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }
}

/// What becomes of the server's messages.
pub(super) trait Content {
    /// A message begins.
    fn begin(&mut self, is_text: bool);
    /// A piece of it, in order and never empty.
    fn piece(&mut self, piece: &[u8]);
}

/// The payloads of the messages of a load; their masks and numbers vary.
///
/// # Errors
/// If a request opens no WebSocket, or another one than the first request.
pub(super) fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
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
        checked.map_err(|why| EngineError::UnsendableRequest { request: place(spec, nth), why })?;
        // Nobody knows whether a server that closes has read a message.
        let template =
            Template { check: request.check.clone(), may_repeat: false, head_only: false, places: None, upload: None };
        Ok((request.body.clone(), template))
    });
    // Refused here, so that making the protocol cannot fail.
    if let Some(Err(why)) = first.map(Opening::from_request) {
        return Err(EngineError::UnsendableRequest { request: place(spec, 0), why });
    }
    Wire::new(rendered, spec.requests.turns(), 1)
}

impl Endpoint {
    pub fn new(spec: &LoadSpec) -> Self {
        Self {
            opening: spec
                .requests
                .first()
                .and_then(|one| Opening::from_request(one).ok())
                .unwrap_or_default(),
            words: spec.first_words.clone().unwrap_or_default(),
            messages: spec.messages.unwrap_or_default(),
            random: Random::new(),
            head_bytes: spec.limits.head_bytes as usize,
            message_bytes: spec.limits.body_bytes,
            seen: WebSocketUse::default(),
        }
    }

    /// Asks for a WebSocket.
    pub fn begin(&self, line: &mut Line, out: &mut Frames) {
        line.answer = Some(self.opening.put(self.random.nonce(), &mut out.bytes));
    }

    /// Reads on in the server's consent, and in the words that follow it.
    pub fn greet(&mut self, line: &mut Line, input: &[u8], out: &mut Frames) -> Greeting {
        let Some(answer) = &mut line.answer else { return self.hear(line, input, 0, out) };
        match answer.read(&self.opening, input, self.head_bytes) {
            Ok(None) => Greeting::UnderWay,
            Ok(Some(used)) => {
                line.answer = None;
                self.say(line, out);
                self.hear(line, input, used, out)
            }
            Err(why) => Greeting::Failed(why.to_string()),
        }
    }

    /// Reads on behind the consent, until all that is awaited has come.
    fn hear(&mut self, line: &mut Line, input: &[u8], from: usize, out: &mut Frames) -> Greeting {
        const WRONG: &str =
            "the server broke a rule of WebSocket before it had said its first words";
        let mut used = from;
        while line.said < self.words.steps.len() {
            match self.read_whole(line, &input[used..], out) {
                Ok(Decoded::More) => return Greeting::UnderWay,
                Ok(Decoded::Message { used: more }) => {
                    used += more;
                    match self.is_own(line, out) {
                        Ok(true) => {}
                        Ok(false) => self.heard(line, out),
                        Err(_) => return Greeting::Failed(WRONG.into()),
                    }
                }
                Ok(Decoded::Close { code }) => {
                    return Greeting::Failed(format!(
                        "the server closed the WebSocket with the code {code}, and did not send {}",
                        self.awaited(line)
                    ));
                }
                Err(_) => return Greeting::Failed(WRONG.into()),
            }
        }
        Greeting::Done { used }
    }

    /// A message came that may be what is awaited.
    fn heard(&self, line: &mut Line, out: &mut Frames) {
        if let Some(Step::Await(kind)) = self.words.steps.get(line.said)
            && kind.is_in(&line.whole.bytes)
        {
            line.said += 1;
            self.say(line, out);
        }
    }

    /// Says what comes before the next message that is awaited.
    fn say(&self, line: &mut Line, out: &mut Frames) {
        while let Some(Step::Send(text)) = self.words.steps.get(line.said) {
            let mask = self.random.mask();
            frame::put(&mut out.bytes, opcode::FINAL | opcode::TEXT, text.as_bytes(), mask);
            line.said += 1;
        }
    }

    /// What the server must say next.
    fn awaited(&self, line: &Line) -> String {
        match self.words.steps.get(line.said) {
            Some(Step::Await(kind)) => kind.to_string(),
            _ => "its first words".into(),
        }
    }

    /// Why a WebSocket was not open in time.
    pub fn late(&self, line: &Line) -> String {
        if line.answer.is_some() || self.words.steps.is_empty() {
            return handshake::LATE.into();
        }
        format!("the server did not send {} in time", self.awaited(line))
    }

    /// Whether some messages of the server are no answers.
    #[inline]
    pub const fn tells_apart(&self) -> bool {
        self.words.tells_apart()
    }

    /// Whether the message that came belongs to the protocol above WebSocket, and is no answer. If
    /// it is a question, it is answered.
    ///
    /// # Errors
    /// If the server does not read the answers that it got.
    pub fn is_own(&mut self, line: &mut Line, out: &mut Frames) -> Result<bool, ErrorKind> {
        match self.words.meaning(&line.whole.bytes) {
            Meaning::Content => return Ok(false),
            Meaning::Ignored => {}
            Meaning::Question(reply) => {
                let mask = self.random.mask();
                let put = |bytes: &mut _| {
                    frame::put(bytes, opcode::FINAL | opcode::TEXT, reply.as_bytes(), mask);
                };
                if out.reply(put) {
                    return Err(self.broken(line, Breach::Flood, out));
                }
            }
        }
        Ok(true)
    }

    /// Reads on as [`Endpoint::read`] does, and keeps the message in `line.whole`.
    ///
    /// # Errors
    /// As [`Endpoint::read`].
    pub fn read_whole(
        &mut self,
        line: &mut Line,
        input: &[u8],
        out: &mut Frames,
    ) -> Result<Decoded, ErrorKind> {
        let mut whole = std::mem::take(&mut line.whole);
        let decoded = self.read(line, input, &mut whole, out);
        line.whole = whole;
        decoded
    }

    /// Writes a message with this payload; its number, if it has one.
    #[inline]
    pub fn put(&self, payload: &[u8], out: &mut Frames) -> Option<[u8; NUMBER_BYTES]> {
        let kind = if self.messages.binary { opcode::BINARY } else { opcode::TEXT };
        let mask = self.random.mask();
        frame::begin(&mut out.bytes, opcode::FINAL | kind, payload.len(), mask);
        let from = out.bytes.len();
        out.bytes.extend_from_slice(payload);
        let sent = &mut out.bytes[from..];
        let number = self.messages.numbered.then(|| hexadecimal(self.random.next()));
        if let Some(number) = &number {
            let digits = sent.len().min(NUMBER_BYTES);
            sent[..digits].copy_from_slice(&number[..digits]);
        }
        frame::mask(sent, mask);
        number
    }

    /// Reads on, at most to the end of a message. Pings are answered.
    ///
    /// # Errors
    /// The kind of the error, if the server broke a rule. It is told, and the line is over.
    #[inline]
    pub fn read<C: Content>(
        &mut self,
        line: &mut Line,
        input: &[u8],
        content: C,
        out: &mut Frames,
    ) -> Result<Decoded, ErrorKind> {
        let mut parts = Parts { content, endpoint: &*self, out, pings: 0 };
        let seen = line.session.decode(input, self.message_bytes, &mut parts);
        let pings = parts.pings;
        self.seen.pings += pings;
        seen.map_err(|breach| self.broken(line, breach, out))
    }

    #[cold]
    fn broken(&mut self, line: &mut Line, breach: Breach, out: &mut Frames) -> ErrorKind {
        self.seen.fail(&breach.to_string());
        self.part(line, breach.code(), out);
        match breach {
            Breach::TooLarge => ErrorKind::TooLarge,
            _ => ErrorKind::Malformed,
        }
    }

    /// The server ends the connection, and gets the same code back (RFC 6455 section 5.5.1).
    #[cold]
    pub fn closed(&mut self, line: &mut Line, closed: u16, out: &mut Frames) {
        *self.seen.close_codes.entry(closed).or_default() += 1;
        self.part(line, if closed == code::NONE { code::NORMAL } else { closed }, out);
    }

    /// We end a connection that is sound.
    pub fn leave(&self, line: &mut Line, out: &mut Frames) {
        if !line.is_over && line.answer.is_none() {
            self.part(line, code::NORMAL, out);
        }
    }

    /// Ends the connection from our side.
    fn part(&self, line: &mut Line, code: u16, out: &mut Frames) {
        line.is_over = true;
        frame::put_close(&mut out.bytes, code, self.random.mask());
    }
}

impl Line {
    /// What its end means while no answer has begun.
    pub const fn end(&self) -> End {
        End::BeforeHead { untouched: !self.session.is_inside() }
    }
}

/// Hands on what a session finds, and answers pings.
struct Parts<'a, C> {
    content: C,
    endpoint: &'a Endpoint,
    out: &'a mut Frames,
    pings: u64,
}

impl<C: Content> Sink for Parts<'_, C> {
    #[inline]
    fn begin(&mut self, is_text: bool) {
        self.content.begin(is_text);
    }

    #[inline]
    fn piece(&mut self, piece: &[u8]) {
        self.content.piece(piece);
    }

    fn ping(&mut self, payload: &[u8]) -> Result<(), Breach> {
        self.pings += 1;
        let mask = self.endpoint.random.mask();
        let put = |bytes: &mut _| frame::put(bytes, opcode::FINAL | opcode::PONG, payload, mask);
        if self.out.reply(put) { Err(Breach::Flood) } else { Ok(()) }
    }
}

fn hexadecimal(number: u64) -> [u8; NUMBER_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|at| DIGITS[(number >> (60 - 4 * at)) as usize & 0xF])
}
