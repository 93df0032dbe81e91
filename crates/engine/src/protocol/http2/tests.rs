//! The session against frames written by hand. Where a case of h2spec (the conformance tests of
//! servers) has a counterpart for clients, its section of RFC 9113 is named.
use pippin_model::result::ErrorKind;
use proptest::prelude::*;

use super::frame::{Header, begin, code, flag, kind, setting};
use super::hpack::encode::{Field, blocks};
use super::sending::STREAM_WINDOW;
use super::session::{Limits, Session};
use super::stream::Stream;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Answers, Bytes, Outgoing, Step};
use crate::request::drawn::Value;

/// What a session hands on.
#[derive(Debug, Default, PartialEq, Clone)]
struct Record {
    heads: Vec<(u32, u16)>,
    bodies: std::collections::BTreeMap<u32, Vec<u8>>,
    interim: u32,
    is_closing: bool,
    steps: Vec<(u32, &'static str)>,
    fault: Option<ErrorKind>,
}

impl Answers for Record {
    fn oldest(&self) -> u32 {
        0
    }
    fn template(&self, _: u32) -> Option<u32> {
        Some(0)
    }
    fn interim(&mut self) {
        self.interim += 1;
    }
    fn head(&mut self, tag: u32, status: u16, _: bool) {
        self.heads.push((tag, status));
    }
    fn body(&mut self, tag: u32, _: u32, piece: &[u8]) {
        self.bodies.entry(tag).or_default().extend_from_slice(piece);
    }
    fn closing(&mut self) {
        self.is_closing = true;
    }
}

/// A client whose requests are the streams 1, 3, 5 and so on.
struct Client {
    session: Session,
    out: Frames,
    seen: Record,
}

const LIMITS: Limits = Limits { head_bytes: 4_096, body_bytes: 100_000 };

impl Client {
    /// `requests` are under way, and the server has said what it says first.
    fn new(requests: u32) -> Self {
        Self::sending(requests, b"")
    }

    fn sending(requests: u32, body: &[u8]) -> Self {
        let session = Session::new(requests, LIMITS);
        let mut client = Self { session, out: Frames::default(), seen: Record::default() };
        client.read(&frame(kind::SETTINGS, 0, 0, &[]));
        client.session.streams.resize(requests as usize, Stream::default());
        (0..requests).for_each(|tag| client.send(tag, body));
        client.sent();
        client
    }

    /// Sends a request from a place that is free.
    fn send(&mut self, tag: u32, body: &[u8]) {
        let fields: Vec<Field> = vec![(":method".into(), "GET".into())];
        let block = blocks(&[(fields, None)]).remove(0);
        let mut stream = Stream { to_send: body.len() as u32, ..Stream::default() };
        self.session.sending.open(&block, Value::default(), &mut stream, &mut self.out);
        self.session.sending.enqueue(tag, &mut stream);
        self.session.streams[tag as usize] = stream;
        self.session.opened(tag);
    }

    fn read(&mut self, mut input: &[u8]) -> &mut Self {
        while self.seen.fault.is_none() {
            let (tag, used, what) = match self.session.decode(input, &mut self.seen, &mut self.out)
            {
                Err(fault) => {
                    self.seen.fault = Some(fault.kind);
                    break;
                }
                Ok(Step::More) => break,
                Ok(Step::Complete { tag, used }) => (tag, used, "complete"),
                Ok(Step::Failed { tag, used, kind }) => (tag, used, kind.name()),
                Ok(Step::Refused { tag, used }) => (tag, used, "refused"),
            };
            self.seen.steps.push((tag, what));
            input = &input[used..];
        }
        self
    }

    /// The frames that went out since the last call.
    fn sent(&mut self) -> Vec<(Header, Vec<u8>)> {
        let Bytes::Own(bytes) = self.out.bytes() else { panic!("not the wire") };
        let mut bytes = bytes.to_vec();
        self.out.took(bytes.len() as u32);
        let mut frames = Vec::new();
        while let Some(header) = bytes.first_chunk().map(Header::read) {
            let payload = bytes[9..9 + header.length].to_vec();
            bytes.drain(..9 + header.length);
            frames.push((header, payload));
        }
        frames
    }

