//! What is remembered of a connection and of the user behind it.
use crate::check::BodyJudge;
use crate::http1::Decoder;
use crate::tls::Session;
use crate::wire::Slice;

/// The state of the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Down,
    Connecting,
    /// Connected, and the TLS handshake is under way.
    Securing,
    Up,
}

/// A slot: one connection at a time, and the user (or device) it belongs to.
#[derive(Debug)]
pub(super) struct Connection {
    pub link: Link,
    /// Whether a connection was opened in this slot before.
    pub was_opened: bool,
    /// Requests that are due but not sent.
    pub pending: u32,
    /// Requests sent and not answered; they lie in the ring from `head` on.
    pub in_flight: u32,
    pub head: u32,
    /// Complete answers on this connection, and requests sent on it.
    pub served: u32,
    pub used: u32,
    /// Devices: requests that the device has not begun yet.
    pub device_left: u32,
    /// When the pending requests were due.
    pub pending_since: u64,
    /// When the connection last became free for a request: opened, or an answer complete.
    pub free_at: u64,
    /// When `connect()` was issued; then, when the TLS handshake began; later, when the head of the
    /// present answer was complete.
    pub mark: u64,
    /// What is still to be written of the last send.
    pub unsent: Slice,
    pub status: u16,
    pub server_closes: bool,
    pub decoder: Decoder,
    pub judge: BodyJudge,
    /// The state of TLS; `None` in a load without it.
    pub tls: Option<Box<Session>>,
}

impl Connection {
    pub const fn new() -> Self {
        Self {
            link: Link::Down,
            was_opened: false,
            pending: 0,
            in_flight: 0,
            head: 0,
            served: 0,
            used: 0,
            device_left: 0,
            pending_since: 0,
            free_at: 0,
            mark: 0,
            unsent: Slice { start: 0, end: 0 },
            status: 0,
            server_closes: false,
            decoder: Decoder::new(),
            judge: BodyJudge::new(),
            tls: None,
        }
    }
}

/// A request that was sent and not answered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InFlight {
    pub intended_at: u64,
    /// From when on its sending was the generator's business alone: due, and a connection free.
    pub sendable_at: u64,
    pub sent_at: u64,
    pub template: u32,
    pub stretch: u32,
}

impl InFlight {
    /// How long after it was due it was sent.
    #[inline]
    pub const fn send_lag_ns(&self) -> u64 {
        self.sent_at.saturating_sub(self.intended_at)
    }

    /// How much of that was the generator's doing.
    #[inline]
    pub const fn own_lag_ns(&self) -> u64 {
        self.sent_at.saturating_sub(self.sendable_at)
    }

    /// The response time if it was done at this instant. Where users wait for answers and have no
    /// plan, the generator's own lag is no part of it: nobody wanted to send at a certain instant.
    #[inline]
    pub const fn response_ns(&self, done_at: u64, has_plan: bool) -> u64 {
        let response_ns = done_at.saturating_sub(self.intended_at);
        if has_plan { response_ns } else { response_ns.saturating_sub(self.own_lag_ns()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_stays_far_below_its_budget() {
        assert!(
            size_of::<Connection>() + size_of::<InFlight>() <= 256,
            "{}",
            size_of::<Connection>() + size_of::<InFlight>()
        );
    }
}
