//! Frames of HTTP/2, by the sections of RFC 9113.
use super::Act::{self, Close, Drip, Endless, Many, Request, Reset, Send, Silence};
use super::{
    CLOSED, CLOSED_IN_BODY, Counted, Frame, MALFORMED, On, Over, STREAM_RESET, Scripts, Speaks,
    TIMEOUT, TOO_LARGE, WRONG_BODY,
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
pub(super) const GREETING: Act = frame(SETTINGS, 0, Number(0), b"");

/// What a server does that has greeted the client and read a request.
macro_rules! asked {
    ($($act:expr),* $(,)?) => {
        &[$crate::hostile::frames::GREETING, $crate::hostile::Act::Request, $($act),*]
    };
}
pub(super) use asked;

pub(super) const fn frame(kind: u8, flags: u8, stream: On, payload: &'static [u8]) -> Act {
    Act::Frame(Frame { kind, flags, stream, payload })
}

/// A head whose block is whole.
pub(super) const fn head(block: &'static [u8]) -> Act {
    frame(HEADERS, END_HEADERS, Asked, block)
}

/// The last bytes of a body.
pub(super) const fn last(payload: &'static [u8]) -> Act {
    frame(DATA, END_STREAM, Asked, payload)
}

/// A frame of the connection.
pub(super) const fn own(kind: u8, payload: &'static [u8]) -> Act {
    frame(kind, 0, Number(0), payload)
}

pub(super) const SCRIPTS: &[Scripts] = &[Scripts {
    speaks: Speaks::Http2,
    over: Over::Both,
    rows: &[
        ("h2: the right answer", asked![head(OK), last(b"hello")], Good),
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
            asked![Send(b"\0\x40\x01\0\0\0\0\0\x01"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a frame of 16 MiB",
            asked![Send(b"\xff\xff\xff\x01\x04\0\0\0\x01"), Silence],
            Fails(MALFORMED),
        ),
        ("h2: half the head of a frame", asked![Send(b"\0\0\x01\x01"), Silence], Fails(TIMEOUT)),
        (
            "h2: half a frame",
            asked![Send(b"\0\0\x09\x01\x04\0\0\0\x01\x88"), Silence],
            Fails(TIMEOUT),
        ),
        (
            "h2: half a frame, then the end",
            asked![Send(b"\0\0\x09\x01\x04\0\0\0\x01\x88"), Close],
            Fails(CLOSED),
        ),
        (
            "h2: frames of no known kind",
            asked![frame(0x42, 0xff, Asked, b"hello"), head(OK), own(0xee, b""), last(b"hello"),],
            Good,
        ),
        // Section 6.1: DATA.
        ("h2: a body before its head", asked![last(b"hello")], Fails(MALFORMED)),
        (
            "h2: a body of no stream",
            asked![head(OK), frame(DATA, END_STREAM, Number(0), b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a body of a stream that nobody opened",
            asked![head(OK), frame(DATA, END_STREAM, Number(99), b"hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: a body with padding",
            asked![head(OK), frame(DATA, END_STREAM | PADDED, Asked, b"\x03hello\0\0\0"),],
            Good,
        ),
        (
            "h2: padding as long as its frame",
            asked![head(OK), frame(DATA, END_STREAM | PADDED, Asked, b"\x06hello")],
            Fails(MALFORMED),
        ),
        (
            "h2: padding in an empty frame",
            asked![head(OK), frame(DATA, END_STREAM | PADDED, Asked, b"")],
            Fails(MALFORMED),
        ),
        ("h2: another body", asked![head(OK), last(b"HELLO")], Wrong(WRONG_BODY)),
        (
            "h2: no body",
            asked![frame(HEADERS, END_HEADERS | END_STREAM, Asked, OK)],
            Wrong(WRONG_BODY),
        ),
        (
            "h2: a body in empty frames too",
            asked![
                head(OK),
                frame(DATA, 0, Asked, b""),
                frame(DATA, 0, Asked, b"hello"),
                last(b""),
            ],
            Good,
        ),
        (
            "h2: a body one byte beyond the limit",
            asked![head(OK), last(&[b'x'; 10_001])],
            Fails(TOO_LARGE),
        ),
        (
            "h2: a body without end",
            asked![head(OK), Endless(0, b"\0\0\x05\0\0\0\0\0\x01hello")],
            Either(&[TOO_LARGE, TIMEOUT]),
        ),
        (
            "h2: an empty body without end",
            asked![head(OK), Endless(1, b"\0\0\0\0\0\0\0\0\x01")],
            Fails(TIMEOUT),
        ),
        // Sections 6.2 and 6.10: HEADERS and CONTINUATION.
        (
            "h2: a head of no stream",
            asked![frame(HEADERS, END_HEADERS, Number(0), OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head of a stream of the server",
            asked![frame(HEADERS, END_HEADERS, Number(2), OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head of a stream that nobody opened",
            asked![frame(HEADERS, END_HEADERS, Number(99), OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head with padding",
            asked![frame(HEADERS, END_HEADERS | PADDED, Asked, b"\x02\x88\0\0"), last(b"hello"),],
            Good,
        ),
        (
            "h2: a head with more padding than bytes",
            asked![frame(HEADERS, END_HEADERS | PADDED, Asked, b"\x09\x88"), last(b"hello"),],
            Fails(MALFORMED),
        ),
        (
            "h2: a head with a priority",
            asked![frame(HEADERS, END_HEADERS | 0x20, Asked, b"\0\0\0\0\x10\x88"), last(b"hello"),],
            Good,
        ),
        (
            "h2: a head too short for its priority",
            asked![frame(HEADERS, END_HEADERS | 0x20, Asked, b"\x88"), last(b"hello"),],
            Fails(MALFORMED),
        ),
        (
            "h2: a head in two frames",
            asked![
                frame(HEADERS, 0, Asked, OK),
                frame(CONTINUATION, END_HEADERS, Asked, b""),
                last(b"hello"),
            ],
            Good,
        ),
        (
            "h2: a head that goes on with a PING",
            asked![frame(HEADERS, 0, Asked, OK), own(PING, &[0; 8]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head that goes on in another stream",
            asked![
                frame(HEADERS, 0, Asked, OK),
                frame(CONTINUATION, END_HEADERS, Number(99), b""),
                Silence,
            ],
            Fails(MALFORMED),
        ),
        (
            "h2: a head that goes on and never began",
            asked![frame(CONTINUATION, END_HEADERS, Asked, OK), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a head that goes on without end",
            asked![
                frame(HEADERS, 0, Asked, OK),
                Endless(0, b"\0\0\x04\x09\0\0\0\0\x01\x88\x88\x88\x88"),
            ],
            Fails(TOO_LARGE),
        ),
        (
            "h2: a head that goes on in empty frames without end",
            asked![frame(HEADERS, 0, Asked, OK), Endless(0, b"\0\0\0\x09\0\0\0\0\x01"),],
            Fails(TOO_LARGE),
        ),
        (
            "h2: a head without end, now and then",
            asked![frame(HEADERS, 0, Asked, OK), Endless(80, b"\0\0\x01\x09\0\0\0\0\x01\x88"),],
            Fails(TIMEOUT),
        ),
        ("h2: a second head", asked![head(OK), head(OK)], Fails(MALFORMED)),
        // Section 6.4: RST_STREAM.
        (
            "h2: a stream that is reset",
            asked![frame(RST_STREAM, 0, Asked, &[0, 0, 0, 2])],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a stream that is reset behind its head",
            asked![head(OK), frame(RST_STREAM, 0, Asked, &[0, 0, 0, 2])],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a stream that is always refused",
            asked![frame(RST_STREAM, 0, Asked, &[0, 0, 0, 7])],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a reset of three bytes",
            asked![frame(RST_STREAM, 0, Asked, &[0, 0, 2]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a reset of no stream",
            asked![own(RST_STREAM, &[0, 0, 0, 2]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a reset of a stream that nobody opened",
            asked![frame(RST_STREAM, 0, Number(99), &[0, 0, 0, 2]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: resets without end",
            asked![frame(RST_STREAM, 0, Asked, &[0, 0, 0, 2]), Endless(1, &RESET_ROW)],
            Either(&[STREAM_RESET, TIMEOUT]),
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
            asked![head(OK), own(SETTINGS, b"\0\x04\0\0\0\x01"), last(b"hello")],
            Good,
        ),
        (
            "h2: settings without end",
            asked![Endless(0, &SETTINGS_ROW)],
            Either(&[TOO_LARGE, CLOSED]),
        ),
        // Section 6.6: PUSH_PROMISE.
        (
            "h2: a push that nobody allowed",
            asked![frame(PUSH_PROMISE, END_HEADERS, Asked, b"\0\0\0\x02\x82"), Silence,],
            Fails(MALFORMED),
        ),
        // Section 6.7: PING.
        ("h2: a PING", asked![own(PING, b"pippin!!"), head(OK), last(b"hello")], Good),
        (
            "h2: the answer to a PING that nobody sent",
            asked![frame(PING, 1, Number(0), &[0; 8]), head(OK), last(b"hello")],
            Good,
        ),
        ("h2: a PING of 7 bytes", asked![own(PING, &[0; 7]), Silence], Fails(MALFORMED)),
        (
            "h2: a PING of a stream",
            asked![frame(PING, 0, Asked, &[0; 8]), Silence],
            Fails(MALFORMED),
        ),
        ("h2: PINGs without end", asked![Endless(0, &PING_ROW)], Either(&[TOO_LARGE, CLOSED])),
        // Section 6.8: GOAWAY.
        (
            "h2: a server that always leaves",
            asked![own(GOAWAY, &[0; 8]), Silence],
            Fails(STREAM_RESET),
        ),
        (
            "h2: a server that leaves behind each answer",
            asked![own(GOAWAY, b"\0\0\0\x01\0\0\0\0"), head(OK), last(b"hello"), Close,],
            Good,
        ),
        ("h2: GOAWAYs without end", asked![Endless(1, &GOAWAY_ROW)], Fails(TIMEOUT)),
        ("h2: a GOAWAY of 7 bytes", asked![own(GOAWAY, &[0; 7]), Silence], Fails(MALFORMED)),
        (
            "h2: a GOAWAY of a stream",
            asked![frame(GOAWAY, 0, Asked, &[0; 8]), Silence],
            Fails(MALFORMED),
        ),
        // Section 6.9: windows.
        (
            "h2: a window that grows by nothing",
            asked![own(WINDOW_UPDATE, &[0; 4]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a stream's window that grows by nothing",
            asked![frame(WINDOW_UPDATE, 0, Asked, &[0; 4])],
            Fails(MALFORMED),
        ),
        (
            "h2: a window that grows beyond 31 bits",
            asked![own(WINDOW_UPDATE, b"\x7f\xff\xff\xff"), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a stream's window that grows beyond 31 bits",
            asked![frame(WINDOW_UPDATE, 0, Asked, b"\x7f\xff\xff\xff")],
            Fails(MALFORMED),
        ),
        (
            "h2: a window of three bytes",
            asked![own(WINDOW_UPDATE, &[0, 0, 1]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: a window of a stream that nobody opened",
            asked![frame(WINDOW_UPDATE, 0, Number(99), &[0, 0, 0, 1]), Silence],
            Fails(MALFORMED),
        ),
        (
            "h2: windows now and then",
            asked![Endless(1, b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01")],
            Fails(TIMEOUT),
        ),
        // Section 6.3: PRIORITY.
        (
            "h2: a priority",
            asked![frame(PRIORITY, 0, Asked, &[0, 0, 0, 0, 16]), head(OK), last(b"hello"),],
            Good,
        ),
        (
            "h2: a priority of no stream",
            asked![own(PRIORITY, &[0, 0, 0, 0, 16]), Silence],
            Fails(MALFORMED),
        ),
        ("h2: priorities without end", asked![Endless(1, &PRIORITY_ROW)], Fails(TIMEOUT)),
        // Endings.
        ("h2: closes without an answer", asked![Close], Fails(CLOSED)),
        ("h2: closes behind the head", asked![head(OK), Close], Fails(CLOSED_IN_BODY)),
        (
            "h2: closes in the body",
            asked![head(OK), Send(b"\0\0\x05\0\x01\0\0\0\x01he"), Close],
            Fails(CLOSED_IN_BODY),
        ),
        ("h2: resets the connection", asked![Reset], Fails(CLOSED)),
        (
            "h2: resets the connection in the body",
            asked![head(OK), Reset],
            Either(&[CLOSED, CLOSED_IN_BODY]),
        ),
        ("h2: falls silent", asked![Silence], Fails(TIMEOUT)),
        ("h2: falls silent behind the head", asked![head(OK), Silence], Fails(TIMEOUT)),
        ("h2: never greets", &[Silence], Fails(TIMEOUT)),
        ("h2: NULs without end", asked![Many(10_000, &[0; 100]), Silence], Fails(MALFORMED)),
    ],
}];

const SETTINGS_ROW: [u8; 9 * 500] = row(b"\0\0\0\x04\0\0\0\0\0");
/// The last stream is the largest of all, so that the request stays.
const GOAWAY_ROW: [u8; 17 * 500] = row(b"\0\0\x08\x07\0\0\0\0\0\x7f\xff\xff\xff\0\0\0\0");
const RESET_ROW: [u8; 13 * 500] = row(b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x02");
const PRIORITY_ROW: [u8; 14 * 500] = row(b"\0\0\x05\x02\0\0\0\0\x01\0\0\0\0\x10");
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
