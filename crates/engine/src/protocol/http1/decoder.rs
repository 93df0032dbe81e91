//! An incremental decoder of answers that follow each other.
use super::DecodeError;
use super::body::{Chunk, Turn, turn};
use super::head::{self, Framing, HeadCache, HeadInfo};

/// What the decoder must know besides the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The answer has no body whatever its head says (the request was HEAD).
    pub head_only: bool,
    /// The longest head in bytes, interim heads and trailers each taken by themselves.
    pub head_bytes: u32,
    /// The longest body in bytes, chunk framing left out.
    pub body_bytes: u64,
}

/// Receives the parts of an answer as they are found.
pub trait Sink {
    /// An interim answer (1xx) came before the real one.
    fn interim(&mut self, status: u16) {
        let _ = status;
    }
    /// The head is complete; `raw` is the whole of it, from status line to empty line.
    fn head(&mut self, info: &HeadInfo, raw: &[u8]);
    /// Why the answer must be rejected; nothing of it follows.
    fn refused(&mut self, why: &'static str) {
        let _ = why;
    }
    /// A piece of the body, framing removed; pieces come in order and are never empty.
    fn body(&mut self, piece: &[u8]);
}

/// How far a call of [`Decoder::decode`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the input belong to this answer. The rest is the next answer's, or
    /// surplus.
    pub used: usize,
    /// Whether the answer is complete; the decoder is then ready for the next one.
    pub complete: bool,
}

/// What the end of the connection means for the answer under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eof {
    /// Not a byte of an answer had come.
    BeforeAnswer,
    /// The head had begun and was not complete.
    InHead,
    /// The body was not complete.
    InBody,
    /// The body ends with the connection: the answer is complete.
    Complete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    Length,
    UntilClose,
    Chunked(Chunk),
}

