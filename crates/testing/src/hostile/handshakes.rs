//! TLS handshakes that fail (RFC 8446 sections 4 to 6).
use super::Act::{Close, Drip, Endless, Many, Pause, Reset, Send, Silence, Something};
use super::{CONNECT_RESET, Counted, Over, Scripts, Speaks, TLS};
use Counted::{Either, LateHandshake, Unsent};

const FAILS: Counted = Unsent(TLS);

/// The beginning of a ServerHello of 100 bytes.
const HALF_HELLO: &[u8] = b"\x16\x03\x03\0\x09\x02\0\0\x64\x03\x03\x01\x02\x03";

pub(super) const SCRIPTS: &[Scripts] = &[Scripts {
    speaks: Speaks::Http1,
    over: Over::Handshake,
    rows: &[
        ("closes as soon as a handshake begins", &[Close], FAILS),
        ("resets as soon as a handshake begins", &[Reset], Either(&[TLS, CONNECT_RESET])),
        ("closes behind the client's hello", &[Something, Close], FAILS),
        ("resets behind the client's hello", &[Something, Reset], FAILS),
        ("never answers the client's hello", &[Something, Silence], LateHandshake),
        ("never reads the client's hello", &[Silence], LateHandshake),
        (
            "HTTP in answer to the client's hello",
            &[Something, Send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), Close],
            FAILS,
        ),
        (
            "HTTP before the client's hello",
            &[Send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), Close],
            FAILS,
        ),
        (
            "SSH in answer to the client's hello",
            &[Something, Send(b"SSH-2.0-OpenSSH_9.2p1\r\n"), Silence],
            FAILS,
        ),
        (
            "SMTP before the client's hello",
            &[Send(b"220 mail.example.org ESMTP\r\n"), Silence],
            FAILS,
        ),
        (
            "text byte by byte in answer to the client's hello",
            &[Something, Drip(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Silence],
            FAILS,
        ),
        ("NULs in answer to the client's hello", &[Something, Send(&[0; 64]), Silence], FAILS),
        ("0xFF in answer to the client's hello", &[Something, Send(&[0xff; 64]), Silence], FAILS),
        ("one byte of a record", &[Something, Send(b"\x16"), Silence], LateHandshake),
        ("one byte of a record, then the end", &[Something, Send(b"\x16"), Close], FAILS),
        (
            "the head of a record alone",
            &[Something, Send(b"\x16\x03\x03\x01\0"), Silence],
            LateHandshake,
        ),
        ("half a hello", &[Something, Send(HALF_HELLO), Silence], LateHandshake),
        ("half a hello, then the end", &[Something, Send(HALF_HELLO), Close], FAILS),
        ("half a hello, then a reset", &[Something, Send(HALF_HELLO), Reset], FAILS),
        (
            "half a hello, then a fatal alert",
            &[Something, Send(HALF_HELLO), Send(b"\x15\x03\x03\0\x02\x02\x28"), Silence],
            FAILS,
        ),
        (
            "half a hello, then a warning",
            &[Something, Send(HALF_HELLO), Send(b"\x15\x03\x03\0\x02\x01\0"), Silence],
            FAILS,
        ),
        (
            "half a hello, then a record of no known kind",
            &[Something, Send(HALF_HELLO), Send(b"\x63\x03\x03\0\x01\0"), Silence],
            FAILS,
        ),
        (
            "half a hello, then text",
            &[Something, Send(HALF_HELLO), Send(b"HTTP/1.1 400 Bad Request\r\n"), Silence],
            FAILS,
        ),
        (
            "half a hello, then application data",
            &[Something, Send(HALF_HELLO), Send(b"\x17\x03\x03\0\x01\0"), Silence],
            FAILS,
        ),
        (
            "a hello of 16 MiB",
            &[Something, Send(b"\x16\x03\x03\0\x04\x02\xff\xff\xff"), Silence],
            FAILS,
        ),
        (
            "a hello of 16 MiB with a beginning",
            &[Something, Send(b"\x16\x03\x03\0\x06\x02\xff\xff\xff\x03\x03"), Silence],
            FAILS,
        ),
        ("an empty hello", &[Something, Send(b"\x16\x03\x03\0\x04\x02\0\0\0"), Silence], FAILS),
        (
            "a hello of NULs",
            &[Something, Send(b"\x16\x03\x03\0\x2a\x02\0\0\x26"), Many(38, b"\0"), Silence],
            FAILS,
        ),
        (
            "a message of no known kind",
            &[Something, Send(b"\x16\x03\x03\0\x04\x63\0\0\0"), Silence],
            FAILS,
        ),
        (
            "a request for a hello",
            &[Something, Send(b"\x16\x03\x03\0\x04\0\0\0\0"), Silence],
            FAILS,
        ),
        (
            "the end of a handshake at its beginning",
            &[Something, Send(b"\x16\x03\x03\0\x10\x14\0\0\x0c"), Many(12, b"\0"), Silence],
            FAILS,
        ),
        (
            "the client's own hello",
            &[Something, Send(b"\x16\x03\x01\0\x04\x01\0\0\0"), Silence],
            FAILS,
        ),
        (
            "an alert: handshake_failure",
            &[Something, Send(b"\x15\x03\x03\0\x02\x02\x28"), Close],
            FAILS,
        ),
        (
            "an alert: unrecognized_name",
            &[Something, Send(b"\x15\x03\x03\0\x02\x02\x70"), Close],
            FAILS,
        ),
        ("an alert: close_notify", &[Something, Send(b"\x15\x03\x03\0\x02\x01\0"), Close], FAILS),
        (
            "an alert of no known kind",
            &[Something, Send(b"\x15\x03\x03\0\x02\x02\xee"), Close],
            FAILS,
        ),
        (
            "an alert of no known level",
            &[Something, Send(b"\x15\x03\x03\0\x02\x09\x28"), Close],
            FAILS,
        ),
        ("an empty alert", &[Something, Send(b"\x15\x03\x03\0\0"), Close], FAILS),
        ("half an alert", &[Something, Send(b"\x15\x03\x03\0\x01\x02"), Close], FAILS),
        (
            "an alert of three bytes",
            &[Something, Send(b"\x15\x03\x03\0\x03\x02\x28\0"), Close],
            FAILS,
        ),
        ("a record of no known kind", &[Something, Send(b"\x63\x03\x03\0\x01\0"), Silence], FAILS),
        (
            "a record of no known version",
            &[Something, Send(b"\x16\x09\x09\0\x04\x02\0\0\0"), Silence],
            FAILS,
        ),
        ("an empty record", &[Something, Send(b"\x16\x03\x03\0\0"), Close], FAILS),
        ("a record of 64 KiB", &[Something, Send(b"\x16\x03\x03\xff\xff"), Silence], FAILS),
        (
            "application data at once",
            &[Something, Send(b"\x17\x03\x03\0\x05hello"), Silence],
            FAILS,
        ),
        (
            "a change of cipher at once, then the end",
            &[Something, Send(b"\x14\x03\x03\0\x01\x01"), Close],
            FAILS,
        ),
        ("SSL 2", &[Something, Send(b"\x80\x2e\x04\0\x01\0\x02"), Silence], FAILS),
        ("empty records without end", &[Something, Endless(0, b"\x16\x03\x03\0\0")], FAILS),
        (
            "changes of cipher without end",
            &[Something, Endless(0, b"\x14\x03\x03\0\x01\x01")],
            FAILS,
        ),
        ("warnings without end", &[Something, Endless(0, b"\x15\x03\x03\0\x02\x01\x5a")], FAILS),
        (
            "a handshake now and then",
            &[Something, Send(b"\x16\x03\x03\x01\0\x02\0\0\xfc"), Endless(20, b"\x03")],
            LateHandshake,
        ),
        (
            "a hello after a while, then the end",
            &[Something, Pause(20), Send(HALF_HELLO), Close],
            FAILS,
        ),
    ],
}];
