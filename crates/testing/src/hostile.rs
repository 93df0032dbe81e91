//! Servers that break the rules or follow them in odd ways: one table, with what a client must
//! count for each.
//!
//! A client sends [`REQUESTS`] requests `GET /` on one connection after the other, one at a time.
//! The right answer to each is a 200 whose body is [`BODY`]. Heads may have [`HEAD_BYTES`] and
//! bodies [`BODY_BYTES`].
//!
//! | module | what it has |
//! |---|---|
//! | `status_lines`, `fields`, `lengths`, `chunks` | answers of HTTP/1.1, by the part that is odd |
//! | `endings`, `floods`, `connections` | what ends early, never ends, or is no answer at all |
//! | `handshakes`, `records` | TLS: before its handshake is done, and after it |
//! | `frames`, `heads` | HTTP/2: frames; heads and their compression |
//! | `server` | serves any of them |
//!
//! `examples` shows how one is taken from the table and served.
mod chunks;
mod connections;
mod endings;
mod fields;
mod floods;
mod frames;
mod handshakes;
mod heads;
mod lengths;
mod records;
mod server;
mod status_lines;

pub use server::spawn_secured;
pub use server::{Server, spawn};

/// How many requests are counted.
pub const REQUESTS: u64 = 3;
/// The right body.
pub const BODY: &[u8] = b"hello";
/// The longest head that a client accepts.
pub const HEAD_BYTES: u32 = 48 * 1024;
/// The longest body that a client accepts.
pub const BODY_BYTES: u64 = 10_000;

/// One way to behave.
#[derive(Debug, Clone, Copy)]
pub struct Behaviour {
    /// What the server does, in words; no two have the same name.
    pub name: &'static str,
    /// What is spoken.
    pub speaks: Speaks,
    /// What carries it.
    pub over: Over,
    /// What happens.
    pub does: Does,
    /// What a client must count.
    pub counted: Counted,
}

/// What is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Speaks {
    Http1,
    Http2,
}

/// What carries the bytes of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// TCP, and the same over TLS after a handshake.
    Both,
    /// TCP alone.
    Tcp,
    /// TLS alone, after a handshake.
    Tls,
    /// The client starts a TLS handshake, and the server answers its raw bytes.
    Handshake,
}

