//! Fuzzing of frames and header blocks.
use std::collections::BTreeMap;

use pippin_model::result::ErrorKind;

use super::frame::{begin, kind};
use super::hpack::Decoder;
use super::hpack::encode::{Field, blocks};

use super::session::{Limits, Session};
use super::stream::Stream;
use crate::fuzz::{number, roughly};
use crate::protocol::outgoing::Frames;
use crate::protocol::{Answers, Bytes, Outgoing as _, Step};
use crate::request::drawn::Value;

const LIMITS: Limits = Limits { head_bytes: 512, body_bytes: 4_096 };
/// Requests under way: the streams 1, 3 and 5.
const REQUESTS: u32 = 3;

#[derive(Debug, Default, PartialEq)]
struct Account {
    heads: Vec<(u32, u16)>,
    bodies: BTreeMap<u32, Vec<u8>>,
    interim: usize,
    is_closing: bool,
    steps: Vec<(u32, &'static str)>,
    fault: Option<ErrorKind>,
    /// What the server was told.
    sent: Vec<u8>,
}

impl Answers for Account {
    fn oldest(&self) -> u32 {
        0
    }
    fn template(&self, tag: u32) -> Option<u32> {
        assert!(tag < REQUESTS);
        Some(0)
    }
    fn interim(&mut self) {
        self.interim += 1;
    }
    fn head(&mut self, tag: u32, status: u16, _: bool) {
        assert!((200..1_000).contains(&status), "{status}");
        self.heads.push((tag, status));
    }
    fn body(&mut self, tag: u32, _: u32, piece: &[u8]) {
        assert!(!piece.is_empty());
        self.bodies.entry(tag).or_default().extend_from_slice(piece);
    }
    fn closing(&mut self) {
        self.is_closing = true;
    }
}

/// A connection that has begun well, with its requests under way.
fn under_way() -> (Session, Frames) {
    let (mut session, mut out) = (Session::new(REQUESTS, LIMITS), Frames::default());
    let mut greeting = Vec::new();
    begin(&mut greeting, 0, kind::SETTINGS, 0, 0);
    let greeted = session.decode(&greeting, &mut Account::default(), &mut out);
    assert_eq!(greeted, Ok(Step::More));
    let fields: Vec<Field> = vec![(":method".into(), "GET".into())];
    let block = blocks(&[(fields, None)]).remove(0);
    for tag in 0..REQUESTS {
        let mut stream = Stream::default();
        session.sending.open(&block, Value::default(), &mut stream, &mut out);
        session.streams.push(stream);
        session.opened(tag);
    }
    let sent = out.bytes().len();
    out.took(sent);
    (session, out)
}

fn read(bytes: &[u8], size: usize) -> Account {
    let (mut session, mut out) = under_way();
    let mut seen = Account::default();
    'pieces: for mut piece in bytes.chunks(size) {
        loop {
            let (tag, used, what) = match session.decode(piece, &mut seen, &mut out) {
                Err(fault) => {
                    seen.fault = Some(fault.kind);
                    break 'pieces;
                }
                Ok(Step::More) => break,
                Ok(Step::Complete { tag, used }) => (tag, used, "complete"),
                Ok(Step::Failed { tag, used, kind }) => (tag, used, kind.name()),
                Ok(Step::Refused { tag, used }) => (tag, used, "refused"),
            };
            assert!(used <= piece.len());
            seen.steps.push((tag, what));
            piece = &piece[used..];
        }
    }
    if let Bytes::Own(sent) = out.bytes() {
        seen.sent = sent.to_vec();
    }
    seen
}

/// An HTTP/2 session finds the same in the bytes however they are cut, settles each request once,
/// and hands on no more than its limits allow. The first byte says how to cut.
pub fn frames(input: &[u8]) -> u64 {
    let [size, bytes @ ..] = input else { return 0 };
    let mut whole = read(bytes, bytes.len().max(1));
    let mut cut = read(bytes, usize::from(*size).max(1));
    for seen in [&mut whole, &mut cut] {
        assert!(seen.steps.len() <= REQUESTS as usize, "{:?}", seen.steps);
        assert!(seen.bodies.values().all(|body| body.len() as u64 <= LIMITS.body_bytes));
        // A part of a body may have been handed on before the body was refused.
        let steps = &seen.steps;
        seen.bodies.retain(|tag, _| steps.contains(&(*tag, "complete")));
    }
    assert_eq!(whole, cut);
    let statuses: Vec<u16> = whole.heads.iter().map(|(_, status)| status / 100).collect();
    number((
        statuses,
        whole.steps,
        whole.fault,
        whole.is_closing,
        roughly(whole.interim),
        roughly(whole.sent.len()),
    ))
}

/// Header blocks of one connection; the first byte of each is its length. Each is read or refused,
/// and a second decoder, which does not decode again what it knows, finds the same in all of them.
pub fn hpack(input: &[u8]) -> u64 {
    let (first, second) = (fields(input, false), fields(input, true));
    assert_eq!(first, second);
    let (blocks, bytes, is_bad) = first;
    number((roughly(blocks), roughly(bytes), is_bad))
}

/// How many blocks were right, how many bytes their fields have, and whether one was refused.
fn fields(input: &[u8], remembers: bool) -> (usize, usize, bool) {
    let (mut decoder, mut blocks, mut bytes, mut of_last) = (Decoder::new(), 0, 0, 0);
    let mut rest = input;
    while let Some((length, behind)) = rest.split_first() {
        let (block, next) = behind.split_at(usize::from(*length).min(behind.len()));
        if !(remembers && decoder.repeats(block)) {
            of_last = 0;
            let each = |name: &[u8], value: &[u8]| of_last += name.len() + value.len();
            if decoder.decode(block, each).is_err() {
                return (blocks, bytes + of_last, true);
            }
        }
        bytes += of_last;
        blocks += 1;
        rest = next;
    }
    (blocks, bytes, false)
}
