//! What the frames of a connection mean: messages in fragments, and control frames between them
//! (RFC 6455 sections 5.4 to 5.6).
use super::frame::{Breach, Header, Incoming, code, opcode};
use super::utf8::Utf8;

/// The receiving side of a connection, after its handshake.
#[derive(Debug, Default)]
pub(super) struct Session {
    incoming: Incoming,
    /// The frame that is being read, and how much of it is to come.
    frame: Option<(Header, u64)>,
    /// The payload of a control frame.
    control: Vec<u8>,
    /// The message that is being read.
    message: Option<Open>,
    utf8: Utf8,
}

/// A message whose end has not come.
#[derive(Debug, Clone, Copy)]
struct Open {
    is_text: bool,
    bytes: u64,
}

/// Where the parts of messages go.
pub(super) trait Sink {
    /// A message begins.
    fn begin(&mut self, is_text: bool);
    /// A piece of it, in order and never empty.
    fn piece(&mut self, piece: &[u8]);
    /// The server wants a pong with this payload.
    ///
    /// # Errors
    /// If it does not read the pongs that it got.
    fn ping(&mut self, payload: &[u8]) -> Result<(), Breach>;
    /// A pong came.
    fn pong(&mut self, _payload: &[u8]) {}
}

/// How far [`Session::decode`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoded {
    /// All of the input is read.
    More,
    /// A message is complete; it took `used` bytes of the input.
    Message { used: usize },
    /// The server ends the connection, with this code. What follows means nothing.
    Close { code: u16 },
}

impl Session {
    /// Whether a message has begun and is not complete.
    pub const fn is_inside(&self) -> bool {
        self.message.is_some() || self.frame.is_some() || self.incoming.has_begun()
    }

    /// Reads on, at most to the end of a message.
    ///
    /// # Errors
    /// If the server breaks a rule, or a message is longer than `most` bytes.
    #[inline]
    pub fn decode<S: Sink>(
        &mut self,
        input: &[u8],
        most: u64,
        sink: &mut S,
    ) -> Result<Decoded, Breach> {
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let Some((header, left)) = &mut self.frame else {
                let Some((header, took)) = self.incoming.read(rest)? else {
                    return Ok(Decoded::More);
                };
                used += took;
                self.begin(header, most, sink)?;
                continue;
            };
            let take = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
            *left -= take as u64;
            used += take;
            let (header, is_whole) = (*header, *left == 0);
            self.payload(header, &rest[..take], sink)?;
            if !is_whole {
                return Ok(Decoded::More);
            }
            self.frame = None;
            if header.is_control() {
                if let Some(code) = self.control(header.opcode, sink)? {
                    return Ok(Decoded::Close { code });
                }
            } else if header.is_final {
                if !self.utf8.is_complete() {
                    return Err(Breach::NotUtf8);
                }
                self.message = None;
                return Ok(Decoded::Message { used });
            }
        }
    }

    /// A frame begins: whether it may, here.
    #[inline]
    fn begin<S: Sink>(&mut self, header: Header, most: u64, sink: &mut S) -> Result<(), Breach> {
        self.frame = Some((header, header.length));
        if header.is_control() {
            return Ok(());
        }
        let bytes = match (header.opcode, &mut self.message) {
            (opcode::CONTINUATION, None) => return Err(Breach::Stray),
            (opcode::CONTINUATION, Some(open)) => {
                open.bytes = open.bytes.saturating_add(header.length);
                open.bytes
            }
            (_, Some(_)) => return Err(Breach::Interleaved),
            (kind, None) => {
                let is_text = kind == opcode::TEXT;
                self.message = Some(Open { is_text, bytes: header.length });
                self.utf8.reset();
                sink.begin(is_text);
                header.length
            }
        };
        if bytes > most { Err(Breach::TooLarge) } else { Ok(()) }
    }

    #[inline]
    fn payload<S: Sink>(
        &mut self,
        header: Header,
        piece: &[u8],
        sink: &mut S,
    ) -> Result<(), Breach> {
        if piece.is_empty() {
            return Ok(());
        }
        if header.is_control() {
            self.control.extend_from_slice(piece);
            return Ok(());
        }
        if self.message.is_some_and(|open| open.is_text) && !self.utf8.accepts(piece) {
            return Err(Breach::NotUtf8);
        }
        sink.piece(piece);
        Ok(())
    }

    /// A control frame is complete; the code if it is a Close.
    fn control<S: Sink>(&mut self, kind: u8, sink: &mut S) -> Result<Option<u16>, Breach> {
        let payload = std::mem::take(&mut self.control);
        match kind {
            opcode::PING => sink.ping(&payload)?,
            opcode::PONG => sink.pong(&payload),
            _ => return close_code(&payload).map(Some),
        }
        Ok(None)
    }
}

/// The code of a Close frame (section 7.4); those that must never be sent are a breach.
fn close_code(payload: &[u8]) -> Result<u16, Breach> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(code::NONE) } else { Err(Breach::Code) };
    };
    let code = u16::from_be_bytes(*code);
    let is_known = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
    match (is_known, str::from_utf8(reason)) {
        (false, _) => Err(Breach::Code),
        (true, Err(_)) => Err(Breach::NotUtf8),
        (true, Ok(_)) => Ok(code),
    }
}