    fn steps(&self) -> &[(u32, &'static str)] {
        &self.seen.steps
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    begin(&mut bytes, payload.len(), kind, flags, stream);
    bytes.extend_from_slice(payload);
    bytes
}

/// `:status: 200` by its index.
const OK: &[u8] = &[0x88];
const END: u8 = flag::END_STREAM;
const WHOLE: u8 = flag::END_HEADERS;

fn head(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(kind::HEADERS, WHOLE, stream, block)
}

fn data(stream: u32, payload: &[u8]) -> Vec<u8> {
    frame(kind::DATA, END, stream, payload)
}

/// A field written out.
fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

#[test]
fn answers_come_in_any_order_and_in_pieces() {
    let mut client = Client::new(3);
    client.read(&head(5, OK)).read(&head(1, OK)).read(&frame(kind::DATA, 0, 5, b"fi"));
    client.read(&data(1, b"one")).read(&frame(kind::HEADERS, WHOLE | END, 3, &[0x8d]));
    client.read(&data(5, b"ve"));
    assert_eq!(client.seen.heads, [(2, 200), (0, 200), (1, 404)]);
    assert_eq!(client.steps(), [(0, "complete"), (1, "complete"), (2, "complete")]);
    assert_eq!(
        (&client.seen.bodies[&0][..], &client.seen.bodies[&2][..]),
        (&b"one"[..], &b"five"[..])
    );
    assert_eq!(client.seen.fault, None);
}

/// Sections 6.1 and 6.2: padding and priorities are ignored; padding as long as the payload is a
/// connection error.
#[test]
fn padding_is_no_part_of_an_answer() {
    let mut client = Client::new(1);
    let padded = [&[3][..], &[0, 0, 0, 0, 16], OK, &[0; 3]].concat();
    let flags = WHOLE | flag::PADDED | flag::PRIORITY;
    client.read(&frame(kind::HEADERS, flags, 1, &padded));
    client.read(&frame(kind::DATA, flag::PADDED, 1, &[1, b'a', b'b', 0]));
    client.read(&frame(kind::DATA, flag::PADDED, 1, &[0]));
    client.read(&frame(kind::DATA, flag::PADDED | END, 1, &[2, 0, 0]));
    assert_eq!((client.steps(), &client.seen.bodies[&0][..]), (&[(0, "complete")][..], &b"ab"[..]));

    for bad in [&[3, b'a', 0][..], &[]] {
        let mut client = Client::new(1);
        client.read(&head(1, OK)).read(&frame(kind::DATA, flag::PADDED, 1, bad));
        assert_eq!(client.seen.fault, Some(ErrorKind::Malformed), "{bad:?}");
    }
    let mut client = Client::new(1);
    client.read(&frame(kind::HEADERS, WHOLE | flag::PADDED, 1, &[2, 0x88]));
    assert_eq!(client.seen.fault, Some(ErrorKind::Malformed));
}

/// Sections 8.1 and 8.1.1: interim answers, trailers, and answers that must not be accepted. The
/// connection goes on, and the server is told which stream was wrong.
#[test]
fn an_answer_that_is_not_right_fails_alone() {
    let right: [&[&[u8]]; 2] = [
        &[&head(1, &[0x08, 0x03, b'1', b'0', b'3']), &head(1, OK), &data(1, b"x")],
        &[&head(1, OK), &data(3, b""), &frame(kind::HEADERS, WHOLE | END, 1, &field("sum", "1"))],
    ];
    for frames in right {
        let mut client = Client::new(2);
        client.read(&head(3, OK)).read(&frames.concat());
        assert!(client.steps().contains(&(0, "complete")), "{:?}", client.seen);
    }
    let sized = |length: &str| [OK, &field("content-length", length)].concat();
    let wrong: [Vec<Vec<u8>>; 10] = [
        // No status; two; a request's field; one behind others.
        vec![head(1, &field("a", "b"))],
        vec![head(1, &[0x88, 0x88])],
        vec![head(1, &[0x88, 0x82])],
        vec![head(1, &[field("a", "b"), OK.to_vec()].concat())],
        // A field of HTTP/1.1's connections; a name in upper case.
        vec![head(1, &[OK.to_vec(), field("connection", "close")].concat())],
        vec![head(1, &[OK.to_vec(), field("Upper", "b")].concat())],
        // A length that is not that of the body.
        vec![head(1, &sized("2")), data(1, b"x")],
        vec![frame(kind::HEADERS, WHOLE | END, 1, &sized("2"))],
        // An interim answer as the last, and a head behind the head.
        vec![frame(kind::HEADERS, WHOLE | END, 1, &[0x08, 0x03, b'1', b'0', b'0'])],
        vec![head(1, OK), head(1, OK)],
    ];
    for frames in wrong {
        let mut client = Client::new(2);
        client.read(&frames.concat());
        assert_eq!(client.steps(), [(0, "malformed")], "{frames:?}");
        let reset = client.sent().into_iter().find(|(header, _)| header.kind == kind::RST_STREAM);
        let (header, payload) = reset.unwrap();
        assert_eq!((header.stream, payload), (1, code::PROTOCOL_ERROR.to_be_bytes().to_vec()));
        // Frames for it that are still on their way are ignored.
        client.read(&data(1, b"late")).read(&head(3, OK)).read(&data(3, b"right"));
        assert_eq!(client.steps()[1..], [(1, "complete")]);
        assert_eq!(client.seen.fault, None);
    }
}

/// What must end a connection: sections 3.4, 4.2, 4.3, 5.1, 6.
#[test]
fn a_server_that_breaks_the_rules_is_left() {
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("DATA before its head", data(1, b"x")),
        ("DATA on no stream", data(0, b"x")),
        ("an answer to no request", head(5, OK)),
        ("an answer on a stream of the server", head(2, OK)),
        ("a frame too large", [0, 64, 1, 0, 0, 0, 0, 0, 1].to_vec()),
        ("a push", frame(kind::PUSH_PROMISE, WHOLE, 1, &[0, 0, 0, 2, 0x82])),
        ("a block that is no HPACK", head(1, &[0xff, 0xff, 0xff, 0xff, 0xff])),
        ("a CONTINUATION of nothing", frame(kind::CONTINUATION, WHOLE, 1, OK)),
        (
            "a frame amid a block",
            [frame(kind::HEADERS, 0, 1, OK), frame(kind::PING, 0, 0, &[0; 8])].concat(),
        ),
        (
            "a frame of no known kind amid a block",
            [frame(kind::HEADERS, 0, 1, OK), frame(0x42, 0, 1, &[])].concat(),
        ),
        ("SETTINGS on a stream", frame(kind::SETTINGS, 0, 1, &[])),
        ("SETTINGS of 5 bytes", frame(kind::SETTINGS, 0, 0, &[0; 5])),
        ("an ACK with settings", frame(kind::SETTINGS, flag::ACK, 0, &[0, 3, 0, 0, 0, 1])),
        ("pushes allowed", frame(kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1])),
        ("a window beyond 2^31", frame(kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0])),
        ("small frames", frame(kind::SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 1])),
        ("frames beyond 2^24", frame(kind::SETTINGS, 0, 0, &[0, 5, 1, 0, 0, 0])),
        ("PING of 7 bytes", frame(kind::PING, 0, 0, &[0; 7])),
        ("PING on a stream", frame(kind::PING, 0, 1, &[0; 8])),
        ("GOAWAY on a stream", frame(kind::GOAWAY, 0, 1, &[0; 8])),
        ("GOAWAY of 7 bytes", frame(kind::GOAWAY, 0, 0, &[0; 7])),
        ("RST_STREAM on no stream", frame(kind::RST_STREAM, 0, 0, &[0; 4])),
        ("RST_STREAM of an idle stream", frame(kind::RST_STREAM, 0, 99, &[0; 4])),
        ("RST_STREAM of 3 bytes", frame(kind::RST_STREAM, 0, 1, &[0; 3])),
        ("a window of 0 more", frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4])),
        (
            "a window beyond 2^31 by updates",
            frame(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255]),
        ),
        ("WINDOW_UPDATE of an idle stream", frame(kind::WINDOW_UPDATE, 0, 99, &[0, 0, 0, 1])),
        ("a second answer", [head(1, OK), data(1, b"x"), head(1, OK)].concat()),
        ("DATA behind the end", [head(1, OK), data(1, b"x"), data(1, b"x")].concat()),
        (
            "a CONTINUATION behind the end",
            [head(1, OK), data(1, b"x"), frame(kind::CONTINUATION, WHOLE, 1, OK)].concat(),
        ),
        ("DATA behind a reset", [frame(kind::RST_STREAM, 0, 1, &[0; 4]), data(1, b"x")].concat()),
    ];
    for (what, bytes) in cases {
        for step in [1, bytes.len()] {
            let mut client = Client::new(2);
            bytes.chunks(step).for_each(|piece| _ = client.read(piece));
            assert_eq!(client.seen.fault, Some(ErrorKind::Malformed), "{what}, {step} at a time");
        }
    }
    // The first frame must be SETTINGS, and no acknowledgement.
    for first in [frame(kind::SETTINGS, flag::ACK, 0, &[]), frame(kind::PING, 0, 0, &[0; 8])] {
        let session = Session::new(1, LIMITS);
        let mut client = Client { session, out: Frames::default(), seen: Record::default() };
        assert_eq!(client.read(&first).seen.fault, Some(ErrorKind::Malformed));
    }
}

