//! Bytes without end, and bytes that come one by one.
use super::Act::{Drip, Endless, Many, Pause, Request, Send, Urgent};
use super::{Counted, MALFORMED, OK, Over, Scripts, Speaks, TIMEOUT, TOO_LARGE};
use Counted::{Fails, Good};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const INTERIM: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";

pub(super) const SCRIPTS: &[Scripts] = &[
    Scripts {
        speaks: Speaks::Http1,
        over: Over::Both,
        rows: &[
            (
                "a status line without end",
                &[Request, Send(b"HTTP/1.1 200 "), Endless(0, &[b'x'; 1_000])],
                Fails(TOO_LARGE),
            ),
            (
                "header lines without end",
                &[Request, Send(HEAD), Endless(0, b"X-Filler: filler\r\n")],
                Fails(TOO_LARGE),
            ),
            (
                "a header line without end",
                &[Request, Send(HEAD), Endless(0, &[b'x'; 1_000])],
                Fails(TOO_LARGE),
            ),
            (
                "header lines now and then",
                &[Request, Send(HEAD), Endless(20, b"X: y\r\n")],
                Fails(TIMEOUT),
            ),
            ("interim answers without end", &[Request, Endless(0, INTERIM)], Fails(TOO_LARGE)),
            ("interim answers now and then", &[Request, Endless(80, INTERIM)], Fails(TIMEOUT)),
            ("1,000 interim answers", &[Request, Many(1_000, INTERIM), Send(OK)], Good),
            (
                "an interim answer with a length",
                &[Request, Send(b"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n"), Send(OK)],
                Good,
            ),
            (
                "a body without length or end",
                &[Request, Send(HEAD), Send(b"\r\n"), Endless(0, &[b'x'; 1_000])],
                Fails(TOO_LARGE),
            ),
            (
                "a body without length, now and then",
                &[Request, Send(HEAD), Send(b"\r\n"), Endless(20, b"x")],
                Fails(TIMEOUT),
            ),
            (
                "chunks without end",
                &[Request, Send(CHUNKED), Endless(0, b"5\r\nhello\r\n")],
                Fails(TOO_LARGE),
            ),
            (
                "chunks now and then",
                &[Request, Send(CHUNKED), Endless(20, b"1\r\nx\r\n")],
                Fails(TIMEOUT),
            ),
            (
                "digits of a chunk size without end",
                &[Request, Send(CHUNKED), Endless(0, &[b'0'; 100])],
                Fails(TOO_LARGE),
            ),
            (
                "a chunk extension without end",
                &[Request, Send(CHUNKED), Send(b"5;"), Endless(0, &[b'x'; 1_000])],
                Fails(TOO_LARGE),
            ),
            (
                "trailers without end",
                &[
                    Request,
                    Send(CHUNKED),
                    Send(b"5\r\nhello\r\n0\r\n"),
                    Endless(0, b"X-Filler: filler\r\n"),
                ],
                Fails(TOO_LARGE),
            ),
            ("NULs without end", &[Request, Endless(0, &[0; 1_000])], Fails(MALFORMED)),
            ("empty lines without end", &[Request, Endless(0, b"\r\n\r\n")], Fails(MALFORMED)),
            (
                "a body of 4 MiB",
                &[Request, Send(HEAD), Send(b"\r\n"), Many(4_096, &[b'x'; 1_024])],
                Fails(TOO_LARGE),
            ),
            ("the right answer byte by byte", &[Request, Drip(OK)], Good),
            (
                "chunks byte by byte",
                &[Request, Drip(CHUNKED), Drip(b"5;a=b\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n")],
                Good,
            ),
            (
                "interim answers byte by byte",
                &[Request, Drip(INTERIM), Drip(INTERIM), Drip(OK)],
                Good,
            ),
            (
                "a malformed answer byte by byte",
                &[Request, Drip(b"HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n")],
                Fails(MALFORMED),
            ),
            (
                "an answer in two parts",
                &[
                    Request,
                    Send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r"),
                    Pause(30),
                    Send(b"\nhello"),
                ],
                Good,
            ),
        ],
    },
    Scripts {
        speaks: Speaks::Http1,
        over: Over::Tcp,
        rows: &[(
            "urgent data in the head",
            &[Request, Send(HEAD), Urgent(b'!'), Send(b"Content-Length: 5\r\n\r\nhello")],
            Good,
        )],
    },
];
