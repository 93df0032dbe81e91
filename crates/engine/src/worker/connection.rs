//! What is remembered of a connection and of the user behind it.
use crate::protocol::Protocol;
use crate::request::check::Judge;
use crate::transport::Transport;

use super::Stack;

/// How far the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Down,
    Connecting,
    /// Connected, and the transport's handshake is under way.
    Securing,
    /// The transport carries bytes, and the protocol's handshake is under way.
    Greeting,
    Up,
}

/// A slot: one connection at a time, and the user (or device) it belongs to.
///
/// `T` is the transport's state, `P` the protocol's, `O` what is still to be sent.
#[derive(Debug)]
pub(super) struct Connection<T, P, O> {
    pub link: Link,
    /// Whether a connection was opened in this slot before.
    pub was_opened: bool,
    /// The server takes no further requests on this connection.
    pub server_closes: bool,
    /// The last connection of this slot ended without an answer, or could not be opened.
    pub has_failed: bool,
    /// Bytes came before the first request was sent, so its answer cannot be trusted.
    pub is_spoilt: bool,
    /// Requests that are due but not sent.
    pub pending: u32,
    /// Requests sent and not answered; if answers come in order, they lie in the ring from `head`
    /// on.
    pub in_flight: u32,
    pub head: u32,
    /// Complete answers on this connection, and requests sent on it.
    pub served: u32,
    pub used: u32,
    /// Answers of the present stretch in this slot, and the sum of their service times.
    pub answers: u32,
    pub service_ns: u64,
    /// Devices: requests that the device has not begun yet.
    pub device_left: u32,
    /// The template that the user sends next.
    pub template: u32,
    /// When the pending requests were due.
    pub pending_since: u64,
    /// When the connection last became free for a request: when it was opened, or an answer was
    /// complete. Before that, when the transport's handshake began.
    pub free_at: u64,
    /// When `connect()` was called; later, when the head of the present answer was complete.
    pub mark: u64,
    pub judge: Judge,
    pub transport: T,
    pub protocol: P,
    pub out: O,
}

/// The connection of a stack.
pub(super) type ConnectionOf<S> = Connection<
    <<S as Stack>::Transport as Transport>::State,
    <<S as Stack>::Protocol as Protocol>::Session,
    <<S as Stack>::Protocol as Protocol>::Out,
>;

impl<T: Default, P: Default, O: Default> Connection<T, P, O> {
    pub fn new(template: u32) -> Self {
        Self {
            link: Link::Down,
            was_opened: false,
            server_closes: false,
            has_failed: false,
            is_spoilt: false,
            pending: 0,
            in_flight: 0,
            head: 0,
            served: 0,
            used: 0,
            answers: 0,
            service_ns: 0,
            device_left: 0,
            template,
            pending_since: 0,
            free_at: 0,
            mark: 0,
            judge: Judge::new(),
            transport: T::default(),
            protocol: P::default(),
            out: O::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Over;
    use super::super::flights::InFlight;
    use super::*;
    use crate::io::epoll::Epoll;
    use crate::protocol::http1::Http1;
    use crate::transport::{Tcp, Tls};

    #[test]
    fn a_connection_stays_far_below_its_budget() {
        let plain = size_of::<ConnectionOf<Over<Epoll, Tcp, Http1>>>() + size_of::<InFlight>();
        let secured = size_of::<ConnectionOf<Over<Epoll, Tls, Http1>>>() + size_of::<InFlight>();
        assert!(plain <= 256 && secured <= 256, "{plain}, {secured}");
    }
}
