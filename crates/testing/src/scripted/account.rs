//! What the scripted server saw and did.
use std::collections::BTreeMap;

/// The scripted server's own account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Connections accepted.
    pub connections: u64,
    /// Connections open now.
    pub live_connections: u64,
    /// The most connections open at once.
    pub peak_connections: u64,
    /// Complete requests received.
    pub requests: u64,
    /// Answers whose last byte the kernel took.
    pub answers: u64,
    /// Answers begun, by status; raw ones, silence and the like have none.
    pub by_status: BTreeMap<u16, u64>,
    /// Bytes that were no request. Their connections are closed without an answer.
    pub bad_requests: u64,
    /// Connections that the script closed or reset.
    pub closed_by_script: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes handed to the kernel.
    pub bytes_out: u64,
    /// Start and end of the stall, if the script has one and it has happened (CLOCK_MONOTONIC,
    /// nanoseconds).
    pub stall_ns: Option<(u64, u64)>,
    /// Every request in the order of their coming.
    pub exchanges: Vec<Exchange>,
}

/// One request and its answer. Instants are CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// The connection's number, counted from 0 in the order of accepting.
    pub connection: u64,
    /// The request's number on its connection, from 0.
    pub number_on_connection: u64,
    /// When the request was read.
    pub received_ns: u64,
    /// The waits within the answer, together.
    pub scripted_wait_ns: u64,
    /// When the last bytes of the answer were handed to the kernel; `None` if it did not take them.
    /// The clock is read before the call, so no client can have them earlier, even if this server
    /// is delayed afterwards.
    pub answered_ns: Option<u64>,
}

impl Exchange {
    /// From reading the request to the answer's last byte. A client never measures less.
    #[must_use]
    pub fn duration_ns(&self) -> Option<u64> {
        self.answered_ns.map(|answered_ns| answered_ns - self.received_ns)
    }
}
