//! The proofs of a workload.
use serde::{Deserialize, Serialize};

use crate::text::units::Spread;

/// One proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Proof {
    /// The answer, for every value that varies.
    Answer,
    /// 404 for a path that does not exist.
    NotFound {
        /// The path.
        path: String,
    },
    /// HEAD has no body (RFC 9110 section 9.3.2).
    Head,
    /// An answer has a content coding only where its request accepts it, and which codings there are.
    Coding,
    /// A second request on the same connection is answered, unless the server announced that it
    /// closes (RFC 9112 section 9.3).
    KeepAlive,
    /// The whole text of a page as HTML 5 reads it, without white space. Under load, 1 answer in 100
    /// is compared.
    Text {
        /// The text; `{rows}` is replaced by all rows.
        text: String,
        /// The text of a row; `{i}` is its number from 1, `{i*n}` is that number times n.
        row: String,
        /// The number of rows.
        rows: u32,
    },
    /// Each row of a page is there once, by the attribute `id` of its element.
    Rows {
        /// The value of the attribute; `{i}` is the number of the row from 1.
        id: String,
        /// The number of rows.
        count: u32,
    },
    /// A text of the data is escaped in the page, and does not occur unescaped.
    Escapes {
        /// The text as it is in the data.
        text: String,
    },
    /// The whole text of a page of messages: the rows of the table and the one that its request adds, in
    /// the order of their texts' UTF-8 bytes. Under load, 1 answer in 100 is compared.
    Messages {
        /// The text without white space; `{rows}` is replaced by all rows.
        text: String,
        /// The text of a row, with `{id}` and `{text}`.
        row: String,
    },
    /// The JSON equals the table `users`.
    Table,
    /// A change of a row in the table is in the very next answer. With files: a file that was
    /// replaced is served within the time that the workload allows.
    Fresh,
    /// What steps have written is in the table `products`, and what they read is from it: the lab reads
    /// and changes the table itself. Under load too.
    Stored,
    /// A file that the client has is answered by 304 as long as it has not changed (RFC 9110
    /// section 13).
    Conditional,
    /// A part of a file is answered by 206 with this part, or by the whole file (RFC 9110 section 14).
    Ranges,
    /// The digest and the length of a body are those of all of its bytes, also where it is empty, comes
    /// in small chunks or waits for `100 Continue`, and no answer comes before its end.
    WholeBody,
    /// The upstream counts one call for each request.
    Counted {
        /// Number of requests.
        requests: u32,
    },
    /// The waits have the distribution of the workload.
    Delay {
        /// The wait, with its jitter.
        wait: String,
        /// Number of requests.
        samples: u32,
    },
    /// The streams of several clients at a time have all of their events, in order, none early, each fresh, and
    /// none of them held back. Under load too.
    Events {
        /// The number of streams at a time.
        streams: u32,
    },
    /// WebSocket: messages of all lengths and both kinds, whole and in fragments, come back
    /// unchanged.
    Echo,
    /// WebSocket: a message of one connection reaches all of them once, in the order of sending,
    /// but not those that have left.
    Broadcast {
        /// The number of connections.
        receivers: u32,
    },
    /// WebSocket: a ping is answered by a pong with its payload (RFC 6455 section 5.5.2).
    Ping,
    /// WebSocket: a Close is answered by a Close with its code (RFC 6455 section 5.5.1).
    Close,
    /// Many requests at once are answered in little more than one wait.
    Simultaneous {
        /// The number of requests at once.
        connections: u32,
        /// The wait, with its jitter.
        wait: String,
        /// The smallest allowed pool of threads or processes that hold one for each waiting
        /// request. It is reported. 0 allows none.
        #[serde(default)]
        pool: u32,
    },
}

impl Proof {
    /// Its name in the file: `not-found`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::NotFound { .. } => "not-found",
            Self::Head => "head",
            Self::Coding => "coding",
            Self::KeepAlive => "keep-alive",
            Self::Text { .. } => "text",
            Self::Rows { .. } => "rows",
            Self::Escapes { .. } => "escapes",
            Self::Messages { .. } => "messages",
            Self::Table => "table",
            Self::Fresh => "fresh",
            Self::Stored => "stored",
            Self::Conditional => "conditional",
            Self::Ranges => "ranges",
            Self::WholeBody => "whole-body",
            Self::Counted { .. } => "counted",
            Self::Delay { .. } => "delay",
            Self::Events { .. } => "events",
            Self::Echo => "echo",
            Self::Broadcast { .. } => "broadcast",
            Self::Ping => "ping",
            Self::Close => "close",
            Self::Simultaneous { .. } => "simultaneous",
        }
    }

    /// A proof with zero checks would always hold.
    pub(super) fn check(&self) -> Result<(), String> {
        let counted = match self {
            Self::Rows { count, .. } => Some(("count", *count)),
            Self::Text { rows, .. } => Some(("rows", *rows)),
            Self::Counted { requests } => Some(("requests", *requests)),
            Self::Delay { samples, .. } => Some(("samples", *samples)),
            Self::Simultaneous { connections, .. } => Some(("connections", *connections)),
            Self::Broadcast { receivers } => Some(("receivers", *receivers)),
            Self::Events { streams } => Some(("streams", *streams)),
            _ => None,
        };
        if let Some((key, 0)) = counted {
            return Err(format!("proof `{}`: {key} must be at least 1", self.name()));
        }
        if let Self::Delay { wait, .. } | Self::Simultaneous { wait, .. } = self {
            Spread::parse(wait).map_err(|error| format!("proof `{}`: {error}", self.name()))?;
        }
        Ok(())
    }
}
