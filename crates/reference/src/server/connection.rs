//! What the lean event loop keeps of a connection: 56 bytes while nothing is under way.
use std::os::fd::{AsRawFd, OwnedFd};

use crate::poller::Interest;
use crate::request::{Method, Persistence};

/// A connection.
pub(super) struct Connection {
    pub socket: OwnedFd,
    generation: u32,
    /// The call that waits for its answer.
    pub waiting: Option<Ticket>,
    /// Bytes of requests that are not complete or not answered yet.
    pub partial: Box<[u8]>,
    /// Bytes that the kernel did not take. Boxed, because there rarely are any and a pointer is a
    /// third of a vector.
    #[expect(clippy::box_collection, reason = "memory of an idle connection")]
    pub unsent: Option<Box<Vec<u8>>>,
    /// There may be input that was not read.
    pub unread: bool,
    /// The connection closes when everything is sent.
    pub closing: bool,
    watches_output: bool,
}

/// A call that waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    /// When its answer is due (CLOCK_MONOTONIC).
    pub due_ns: u64,
    pub method: Method,
    pub persistence: Persistence,
    /// What the service calls it.
    pub nth: u32,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd, generation: u32) -> Self {
        Self {
            socket,
            generation,
            waiting: None,
            partial: Box::default(),
            unsent: None,
            unread: false,
            closing: false,
            watches_output: false,
        }
    }

    /// Tells this connection from an earlier one with the same descriptor.
    pub(super) fn token(&self) -> u64 {
        u64::from(self.generation) << 32 | self.socket.as_raw_fd() as u64
    }

    /// Keeps bytes that could not be answered yet, unless the connection is about to close.
    pub(super) fn keep_rest(&mut self, bytes: &[u8]) {
        if !self.closing {
            self.partial = bytes.into();
        }
    }

    pub(super) fn interest(&self) -> Interest {
        if self.unsent.is_some() { Interest::InputAndOutput } else { Interest::Input }
    }

    pub(super) fn interest_changed(&self) -> bool {
        self.unsent.is_some() != self.watches_output
    }

    pub(super) fn interest_is_set(&mut self) {
        self.watches_output = self.unsent.is_some();
    }
}

#[cfg(test)]
mod tests {
    use super::Connection;

    #[test]
    fn an_idle_connection_is_small() {
        assert!(size_of::<Option<Connection>>() <= 64, "{}", size_of::<Option<Connection>>());
    }
}
