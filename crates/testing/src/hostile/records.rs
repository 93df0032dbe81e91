//! Bytes that are not valid TLS, after the handshake (RFC 8446 section 5).
use super::Act::{Bare, Close, Request, Reset, Send, Silence};
use super::{CLOSED, CLOSED_IN_BODY, Counted, MALFORMED, OK, Over, Scripts, Speaks, TIMEOUT};
use Counted::{Either, Fails, Good};

const HALF_BODY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel";

pub(super) const SCRIPTS: &[Scripts] = &[Scripts {
    speaks: Speaks::Http1,
    over: Over::Tls,
    rows: &[
        ("text beside TLS for an answer", &[Request, Bare(OK), Silence], Fails(MALFORMED)),
        ("NULs beside TLS for an answer", &[Request, Bare(&[0; 64]), Silence], Fails(MALFORMED)),
        (
            "a record that nobody encrypted",
            &[Request, Bare(b"\x17\x03\x03\0\x20"), Bare(&[0; 32]), Silence],
            Fails(MALFORMED),
        ),
        (
            "a record too short for its seal",
            &[Request, Bare(b"\x17\x03\x03\0\x05hello"), Silence],
            Fails(MALFORMED),
        ),
        (
            "an empty record beside TLS",
            &[Request, Bare(b"\x17\x03\x03\0\0"), Silence],
            Fails(MALFORMED),
        ),
        (
            "a record beyond all lengths",
            &[Request, Bare(b"\x17\x03\x03\xff\xff"), Silence],
            Fails(MALFORMED),
        ),
        (
            "an alert that nobody encrypted",
            &[Request, Bare(b"\x15\x03\x03\0\x02\x02\x28"), Silence],
            Fails(MALFORMED),
        ),
        (
            "a handshake beside TLS",
            &[Request, Bare(b"\x16\x03\x03\0\x04\0\0\0\0"), Silence],
            Fails(MALFORMED),
        ),
        (
            "a record of no known kind beside TLS",
            &[Request, Bare(b"\x63\x03\x03\0\x01\0"), Silence],
            Fails(MALFORMED),
        ),
        ("half a record", &[Request, Bare(b"\x17\x03\x03\0\x20\0\0\0"), Silence], Fails(TIMEOUT)),
        (
            "half a record, then the end",
            &[Request, Bare(b"\x17\x03\x03\0\x20\0\0\0"), Close],
            Fails(CLOSED),
        ),
        (
            "half a record, then a reset",
            &[Request, Bare(b"\x17\x03\x03\0\x20\0\0\0"), Reset],
            Fails(CLOSED),
        ),
        (
            "text beside TLS in a body",
            &[Request, Send(HALF_BODY), Bare(b"lo"), Bare(&[b'x'; 64]), Silence],
            Fails(MALFORMED),
        ),
        (
            "half a record in a body, then a reset",
            &[Request, Send(HALF_BODY), Bare(b"\x17\x03\x03\0\x20\0\0\0"), Reset],
            Either(&[CLOSED, CLOSED_IN_BODY]),
        ),
        (
            "text beside TLS behind an answer that is the last",
            &[
                Request,
                Send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"),
                Bare(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
                Silence,
            ],
            Good,
        ),
        (
            "text beside TLS before the request",
            &[Bare(b"220 ready\r\n"), Request, Send(OK)],
            Fails(MALFORMED),
        ),
    ],
}];
