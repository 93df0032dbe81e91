//! What QUIC did below the requests of a load.
use serde::{Deserialize, Serialize};

/// Datagrams of all connections of a load, from their first to their last, handshakes included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuicUse {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Datagrams that came.
    pub received: u64,
    /// Packets that were sent and given up as lost (RFC 9002 section 6.1); what was in them was sent again. What the
    /// server lost, only the server knows.
    pub lost: u64,
}

impl QuicUse {
    /// Adds the counts of another thread of the same load.
    pub const fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.lost += other.lost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up() {
        let mut all = QuicUse { sent: 1, received: 2, lost: 3 };
        all.merge(&QuicUse { sent: 10, received: 20, lost: 30 });
        assert_eq!(all, QuicUse { sent: 11, received: 22, lost: 33 });
    }
}
