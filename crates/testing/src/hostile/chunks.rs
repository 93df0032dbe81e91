//! Bodies in chunks (RFC 9112 section 7.1).
use super::{Answers, Around, CHUNKS, Counted, MALFORMED, TIMEOUT, TOO_LARGE, WHOLE, WRONG_BODY};

/// The trailers are odd.
const TRAILER: Around = Around(
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    b"\r\n\r\n",
);

pub(super) const ANSWERS: &[Answers] = &[
    Answers {
        around: CHUNKS,
        counted: Counted::Fails(MALFORMED),
        rows: &[
            ("a chunk size of letters", b"zz\r\nhello\r\n0\r\n\r\n"),
            ("no chunk size", b"\r\nhello\r\n0\r\n\r\n"),
            ("a negative chunk size", b"-5\r\nhello\r\n0\r\n\r\n"),
            ("a signed chunk size", b"+5\r\nhello\r\n0\r\n\r\n"),
            ("a chunk size that says 0x", b"0x5\r\nhello\r\n0\r\n\r\n"),
            ("a space before a chunk size", b" 5\r\nhello\r\n0\r\n\r\n"),
            ("a NUL before a chunk size", b"\x005\r\nhello\r\n0\r\n\r\n"),
            ("a chunk size that a bare LF ends", b"5\nhello\r\n0\r\n\r\n"),
            ("a chunk size that a bare CR ends", b"5\rhello\r\n0\r\n\r\n"),
            ("a comma behind a chunk size", b"5,\r\nhello\r\n0\r\n\r\n"),
            ("a NUL in an extension", b"5;a\0b\r\nhello\r\n0\r\n\r\n"),
            ("a bare LF in an extension", b"5;a\nhello\r\n0\r\n\r\n"),
            ("no line end behind a chunk", b"5\r\nhello0\r\n\r\n"),
            ("a bare LF behind a chunk", b"5\r\nhello\n0\r\n\r\n"),
            ("a bare CR behind a chunk", b"5\r\nhello\r0\r\n\r\n"),
            ("other bytes behind a chunk", b"5\r\nhelloXX0\r\n\r\n"),
            ("a chunk longer than its size", b"4\r\nhello\r\n0\r\n\r\n"),
            ("a body that is in no chunks", b"hello"),
        ],
    },
    Answers {
        around: CHUNKS,
        counted: Counted::Fails(TOO_LARGE),
        rows: &[
            (
                "a chunk size that wraps around 64 bits to 5",
                b"10000000000000005\r\nhello\r\n0\r\n\r\n",
            ),
            ("a chunk size of 64 bits", b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
            ("a chunk size of 63 bits", b"7fffffffffffffff\r\nhello\r\n0\r\n\r\n"),
            ("a chunk size of 32 bits and 5", b"100000005\r\nhello\r\n0\r\n\r\n"),
            ("17 digits of a chunk size", b"00000000000000005\r\nhello\r\n0\r\n\r\n"),
            ("a chunk one byte beyond the limit", b"2711\r\n"),
            ("a second chunk beyond the limit", b"5\r\nhello\r\n270d\r\n"),
            ("an extension of 5,000 bytes", &EXTENSION),
        ],
    },
    Answers {
        around: CHUNKS,
        counted: Counted::Fails(TIMEOUT),
        rows: &[
            ("no last chunk", b"5\r\nhello\r\n"),
            ("a last chunk without its empty line", b"5\r\nhello\r\n0\r\n"),
            ("a last chunk without its line end", b"5\r\nhello\r\n0"),
            ("half a line end behind the last chunk", b"5\r\nhello\r\n0\r\n\r"),
            ("half a chunk", b"5\r\nhel"),
        ],
    },
    Answers {
        around: TRAILER,
        counted: Counted::Fails(MALFORMED),
        rows: &[
            ("a trailer without a colon", b"X-Sum"),
            ("a trailer without a name", b": 1"),
            ("a trailer that is folded", b"X-Sum: 1\r\n 2"),
            ("a NUL in a trailer", b"X-Sum: \0"),
            ("a space in a trailer's name", b"X Sum: 1"),
            ("a trailer that a bare LF ends", b"X-Sum: 1\nX-Other: 2"),
        ],
    },
    Answers {
        around: TRAILER,
        counted: Counted::Good,
        rows: &[
            ("a trailer", b"X-Sum: 1"),
            ("a trailer without a value", b"X-Sum:"),
            ("a trailer that names a length", b"Content-Length: 7"),
            ("a trailer that names chunks", b"Transfer-Encoding: chunked"),
        ],
    },
    Answers {
        around: CHUNKS,
        counted: Counted::Good,
        rows: &[
            ("chunks of one byte", b"1\r\nh\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n"),
            ("a chunk size with zeros before", b"0000000000000005\r\nhello\r\n0\r\n\r\n"),
            ("a last chunk of many zeros", b"5\r\nhello\r\n0000000000\r\n\r\n"),
            ("a space behind a chunk size", b"5 \r\nhello\r\n0\r\n\r\n"),
            ("extensions", b"5;a=b;c=\"d e\";f\r\nhello\r\n0;last\r\n\r\n"),
            ("an empty extension", b"5;\r\nhello\r\n0\r\n\r\n"),
        ],
    },
    Answers {
        around: WHOLE,
        counted: Counted::Good,
        rows: &[(
            "chunks in capitals",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )],
    },
    Answers {
        around: CHUNKS,
        counted: Counted::Wrong(WRONG_BODY),
        rows: &[
            ("no chunk but the last", b"0\r\n\r\n"),
            ("the chunks of another body", b"3\r\nhel\r\n3\r\nlo!\r\n0\r\n\r\n"),
        ],
    },
    Answers {
        around: CHUNKS,
        counted: Counted::Wrong(MALFORMED),
        rows: &[
            ("bytes behind the last chunk", b"5\r\nhello\r\n0\r\n\r\nmore"),
            ("a chunk behind the last chunk", b"5\r\nhello\r\n0\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        ],
    },
    Answers {
        around: WHOLE,
        counted: Counted::Fails(MALFORMED),
        rows: &[(
            "chunks in HTTP/1.0",
            b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )],
    },
];

const EXTENSION: [u8; 5_000] = {
    let mut extension = [b'x'; 5_000];
    extension[0] = b'5';
    extension[1] = b';';
    extension
};
