//! HTTP/1.1 whose requests have bodies that are made while they are sent
//! ([`pippin_model::request::upload`]).
//!
//! A body is sent in pieces. The first one, with the head, and the last one hold the number of the
//! request, so that a connection has them in memory of its own: at most [`BLOCK`] bytes and a head.
//! All between them lies in memory that the connections of a thread share, with the framing of
//! chunks in its place. So a load needs no more memory for longer bodies.
use std::ops::Range;
use std::sync::Arc;

use pippin_model::load::{LoadSpec, Request};
use pippin_model::request::DRAWN;
use pippin_model::request::upload::{Content, Upload};
use pippin_model::result::ErrorKind;

use super::protocol::Http1;
use super::{Decoder, Drawn};
use crate::error::{EngineError, place};
use crate::protocol::order::InOrder;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Alike, Answers, Asker, AtOnce, Bytes, End, Outgoing, Protocol, Step};
use crate::request::drawn::{Value, fill};
use crate::request::wire::{Span, Wire};

/// The length of a chunk, as clients send them that copy a file.
const BLOCK: u64 = 16 * 1024;
/// So many lie one behind the other, and are sent in one call.
const BLOCKS: u64 = Content::BYTES as u64 / BLOCK;
const NUMBER: u64 = DRAWN as u64;

/// HTTP/1.1 with such bodies. Answers come in order.
pub(crate) struct Uploading {
    plain: Http1,
    wire: Arc<Wire>,
    shared: Arc<Shared>,
}

impl Protocol for Uploading {
    type Session = Decoder;
    type Out = Parcel;
    type Order = InOrder;
    type Greeting = AtOnce;
    type Variation = Alike;
    type Reach = Asker;
    const IN_PIECES: bool = true;
    const DRAWS: bool = true;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let key = key(spec);
        let has_other = |asked: &Request| asked.upload.is_some_and(|upload| upload.key != key);
        match spec.requests.iter().position(has_other) {
            Some(nth) => Err(EngineError::UnsendableRequest {
                request: place(spec, nth),
                why: "all uploads of a load must have the same key".into(),
            }),
            None => Drawn::<Frames>::wire(spec),
        }
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        let shared = Arc::new(Shared::from_key(key(spec)));
        Self { plain: Http1::new(spec, wire), wire: Arc::clone(wire), shared }
    }

    #[inline]
    fn render(&mut self, _: &mut Decoder, template: u32, _: u32, value: Value, out: &mut Parcel) {
        let head = self.wire.bytes(self.wire.slice(template));
        let template = self.wire.template(template);
        match template.upload {
            Some(upload) => out.put_upload(head, upload, value, &self.shared),
            None => {
                out.put(head);
                fill(&mut out.own, template.filled(value));
            }
        }
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        decoder: &mut Decoder,
        input: &[u8],
        answers: &mut A,
        _: &mut Parcel,
    ) -> Result<Step, ErrorKind> {
        self.plain.decode(decoder, input, answers, &mut Span::default())
    }

    fn end(decoder: &mut Decoder) -> End {
        Http1::end(decoder)
    }
}

/// The key of the bodies of a load.
fn key(spec: &LoadSpec) -> u64 {
    let uploads = spec.requests.iter().filter_map(|request| request.upload);
    uploads.map(|upload| upload.key).next().unwrap_or_default()
}

/// The parts of bodies that have no number.
pub(crate) struct Shared {
    content: Content,
    /// The bytes of the content as chunks of [`BLOCK`] bytes, with their framing.
    chunks: Vec<u8>,
}

impl Shared {
    fn from_key(key: u64) -> Self {
        let content = Content::from_key(key);
        let mut chunks = Vec::with_capacity(Content::BYTES + 16 * BLOCKS as usize);
        for block in content.base().chunks(BLOCK as usize) {
            begin_chunk(block.len() as u64, &mut chunks);
            chunks.extend_from_slice(block);
            chunks.extend_from_slice(b"\r\n");
        }
        Self { content, chunks }
    }

