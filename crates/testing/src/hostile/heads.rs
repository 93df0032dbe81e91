//! Answers of HTTP/2: interim answers, trailers, fields, lengths (RFC 9113 section 8), and HPACK
//! (RFC 7541).
use super::Act::{Endless, Silence};
use super::frames::{asked, frame, head, last};
use super::{Counted, MALFORMED, On, Over, Scripts, Speaks, TIMEOUT, TOO_LARGE, WRONG_STATUS};
use crate::frames::kind::{CONTINUATION, DATA, HEADERS};
use crate::frames::{END_HEADERS, END_STREAM, OK};
use Counted::{Fails, Good, Wrong};
use On::Asked;

pub(super) const SCRIPTS: &[Scripts] = &[Scripts {
    speaks: Speaks::Http2,
    over: Over::Both,
    rows: &[
        // Section 8.1: interim answers and trailers.
        ("h2: an interim answer", asked![head(b"\x08\x03103"), head(OK), last(b"hello")], Good),
        (
            "h2: interim answers without end",
            asked![Endless(1, b"\0\0\x05\x01\x04\0\0\0\x01\x08\x03103")],
            Fails(TIMEOUT),
        ),
        (
            "h2: an interim answer that is the last",
            asked![frame(HEADERS, END_HEADERS | END_STREAM, Asked, b"\x08\x03103")],
            Fails(MALFORMED),
        ),
        ("h2: a switch of protocols", asked![head(b"\x08\x03101")], Fails(MALFORMED)),
        (
            "h2: trailers",
            asked![
                head(OK),
                frame(DATA, 0, Asked, b"hello"),
                frame(HEADERS, END_HEADERS | END_STREAM, Asked, b"\0\x01a\x01b"),
            ],
            Good,
        ),
        (
            "h2: trailers that are not the end",
            asked![
                head(OK),
                frame(DATA, 0, Asked, b"hello"),
                frame(HEADERS, END_HEADERS, Asked, b"\0\x01a\x01b"),
            ],
            Fails(MALFORMED),
        ),
        (
            "h2: trailers with a status",
            asked![
                head(OK),
                frame(DATA, 0, Asked, b"hello"),
                frame(HEADERS, END_HEADERS | END_STREAM, Asked, OK),
            ],
            Fails(MALFORMED),
        ),
        // Sections 8.2 and 8.3: fields.
        ("h2: no status", asked![head(b"\0\x01a\x01b"), last(b"hello")], Fails(MALFORMED)),
        ("h2: an empty head", asked![head(b""), last(b"hello")], Fails(MALFORMED)),
        ("h2: two statuses", asked![head(b"\x88\x88"), last(b"hello")], Fails(MALFORMED)),
        ("h2: a status of letters", asked![head(b"\x08\x03abc"), last(b"hello")], Fails(MALFORMED)),
        (
            "h2: a status of two digits",
            asked![head(b"\x08\x0220"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a status behind a field",
            asked![head(b"\0\x01a\x01b\x88"), last(b"hello")],
            Fails(MALFORMED),
        ),
        ("h2: the path of a request", asked![head(b"\x88\x84"), last(b"hello")], Fails(MALFORMED)),
        (
            "h2: a name in capitals",
            asked![head(b"\x88\0\x01A\x01b"), last(b"hello")],
            Fails(MALFORMED),
        ),
        ("h2: an empty name", asked![head(b"\x88\0\0\x01b"), last(b"hello")], Fails(MALFORMED)),
        (
            "h2: a line end in a value",
            asked![head(b"\x88\0\x01a\x03b\r\n"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a NUL in a value",
            asked![head(b"\x88\0\x01a\x03b\0c"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a field of HTTP/1.1's connections",
            asked![head(b"\x88\0\x0aconnection\x05close"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: chunks",
            asked![head(b"\x88\0\x11transfer-encoding\x07chunked"), last(b"hello")],
            Fails(MALFORMED),
        ),
        ("h2: 404", asked![head(b"\x8d"), last(b"hello")], Wrong(WRONG_STATUS)),
        // Section 8.1.1: lengths.
        ("h2: the right length", asked![head(b"\x88\x0f\x0d\x015"), last(b"hello")], Good),
        (
            "h2: a body shorter than its length",
            asked![head(b"\x88\x0f\x0d\x019"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a body longer than its length",
            asked![head(b"\x88\x0f\x0d\x014"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: two lengths",
            asked![head(b"\x88\x0f\x0d\x015\x0f\x0d\x016"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a negative length",
            asked![head(b"\x88\x0f\x0d\x02-5"), last(b"hello")],
            Fails(MALFORMED),
        ),
        ("h2: a body of a 204", asked![head(b"\x89"), last(b"hello")], Fails(MALFORMED)),
        // HPACK.
        ("h2: a field of index 0", asked![head(b"\x88\x80"), Silence], Fails(MALFORMED)),
        ("h2: a field of an empty table", asked![head(b"\x88\xbe"), Silence], Fails(MALFORMED)),
        (
            "h2: an index beyond 32 bits",
            asked![head(b"\x88\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), Silence],
            Fails(MALFORMED),
        ),
        ("h2: half an index", asked![head(b"\x88\xff"), Silence], Fails(MALFORMED)),
        (
            "h2: a string longer than its block",
            asked![head(b"\x88\0\x7fabc"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: Huffman's code with too much padding",
            asked![head(b"\x88\0\x82\xff\xff\x01b"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: Huffman's code with its end within",
            asked![head(b"\x88\0\x84\xff\xff\xff\xff\x01b"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a table larger than allowed",
            asked![head(b"\x3f\xe2\x1f\x88"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a table that changes behind a field",
            asked![head(b"\x88\x20"), Silence],
            Fails(MALFORMED),
        ),
        ("h2: a table of no size", asked![head(b"\x20\x88"), last(b"hello")], Good),
        (
            "h2: a head of 60,000 bytes",
            asked![
                frame(HEADERS, 0, Asked, piece(0, 16_000)),
                frame(CONTINUATION, 0, Asked, piece(16_000, 32_000)),
                frame(CONTINUATION, 0, Asked, piece(32_000, 48_000)),
                frame(CONTINUATION, END_HEADERS, Asked, piece(48_000, 60_008)),
                Silence
            ],
            Fails(TOO_LARGE),
        ),
        ("h2: a head that grows when it is read", asked![head(&BOMB), Silence], Fails(TOO_LARGE)),
    ],
}];

/// A head with a value of 60,000 bytes: more than [`super::HEAD_BYTES`].
const LARGE_BLOCK: &[u8] = &{
    let mut block = [b'v'; 60_008];
    let (start, _) = block.split_at_mut(8);
    // A literal with a new name; the length is 127 + 97 + (83 << 7) + (3 << 14).
    start.copy_from_slice(b"\x88\0\x01a\x7f\xe1\xd3\x03");
    block
};

/// A part of [`LARGE_BLOCK`] that fits into a frame.
const fn piece(from: usize, to: usize) -> &'static [u8] {
    LARGE_BLOCK.split_at(to).0.split_at(from).1
}

/// A block of 16 KB that names an entry of 4 KB with each of its last bytes: 48 MB if one keeps it.
const BOMB: [u8; 16_007] = {
    let mut block = [0xbe; 16_007];
    let (start, rest) = block.split_at_mut(7);
    // The length is 127 + 33 + (30 << 7) = 4,000.
    start.copy_from_slice(b"\x88\x40\x01a\x7f\xa1\x1e");
    let (value, _) = rest.split_at_mut(4_000);
    let mut at = 0;
    while at < value.len() {
        value[at] = b'v';
        at += 1;
    }
    block
};
