//! Fuzzing of answers and of sections of fields.
use quinn_proto::{Dir, Side, StreamId};

use super::qpack;
use super::stream::{LastHead, Stream, Wrong};
use crate::fuzz::{number, roughly};
use crate::protocol::Answers;
use crate::protocol::http2::Limits;

const LIMITS: Limits = Limits { head_bytes: 512, body_bytes: 4_096 };

#[derive(Debug, Default, PartialEq)]
struct Account {
    heads: Vec<u16>,
    body: Vec<u8>,
    interim: usize,
    wrong: Option<Wrong>,
}

impl Answers for Account {
    fn oldest(&self) -> u32 {
        0
    }
    fn template(&self, _: u32) -> Option<u32> {
        Some(0)
    }
    fn interim(&mut self) {
        self.interim += 1;
    }
    fn head(&mut self, _: u32, status: u16, _: bool) {
        assert!((200..1_000).contains(&status), "{status}");
        self.heads.push(status);
    }
    fn body(&mut self, _: u32, _: u32, piece: &[u8]) {
        assert!(!piece.is_empty());
        self.body.extend_from_slice(piece);
        assert!(self.body.len() as u64 <= LIMITS.body_bytes);
    }
}

/// Reads an answer that comes in pieces of this length.
fn read(bytes: &[u8], size: usize) -> Account {
    let (mut stream, mut last, mut seen) =
        (Stream::default(), LastHead::default(), Account::default());
    stream.begin(StreamId::new(Side::Client, Dir::Bi, 0), 0, false);
    let read = bytes
        .chunks(size)
        .try_for_each(|piece| stream.read(0, piece, LIMITS, &mut last, &mut seen));
    seen.wrong = read.and_then(|()| stream.end()).err();
    seen
}

/// An answer keeps its limits, and means the same however it is cut. The first byte says how to cut it.
pub fn answer(input: &[u8]) -> u64 {
    let [size, bytes @ ..] = input else { return 0 };
    let mut whole = read(bytes, bytes.len().max(1));
    let mut cut = read(bytes, usize::from(*size).max(1));
    // A part of a body may have been handed on before the body was rejected.
    if whole.wrong.is_some() {
        whole.body.clear();
        cut.body.clear();
    }
    assert_eq!(whole, cut);
    assert!(whole.heads.len() <= 1);
    let status = whole.heads.first().map(|status| status / 100);
    let why = whole.wrong.map(|wrong| (wrong.why, wrong.is_fatal));
    number((status, why, roughly(whole.interim), roughly(whole.body.len())))
}

/// A section of fields is decoded or refused.
pub fn section(input: &[u8]) -> u64 {
    let mut sizes = Vec::new();
    let decoded =
        qpack::decode(input, |name, value| sizes.push((roughly(name.len()), roughly(value.len()))));
    number((decoded.is_ok(), sizes.len().min(8), sizes.last()))
}