/// Sections 4.1, 5.5, 6.3: what must be ignored.
#[test]
fn strange_frames_are_passed_over() {
    let mut client = Client::new(1);
    client.read(&frame(0x42, 0xff, 1, b"what")).read(&frame(kind::PRIORITY, 0, 1, &[0; 5]));
    client.read(&frame(kind::SETTINGS, 0, 0, &[0x0a, 0x0a, 0, 0, 0, 1]));
    // Flags and the first bit of a stream's number that nobody knows.
    client.read(&frame(kind::PING, 0x16, 0, &[0; 8])).read(&frame(kind::PING, 0, 1 << 31, &[0; 8]));
    client.read(&frame(kind::HEADERS, WHOLE | 0x50, 1, OK));
    client.read(&frame(kind::DATA, END | 0x70, 1 << 31 | 1, b""));
    // Behind the end of a stream, two kinds may still come (section 5.1).
    client.read(&frame(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]));
    client.read(&frame(kind::RST_STREAM, 0, 1, &[0; 4]));
    assert_eq!((client.steps(), client.seen.fault), (&[(0, "complete")][..], None));
}

/// Sections 6.5.3 and 6.7.
#[test]
fn settings_and_pings_are_acknowledged() {
    let mut client = Client::new(1);
    client.read(&frame(kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 7]));
    client.read(&frame(kind::PING, 0, 0, b"12345678")).read(&frame(
        kind::PING,
        flag::ACK,
        0,
        &[0; 8],
    ));
    let sent: Vec<_> = client
        .sent()
        .into_iter()
        .map(|(header, payload)| (header.kind, header.flags, payload))
        .collect();
    assert_eq!(
        sent,
        [(kind::SETTINGS, flag::ACK, vec![]), (kind::PING, flag::ACK, b"12345678".to_vec())]
    );
    assert_eq!(client.session.sending.most_streams, 7);
}