/// Decodes answers from pieces of any size. Keeps bytes only while a head is split over pieces.
#[derive(Debug)]
pub struct Decoder {
    /// Bytes of the length, or of the chunk, that are still to come; while a chunk size is read,
    /// that size.
    remaining: u64,
    body_bytes: u64,
    /// A head that is not complete yet; empty, and without memory, otherwise.
    partial: Vec<u8>,
    trailer_bytes: u32,
    phase: Phase,
    /// The bytes of the interim answers so far. Together they may be as long as one head: an endless
    /// series must not keep a client busy for ever.
    interim: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at the start of an answer.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            remaining: 0,
            body_bytes: 0,
            partial: Vec::new(),
            trailer_bytes: 0,
            phase: Phase::Head,
            interim: 0,
        }
    }

    /// Goes back to the start of an answer, for a new connection.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Whether a part of an answer has been read.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        self.phase != Phase::Head || !self.partial.is_empty() || self.interim > 0
    }

    /// Bytes of the body read so far; after the end of an answer, of its whole body until the next
    /// head is complete.
    #[must_use]
    pub const fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Reads `input`, at most to the end of the present answer.
    ///
    /// # Errors
    /// If the answer must be rejected or is beyond a limit; the connection is then of no further
    /// use.
    #[inline]
    pub fn decode<S: Sink>(
        &mut self,
        input: &[u8],
        rules: &Rules,
        cache: &mut HeadCache,
        sink: &mut S,
    ) -> Result<Step, DecodeError> {
        let mut at = 0;
        loop {
            let rest = &input[at..];
            match self.phase {
                Phase::Head => match self.head(rest, rules, cache, sink)? {
                    None => return Ok(Step { used: input.len(), complete: false }),
                    Some((used, has_body)) => {
                        at += used;
                        if !has_body {
                            return Ok(self.finish(at));
                        }
                    }
                },
                Phase::Length => {
                    let take =
                        usize::try_from(self.remaining).unwrap_or(usize::MAX).min(rest.len());
                    self.piece(&rest[..take], sink);
                    at += take;
                    return Ok(if self.remaining == 0 {
                        self.finish(at)
                    } else {
                        Step { used: at, complete: false }
                    });
                }
                Phase::UntilClose => {
                    if self.body_bytes + rest.len() as u64 > rules.body_bytes {
                        return Err(DecodeError::TooLarge("body beyond the limit"));
                    }
                    if !rest.is_empty() {
                        self.body_bytes += rest.len() as u64;
                        sink.body(rest);
                    }
                    return Ok(Step { used: input.len(), complete: false });
                }
                Phase::Chunked(state) => {
                    let (used, done) = self.chunked(state, rest, rules, sink)?;
                    at += used;
                    return Ok(if done {
                        self.finish(at)
                    } else {
                        Step { used: at, complete: false }
                    });
                }
            }
        }
    }

    /// The connection ended. Afterwards the decoder is at the start of an answer.
    pub fn eof(&mut self) -> Eof {
        let meaning = match self.phase {
            Phase::Head if self.is_inside() => Eof::InHead,
            Phase::Head => Eof::BeforeAnswer,
            Phase::UntilClose => Eof::Complete,
            Phase::Length | Phase::Chunked(_) => Eof::InBody,
        };
        let body_bytes = self.body_bytes;
        self.reset();
        self.body_bytes = body_bytes;
        meaning
    }

    #[inline]
    fn finish(&mut self, used: usize) -> Step {
        self.phase = Phase::Head;
        self.interim = 0;
        Step { used, complete: true }
    }

    #[inline]
    fn piece<S: Sink>(&mut self, piece: &[u8], sink: &mut S) {
        if !piece.is_empty() {
            self.remaining -= piece.len() as u64;
            self.body_bytes += piece.len() as u64;
            sink.body(piece);
        }
    }

    /// Reads the head; returns how many bytes of `input` it took and whether a body follows, or
    /// `None` if it is not complete.
    #[inline]
    fn head<S: Sink>(
        &mut self,
        input: &[u8],
        rules: &Rules,
        cache: &mut HeadCache,
        sink: &mut S,
    ) -> Result<Option<(usize, bool)>, DecodeError> {
        if self.partial.is_empty()
            && let Some((info, length)) = cache.find(input)
        {
            return self
                .begin(info, &input[..length], rules, sink)
                .map(|has_body| Some((length, has_body)));
        }
        self.head_slowly(input, rules, cache, sink)
    }

    #[cold]
    fn head_slowly<S: Sink>(
        &mut self,
        input: &[u8],
        rules: &Rules,
        cache: &mut HeadCache,
        sink: &mut S,
    ) -> Result<Option<(usize, bool)>, DecodeError> {
        let mut at = 0;
        loop {
            let Some((info, used)) = self.next_head(&input[at..], rules, cache, sink)? else {
                return Ok(None);
            };
            at += used;
            match info {
                None => {}
                Some(has_body) => return Ok(Some((at, has_body))),
            }
        }
    }

    /// Reads one head, interim or not: `Some((Some(has_body), used))` for the real one,
    /// `Some((None, used))` for an interim one.
    #[allow(clippy::type_complexity)]
    fn next_head<S: Sink>(
        &mut self,
        input: &[u8],
        rules: &Rules,
        cache: &mut HeadCache,
        sink: &mut S,
    ) -> Result<Option<(Option<bool>, usize)>, DecodeError> {
        let before = self.partial.len();
        let limit = rules.head_bytes as usize;
        let end = if before == 0 {
            // Bytes beyond the limit must not matter, however they are cut.
            head::find_end(&input[..input.len().min(limit + 1)], 0)?
        } else {
            // No more than the limit is ever kept.
            self.partial.extend_from_slice(&input[..input.len().min(limit + 1 - before)]);
            head::find_end(&self.partial, before)?
        };
        match end {
            Some(end) if end > limit => Err(DecodeError::TooLarge("head beyond the limit")),
            Some(end) if before == 0 => {
                let result = self.read_head(&input[..end], rules, cache, sink)?;
                Ok(Some((result, end)))
            }
            Some(end) => {
                let buffer = std::mem::take(&mut self.partial);
                let result = self.read_head(&buffer[..end], rules, cache, sink)?;
                Ok(Some((result, end - before)))
            }
            None if before + input.len() > limit => {
                Err(DecodeError::TooLarge("head beyond the limit"))
            }
            None => {
                if before == 0 {
                    self.partial = input.to_vec();
                }
                Ok(None)
            }
        }
    }

    fn read_head<S: Sink>(
        &mut self,
        raw: &[u8],
        rules: &Rules,
        cache: &mut HeadCache,
        sink: &mut S,
    ) -> Result<Option<bool>, DecodeError> {
        let info = head::parse(raw)?;
        if info.status == 101 {
            return Err(DecodeError::Malformed("101 Switching Protocols was not asked for"));
        }
        if info.status < 200 {
            self.interim += raw.len();
            if self.interim > rules.head_bytes as usize {
                return Err(DecodeError::TooLarge("interim answers beyond the limit of a head"));
            }
            sink.interim(info.status);
            return Ok(None);
        }
        cache.put(raw, info);
        self.begin(info, raw, rules, sink).map(Some)
    }

    /// Enters the body that the head announces; false if there is none.
    #[inline]
    fn begin<S: Sink>(
        &mut self,
        mut info: HeadInfo,
        raw: &[u8],
        rules: &Rules,
        sink: &mut S,
    ) -> Result<bool, DecodeError> {
        if rules.head_only {
            info.framing = Framing::None;
        }
        self.body_bytes = 0;
        let has_body = match info.framing {
            Framing::None | Framing::Length(0) => false,
            Framing::Length(length) if length > rules.body_bytes => {
                return Err(DecodeError::TooLarge("body beyond the limit"));
            }
            Framing::Length(length) => {
                self.remaining = length;
                self.phase = Phase::Length;
                true
            }
            Framing::Chunked => {
                self.remaining = 0;
                self.trailer_bytes = 0;
                self.phase = Phase::Chunked(Chunk::Size { digits: 0 });
                true
            }
            Framing::UntilClose => {
                self.phase = Phase::UntilClose;
                true
            }
        };
        sink.head(&info, raw);
        Ok(has_body)
    }

    fn chunked<S: Sink>(
        &mut self,
        mut state: Chunk,
        input: &[u8],
        rules: &Rules,
        sink: &mut S,
    ) -> Result<(usize, bool), DecodeError> {
        let mut at = 0;
        while at < input.len() {
            if state == Chunk::Data {
                let take =
                    usize::try_from(self.remaining).unwrap_or(usize::MAX).min(input.len() - at);
                self.piece(&input[at..at + take], sink);
                at += take;
                if self.remaining == 0 {
                    state = Chunk::DataCr;
                }
                continue;
            }
            match turn(state, input[at], &mut self.remaining)? {
                Turn::Done => return Ok((at + 1, true)),
                Turn::Go(next) => {
                    self.guard(next, rules)?;
                    state = next;
                }
            }
            at += 1;
        }
        self.phase = Phase::Chunked(state);
        Ok((at, false))
    }

    /// Checks the limits that a byte of framing may have crossed.
    fn guard(&mut self, next: Chunk, rules: &Rules) -> Result<(), DecodeError> {
        match next {
            Chunk::Size { .. } | Chunk::Data
                if self.remaining > rules.body_bytes.saturating_sub(self.body_bytes) =>
            {
                Err(DecodeError::TooLarge("body beyond the limit"))
            }
            Chunk::Line { .. } => {
                self.trailer_bytes += 1;
                if self.trailer_bytes > rules.head_bytes {
                    Err(DecodeError::TooLarge("trailers beyond the limit"))
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }
}
