//! The other lines of a head (RFC 9112 section 5).
use super::{Answers, Counted, FIELD, HEAD_BYTES, MALFORMED, TOO_LARGE, WHOLE};

pub(super) const ANSWERS: &[Answers] = &[
    Answers {
        around: FIELD,
        counted: Counted::Fails(MALFORMED),
        rows: &[
            ("a line without a colon", b"X-Odd"),
            ("a line that is a colon", b":"),
            ("a line without a name", b": value"),
            ("a line that begins with a space", b" X-Odd: value"),
            ("a line that begins with a tab", b"\tX-Odd: value"),
            ("a line that is folded", b"X-Odd: one\r\n two"),
            ("a line that is folded with a tab", b"X-Odd: one\r\n\ttwo"),
            ("a space before the colon", b"X-Odd : value"),
            ("a tab before the colon", b"X-Odd\t: value"),
            ("a space in a name", b"X Odd: value"),
            ("brackets in a name", b"X(Odd): value"),
            ("a NUL in a name", b"X\0Odd: value"),
            ("UTF-8 in a name", b"X-\xc3\xa7: value"),
            ("a quotation mark in a name", b"\"X-Odd\": value"),
            ("a NUL in a value", b"X-Odd: va\0lue"),
            ("a bell in a value", b"X-Odd: va\x07lue"),
            ("an escape character in a value", b"X-Odd: \x1b]0;title\x07"),
            ("a delete character in a value", b"X-Odd: va\x7flue"),
            ("a CR in a value", b"X-Odd: va\rlue"),
            ("a CR at the end of a value", b"X-Odd: value\r"),
            ("a line that a bare LF ends", b"X-Odd: value\nX-Other: value"),
            ("a second status line", b"HTTP/1.1 200 OK"),
        ],
    },
    Answers {
        around: WHOLE,
        counted: Counted::Fails(MALFORMED),
        rows: &[
            ("a head that bare LFs end", b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
            ("a head that LF, CR, LF ends", b"HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello"),
            ("a head that CR, LF, LF ends", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello"),
            ("a head that CR, CR, LF ends", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\r\n\r\nhello"),
        ],
    },
    Answers {
        around: FIELD,
        counted: Counted::Good,
        rows: &[
            ("a field without a value", b"X-Odd:"),
            ("a field whose value is spaces", b"X-Odd:     "),
            ("a field without a space", b"X-Odd:value"),
            ("a value in tabs", b"X-Odd:\t\tvalue\t\t"),
            ("a value in UTF-8", b"X-Odd: \xc3\xa7"),
            ("a value that is no UTF-8", b"X-Odd: \xff\xfe"),
            ("a value of colons", b"X-Odd: :::"),
            ("every sign that a name may have", b"!#$%&'*+-.^_`|~09azAZ: value"),
            ("a field twice", b"Date: one\r\nDate: two"),
            ("cookies", b"Set-Cookie: a=b\r\nSet-Cookie: c=d; Path=/; HttpOnly"),
            ("an upgrade that nobody asked for", b"Connection: upgrade\r\nUpgrade: h2c"),
            ("a coding that the body does not have", b"Content-Encoding: gzip"),
            ("a keep-alive that says nonsense", b"Keep-Alive: timeout=-1, max=abc"),
            ("a list of options of the connection", b"Connection: ,, keep-alive ,"),
            ("a length in the name of another field", b"X-Content-Length: 7"),
            ("4,999 other lines", &lines::<{ 4_999 * 6 - 2 }>()),
            ("a head as long as it may be", &filler::<{ HEAD_BYTES as usize - FRAME }>()),
        ],
    },
    Answers {
        around: FIELD,
        counted: Counted::Fails(TOO_LARGE),
        rows: &[
            ("5,000 other lines", &lines::<{ 5_000 * 6 - 2 }>()),
            ("8,000 other lines", &lines::<{ 8_000 * 6 - 2 }>()),
            ("a head one byte too long", &filler::<{ HEAD_BYTES as usize - FRAME + 1 }>()),
            ("a head of 64 KiB", &filler::<65_536>()),
        ],
    },
];

/// What else is in a head of [`FIELD`]: the status line, the length, and the line ends.
const FRAME: usize = b"HTTP/1.1 200 OK\r\n\r\nContent-Length: 5\r\n\r\n".len();

/// A line of this length.
const fn filler<const BYTES: usize>() -> [u8; BYTES] {
    let mut line = [b'x'; BYTES];
    let (start, _) = line.split_at_mut(2);
    start.copy_from_slice(b"X:");
    line
}

/// Lines of 4 letters each, without the line end of the last.
const fn lines<const BYTES: usize>() -> [u8; BYTES] {
    let mut lines = [0; BYTES];
    let mut at = 0;
    while at < BYTES {
        lines[at] = b"a: b\r\n"[at % 6];
        at += 1;
    }
    lines
}