/// Section 6.8: streams above the last id were not looked at, and those up to it are answered.
#[test]
fn goaway_gives_back_what_was_not_looked_at() {
    let mut client = Client::new(4);
    client.read(&frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]));
    assert_eq!(client.steps(), [(2, "refused"), (3, "refused")]);
    assert!(client.seen.is_closing);
    client.read(&head(3, OK)).read(&data(3, b"x")).read(&head(1, OK)).read(&data(1, b"x"));
    assert_eq!(client.steps()[2..], [(1, "complete"), (0, "complete")]);
}

#[test]
fn goaway_gives_back_first_what_was_sent_first() {
    let mut client = Client::new(3);
    client.read(&head(1, OK)).read(&data(1, b"x")).send(0, b"");
    client.read(&frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
    assert_eq!(client.steps()[1..], [(1, "refused"), (2, "refused"), (0, "refused")]);
}

/// Section 7: codes that nobody knows mean nothing else.
#[test]
fn unknown_error_codes_are_as_good_as_others() {
    let mut client = Client::new(2);
    client.read(&frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 0xff]));
    client.read(&frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0xff]));
    client.read(&head(3, OK)).read(&data(3, b"x"));
    assert_eq!(client.steps(), [(0, "stream_reset"), (1, "complete")]);
    assert_eq!((client.seen.is_closing, client.seen.fault), (true, None));
}

