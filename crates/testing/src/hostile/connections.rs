//! Servers that send too early, or that never accept a connection.
use super::Act::{Close, Endless, Request, Reset, Send, Silence};
use super::{
    Behaviour, CLOSED, CONNECT_REFUSED, CONNECT_RESET, CONNECT_TIMEOUT, Counted, Does, MALFORMED,
    OK, Over, Scripts, Speaks, TIMEOUT,
};
use Counted::{Either, Fails, Unsent};

/// Whether a request is sent before the end arrives depends on timing.
const AT_ONCE: Counted = Either(&[CONNECT_RESET, CLOSED]);

pub(super) const SCRIPTS: &[Scripts] = &[
    Scripts {
        speaks: Speaks::Http1,
        over: Over::Both,
        rows: &[
            ("a greeting before the request", &[Send(b"220 ready\r\n"), Silence], Fails(MALFORMED)),
            (
                "a greeting before the request and an answer",
                &[Send(b"\r\n"), Request, Send(OK)],
                Fails(MALFORMED),
            ),
            ("a greeting without end", &[Endless(0, b"220-welcome\r\n")], Fails(MALFORMED)),
            (
                "a malformed answer before the request",
                &[Send(b"HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n"), Request, Send(OK)],
                Fails(MALFORMED),
            ),
            ("a connection that nobody reads", &[Silence], Fails(TIMEOUT)),
        ],
    },
    Scripts {
        speaks: Speaks::Http1,
        over: Over::Tcp,
        rows: &[
            ("closes as soon as it accepts", &[Close], AT_ONCE),
            ("resets as soon as it accepts", &[Reset], AT_ONCE),
        ],
    },
];

pub(super) const UNREACHABLE: &[Behaviour] = &[
    Behaviour {
        name: "nobody listens",
        speaks: Speaks::Http1,
        over: Over::Tcp,
        does: Does::Refuse,
        counted: Unsent(CONNECT_REFUSED),
    },
    Behaviour {
        name: "never accepts",
        speaks: Speaks::Http1,
        over: Over::Tcp,
        does: Does::NeverAccept,
        counted: Unsent(CONNECT_TIMEOUT),
    },
];