    fn bytes(&self, chunked: bool) -> &[u8] {
        if chunked { self.chunks.as_slice() } else { self.content.base() }
    }

    /// Where these blocks lie.
    fn place(&self, blocks: &Range<u64>, chunked: bool) -> Range<usize> {
        let each = self.bytes(chunked).len() / BLOCKS as usize;
        blocks.start as usize * each..blocks.end as usize * each
    }
}

fn begin_chunk(length: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{length:x}\r\n").as_bytes());
}

/// The request of a connection, piece by piece.
#[derive(Default)]
pub(crate) struct Parcel {
    /// The head and the parts with a number. The memory is used again.
    own: Vec<u8>,
    /// The present piece, if it lies in shared memory; otherwise it is all of `own`.
    lent: Option<Range<usize>>,
    /// How much of the present piece the kernel has taken.
    sent: usize,
    /// What comes behind the present piece; `None` for nothing.
    rest: Option<Rest>,
    shared: Option<Arc<Shared>>,
    chunked: bool,
}

/// What is left of a body.
#[derive(Clone, Copy)]
struct Rest {
    upload: Upload,
    number: Value,
    at: u64,
}

impl Parcel {
    /// Puts a request whose bytes are all here. The one before has gone.
    fn put(&mut self, bytes: &[u8]) {
        self.forget();
        self.sent = 0;
        self.own.extend_from_slice(bytes);
    }

    fn put_upload(&mut self, head: &[u8], upload: Upload, number: Value, shared: &Arc<Shared>) {
        self.put(head);
        self.chunked = upload.chunked;
        self.rest = Some(Rest { upload, number, at: 0 });
        if self.shared.is_none() {
            self.shared = Some(Arc::clone(shared));
        }
        self.add();
    }

    /// The present piece has gone: the next one takes its place, if there is one.
    fn go_on(&mut self) {
        let (Some(rest), Some(shared)) = (&mut self.rest, &self.shared) else { return };
        self.sent = 0;
        let whole = rest.whole_blocks();
        if whole > 0 {
            let first = rest.at / BLOCK % BLOCKS;
            let count = whole.min(BLOCKS - first);
            self.lent = Some(shared.place(&(first..first + count), self.chunked));
            rest.at += count * BLOCK;
        } else {
            self.lent = None;
            self.own.clear();
            self.add();
        }
    }

    /// Adds the next part that has a number to the memory of its own: the first block, or all that
    /// is left.
    fn add(&mut self) {
        let (Some(rest), Some(shared)) = (&mut self.rest, &self.shared) else { return };
        let Upload { bytes, chunked, .. } = rest.upload;
        let to = if rest.whole_blocks() > 0 { rest.at + BLOCK } else { bytes };
        let is_chunk = chunked && to > rest.at;
        if is_chunk {
            begin_chunk(to - rest.at, &mut self.own);
        }
        shared.content.put(bytes, rest.number, rest.at, to, &mut self.own);
        if is_chunk {
            self.own.extend_from_slice(b"\r\n");
        }
        rest.at = to;
        if to == bytes {
            if chunked {
                self.own.extend_from_slice(b"0\r\n\r\n");
            }
            self.rest = None;
        }
    }

    fn piece(&self) -> &[u8] {
        match (&self.lent, &self.shared) {
            (Some(place), Some(shared)) => &shared.bytes(self.chunked)[place.clone()],
            _ => &self.own,
        }
    }
}

impl Rest {
    /// How many of the next blocks lie before the number at the end. The first block of a body has
    /// the number at its begin, so that it is not asked for.
    const fn whole_blocks(&self) -> u64 {
        self.upload.bytes.saturating_sub(self.at).saturating_sub(NUMBER) / BLOCK
    }
}

impl Outgoing for Parcel {
    #[inline]
    fn is_empty(&self) -> bool {
        self.rest.is_none() && self.sent == self.piece().len()
    }