/// Sections 6.4 and 8.7.
#[test]
fn a_reset_ends_one_stream() {
    let mut client = Client::new(3);
    client.read(&frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 7]));
    client.read(&frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 2]));
    client.read(&head(5, OK)).read(&data(5, b"x"));
    assert_eq!(client.steps(), [(0, "refused"), (1, "stream_reset"), (2, "complete")]);
}

/// A head that goes on and on, in many bytes, in many fields, or in empty frames.
#[test]
fn floods_of_headers_end_the_connection() {
    let begin_block = frame(kind::HEADERS, 0, 1, OK);
    let long = frame(kind::CONTINUATION, 0, 1, &[0x88; 2_000]);
    let empty = frame(kind::CONTINUATION, 0, 1, &[]);
    for (piece, most) in [(&long, 3), (&empty, 100)] {
        let mut client = Client::new(1);
        client.read(&begin_block);
        let count =
            (0..).take_while(|_| client.read(piece).seen.fault.is_none()).take(1_000).count();
        assert_eq!(client.seen.fault, Some(ErrorKind::TooLarge));
        assert!(count < most, "{count}");
    }
    // A short block that names a large field again and again.
    let mut block = OK.to_vec();
    block.extend([&[0x40, 1, b'a', 100][..], &[b'x'; 100]].concat());
    block.extend([0xbe; 100]);
    let mut client = Client::new(1);
    assert_eq!(client.read(&head(1, &block)).seen.fault, Some(ErrorKind::TooLarge));
}

#[test]
fn floods_of_questions_end_the_connection() {
    for question in [frame(kind::PING, 0, 0, &[0; 8]), frame(kind::SETTINGS, 0, 0, &[])] {
        let mut client = Client::new(1);
        let many = question.repeat(1_000);
        let rounds =
            (0..).take_while(|_| client.read(&many).seen.fault.is_none()).take(1_000).count();
        assert_eq!(client.seen.fault, Some(ErrorKind::TooLarge));
        // Nothing that waits for the server is larger than this.
        assert!(rounds < 1_000 && client.out.bytes().len() < 4 << 20);
    }
}

#[test]
fn a_body_beyond_the_limit_fails_alone() {
    let mut client = Client::new(1);
    client.read(&head(1, OK));
    for _ in 0..10 {
        client.read(&frame(kind::DATA, 0, 1, &[b'x'; 16_000]));
    }
    assert_eq!((client.steps(), client.seen.fault), (&[(0, "too_large")][..], None));
}

/// Section 6.9: the server gets more window before it has used up the last. If it exceeds the
/// window, the connection ends.
#[test]
fn windows_are_renewed_and_watched() {
    let session = Session::new(1, Limits { body_bytes: u64::MAX, ..LIMITS });
    let mut client = Client { session, ..Client::new(1) };
    client.read(&frame(kind::SETTINGS, 0, 0, &[]));
    client.session.streams = vec![Stream { id: 1, ..Stream::default() }];
    client.session.sending.next_id = 3;
    client.session.opened(0);
    client.read(&head(1, OK));
    let piece = frame(kind::DATA, 0, 1, &[b'x'; 16_384]);
    let mut returned = 0;
    for _ in 0..(STREAM_WINDOW as usize / 16_384) * 2 {
        client.seen.bodies.clear();
        client.read(&piece);
        for (header, payload) in client.sent() {
            if (header.kind, header.stream) == (kind::WINDOW_UPDATE, 1) {
                returned += u32::from_be_bytes(payload.try_into().unwrap());
            }
        }
    }
    assert_eq!((returned, client.seen.fault), (STREAM_WINDOW * 2, None));
}

