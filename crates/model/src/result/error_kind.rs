//! What went wrong with requests and connections.
use serde::{Deserialize, Serialize};

/// Makes the kinds of errors, their names and their meaning from one list.
macro_rules! kinds {
    ($($(#[doc = $help:literal])+ $kind:ident, $name:literal;)+) => {
        /// What went wrong with a request or a connection.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorKind {
            $($(#[doc = $help])+ $kind,)+
        }

        impl ErrorKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind,)+];

            /// The name in JSON and tables: `connect_refused`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }

            /// What it is, in one or two sentences.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$kind => concat!($($help),+).trim_ascii(),)+ }
            }
        }
    };
}

kinds! {
    /// The server does not listen (ECONNREFUSED).
    ConnectRefused, "connect_refused";
    /// The connection was reset while it was opened, or before any byte of a request had reached
    /// the server.
    ConnectReset, "connect_reset";
    /// The connection was not opened in time.
    ConnectTimeout, "connect_timeout";
    /// The connection could not be opened for a reason on the generator's side: ports, descriptors,
    /// memory.
    ConnectLocal, "connect_local";
    /// The proxy (`--proxy`) opened no tunnel to the server: it refused, answered something else than
    /// HTTP/1.1, hung up, or did not answer in time.
    Proxy, "proxy";
    /// The TLS handshake failed, or did not end in time.
    Tls, "tls";
    /// The opening handshake of a WebSocket failed, or did not end in time.
    Upgrade, "upgrade";
    /// Closed or reset after the request was sent, before the head of its answer was complete.
    CloseBeforeAnswer, "close_before_answer";
    /// Closed or reset inside the body.
    CloseInBody, "close_in_body";
    /// Not HTTP, or HTTP that must be rejected.
    Malformed, "malformed";
    /// A complete answer with a status that the check does not accept.
    WrongStatus, "wrong_status";
    /// A complete answer with a body that the check does not accept.
    WrongBody, "wrong_body";
    /// A complete and right answer that came before the wait of the workload could be over.
    TooEarly, "too_early";
    /// No complete answer in time.
    Timeout, "timeout";
    /// Head or body beyond the limit.
    TooLarge, "too_large";
    /// HTTP/2: the server ended the stream without a whole answer (RST_STREAM).
    StreamReset, "stream_reset";
    /// HTTP/2: the server allowed no stream for as long as an answer may take
    /// (SETTINGS_MAX_CONCURRENT_STREAMS 0), so due requests could not be sent.
    NoStream, "no_stream";
    /// Scenarios: a complete answer without a header that the step requires.
    WrongHeader, "wrong_header";
    /// Scenarios: a complete and right answer without a value that later steps need.
    NothingCaptured, "nothing_captured";
    /// A redirection that was to be followed, to another origin or beyond the number that is allowed
    /// (`--follow`).
    Redirect, "redirect";
    /// gRPC: the call ended with the status 1 (CANCELLED).
    GrpcCancelled, "grpc_cancelled";
    /// gRPC: the call ended with the status 2 (UNKNOWN), or a status that gRPC does not know.
    GrpcUnknown, "grpc_unknown";
    /// gRPC: the call ended with the status 3 (INVALID_ARGUMENT).
    GrpcInvalidArgument, "grpc_invalid_argument";
    /// gRPC: the call ended with the status 4 (DEADLINE_EXCEEDED).
    GrpcDeadlineExceeded, "grpc_deadline_exceeded";
    /// gRPC: the call ended with the status 5 (NOT_FOUND).
    GrpcNotFound, "grpc_not_found";
    /// gRPC: the call ended with the status 6 (ALREADY_EXISTS).
    GrpcAlreadyExists, "grpc_already_exists";
    /// gRPC: the call ended with the status 7 (PERMISSION_DENIED).
    GrpcPermissionDenied, "grpc_permission_denied";
    /// gRPC: the call ended with the status 8 (RESOURCE_EXHAUSTED).
    GrpcResourceExhausted, "grpc_resource_exhausted";
    /// gRPC: the call ended with the status 9 (FAILED_PRECONDITION).
    GrpcFailedPrecondition, "grpc_failed_precondition";
    /// gRPC: the call ended with the status 10 (ABORTED).
    GrpcAborted, "grpc_aborted";
    /// gRPC: the call ended with the status 11 (OUT_OF_RANGE).
    GrpcOutOfRange, "grpc_out_of_range";
    /// gRPC: the call ended with the status 12 (UNIMPLEMENTED).
    GrpcUnimplemented, "grpc_unimplemented";
    /// gRPC: the call ended with the status 13 (INTERNAL).
    GrpcInternal, "grpc_internal";
    /// gRPC: the call ended with the status 14 (UNAVAILABLE).
    GrpcUnavailable, "grpc_unavailable";
    /// gRPC: the call ended with the status 15 (DATA_LOSS).
    GrpcDataLoss, "grpc_data_loss";
    /// gRPC: the call ended with the status 16 (UNAUTHENTICATED).
    GrpcUnauthenticated, "grpc_unauthenticated";
    /// gRPC: an answer without a status in its trailers (`grpc-status`), or one that is no number.
    GrpcNoStatus, "grpc_no_status";
}

impl ErrorKind {
    /// The error of a gRPC status; `None` if the call went well. A status beyond those of gRPC's list
    /// counts as UNKNOWN (grpc.io, status codes).
    #[must_use]
    pub const fn of_grpc(status: u32) -> Option<Self> {
        Some(match status {
            0 => return None,
            1 => Self::GrpcCancelled,
            3 => Self::GrpcInvalidArgument,
            4 => Self::GrpcDeadlineExceeded,
            5 => Self::GrpcNotFound,
            6 => Self::GrpcAlreadyExists,
            7 => Self::GrpcPermissionDenied,
            8 => Self::GrpcResourceExhausted,
            9 => Self::GrpcFailedPrecondition,
            10 => Self::GrpcAborted,
            11 => Self::GrpcOutOfRange,
            12 => Self::GrpcUnimplemented,
            13 => Self::GrpcInternal,
            14 => Self::GrpcUnavailable,
            15 => Self::GrpcDataLoss,
            16 => Self::GrpcUnauthenticated,
            _ => Self::GrpcUnknown,
        })
    }

    /// Whether it happens before a request is sent, so that the request stays unsent.
    #[must_use]
    pub const fn is_before_sending(self) -> bool {
        matches!(
            self,
            Self::ConnectRefused
                | Self::ConnectReset
                | Self::ConnectTimeout
                | Self::ConnectLocal
                | Self::Proxy
                | Self::Tls
                | Self::Upgrade
                | Self::NoStream
        )
    }
}
