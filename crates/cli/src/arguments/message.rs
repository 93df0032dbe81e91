//! The flags about messages over WebSocket.
use clap::Args;

use crate::values;

/// What is sent over a WebSocket, and what is right.
#[derive(Debug, Args)]
pub struct MessageArguments {
    /// ws: send messages of so many bytes, 64 by default: 64, 4KiB. Each has a number of its own, by
    /// which its echo is known.
    #[arg(long, value_name = "BYTES", value_parser = values::message_size)]
    pub message_size: Option<usize>,
    /// ws: send this message, always the same; @FILE reads it from a file, @- from standard input.
    #[arg(long, value_name = "TEXT", conflicts_with = "message_size")]
    pub message: Option<String>,
    /// ws: send binary messages; text by default.
    #[arg(long)]
    pub binary: bool,
    /// ws: one of the connections sends, and each message must come to all of them (-c). The response
    /// time ends when the last one has it.
    #[arg(long, conflicts_with_all = ["message", "any_answer", "expect_body"])]
    pub broadcast: bool,
    /// ws: any message is a right answer. By default the echo is, and with --expect-body that text.
    #[arg(long, conflicts_with = "expect_body")]
    pub any_answer: bool,
}