    #[inline]
    fn bytes(&self) -> Bytes<'_> {
        Bytes::Own(&self.piece()[self.sent..])
    }

    #[inline]
    fn took(&mut self, count: u32) {
        self.sent += count as usize;
        if self.sent == self.piece().len() {
            self.go_on();
        }
    }

    /// The memory stays for the next request.
    fn forget(&mut self) {
        self.own.clear();
        (self.sent, self.lent, self.rest) = (0, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: Value = *b"87654321";
    const HEAD: &[u8] = b"POST / HTTP/1.1\r\n\r\n";

    /// What a connection sends whose kernel takes at most so many bytes at a time, and the most
    /// memory of its own that it needs.
    fn sent(shared: &Arc<Shared>, upload: Upload, most: usize) -> (Vec<u8>, usize) {
        let mut parcel = Parcel::default();
        // What was left of the request before is not sent.
        parcel.put_upload(b"before", Upload { bytes: 100_000, ..upload }, *b"11111111", shared);
        parcel.took(3);
        parcel.put_upload(HEAD, upload, VALUE, shared);
        let (mut sent, mut memory) = (Vec::new(), 0);
        while !parcel.is_empty() {
            let Bytes::Own(bytes) = parcel.bytes() else { panic!("bytes of the wire") };
            let taken = bytes.len().min(most);
            assert!(taken > 0, "an empty piece");
            sent.extend_from_slice(&bytes[..taken]);
            memory = memory.max(parcel.own.capacity());
            parcel.took(taken as u32);
        }
        (sent, memory)
    }

    /// The content of a body in chunks, and the lengths of these.
    fn unchunked(mut rest: &[u8]) -> (Vec<u8>, Vec<usize>) {
        let (mut body, mut lengths) = (Vec::new(), Vec::new());
        loop {
            let end = memchr::memmem::find(rest, b"\r\n").unwrap();
            let length = usize::from_str_radix(str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
            rest = &rest[end + 2..];
            lengths.push(length);
            body.extend_from_slice(&rest[..length]);
            assert_eq!(rest[length..length + 2], *b"\r\n");
            rest = &rest[length + 2..];
            if length == 0 {
                assert!(rest.is_empty(), "{} bytes behind the last chunk", rest.len());
                return (body, lengths);
            }
        }
    }

    #[test]
    fn a_body_of_any_length_goes_out_whole_in_whatever_portions_the_kernel_takes() {
        let shared = Arc::new(Shared::from_key(5));
        let lengths = [
            0, 1, 8, 15, 16, 1_000, 16_383, 16_384, 16_385, 16_391, 16_392, 16_393, 32_775, 32_776,
            262_144, 262_152, 278_536, 1_000_000,
        ];
        for bytes in lengths {
            let right = Content::from_key(5).whole(bytes, VALUE);
            for most in [1_000, 65_536, usize::MAX] {
                let plain = Upload { bytes, chunked: false, key: 5 };
                let (text, _) = sent(&shared, plain, most);
                let body = text.strip_prefix(HEAD).unwrap();
                assert!(body == right, "{bytes} bytes, {most} at a time");
                let (text, _) = sent(&shared, Upload { chunked: true, ..plain }, most);
                let (body, chunks) = unchunked(text.strip_prefix(HEAD).unwrap());
                assert!(body == right, "{bytes} bytes in chunks, {most} at a time");
                assert!(chunks.iter().all(|chunk| *chunk < 16_392), "{chunks:?}");
            }
        }
    }

    #[test]
    fn a_connection_needs_no_more_memory_for_a_longer_body() {
        let shared = Arc::new(Shared::from_key(5));
        for chunked in [false, true] {
            let of = |bytes| sent(&shared, Upload { bytes, chunked, key: 5 }, usize::MAX).1;
            let (short, long) = (of(100_000), of(20_000_000));
            assert!(long <= short && long < 40_000, "{short} and {long}");
        }
    }
}
