//! HTTP/2 (RFC 9113) and HPACK (RFC 7541). Section numbers are those of RFC 9113 unless said
//! otherwise.
use super::Act::{self, Close, Drip, Endless, Many, Request, Reset, Send, Silence};
use super::{
    CLOSED, CLOSED_IN_BODY, Counted, Frame, MALFORMED, On, Over, STREAM_RESET, Scripts, Speaks,
    TIMEOUT, TOO_LARGE, WRONG_BODY, WRONG_STATUS,
};
use crate::frames::kind::{
    CONTINUATION, DATA, GOAWAY, HEADERS, PING, PRIORITY, PUSH_PROMISE, RST_STREAM, SETTINGS,
    WINDOW_UPDATE,
};
use crate::frames::{END_HEADERS, END_STREAM, OK};
use Counted::{Either, Fails, Good, Wrong};
use On::{Asked, Number};

const PADDED: u8 = 8;
/// A greeting that changes nothing.
const GREETING: Act = frame(SETTINGS, 0, Number(0), b"");

const fn frame(kind: u8, flags: u8, stream: On, payload: &'static [u8]) -> Act {
    Act::Frame(Frame { kind, flags, stream, payload })
}

/// A head whose block is whole.
const fn head(block: &'static [u8]) -> Act {
    frame(HEADERS, END_HEADERS, Asked, block)
}

/// The last bytes of a body.
const fn last(payload: &'static [u8]) -> Act {
    frame(DATA, END_STREAM, Asked, payload)
}

/// A frame of the connection.
const fn own(kind: u8, payload: &'static [u8]) -> Act {
    frame(kind, 0, Number(0), payload)
}