/// What happens at a server.
#[derive(Debug, Clone, Copy)]
pub enum Does {
    /// Nobody listens.
    Refuse,
    /// The listen queue is full, and nobody accepts.
    NeverAccept,
    /// Each request gets these pieces in a row, in one packet if they fit.
    Answer([&'static [u8]; 3]),
    /// This on each connection.
    Script(&'static [Act]),
}

/// One act on a connection. After the last one, the script goes on at its first [`Act::Request`].
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Reads to the end of a request (HTTP/2: of its head).
    Request,
    /// Reads something, whatever it is.
    Something,
    /// Sends these bytes.
    Send(&'static [u8]),
    /// Sends these bytes this many times, in one piece.
    Many(usize, &'static [u8]),
    /// Sends these bytes again and again until the client leaves, with this many milliseconds
    /// between.
    Endless(u64, &'static [u8]),
    /// Sends these bytes one by one, each in a packet (or record) of its own.
    Drip(&'static [u8]),
    /// Sends a byte of urgent data (TCP alone).
    Urgent(u8),
    /// Sends a frame of HTTP/2.
    Frame(Frame),
    /// Sends these bytes beside TLS.
    Bare(&'static [u8]),
    /// Does nothing for this many milliseconds.
    Pause(u64),
    /// Closes in order, over TLS with close_notify, and waits for the client to leave.
    Close,
    /// Closes without close_notify.
    Cut,
    /// Resets the connection.
    Reset,
    /// Sends and reads nothing more until the client leaves.
    Silence,
}

/// A frame of HTTP/2.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: On,
    pub payload: &'static [u8],
}

/// A stream.
#[derive(Debug, Clone, Copy)]
pub enum On {
    /// That of the last request.
    Asked,
    /// The one with this number.
    Number(u32),
}

/// What a client must count, with the names that errors have in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Each answer is complete and right.
    Good,
    /// Each answer is complete and wrong for this reason.
    Wrong(&'static str),
    /// Each request is sent and fails for this reason.
    Fails(&'static str),
    /// Each request fails for one of these reasons, before or after it is sent. Which one depends
    /// on timing in the kernel.
    Either(&'static [&'static str]),
    /// No request is sent: each connection fails for this reason.
    Unsent(&'static str),
    /// No handshake ends in time, so that no request is sent.
    LateHandshake,
}

impl Counted {
    /// The errors that may be counted.
    #[must_use]
    pub fn kinds(&self) -> &[&'static str] {
        match self {
            Self::Good => &[],
            Self::Wrong(kind) | Self::Fails(kind) | Self::Unsent(kind) => {
                std::slice::from_ref(kind)
            }
            Self::Either(kinds) => kinds,
            Self::LateHandshake => &[TLS],
        }
    }

    /// Whether a client counts it only after its timeout for a connection.
    #[must_use]
    pub fn needs_late_connections(&self) -> bool {
        *self == Self::LateHandshake || self.kinds().contains(&CONNECT_TIMEOUT)
    }

    /// Whether a client counts it only after its timeout for an answer.
    #[must_use]
    pub fn needs_late_answers(&self) -> bool {
        self.kinds().contains(&TIMEOUT)
    }
}

const MALFORMED: &str = "malformed";
const TOO_LARGE: &str = "too_large";
const TIMEOUT: &str = "timeout";
const CLOSED: &str = "close_before_answer";
const CLOSED_IN_BODY: &str = "close_in_body";
const WRONG_STATUS: &str = "wrong_status";
const WRONG_BODY: &str = "wrong_body";
const STREAM_RESET: &str = "stream_reset";
const CONNECT_REFUSED: &str = "connect_refused";
const CONNECT_RESET: &str = "connect_reset";
const CONNECT_TIMEOUT: &str = "connect_timeout";
const TLS: &str = "tls";

/// What stands before and behind the odd part of an answer.
#[derive(Clone, Copy)]
struct Around(&'static [u8], &'static [u8]);

/// A whole answer.
const WHOLE: Around = Around(b"", b"");
/// The status line is odd.
const STATUS_LINE: Around = Around(b"", b"\r\nContent-Length: 5\r\n\r\nhello");
/// A line of the head is odd.
const FIELD: Around = Around(b"HTTP/1.1 200 OK\r\n", b"\r\nContent-Length: 5\r\n\r\nhello");
/// The lines that say where the body ends are odd.
const FRAMING: Around = Around(b"HTTP/1.1 200 OK\r\n", b"\r\n\r\nhello");
/// The chunks are odd.
const CHUNKS: Around = Around(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"");

/// The right answer.
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// HTTP/1.1 answers that are odd in the same part and must be counted the same way.
struct Answers {
    around: Around,
    counted: Counted,
    rows: &'static [(&'static str, &'static [u8])],
}

/// Scripts with the same protocol and transport.
struct Scripts {
    speaks: Speaks,
    over: Over,
    rows: &'static [(&'static str, &'static [Act], Counted)],
}

/// Every behaviour.
pub fn behaviours() -> impl Iterator<Item = Behaviour> {
    let answers = [status_lines::ANSWERS, fields::ANSWERS, lengths::ANSWERS, chunks::ANSWERS];
    let scripts = [
        endings::SCRIPTS,
        floods::SCRIPTS,
        connections::SCRIPTS,
        handshakes::SCRIPTS,
        records::SCRIPTS,
        frames::SCRIPTS,
        heads::SCRIPTS,
    ];
    let answers = answers.into_iter().flatten().flat_map(|Answers { around, counted, rows }| {
        rows.iter().map(|(name, odd)| Behaviour {
            name,
            speaks: Speaks::Http1,
            over: Over::Both,
            does: Does::Answer([around.0, odd, around.1]),
            counted: *counted,
        })
    });
    let scripts = scripts.into_iter().flatten().flat_map(|Scripts { speaks, over, rows }| {
        rows.iter().map(|(name, script, counted)| Behaviour {
            name,
            speaks: *speaks,
            over: *over,
            does: Does::Script(script),
            counted: *counted,
        })
    });
    answers.chain(scripts).chain(connections::UNREACHABLE.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::{Behaviour, Does, Over, Speaks, behaviours};
    use std::collections::HashSet;

    #[test]
    fn no_two_have_the_same_name_or_do_the_same() {
        let (mut names, mut deeds) = (HashSet::new(), HashSet::new());
        for Behaviour { name, speaks, over, does, .. } in behaviours() {
            assert!(names.insert(name), "`{name}` stands twice");
            assert!(
                deeds.insert(format!("{speaks:?} {over:?} {does:?}")),
                "`{name}` does what another row does"
            );
        }
        assert!(names.len() >= 150, "{} behaviours", names.len());
    }

    /// Only these combinations are served.
    #[test]
    fn what_is_below_tls_is_a_script() {
        for Behaviour { name, speaks, over, does, .. } in behaviours() {
            if matches!(over, Over::Handshake | Over::Tls) {
                assert!(matches!(does, Does::Script(_)), "{name}");
                assert_eq!(speaks, Speaks::Http1, "{name}");
            }
        }
    }
}
