//! What the scripted server keeps of a connection.
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};

use super::answer::{End, Step};

/// A connection.
pub(super) struct Connection {
    pub socket: OwnedFd,
    pub number: u64,
    /// What was received and not answered yet.
    pub input: Vec<u8>,
    /// The client has sent its last byte.
    pub input_ended: bool,
    /// What remains to be done of the answer under way.
    pub steps: VecDeque<Step>,
    /// What the kernel did not take yet.
    pub output: Vec<u8>,
    /// A step waits for its timer.
    pub waiting: bool,
    /// Nothing is ever sent again.
    pub silent: bool,
    /// The exchange under way, and what becomes of the connection after it.
    pub current: Option<(usize, End)>,
    /// When bytes were last handed to the kernel (the instant before the call).
    pub last_send_ns: u64,
    /// Requests begun on this connection.
    pub requests: u64,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd, number: u64) -> Self {
        Self {
            socket,
            number,
            input: Vec::new(),
            input_ended: false,
            steps: VecDeque::new(),
            output: Vec::new(),
            waiting: false,
            silent: false,
            current: None,
            last_send_ns: 0,
            requests: 0,
        }
    }

    /// Tells this connection from an earlier one with the same descriptor.
    pub(super) fn token(&self) -> u64 {
        (self.number & 0x7fff_ffff) << 32 | self.socket.as_raw_fd() as u64
    }
}