pub(super) const SCRIPTS: &[Scripts] = &[Scripts {
    speaks: Speaks::Http2,
    over: Over::Both,
    rows: &[
        ("h2: the right answer", &[GREETING, Request, head(OK), last(b"hello")], Good),
        // Section 3.4: the greeting.
        (
            "h2: HTTP/1.1 in answer",
            &[Request, Send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: text in answer",
            &[Request, Send(b"220 mail.example.org ESMTP ready\r\n"), Silence],
            Fails(MALFORMED),
        ),
        ("h2: NULs in answer", &[Request, Send(&[0; 64]), Silence], Fails(MALFORMED)),
        ("h2: no greeting", &[Request, head(OK), last(b"hello")], Fails(MALFORMED)),
        (
            "h2: a PING for a greeting",
            &[own(PING, &[0; 8]), Request, head(OK), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: an acknowledgement for a greeting",
            &[frame(SETTINGS, 1, Number(0), b""), Request, head(OK), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a greeting, byte by byte",
            &[Drip(b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64"), Request, head(OK), last(b"hello")],
            Good,
        ),
        // Section 4: frames.
        (
            "h2: a frame one byte too long",
            &[GREETING, Request, Send(b"\0\x40\x01\0\0\0\0\0\x01"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a frame of 16 MiB",
            &[GREETING, Request, Send(b"\xff\xff\xff\x01\x04\0\0\0\x01"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: half the head of a frame",
            &[GREETING, Request, Send(b"\0\0\x01\x01"), Silence],
            Fails(TIMEOUT),
        ),
        (
            "h2: half a frame",
            &[GREETING, Request, Send(b"\0\0\x09\x01\x04\0\0\0\x01\x88"), Silence],
            Fails(TIMEOUT),
        ),
        (
            "h2: half a frame, then the end",
            &[GREETING, Request, Send(b"\0\0\x09\x01\x04\0\0\0\x01\x88"), Close],
            Fails(CLOSED),
        ),
        (
            "h2: frames of no known kind",
            &[
                GREETING,
                Request,
                frame(0x42, 0xff, Asked, b"hello"),
                head(OK),
                own(0xee, b""),
                last(b"hello"),
            ],
            Good,
        ),
        // Section 6.1: DATA.
        ("h2: a body before its head", &[GREETING, Request, last(b"hello")], Fails(MALFORMED)),
        (
            "h2: a body of no stream",
            &[GREETING, Request, head(OK), frame(DATA, END_STREAM, Number(0), b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a body of a stream that nobody opened",
            &[GREETING, Request, head(OK), frame(DATA, END_STREAM, Number(99), b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a body with padding",
            &[
                GREETING,
                Request,
                head(OK),
                frame(DATA, END_STREAM | PADDED, Asked, b"\x03hello\0\0\0"),
            ],
            Good,
        ),
        (
            "h2: padding as long as its frame",
            &[GREETING, Request, head(OK), frame(DATA, END_STREAM | PADDED, Asked, b"\x06hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: padding in an empty frame",
            &[GREETING, Request, head(OK), frame(DATA, END_STREAM | PADDED, Asked, b"")],
            Fails(MALFORMED),
        ),
        ("h2: another body", &[GREETING, Request, head(OK), last(b"HELLO")], Wrong(WRONG_BODY)),
        (
            "h2: no body",
            &[GREETING, Request, frame(HEADERS, END_HEADERS | END_STREAM, Asked, OK)],
            Wrong(WRONG_BODY),
        ),
        (
            "h2: a body in empty frames too",
            &[
                GREETING,
                Request,
                head(OK),
                frame(DATA, 0, Asked, b""),
                frame(DATA, 0, Asked, b"hello"),
                last(b""),
            ],
            Good,
        ),
        (
            "h2: a body one byte beyond the limit",
            &[GREETING, Request, head(OK), last(&[b'x'; 10_001])],
            Fails(TOO_LARGE),
        ),
        (
            "h2: a body without end",
            &[GREETING, Request, head(OK), Endless(0, b"\0\0\x05\0\0\0\0\0\x01hello")],
            Either(&[TOO_LARGE, TIMEOUT]),
        ),
        (
            "h2: an empty body without end",
            &[GREETING, Request, head(OK), Endless(1, b"\0\0\0\0\0\0\0\0\x01")],
            Fails(TIMEOUT),
        ),
        // Sections 6.2 and 6.10: HEADERS and CONTINUATION.
        (
            "h2: a head of no stream",
            &[GREETING, Request, frame(HEADERS, END_HEADERS, Number(0), OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head of a stream of the server",
            &[GREETING, Request, frame(HEADERS, END_HEADERS, Number(2), OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head of a stream that nobody opened",
            &[GREETING, Request, frame(HEADERS, END_HEADERS, Number(99), OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head with padding",
            &[
                GREETING,
                Request,
                frame(HEADERS, END_HEADERS | PADDED, Asked, b"\x02\x88\0\0"),
                last(b"hello"),
            ],
            Good,
        ),
        (
            "h2: a head with more padding than bytes",
            &[
                GREETING,
                Request,
                frame(HEADERS, END_HEADERS | PADDED, Asked, b"\x09\x88"),
                last(b"hello"),
            ],
            Fails(MALFORMED),
        ),
        (
            "h2: a head with a priority",
            &[
                GREETING,
                Request,
                frame(HEADERS, END_HEADERS | 0x20, Asked, b"\0\0\0\0\x10\x88"),
                last(b"hello"),
            ],
            Good,
        ),
        (
            "h2: a head too short for its priority",
            &[
                GREETING,
                Request,
                frame(HEADERS, END_HEADERS | 0x20, Asked, b"\x88"),
                last(b"hello"),
            ],
            Fails(MALFORMED),
        ),
        (
            "h2: a head in two frames",
            &[
                GREETING,
                Request,
                frame(HEADERS, 0, Asked, OK),
                frame(CONTINUATION, END_HEADERS, Asked, b""),
                last(b"hello"),
            ],
            Good,
        ),
        (
            "h2: a head that goes on with a PING",
            &[GREETING, Request, frame(HEADERS, 0, Asked, OK), own(PING, &[0; 8]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head that goes on in another stream",
            &[
                GREETING,
                Request,
                frame(HEADERS, 0, Asked, OK),
                frame(CONTINUATION, END_HEADERS, Number(99), b""),
                Silence,
            ],
            Fails(MALFORMED),
        ),
        (
            "h2: a head that goes on and never began",
            &[GREETING, Request, frame(CONTINUATION, END_HEADERS, Asked, OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head that goes on without end",
            &[
                GREETING,
                Request,
                frame(HEADERS, 0, Asked, OK),
                Endless(0, b"\0\0\x04\x09\0\0\0\0\x01\x88\x88\x88\x88"),
            ],
            Fails(TOO_LARGE),
        ),
        (
            "h2: a head that goes on in empty frames without end",
            &[
                GREETING,
                Request,
                frame(HEADERS, 0, Asked, OK),
                Endless(0, b"\0\0\0\x09\0\0\0\0\x01"),
            ],
            Fails(TOO_LARGE),
        ),
        (
            "h2: a head without end, now and then",
            &[
                GREETING,
                Request,
                frame(HEADERS, 0, Asked, OK),
                Endless(20, b"\0\0\x01\x09\0\0\0\0\x01\x88"),
            ],
            Fails(TIMEOUT),
        ),
        ("h2: a second head", &[GREETING, Request, head(OK), head(OK)], Fails(MALFORMED)),
        // Section 8.1: interim answers and trailers.
        (
            "h2: an interim answer",
            &[GREETING, Request, head(b"\x08\x03103"), head(OK), last(b"hello")],
            Good,
        ),
        (
            "h2: interim answers without end",
            &[GREETING, Request, Endless(1, b"\0\0\x05\x01\x04\0\0\0\x01\x08\x03103")],
            Fails(TIMEOUT),
        ),
        (
            "h2: an interim answer that is the last",
            &[GREETING, Request, frame(HEADERS, END_HEADERS | END_STREAM, Asked, b"\x08\x03103")],
            Fails(MALFORMED),
        ),
        ("h2: a switch of protocols", &[GREETING, Request, head(b"\x08\x03101")], Fails(MALFORMED)),
        (
            "h2: trailers",
            &[
                GREETING,
                Request,
                head(OK),
                frame(DATA, 0, Asked, b"hello"),
                frame(HEADERS, END_HEADERS | END_STREAM, Asked, b"\0\x01a\x01b"),
            ],
            Good,
        ),
        (
            "h2: trailers that are not the end",
            &[
                GREETING,
                Request,
                head(OK),
                frame(DATA, 0, Asked, b"hello"),
                frame(HEADERS, END_HEADERS, Asked, b"\0\x01a\x01b"),
            ],
            Fails(MALFORMED),
        ),
        (
            "h2: trailers with a status",
            &[
                GREETING,
                Request,
                head(OK),
                frame(DATA, 0, Asked, b"hello"),
                frame(HEADERS, END_HEADERS | END_STREAM, Asked, OK),
            ],
            Fails(MALFORMED),
        ),
        // Sections 8.2 and 8.3: fields.
        (
            "h2: no status",
            &[GREETING, Request, head(b"\0\x01a\x01b"), last(b"hello")],
            Fails(MALFORMED),
        ),
        ("h2: an empty head", &[GREETING, Request, head(b""), last(b"hello")], Fails(MALFORMED)),
        (
            "h2: two statuses",
            &[GREETING, Request, head(b"\x88\x88"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a status of letters",
            &[GREETING, Request, head(b"\x08\x03abc"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a status of two digits",
            &[GREETING, Request, head(b"\x08\x0220"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a status behind a field",
            &[GREETING, Request, head(b"\0\x01a\x01b\x88"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: the path of a request",
            &[GREETING, Request, head(b"\x88\x84"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a name in capitals",
            &[GREETING, Request, head(b"\x88\0\x01A\x01b"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: an empty name",
            &[GREETING, Request, head(b"\x88\0\0\x01b"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a line end in a value",
            &[GREETING, Request, head(b"\x88\0\x01a\x03b\r\n"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a NUL in a value",
            &[GREETING, Request, head(b"\x88\0\x01a\x03b\0c"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a field of HTTP/1.1's connections",
            &[GREETING, Request, head(b"\x88\0\x0aconnection\x05close"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: chunks",
            &[GREETING, Request, head(b"\x88\0\x11transfer-encoding\x07chunked"), last(b"hello")],
            Fails(MALFORMED),
        ),
        ("h2: 404", &[GREETING, Request, head(b"\x8d"), last(b"hello")], Wrong(WRONG_STATUS)),
        // Section 8.1.1: lengths.
        (
            "h2: the right length",
            &[GREETING, Request, head(b"\x88\x0f\x0d\x015"), last(b"hello")],
            Good,
        ),
        (
            "h2: a body shorter than its length",
            &[GREETING, Request, head(b"\x88\x0f\x0d\x019"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a body longer than its length",
            &[GREETING, Request, head(b"\x88\x0f\x0d\x014"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: two lengths",
            &[GREETING, Request, head(b"\x88\x0f\x0d\x015\x0f\x0d\x016"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a negative length",
            &[GREETING, Request, head(b"\x88\x0f\x0d\x02-5"), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a body of a 204",
            &[GREETING, Request, head(b"\x89"), last(b"hello")],
            Fails(MALFORMED),
        ),
        // HPACK.
        (
            "h2: a field of index 0",
            &[GREETING, Request, head(b"\x88\x80"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a field of an empty table",
            &[GREETING, Request, head(b"\x88\xbe"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: an index beyond 32 bits",
            &[GREETING, Request, head(b"\x88\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), Silence],
            Fails(MALFORMED),
        ),
        ("h2: half an index", &[GREETING, Request, head(b"\x88\xff"), Silence], Fails(MALFORMED)),
        (
            "h2: a string longer than its block",
            &[GREETING, Request, head(b"\x88\0\x7fabc"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: Huffman's code with too much padding",
            &[GREETING, Request, head(b"\x88\0\x82\xff\xff\x01b"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: Huffman's code with its end within",
            &[GREETING, Request, head(b"\x88\0\x84\xff\xff\xff\xff\x01b"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a table larger than allowed",
            &[GREETING, Request, head(b"\x3f\xe2\x1f\x88"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a table that changes behind a field",
            &[GREETING, Request, head(b"\x88\x20"), Silence],
            Fails(MALFORMED),
        ),
        ("h2: a table of no size", &[GREETING, Request, head(b"\x20\x88"), last(b"hello")], Good),
        (
            "h2: a head of 5,000 bytes",
            &[GREETING, Request, head(&LARGE_BLOCK), Silence],
            Fails(TOO_LARGE),
        ),
        (
            "h2: a head that grows when it is read",
            &[GREETING, Request, head(&BOMB), Silence],
            Fails(TOO_LARGE),
        ),
        // Section 6.4: RST_STREAM.
        (
            "h2: a stream that is reset",
            &[GREETING, Request, frame(RST_STREAM, 0, Asked, &[0, 0, 0, 2])],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a stream that is reset behind its head",
            &[GREETING, Request, head(OK), frame(RST_STREAM, 0, Asked, &[0, 0, 0, 2])],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a stream that is always refused",
            &[GREETING, Request, frame(RST_STREAM, 0, Asked, &[0, 0, 0, 7])],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a reset of three bytes",
            &[GREETING, Request, frame(RST_STREAM, 0, Asked, &[0, 0, 2]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a reset of no stream",
            &[GREETING, Request, own(RST_STREAM, &[0, 0, 0, 2]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a reset of a stream that nobody opened",
            &[GREETING, Request, frame(RST_STREAM, 0, Number(99), &[0, 0, 0, 2]), Silence],
            Fails(MALFORMED),
        ),
        // Section 6.5: SETTINGS.
        (
            "h2: half a setting",
            &[own(SETTINGS, &[0; 5]), Request, head(OK), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: settings of a stream",
            &[frame(SETTINGS, 0, Number(1), b""), Request, head(OK), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: an acknowledgement with settings",
            &[
                GREETING,
                frame(SETTINGS, 1, Number(0), b"\0\x03\0\0\0\x64"),
                Request,
                head(OK),
                last(b"hello"),
            ],
            Fails(MALFORMED),
        ),
        (
            "h2: a server that will push",
            &[own(SETTINGS, b"\0\x02\0\0\0\x01"), Request, head(OK), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a window beyond 31 bits",
            &[own(SETTINGS, b"\0\x04\x80\0\0\0"), Request, head(OK), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: frames of one byte",
            &[own(SETTINGS, b"\0\x05\0\0\0\x01"), Request, head(OK), last(b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: settings that nobody knows",
            &[
                own(SETTINGS, b"\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0"),
                Request,
                head(OK),
                last(b"hello"),
            ],
            Good,
        ),
        (
            "h2: a table of no size for the client",
            &[own(SETTINGS, b"\0\x01\0\0\0\0"), Request, head(OK), last(b"hello")],
            Good,
        ),
        (
            "h2: settings in the middle of an answer",
            &[GREETING, Request, head(OK), own(SETTINGS, b"\0\x04\0\0\0\x01"), last(b"hello")],
            Good,
        ),
        (
            "h2: settings without end",
            &[GREETING, Request, Endless(0, &SETTINGS_ROW)],
            Either(&[TOO_LARGE, CLOSED]),
        ),
        // Section 6.6: PUSH_PROMISE.
        (
            "h2: a push that nobody allowed",
            &[
                GREETING,
                Request,
                frame(PUSH_PROMISE, END_HEADERS, Asked, b"\0\0\0\x02\x82"),
                Silence,
            ],
            Fails(MALFORMED),
        ),
        // Section 6.7: PING.
        (
            "h2: a PING",
            &[GREETING, Request, own(PING, b"pippin!!"), head(OK), last(b"hello")],
            Good,
        ),
        (
            "h2: the answer to a PING that nobody sent",
            &[GREETING, Request, frame(PING, 1, Number(0), &[0; 8]), head(OK), last(b"hello")],
            Good,
        ),
        (
            "h2: a PING of 7 bytes",
            &[GREETING, Request, own(PING, &[0; 7]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a PING of a stream",
            &[GREETING, Request, frame(PING, 0, Asked, &[0; 8]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: PINGs without end",
            &[GREETING, Request, Endless(0, &PING_ROW)],
            Either(&[TOO_LARGE, CLOSED]),
        ),
        // Section 6.8: GOAWAY.
        (
            "h2: a server that always leaves",
            &[GREETING, Request, own(GOAWAY, &[0; 8]), Silence],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a server that leaves behind each answer",
            &[
                GREETING,
                Request,
                own(GOAWAY, b"\0\0\0\x01\0\0\0\0"),
                head(OK),
                last(b"hello"),
                Close,
            ],
            Good,
        ),
        (
            "h2: a GOAWAY of 7 bytes",
            &[GREETING, Request, own(GOAWAY, &[0; 7]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a GOAWAY of a stream",
            &[GREETING, Request, frame(GOAWAY, 0, Asked, &[0; 8]), Silence],
            Fails(MALFORMED),
        ),
        // Section 6.9: windows.
        (
            "h2: a window that grows by nothing",
            &[GREETING, Request, own(WINDOW_UPDATE, &[0; 4]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a stream's window that grows by nothing",
            &[GREETING, Request, frame(WINDOW_UPDATE, 0, Asked, &[0; 4])],
            Fails(MALFORMED),
        ),
        (
            "h2: a window that grows beyond 31 bits",
            &[GREETING, Request, own(WINDOW_UPDATE, b"\x7f\xff\xff\xff"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a stream's window that grows beyond 31 bits",
            &[GREETING, Request, frame(WINDOW_UPDATE, 0, Asked, b"\x7f\xff\xff\xff")],
            Fails(MALFORMED),
        ),
        (
            "h2: a window of three bytes",
            &[GREETING, Request, own(WINDOW_UPDATE, &[0, 0, 1]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a window of a stream that nobody opened",
            &[GREETING, Request, frame(WINDOW_UPDATE, 0, Number(99), &[0, 0, 0, 1]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: windows now and then",
            &[GREETING, Request, Endless(1, b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01")],
            Fails(TIMEOUT),
        ),
        // Section 6.3: PRIORITY.
        (
            "h2: a priority",
            &[
                GREETING,
                Request,
                frame(PRIORITY, 0, Asked, &[0, 0, 0, 0, 16]),
                head(OK),
                last(b"hello"),
            ],
            Good,
        ),
        (
            "h2: a priority of no stream",
            &[GREETING, Request, own(PRIORITY, &[0, 0, 0, 0, 16]), Silence],
            Fails(MALFORMED),
        ),
        // Endings.
        ("h2: closes without an answer", &[GREETING, Request, Close], Fails(CLOSED)),
        (
            "h2: closes behind the head",
            &[GREETING, Request, head(OK), Close],
            Fails(CLOSED_IN_BODY),
        ),
        (
            "h2: closes in the body",
            &[GREETING, Request, head(OK), Send(b"\0\0\x05\0\x01\0\0\0\x01he"), Close],
            Fails(CLOSED_IN_BODY),
        ),
        ("h2: resets the connection", &[GREETING, Request, Reset], Fails(CLOSED)),
        (
            "h2: resets the connection in the body",
            &[GREETING, Request, head(OK), Reset],
            Either(&[CLOSED, CLOSED_IN_BODY]),
        ),
        ("h2: falls silent", &[GREETING, Request, Silence], Fails(TIMEOUT)),
        (
            "h2: falls silent behind the head",
            &[GREETING, Request, head(OK), Silence],
            Fails(TIMEOUT),
        ),
        ("h2: never greets", &[Silence], Fails(TIMEOUT)),
        (
            "h2: NULs without end",
            &[GREETING, Request, Many(10_000, &[0; 100]), Silence],
            Fails(MALFORMED),
        ),
    ],
}];

/// A head with a value of 5,000 bytes.
const LARGE_BLOCK: [u8; 5_007] = {
    let mut block = [b'v'; 5_007];
    let (start, _) = block.split_at_mut(7);
    // A literal with a new name; the length is 127 + 9 + (38 << 7).
    start.copy_from_slice(b"\x88\0\x01a\x7f\x89\x26");
    block
};

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

const SETTINGS_ROW: [u8; 9 * 500] = row(b"\0\0\0\x04\0\0\0\0\0");
const PING_ROW: [u8; 17 * 500] = row(b"\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0");

/// A frame again and again.
const fn row<const BYTES: usize, const FRAME: usize>(frame: &[u8; FRAME]) -> [u8; BYTES] {
    let mut row = [0; BYTES];
    let mut at = 0;
    while at < BYTES {
        row[at] = frame[at % FRAME];
        at += 1;
    }
    row
}
