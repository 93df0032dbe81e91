//! The flags about messages over WebSocket.
use clap::{Args, ValueHint};
use std::path::PathBuf;

use crate::values;

/// What is sent over a WebSocket, and what is right.
#[derive(Debug, Args)]
pub struct MessageArguments {
    /// ws: the size of messages, 64 by default: 64, 4KiB. Each has a number of its own that its
    /// echo must carry.
    #[arg(long, value_name = "BYTES", value_parser = values::message_size)]
    pub message_size: Option<usize>,
    /// ws: send this message every time; @FILE reads it from a file, @- from standard input.
    #[arg(long, value_name = "TEXT", conflicts_with = "message_size")]
    pub message: Option<String>,
    /// ws: send binary messages; text by default.
    #[arg(long)]
    pub binary: bool,
    /// ws: one of the connections sends, and each message must come to all of them (-c). The
    /// response time ends when the last one has it.
    #[arg(long, conflicts_with_all = ["message", "any_answer", "expect_body", "expect_contains", "expect_json"])]
    pub broadcast: bool,
    /// ws: what is said before the messages, and which messages are no answers: of SignalR, Socket.IO
    /// or GraphQL subscriptions (pippin help requests).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub opening: Option<PathBuf>,
    /// ws: take any message for a right answer. By default it must be the echo, or the text of
    /// --expect-body.
    #[arg(long, conflicts_with_all = ["expect_body", "expect_contains", "expect_json"])]
    pub any_answer: bool,
}
