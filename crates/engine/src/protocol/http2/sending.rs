//! What is sent on a connection: requests, the windows for their bodies, and replies to the
//! server's control frames.
use std::collections::VecDeque;

use super::frame::{self, MOST_BYTES, PREFACE, begin, flag, kind, put_block, put_number, setting};
use super::hpack::encode::{Block, NO_TABLE};
use super::stream::Stream;
use crate::protocol::outgoing::Frames;
use crate::request::drawn::Value;

/// The window of each answer. Answers of usual size fit into it; larger ones get more when half of
/// it is used.
pub(super) const STREAM_WINDOW: u32 = 16 << 20;
/// The window of a connection. It need not limit anything: everything is read at once, and the
/// kernel's buffers are limited.
pub(super) const CONNECTION_WINDOW: u32 = 1 << 30;
/// The windows that both sides begin with, and the largest (RFC 9113 section 6.9).
const FIRST_WINDOW: u32 = 65_535;
pub(super) const LARGEST_WINDOW: i64 = (1 << 31) - 1;
/// How many streams to use until the server names a limit: the least that RFC 9113 section 6.5.2
/// recommends to servers.
const STREAMS_AT_FIRST: u32 = 100;
/// Bodies are rendered until this many bytes wait for the kernel.
const PORTION_BYTES: usize = 256 * 1024;

/// In which form the next header block goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    First,
    Later,
    /// The server wants a smaller table. It gets none, and the next block must say so.
    PlainFrom,
    Plain,
}

/// The sending side of a connection.
#[derive(Debug)]
pub(super) struct Sending {
    form: Form,
    /// The id of the next stream.
    pub next_id: u32,
    /// How many streams the server takes at the same time.
    pub most_streams: u32,
    /// What a stream's window begins with, and the connection's.
    first_window: i64,
    window: i64,
    /// Streams whose bodies may be sent on, in turn.
    queue: VecDeque<u32>,
}

/// The last id (section 5.1.1).
const LAST_ID: u32 = (1 << 31) - 1;

impl Sending {
    pub const fn new() -> Self {
        Self {
            form: Form::First,
            next_id: 1,
            most_streams: STREAMS_AT_FIRST,
            first_window: FIRST_WINDOW as i64,
            window: FIRST_WINDOW as i64,
            queue: VecDeque::new(),
        }
    }

    /// How many streams can still be opened.
    pub const fn ids_left(&self) -> u32 {
        (LAST_ID + 2 - self.next_id) / 2
    }

    /// Opens a stream: the head of a request, with what was drawn for it, and as much of its body
    /// as may go.
    #[inline]
    pub fn open(&mut self, block: &Block, value: Value, stream: &mut Stream, out: &mut Frames) {
        stream.id = self.next_id;
        self.next_id += 2;
        stream.window = self.first_window;
        let (start, bytes, nth): (&[u8], &[u8], usize) = match self.form {
            Form::First => (&[], &block.first, 0),
            Form::Later => (&[], &block.later, 1),
            Form::PlainFrom => (&[NO_TABLE], &block.plain, 2),
            Form::Plain => (&[], &block.plain, 2),
        };
        self.form = match self.form {
            Form::First | Form::Later => Form::Later,
            Form::PlainFrom | Form::Plain => Form::Plain,
        };
        put_block(&mut out.bytes, stream.id, [start, bytes], stream.to_send == 0);
        if let Some(before_the_end) = block.drawn {
            let at = out.bytes.len() - before_the_end[nth];
            out.bytes[at..at + value.len()].copy_from_slice(&value);
        }
    }

    /// Queues a body that may still be sent.
    pub fn enqueue(&mut self, tag: u32, stream: &mut Stream) {
        if stream.sent < stream.to_send && stream.window > 0 && !stream.is_queued {
            stream.is_queued = true;
            self.queue.push_back(tag);
        }
    }

    /// Renders bodies in turn, a frame each, as far as windows and memory allow.
    pub fn pump<'a>(
        &mut self,
        streams: &mut [Stream],
        body: impl Fn(u32) -> &'a [u8],
        out: &mut Frames,
    ) {
        while self.window > 0
            && out.waiting() < PORTION_BYTES
            && let Some(tag) = self.queue.pop_front()
        {
            let Some(stream) = streams.get_mut(tag as usize) else { continue };
            // The stream may have ended, and another one may have its place.
            stream.is_queued = false;
            if stream.id == 0 || stream.window <= 0 || stream.sent == stream.to_send {
                continue;
            }
            let room = self.window.min(stream.window).min(MOST_BYTES as i64) as usize;
            let rest = &body(stream.template)[stream.sent as usize..];
            let piece = &rest[..rest.len().min(room)];
            stream.sent += piece.len() as u32;
            stream.window -= piece.len() as i64;
            self.window -= piece.len() as i64;
            let flags = if piece.len() == rest.len() { flag::END_STREAM } else { 0 };
            begin(&mut out.bytes, piece.len(), kind::DATA, flags, stream.id);
            out.bytes.extend_from_slice(piece);
            self.enqueue(tag, stream);
        }
    }

    /// The server enlarges the connection's window; `false` if it becomes too large.
    pub const fn widen(&mut self, by: u32) -> bool {
        self.window += by as i64;
        self.window <= LARGEST_WINDOW
    }

    /// The server changes the window of all streams; `false` if one becomes too large.
    pub fn change_first_window(&mut self, to: u32, streams: &mut [Stream]) -> bool {
        let by = i64::from(to) - self.first_window;
        self.first_window = i64::from(to);
        let mut is_right = self.first_window <= LARGEST_WINDOW;
        for (tag, stream) in (0..).zip(streams).filter(|(_, stream)| stream.id != 0) {
            stream.window += by;
            is_right &= stream.window <= LARGEST_WINDOW;
            self.enqueue(tag, stream);
        }
        is_right
    }

    /// The server allows its dynamic table at most this many bytes.
    pub const fn limit_table(&mut self, bytes: u32) {
        if (bytes as usize) < super::hpack::TABLE_BYTES && !matches!(self.form, Form::Plain) {
            self.form = Form::PlainFrom;
        }
    }
}

/// The client's preface (section 3.4): no pushes, a large window for answers, and the size of the
/// largest head that it accepts.
pub(super) fn put_preface(out: &mut Frames, head_bytes: u32) {
    let settings = [
        (setting::ENABLE_PUSH, 0),
        (setting::INITIAL_WINDOW_SIZE, STREAM_WINDOW),
        (setting::MAX_HEADER_LIST_SIZE, head_bytes),
    ];
    out.bytes.extend_from_slice(PREFACE);
    begin(&mut out.bytes, settings.len() * 6, kind::SETTINGS, 0, 0);
    for (name, value) in settings {
        out.bytes.extend_from_slice(&name.to_be_bytes());
        out.bytes.extend_from_slice(&value.to_be_bytes());
    }
    put_number(&mut out.bytes, kind::WINDOW_UPDATE, 0, CONNECTION_WINDOW - FIRST_WINDOW);
}

/// Tells the server that it has broken the rules and that nothing more will come (GOAWAY).
pub(super) fn put_goodbye(out: &mut Frames) {
    begin(&mut out.bytes, 8, kind::GOAWAY, 0, 0);
    out.bytes.extend_from_slice(&0_u32.to_be_bytes());
    out.bytes.extend_from_slice(&frame::code::PROTOCOL_ERROR.to_be_bytes());
}
