//! What the frames of a connection mean (RFC 9113 sections 5 and 6).
use std::cmp::Reverse;

use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;
use pippin_model::workload::percent_decode;

use super::frame::{
    HEADER_BYTES, Header, MOST_BYTES, begin, code, flag, kind, put_number, setting,
};
use super::head::Head;
use super::hpack::Decoder;
use super::sending::{CONNECTION_WINDOW, LARGEST_WINDOW, STREAM_WINDOW, Sending};
use super::stream::{Data, Ended, Ids, Stream};
use crate::protocol::outgoing::Frames;
use crate::protocol::{Answers, Step};

/// Why a connection that breaks the rules is of no further use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub kind: ErrorKind,
    /// In words.
    pub why: &'static str,
}

impl Fault {
    const fn malformed(why: &'static str) -> Self {
        Self { kind: ErrorKind::Malformed, why }
    }

    const fn too_large(why: &'static str) -> Self {
        Self { kind: ErrorKind::TooLarge, why }
    }
}

/// What holds for all answers of a load.
#[derive(Debug, Clone, Copy)]
pub(in crate::protocol) struct Limits {
    pub head_bytes: usize,
    pub body_bytes: u64,
}

impl Limits {
    pub const fn from_spec(spec: &LoadSpec) -> Self {
        let pippin_model::load::Limits { head_bytes, body_bytes } = spec.limits;
        Self { head_bytes: head_bytes as usize, body_bytes }
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct Session {
    limits: Limits,
    /// An incomplete frame, or an incomplete header of one.
    partial: Vec<u8>,
    /// DATA is handed on as it comes.
    data: Option<Data>,
    /// A header block that goes on in CONTINUATION frames: its stream and whether that ends with
    /// it.
    continuing: Option<(u32, bool)>,
    block: Vec<u8>,
    /// CONTINUATION frames of this block.
    continuations: usize,
    decoder: Decoder,
    /// What the header block that was decoded last says.
    last_head: Head,
    /// The field `grpc-message` of that block; empty without one.
    last_message: Vec<u8>,
    pub streams: Vec<Stream>,
    ids: Ids,
    ended: Ended,
    pub sending: Sending,
    /// Bytes of DATA frames for which the server got no new window yet.
    unreturned: u32,
    pub has_settings: bool,
    /// Requests that the server has not looked at: they may be sent again. The last one goes first.
    refused: Vec<u32>,
    /// Why the request that failed last did so.
    pub why: &'static str,
}

/// What became of a request.
enum Fate {
    Complete,
    Failed(ErrorKind),
}

/// A frame with its payload.
#[derive(Clone, Copy)]
struct Frame<'a> {
    header: Header,
    payload: &'a [u8],
}

impl Session {
    pub fn new(most_streams: u32, limits: Limits) -> Self {
        Self {
            limits,
            partial: Vec::new(),
            data: None,
            continuing: None,
            block: Vec::new(),
            continuations: 0,
            decoder: Decoder::new(),
            last_head: Head::default(),
            last_message: Vec::new(),
            streams: Vec::new(),
            ids: Ids::new(most_streams),
            ended: Ended::default(),
            sending: Sending::new(),
            unreturned: 0,
            has_settings: false,
            refused: Vec::new(),
            why: "",
        }
    }

    /// Whether something came for a request under way.
    pub fn has_begun(&self) -> bool {
        self.streams.iter().any(|stream| stream.id != 0 && stream.has_begun)
    }

    /// A request was given this stream.
    #[inline]
    pub fn opened(&mut self, tag: u32) {
        self.ids.insert(self.streams[tag as usize].id, tag);
    }

