//! Answers that end early, in each of their parts and in each way.
use super::Act::{Close, Cut, Request, Reset, Send, Silence};
use super::{CLOSED, CLOSED_IN_BODY, Counted, Over, Scripts, Speaks, TIMEOUT};
use Counted::{Either, Fails, Good};

const HALF_LINE: &[u8] = b"HTTP/1.";
const HALF_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Le";
const HALF_LINE_END: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r";
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
const HALF_BODY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel";
const CHUNK_SIZE: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5";
const HALF_CHUNK: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel";
const CHUNK: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
const TRAILER: &[u8] =
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n";
const INTERIM: &[u8] = b"HTTP/1.1 103 Early Hints\r\n\r\n";
const UNSIZED: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nhello";

/// Bytes before a reset may be lost with it.
const RESET: Counted = Either(&[CLOSED, CLOSED_IN_BODY]);

pub(super) const SCRIPTS: &[Scripts] = &[
    Scripts {
        speaks: Speaks::Http1,
        over: Over::Both,
        rows: &[
            ("closes without an answer", &[Request, Close], Fails(CLOSED)),
            ("closes in the status line", &[Request, Send(HALF_LINE), Close], Fails(CLOSED)),
            ("closes in the head", &[Request, Send(HALF_HEAD), Close], Fails(CLOSED)),
            ("closes before the head's last byte", &[Request, Send(HALF_LINE_END), Close], Fails(CLOSED)),
            ("closes behind the head", &[Request, Send(HEAD), Close], Fails(CLOSED_IN_BODY)),
            ("closes in the body", &[Request, Send(HALF_BODY), Close], Fails(CLOSED_IN_BODY)),
            ("closes in a chunk size", &[Request, Send(CHUNK_SIZE), Close], Fails(CLOSED_IN_BODY)),
            ("closes in a chunk", &[Request, Send(HALF_CHUNK), Close], Fails(CLOSED_IN_BODY)),
            ("closes behind a chunk", &[Request, Send(CHUNK), Close], Fails(CLOSED_IN_BODY)),
            ("closes in the trailers", &[Request, Send(TRAILER), Close], Fails(CLOSED_IN_BODY)),
            ("closes behind an interim answer", &[Request, Send(INTERIM), Close], Fails(CLOSED)),
            ("resets without an answer", &[Request, Reset], Fails(CLOSED)),
            ("resets in the status line", &[Request, Send(HALF_LINE), Reset], Fails(CLOSED)),
            ("resets in the head", &[Request, Send(HALF_HEAD), Reset], Fails(CLOSED)),
            ("resets behind the head", &[Request, Send(HEAD), Reset], RESET),
            ("resets in the body", &[Request, Send(HALF_BODY), Reset], RESET),
            ("resets in a chunk", &[Request, Send(HALF_CHUNK), Reset], RESET),
            ("resets in a body without a length", &[Request, Send(UNSIZED), Reset], RESET),
            ("resets behind an interim answer", &[Request, Send(INTERIM), Reset], Fails(CLOSED)),
            ("falls silent before an answer", &[Request, Silence], Fails(TIMEOUT)),
            ("falls silent in the status line", &[Request, Send(HALF_LINE), Silence], Fails(TIMEOUT)),
            ("falls silent in the head", &[Request, Send(HALF_HEAD), Silence], Fails(TIMEOUT)),
            ("falls silent behind the head", &[Request, Send(HEAD), Silence], Fails(TIMEOUT)),
            ("falls silent in the body", &[Request, Send(HALF_BODY), Silence], Fails(TIMEOUT)),
            ("falls silent in a chunk", &[Request, Send(HALF_CHUNK), Silence], Fails(TIMEOUT)),
            ("falls silent in the trailers", &[Request, Send(TRAILER), Silence], Fails(TIMEOUT)),
            ("falls silent in a body without a length", &[Request, Send(UNSIZED), Silence], Fails(TIMEOUT)),
            ("falls silent behind an interim answer", &[Request, Send(INTERIM), Silence], Fails(TIMEOUT)),
            ("ends a body by closing", &[Request, Send(UNSIZED), Close], Good),
            (
                "closes behind each answer, and says so",
                &[Request, Send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"), Close],
                Good,
            ),
            (
                "says that it closes among other options, and does",
                &[Request, Send(b"HTTP/1.1 200 OK\r\nConnection: x, CLOSE\r\nContent-Length: 5\r\n\r\nhello"), Close],
                Good,
            ),
            (
                "says that it closes, and does not",
                &[Request, Send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"), Silence],
                Good,
            ),
        ],
    },
    Scripts {
        speaks: Speaks::Http1,
        over: Over::Tls,
        rows: &[
            ("ends a body without close_notify", &[Request, Send(UNSIZED), Cut], Fails(CLOSED_IN_BODY)),
            ("ends a head without close_notify", &[Request, Send(HALF_HEAD), Cut], Fails(CLOSED)),
            (
                "ends a connection without close_notify behind an answer",
                &[Request, Send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"), Cut],
                Good,
            ),
        ],
    },
];
