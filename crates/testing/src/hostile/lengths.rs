//! Where a body ends by its length (RFC 9112 section 6.3). If two readers find its end in different
//! places, an attacker can make one of them take one answer for another (section 11.2).
use super::{
    Answers, Around, Counted, FRAMING, MALFORMED, TOO_LARGE, WHOLE, WRONG_BODY, WRONG_STATUS,
};

/// A length stands before the odd line.
const SIZED: Around = Around(b"HTTP/1.1 200 OK\r\nContent-Length: 5", b"\r\n\r\nhello");

pub(super) const ANSWERS: &[Answers] = &[
    Answers {
        around: FRAMING,
        counted: Counted::Fails(MALFORMED),
        rows: &[
            ("a negative length", b"Content-Length: -1"),
            ("a length of minus zero", b"Content-Length: -0"),
            ("a signed length", b"Content-Length: +5"),
            ("a length with a letter behind", b"Content-Length: 5x"),
            ("a length with a letter before", b"Content-Length: x5"),
            ("a hexadecimal length", b"Content-Length: 0x5"),
            ("a fractional length", b"Content-Length: 5.0"),
            ("a length with an exponent", b"Content-Length: 5e0"),
            ("a length with a space within", b"Content-Length: 0 5"),
            ("a length in UTF-8 digits", b"Content-Length: \xd9\xa5"),
            ("a length with a unit", b"Content-Length: 5 bytes"),
            ("a length in quotation marks", b"Content-Length: \"5\""),
            ("a length with a semicolon", b"Content-Length: 5;"),
            ("no length where one belongs", b"Content-Length:"),
            ("spaces where a length belongs", b"Content-Length:    "),
            ("a list of the same lengths", b"Content-Length: 5, 5"),
            ("a list of two lengths", b"Content-Length: 5, 6"),
            ("a space before the colon of a length", b"Content-Length : 5"),
            ("a length that is folded", b"Content-Length:\r\n 5"),
            ("a length and chunks", b"Content-Length: 5\r\nTransfer-Encoding: chunked"),
            ("chunks and a length", b"Transfer-Encoding: chunked\r\nContent-Length: 5"),
            ("another coding than chunks", b"Transfer-Encoding: gzip"),
            ("the coding that is none", b"Transfer-Encoding: identity"),
            ("an empty coding", b"Transfer-Encoding:"),
            ("a coding before chunks", b"Transfer-Encoding: gzip, chunked"),
            ("a coding behind chunks", b"Transfer-Encoding: chunked, gzip"),
            ("chunks in chunks", b"Transfer-Encoding: chunked, chunked"),
            ("a coding that is nearly chunks", b"Transfer-Encoding: xchunked"),
            ("chunks with a parameter", b"Transfer-Encoding: chunked;q=1"),
            ("chunks in quotation marks", b"Transfer-Encoding: \"chunked\""),
            ("chunks with a control character", b"Transfer-Encoding: \x0bchunked"),
            (
                "two lines of chunks",
                b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            ),
        ],
    },
    Answers {
        around: SIZED,
        counted: Counted::Fails(MALFORMED),
        rows: &[
            ("the same length twice", b"\r\nContent-Length: 5"),
            ("two lengths", b"\r\nContent-Length: 6"),
            ("two lengths in different case", b"\r\ncontent-length: 6"),
            ("a length and another coding", b"\r\nTransfer-Encoding: identity"),
        ],
    },
    Answers {
        around: FRAMING,
        counted: Counted::Fails(TOO_LARGE),
        rows: &[
            ("a length that wraps around 64 bits to 5", b"Content-Length: 18446744073709551621"),
            ("a length of 64 bits", b"Content-Length: 18446744073709551615"),
            ("a length of 63 bits", b"Content-Length: 9223372036854775807"),
            ("a length of 32 bits and 5", b"Content-Length: 4294967301"),
            ("a length of 23 digits", b"Content-Length: 99999999999999999999999"),
            ("a length one byte beyond the limit", b"Content-Length: 10001"),
        ],
    },
    Answers {
        around: FRAMING,
        counted: Counted::Good,
        rows: &[
            ("a length with zeros before", b"Content-Length: 0000000000000000000000005"),
            ("a length in spaces", b"Content-Length:    5   "),
            ("a length without a space", b"Content-Length:5"),
            ("a length in lower case", b"content-length: 5"),
            ("a length in mixed case", b"cOnTeNt-LeNgTh: 5"),
        ],
    },
    Answers {
        around: WHOLE,
        counted: Counted::Wrong(MALFORMED),
        rows: &[
            (
                "more body than the length says",
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world",
            ),
            (
                "an answer that nobody asked for behind the right one",
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled",
            ),
            (
                "the same answer twice",
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            ),
            (
                "an empty line behind the answer",
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\r\n",
            ),
            ("a body of a 204", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"),
            ("a body of a 304", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello"),
            ("a body of a length of 0", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nhello"),
        ],
    },
    Answers {
        around: WHOLE,
        counted: Counted::Wrong(WRONG_STATUS),
        rows: &[
            ("a 204", b"HTTP/1.1 204 No Content\r\n\r\n"),
            ("a 304 with the length of what it stands for", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        ],
    },
    Answers {
        around: WHOLE,
        counted: Counted::Wrong(WRONG_BODY),
        rows: &[
            ("an empty body", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ("another body", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO"),
            ("a shorter body", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell"),
            ("a longer body", b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!"),
            ("a body of NULs", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\0\0\0\0\0"),
            ("a body as long as it may be", &LARGE),
        ],
    },
];

/// The longest body that is accepted.
const LARGE: [u8; 42 + 10_000] = {
    let mut answer = [b'x'; 42 + 10_000];
    let (head, _) = answer.split_at_mut(42);
    head.copy_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n");
    answer
};