/// Section 6.9.2: bodies go out as far as both windows reach, in turn, and windows may shrink.
#[test]
fn request_bodies_keep_to_the_windows() {
    let body = vec![b'b'; 100_000];
    let mut client = Client::sending(2, &body);
    let pump = |client: &mut Client| {
        client.session.sending.pump(&mut client.session.streams, |_| &body, &mut client.out);
        let mut sent = [0, 0];
        for (header, payload) in client.sent() {
            if header.kind == kind::DATA {
                sent[(header.stream / 2) as usize] += payload.len();
                assert_eq!(
                    header.has(END),
                    client.session.streams[(header.stream / 2) as usize].sent == 100_000
                        && payload.len() < 16_384
                );
            }
        }
        sent
    };
    // The connection's window of 65,535 bytes, shared.
    let first = pump(&mut client);
    assert_eq!(first.iter().sum::<usize>(), 65_535);
    assert!(first.iter().all(|sent| *sent > 30_000), "{first:?}");
    client.read(&frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0x10, 0, 0]));
    let second = pump(&mut client);
    assert_eq!([first[0] + second[0], first[1] + second[1]], [65_535, 65_535]);
    // A smaller initial window can make windows negative; updates must first make up for that.
    client.read(&frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
    client.read(&frame(kind::WINDOW_UPDATE, 0, 1, &[0, 1, 0, 0]));
    assert_eq!(pump(&mut client), [1, 0]);
    client.read(&frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 2, 0, 0]));
    assert_eq!(pump(&mut client), [34_464, 34_465]);
}

/// RFC 7541 section 4.2: if the server wants a smaller table, the next block says that there is
/// none.
#[test]
fn a_server_without_a_table_gets_requests_written_out() {
    let mut client = Client::new(1);
    client.read(&frame(kind::SETTINGS, 0, 0, &[0, setting::HEADER_TABLE_SIZE as u8, 0, 0, 0, 0]));
    client.sent();
    let block = blocks(&[(vec![(":path".into(), "/x".into())], None)]).remove(0);
    for first in [0x20, block.plain[0]] {
        let mut stream = Stream::default();
        client.session.sending.open(&block, Value::default(), &mut stream, &mut client.out);
        assert_eq!(client.sent()[0].1[0], first);
    }
}

/// Frames of a server that may be right or wrong.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let kinds = (0_u8..11, any::<u8>(), 0_u32..8, proptest::collection::vec(any::<u8>(), 0..40));
    let any = kinds.prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload));
    let right = (0_u32..4, 0_usize..5).prop_map(|(tag, length)| {
        let stream = tag * 2 + 1;
        [head(stream, OK), data(stream, &b"hello"[..length])].concat()
    });
    let parts = prop_oneof![3 => right, 1 => any];
    proptest::collection::vec(parts, 0..12).prop_map(|frames| frames.concat())
}

proptest! {
    /// Bytes give one result, whatever the pieces in which they come, and nothing panics.
    #[test]
    fn pieces_do_not_matter(bytes in frames(), step in 1_usize..40) {
        let mut whole = Client::new(4);
        whole.read(&bytes);
        let mut pieces = Client::new(4);
        for piece in bytes.chunks(step) {
            pieces.read(piece);
        }
        prop_assert_eq!(&whole.seen.steps, &pieces.seen.steps);
        prop_assert_eq!(whole.seen.fault, pieces.seen.fault);
        prop_assert_eq!(&whole.seen.heads, &pieces.seen.heads);
        // Of an answer that is cut off, more or less may have been handed on.
        if whole.seen.fault.is_none() {
            prop_assert_eq!(&whole.seen.bodies, &pieces.seen.bodies);
            prop_assert_eq!(whole.sent(), pieces.sent());
        }
    }

    #[test]
    fn no_bytes_make_a_session_panic(bytes: Vec<u8>) {
        Client::new(2).read(&bytes);
    }
}
