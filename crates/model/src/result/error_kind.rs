//! What went wrong with requests and connections.
use serde::{Deserialize, Serialize};

/// What went wrong with a request or a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The server does not listen (ECONNREFUSED).
    ConnectRefused,
    /// The connection was reset while it was opened, or before any byte of a request had reached
    /// the server.
    ConnectReset,
    /// The connection was not opened in time.
    ConnectTimeout,
    /// The connection could not be opened for a local reason: ports, descriptors, memory.
    ConnectLocal,
    /// The TLS handshake failed, or did not end in time; [`TlsUse::failures`] says why.
    Tls,
    /// The opening handshake of a WebSocket failed, or did not end in time;
    /// [`WebSocketUse::failures`] says why.
    Upgrade,
    /// Closed or reset after the request was sent, before the head of its answer was complete.
    CloseBeforeAnswer,
    /// Closed or reset inside the body.
    CloseInBody,
    /// Not HTTP, or HTTP that must be rejected.
    Malformed,
    /// A complete answer with a status that the check does not accept.
    WrongStatus,
    /// A complete answer with a body that the check does not accept.
    WrongBody,
    /// A complete and right answer that came before the wait of the workload could be over.
    TooEarly,
    /// No complete answer in time.
    Timeout,
    /// Head or body beyond the limit.
    TooLarge,
    /// HTTP/2: the server ended the stream without a whole answer (RST_STREAM).
    StreamReset,
    /// HTTP/2: the server allowed no stream for as long as an answer may take
    /// (SETTINGS_MAX_CONCURRENT_STREAMS 0), so due requests could not be sent.
    NoStream,
    /// Scenarios: a complete answer without a header that the step requires.
    WrongHeader,
    /// Scenarios: a complete and right answer without a value that later steps need.
    NothingCaptured,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 18] = [
        Self::ConnectRefused,
        Self::ConnectReset,
        Self::ConnectTimeout,
        Self::ConnectLocal,
        Self::Tls,
        Self::Upgrade,
        Self::CloseBeforeAnswer,
        Self::CloseInBody,
        Self::Malformed,
        Self::WrongStatus,
        Self::WrongBody,
        Self::TooEarly,
        Self::Timeout,
        Self::TooLarge,
        Self::StreamReset,
        Self::NoStream,
        Self::WrongHeader,
        Self::NothingCaptured,
    ];

    /// Whether it happens before a request is sent, so that the request stays unsent.
    #[must_use]
    pub const fn is_before_sending(self) -> bool {
        matches!(
            self,
            Self::ConnectRefused
                | Self::ConnectReset
                | Self::ConnectTimeout
                | Self::ConnectLocal
                | Self::Tls
                | Self::Upgrade
                | Self::NoStream
        )
    }

    /// The name in JSON and tables: `connect_refused`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConnectRefused => "connect_refused",
            Self::ConnectReset => "connect_reset",
            Self::ConnectTimeout => "connect_timeout",
            Self::ConnectLocal => "connect_local",
            Self::Tls => "tls",
            Self::Upgrade => "upgrade",
            Self::CloseBeforeAnswer => "close_before_answer",
            Self::CloseInBody => "close_in_body",
            Self::Malformed => "malformed",
            Self::WrongStatus => "wrong_status",
            Self::WrongBody => "wrong_body",
            Self::TooEarly => "too_early",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::StreamReset => "stream_reset",
            Self::NoStream => "no_stream",
            Self::WrongHeader => "wrong_header",
            Self::NothingCaptured => "nothing_captured",
        }
    }
}