    /// Reads on, at most to the end of one answer.
    #[inline]
    pub fn decode<A: Answers>(
        &mut self,
        input: &[u8],
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Step, Fault> {
        let mut used = 0;
        loop {
            if let Some(tag) = self.refused.pop() {
                return Ok(Step::Refused { tag, used });
            }
            let rest = &input[used..];
            let settled = if self.data.is_some() {
                if rest.is_empty() {
                    return Ok(Step::More);
                }
                self.data(rest, &mut used, answers, out)?
            } else if self.partial.is_empty() {
                let Some(header) = rest.first_chunk().map(Header::read) else {
                    self.partial.extend_from_slice(rest);
                    return Ok(Step::More);
                };
                self.check(header)?;
                if header.kind == kind::DATA {
                    used += HEADER_BYTES;
                    self.begin_data(header, out)?
                } else if let Some(frame) = rest.get(..HEADER_BYTES + header.length) {
                    used += frame.len();
                    let payload = &frame[HEADER_BYTES..];
                    self.frame(Frame { header, payload }, answers, out)?
                } else {
                    self.partial.extend_from_slice(rest);
                    return Ok(Step::More);
                }
            } else {
                let Some(settled) = self.go_on(rest, &mut used, answers, out)? else {
                    return Ok(Step::More);
                };
                settled
            };
            match settled {
                None => {}
                Some((tag, Fate::Complete)) => return Ok(Step::Complete { tag, used }),
                Some((tag, Fate::Failed(kind))) => return Ok(Step::Failed { tag, used, kind }),
            }
        }
    }

    /// Completes the frame that has begun; `None` if there are too few bytes.
    fn go_on<A: Answers>(
        &mut self,
        rest: &[u8],
        used: &mut usize,
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Option<Option<(u32, Fate)>>, Fault> {
        let mut rest = rest;
        let mut take = |partial: &mut Vec<u8>, length: usize| {
            let (piece, behind) = rest.split_at((length - partial.len()).min(rest.len()));
            partial.extend_from_slice(piece);
            (rest, *used) = (behind, *used + piece.len());
            partial.len() == length
        };
        let mut partial = std::mem::take(&mut self.partial);
        let had_header = partial.len() >= HEADER_BYTES;
        if !had_header && !take(&mut partial, HEADER_BYTES) {
            self.partial = partial;
            return Ok(None);
        }
        let Some(header) = partial.first_chunk().map(Header::read) else { return Ok(None) };
        if !had_header {
            self.check(header)?;
            if header.kind == kind::DATA {
                return self.begin_data(header, out).map(Some);
            }
        }
        if !take(&mut partial, HEADER_BYTES + header.length) {
            self.partial = partial;
            return Ok(None);
        }
        let frame = Frame { header, payload: &partial[HEADER_BYTES..] };
        self.frame(frame, answers, out).map(Some)
    }

    /// What the header of a frame is enough for.
    #[inline]
    const fn check(&self, header: Header) -> Result<(), Fault> {
        let is_expected = match self.continuing {
            // Nothing may come between the parts of a header block (section 4.3).
            Some((stream, _)) => header.kind == kind::CONTINUATION && header.stream == stream,
            // The first frame is SETTINGS (section 3.4).
            None => {
                header.kind != kind::CONTINUATION
                    && (self.has_settings
                        || header.kind == kind::SETTINGS && !header.has(flag::ACK))
            }
        };
        if header.length > MOST_BYTES || !is_expected {
            return Err(Fault::malformed(
                "frame of a wrong size, or in a place where it must not be (SETTINGS come first, CONTINUATION after HEADERS)",
            ));
        }
        Ok(())
    }

    /// The request of this stream; `None` if it is over. Its last frames may still come.
    #[inline]
    fn whose(&self, stream: u32) -> Result<Option<u32>, Fault> {
        if let Some(tag) = self.ids.get(stream) {
            return Ok(Some(tag));
        }
        // Even ids are the server's, which may open none; later ones are idle (section 5.1).
        if stream.is_multiple_of(2) || stream >= self.sending.next_id {
            return Err(Fault::malformed("frame on a stream that was never opened"));
        }
        Ok(None)
    }

    /// Whose answer a frame belongs to, for kinds of frames that may come late only on streams that
    /// we ended.
    #[inline]
    fn whose_answer(&self, stream: u32) -> Result<Option<u32>, Fault> {
        match self.whose(stream)? {
            None if !self.ended.has(stream) => {
                Err(Fault::malformed("frame on a stream that the server had ended"))
            }
            tag => Ok(tag),
        }
    }

    fn begin_data(
        &mut self,
        header: Header,
        out: &mut Frames,
    ) -> Result<Option<(u32, Fate)>, Fault> {
        let tag = self.whose_answer(header.stream)?;
        let length = header.length as u32;
        self.unreturned += length;
        if self.unreturned > CONNECTION_WINDOW {
            return Err(Fault::malformed("more DATA than the window of the connection allows"));
        }
        if self.unreturned >= CONNECTION_WINDOW / 2 {
            let by = std::mem::take(&mut self.unreturned);
            put_number(&mut out.bytes, kind::WINDOW_UPDATE, 0, by);
        }
        let ends_stream = header.has(flag::END_STREAM);
        if let Some(tag) = tag {
            let stream = &mut self.streams[tag as usize];
            stream.unreturned += length;
            if stream.unreturned > STREAM_WINDOW || !stream.has_head {
                return Err(Fault::malformed(
                    "more DATA than the window of the stream allows, or DATA before HEADERS",
                ));
            }
            if stream.unreturned >= STREAM_WINDOW / 2 && !ends_stream {
                let by = std::mem::take(&mut stream.unreturned);
                put_number(&mut out.bytes, kind::WINDOW_UPDATE, stream.id, by);
            }
        }
        let is_padded = header.has(flag::PADDED);
        if is_padded && header.length == 0 {
            return Err(Fault::malformed("DATA frame with padding and without a payload"));
        }
        let padding = (!is_padded).then_some(0);
        if header.length > 0 {
            self.data = Some(Data { tag, left: header.length, padding, ends_stream });
            return Ok(None);
        }
        Ok(tag.filter(|_| ends_stream).map(|tag| self.finish(tag, out)))
    }

    /// Takes bytes of a DATA frame.
    #[inline]
    fn data<A: Answers>(
        &mut self,
        rest: &[u8],
        used: &mut usize,
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Option<(u32, Fate)>, Fault> {
        let Some(data) = &mut self.data else { return Ok(None) };
        let Some(padding) = data.padding else {
            *used += 1;
            data.left -= 1;
            data.padding = Some(usize::from(rest[0]));
            // Padding as long as the payload (section 6.1).
            let is_right = usize::from(rest[0]) <= data.left;
            return if is_right {
                self.end_of_data(out)
            } else {
                Err(Fault::malformed("DATA frame with more padding than payload"))
            };
        };
        let piece = &rest[..rest.len().min(data.left - padding.min(data.left))];
        let skipped = (rest.len() - piece.len()).min(data.left - piece.len());
        *used += piece.len() + skipped;
        data.left -= piece.len() + skipped;
        if let Some(tag) = data.tag.filter(|_| !piece.is_empty()) {
            let stream = &mut self.streams[tag as usize];
            stream.received += piece.len() as u64;
            if stream.has_no_body {
                return Ok(Some(self.reject(
                    tag,
                    ErrorKind::Malformed,
                    "a body in an answer that has none",
                    out,
                )));
            }
            if stream.received > self.limits.body_bytes {
                return Ok(Some(self.reject(
                    tag,
                    ErrorKind::TooLarge,
                    "body beyond the limit",
                    out,
                )));
            }
            answers.body(tag, stream.template, piece);
        }
        self.end_of_data(out)
    }

    #[inline]
    fn end_of_data(&mut self, out: &mut Frames) -> Result<Option<(u32, Fate)>, Fault> {
        match self.data {
            Some(Data { left: 0, tag, ends_stream, .. }) => {
                self.data = None;
                Ok(tag.filter(|_| ends_stream).map(|tag| self.finish(tag, out)))
            }
            _ => Ok(None),
        }
    }

    /// Any frame but DATA, whole.
    fn frame<A: Answers>(
        &mut self,
        frame: Frame<'_>,
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Option<(u32, Fate)>, Fault> {
        let Frame { header, payload } = frame;
        match header.kind {
            kind::HEADERS => self.headers(frame, answers, out),
            kind::CONTINUATION => self.continuation(frame, answers, out),
            kind::RST_STREAM => self.reset(header.stream, payload),
            kind::SETTINGS => self.settings(frame, out).map(|()| None),
            kind::PING => self.ping(frame, out).map(|()| None),
            kind::GOAWAY => self.goaway(frame, answers).map(|()| None),
            kind::WINDOW_UPDATE => self.window_update(header.stream, payload, out),
            // Our settings forbid pushes (section 6.6).
            kind::PUSH_PROMISE => Err(Fault::malformed("PUSH_PROMISE, which our settings forbid")),
            kind::PRIORITY if header.stream == 0 => Err(Fault::malformed("PRIORITY on stream 0")),
            // Frames of unknown kinds are ignored, as priorities are (sections 5.3.2 and 5.5).
            _ => Ok(None),
        }
    }

    fn headers<A: Answers>(
        &mut self,
        Frame { header, payload }: Frame<'_>,
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Option<(u32, Fate)>, Fault> {
        let mut block = payload;
        let mut padding = 0;
        if header.has(flag::PADDED) {
            let (length, rest) =
                block.split_first().ok_or(Fault::malformed("HEADERS frame that is too short"))?;
            (padding, block) = (usize::from(*length), rest);
        }
        if header.has(flag::PRIORITY) {
            block = block.get(5..).ok_or(Fault::malformed("HEADERS frame that is too short"))?;
        }
        let length = block
            .len()
            .checked_sub(padding)
            .ok_or(Fault::malformed("HEADERS frame with more padding than payload"))?;
        let block = &block[..length];
        let ends_stream = header.has(flag::END_STREAM);
        if header.has(flag::END_HEADERS) {
            return self.head(header.stream, ends_stream, block, answers, out);
        }
        self.continuing = Some((header.stream, ends_stream));
        self.continuations = 0;
        self.block.extend_from_slice(block);
        Ok(None)
    }

    fn continuation<A: Answers>(
        &mut self,
        Frame { header, payload }: Frame<'_>,
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Option<(u32, Fate)>, Fault> {
        self.block.extend_from_slice(payload);
        self.continuations += 1;
        // Empty frames cost the server nothing. A head does not need many.
        let most = MOST_CONTINUATIONS + self.limits.head_bytes / MOST_BYTES;
        if self.block.len() > self.limits.head_bytes || self.continuations > most {
            return Err(Fault::too_large(
                "header block beyond the limit, or in too many CONTINUATION frames",
            ));
        }
        let Some((stream, ends_stream)) = self.continuing else {
            return Err(Fault::malformed("CONTINUATION without HEADERS"));
        };
        if !header.has(flag::END_HEADERS) {
            return Ok(None);
        }
        self.continuing = None;
        let block = std::mem::take(&mut self.block);
        self.head(stream, ends_stream, &block, answers, out)
    }

    /// A header block is complete: an interim answer, the head of an answer, or trailers.
    fn head<A: Answers>(
        &mut self,
        id: u32,
        ends_stream: bool,
        block: &[u8],
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Option<(u32, Fate)>, Fault> {
        let tag = self.whose_answer(id)?;
        let wanting = tag.filter(|tag| answers.wants_fields(*tag));
        if wanting.is_some() || !self.decoder.repeats(block) {
            self.read_head(wanting, block, answers)?;
        }
        let head = self.last_head;
        let Some(tag) = tag else { return Ok(None) };
        let stream = &mut self.streams[tag as usize];
        stream.has_begun = true;
        let is_right = match head.status {
            // Trailers (section 8.1).
            None => stream.has_head && ends_stream,
            Some(_) if stream.has_head => false,
            // There is no upgrade, and an interim answer is not the last one (sections 8.1, 8.6).
            Some(status @ 100..=199) => status != 101 && !ends_stream,
            Some(_) => true,
        };
        if head.is_malformed || !is_right {
            return Ok(Some(self.reject(
                tag,
                ErrorKind::Malformed,
                "header fields that are not allowed, or HEADERS in a place where they must not be",
                out,
            )));
        }
        match head.status {
            Some(100..=199) => answers.interim(),
            Some(status) => {
                stream.has_head = true;
                // RFC 9110 section 6.4.1.
                stream.has_no_body |= matches!(status, 204 | 304);
                stream.declared = head.length;
                stream.is_grpc |= head.is_grpc;
                answers.head(tag, status, false);
            }
            None => {}
        }
        if ends_stream {
            // Trailers, or the only head of the answer (gRPC over HTTP2: `Trailers-Only`).
            stream.grpc_status = head.grpc_status;
        }
        Ok(ends_stream.then(|| self.finish(tag, out)))
    }

    /// Decodes a header block, whosever it is: both sides have the same table only if all are.
    /// `wanting` is the answer that wants the fields, if it does.
    fn read_head<A: Answers>(
        &mut self,
        wanting: Option<u32>,
        block: &[u8],
        answers: &mut A,
    ) -> Result<(), Fault> {
        let limit = self.limits.head_bytes;
        let mut head = Head::default();
        let message = &mut self.last_message;
        message.clear();
        let decoded = self.decoder.decode(block, |name, value| {
            head.field(name, value, limit);
            if name == b"grpc-message" {
                message.clear();
                message.extend_from_slice(value);
            }
            if let Some(tag) = wanting {
                answers.field(tag, name, value);
            }
        });
        decoded.map_err(|_| Fault::malformed("header block that HPACK cannot decode"))?;
        if head.size > limit {
            return Err(Fault::too_large("head beyond the limit"));
        }
        self.last_head = head;
        Ok(())
    }

    /// The answer is complete. Its length must be what its head said (section 8.1.1).
    fn finish(&mut self, tag: u32, out: &mut Frames) -> (u32, Fate) {
        let stream = &self.streams[tag as usize];
        let is_short = !stream.has_no_body
            && stream.declared.is_some_and(|declared| declared != stream.received);
        if is_short || !stream.has_head {
            return self.reject(
                tag,
                ErrorKind::Malformed,
                "length of the body other than its head says, or no head",
                out,
            );
        }
        if stream.sent < stream.to_send {
            // The server did not wait for the rest of the request (section 8.1).
            put_number(&mut out.bytes, kind::RST_STREAM, stream.id, code::CANCEL);
            self.ended.add(stream.id);
        }
        self.close(tag);
        (tag, Fate::Complete)
    }

    /// What is wrong with a call of gRPC whose answer is complete: its error, and what the server
    /// says of it. `None` if all is well, or it is no such call.
    #[inline]
    pub fn grpc_fault(&self, tag: u32) -> Option<(ErrorKind, String)> {
        let stream = &self.streams[tag as usize];
        if !stream.is_grpc {
            return None;
        }
        let kind = match stream.grpc_status {
            None => ErrorKind::GrpcNoStatus,
            Some(status) => ErrorKind::of_grpc(status)?,
        };
        // The trailers were the last frame of the answer.
        Some((kind, in_words(stream.grpc_status, &self.last_message)))
    }

    /// The place of a stream is free again.
    #[inline]
    fn close(&mut self, tag: u32) {
        let stream = &mut self.streams[tag as usize];
        self.ids.remove(stream.id);
        stream.id = 0;
    }

    /// Ends a stream whose answer cannot be accepted, or is waited for no longer (section 5.4.2).
    fn give_up(&mut self, tag: u32, why: ErrorKind, out: &mut Frames) -> (u32, Fate) {
        let code = if why == ErrorKind::Malformed { code::PROTOCOL_ERROR } else { code::CANCEL };
        let id = self.streams[tag as usize].id;
        put_number(&mut out.bytes, kind::RST_STREAM, id, code);
        self.ended.add(id);
        if let Some(data) = self.data.as_mut().filter(|data| data.tag == Some(tag)) {
            data.tag = None;
        }
        self.close(tag);
        (tag, Fate::Failed(why))
    }

    /// The answer on a stream cannot be accepted, for this reason.
    fn reject(
        &mut self,
        tag: u32,
        kind: ErrorKind,
        why: &'static str,
        out: &mut Frames,
    ) -> (u32, Fate) {
        self.why = why;
        self.give_up(tag, kind, out)
    }

    /// Nobody waits for this answer any more.
    pub fn cancel(&mut self, tag: u32, out: &mut Frames) {
        self.give_up(tag, ErrorKind::Timeout, out);
    }

    /// Section 6.4.
    fn reset(&mut self, id: u32, payload: &[u8]) -> Result<Option<(u32, Fate)>, Fault> {
        let code = number(payload)?;
        let Some(tag) = self.whose(id)? else { return Ok(None) };
        self.close(tag);
        if code == code::REFUSED_STREAM {
            // Section 8.7: it was not looked at.
            self.refused.push(tag);
            return Ok(None);
        }
        self.why = code::words(code);
        Ok(Some((tag, Fate::Failed(ErrorKind::StreamReset))))
    }

    /// Section 6.5.
    fn settings(
        &mut self,
        Frame { header, payload }: Frame<'_>,
        out: &mut Frames,
    ) -> Result<(), Fault> {
        let is_ack = header.has(flag::ACK);
        let (settings, rest) = payload.as_chunks::<6>();
        if header.stream != 0 || !rest.is_empty() || is_ack && !payload.is_empty() {
            return Err(Fault::malformed("SETTINGS frame of a wrong form"));
        }
        if is_ack {
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_settings, true) {
            // From now on only the server's own limit counts (section 6.5.2).
            self.sending.most_streams = u32::MAX;
        }
        for [a, b, value @ ..] in settings {
            let value = u32::from_be_bytes(*value);
            let is_right = match u16::from_be_bytes([*a, *b]) {
                setting::HEADER_TABLE_SIZE => {
                    self.sending.limit_table(value);
                    true
                }
                setting::ENABLE_PUSH => value == 0,
                setting::MAX_CONCURRENT_STREAMS => {
                    self.sending.most_streams = value;
                    true
                }
                setting::INITIAL_WINDOW_SIZE => {
                    self.sending.change_first_window(value, &mut self.streams)
                }
                setting::MAX_FRAME_SIZE => (MOST_BYTES as u32..1 << 24).contains(&value),
                _ => true,
            };
            if !is_right {
                return Err(Fault::malformed("SETTINGS with a value that is out of bounds"));
            }
        }
        check_flood(out.reply(|bytes| begin(bytes, 0, kind::SETTINGS, flag::ACK, 0)))
    }

    /// Section 6.7.
    fn ping(&self, Frame { header, payload }: Frame<'_>, out: &mut Frames) -> Result<(), Fault> {
        if header.stream != 0 || payload.len() != 8 {
            return Err(Fault::malformed("PING frame of a wrong form"));
        }
        if header.has(flag::ACK) {
            return Ok(());
        }
        check_flood(out.reply(|bytes| {
            begin(bytes, payload.len(), kind::PING, flag::ACK, 0);
            bytes.extend_from_slice(payload);
        }))
    }

    /// Section 6.8: the server takes no new streams, and has not looked at those above the last id.
    fn goaway<A: Answers>(
        &mut self,
        Frame { header, payload }: Frame<'_>,
        answers: &mut A,
    ) -> Result<(), Fault> {
        let last = payload.first_chunk::<4>().filter(|_| header.stream == 0 && payload.len() >= 8);
        let last =
            u32::from_be_bytes(*last.ok_or(Fault::malformed("GOAWAY frame of a wrong form"))?)
                & 0x7FFF_FFFF;
        answers.closing();
        let ids = (0..).zip(&self.streams).map(|(tag, stream)| (stream.id, tag));
        let mut above: Vec<(u32, u32)> = ids.filter(|(id, _)| *id > last).collect();
        // The stream that was opened first is taken first, from the end.
        above.sort_unstable_by_key(|(id, _)| Reverse(*id));
        for (id, tag) in above {
            self.ended.add(id);
            self.close(tag);
            self.refused.push(tag);
        }
        Ok(())
    }

    /// Section 6.9.
    fn window_update(
        &mut self,
        id: u32,
        payload: &[u8],
        out: &mut Frames,
    ) -> Result<Option<(u32, Fate)>, Fault> {
        let by = number(payload)? & 0x7FFF_FFFF;
        if id == 0 {
            let is_right = by > 0 && self.sending.widen(by);
            return if is_right {
                Ok(None)
            } else {
                Err(Fault::malformed("WINDOW_UPDATE of 0, or beyond the largest window"))
            };
        }
        let Some(tag) = self.whose(id)? else { return Ok(None) };
        let stream = &mut self.streams[tag as usize];
        stream.window += i64::from(by);
        if by == 0 || stream.window > LARGEST_WINDOW {
            return Ok(Some(self.reject(
                tag,
                ErrorKind::Malformed,
                "WINDOW_UPDATE of 0, or beyond the largest window",
                out,
            )));
        }
        self.sending.enqueue(tag, stream);
        Ok(None)
    }
}

/// A gRPC status with its message, which is percent-encoded (gRPC over HTTP2: `Status-Message`).
#[cold]
fn in_words(status: Option<u32>, message: &[u8]) -> String {
    const MOST_BYTES: usize = 200;
    let Some(status) = status else { return String::new() };
    let message = &message[..message.len().min(MOST_BYTES)];
    let message = percent_decode(message).escape_debug().to_string();
    let colon = if message.is_empty() { "" } else { ": " };
    format!("grpc-status {status}{colon}{message}")
}

/// A header block may have this many frames more than its size needs.
const MOST_CONTINUATIONS: usize = 64;

/// A payload that is a number.
fn number(payload: &[u8]) -> Result<u32, Fault> {
    payload
        .try_into()
        .map(u32::from_be_bytes)
        .map_err(|_| Fault::malformed("frame whose payload is not four bytes"))
}

/// A server that sends questions and does not read the answers must not fill our memory.
const fn check_flood(is_flooded: bool) -> Result<(), Fault> {
    if is_flooded {
        Err(Fault::too_large("more questions (PING, SETTINGS) than answers that the server reads"))
    } else {
        Ok(())
    }
}
