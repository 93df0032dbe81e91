//! The life of a connection: down, connecting, tunnelling, securing, greeting, up, and down again.
//!
//! | module | what it does |
//! |---|---|
//! | this file | what is remembered of a connection and of the user behind it |
//! | `opening` | from a request for a connection to its use |
//! | `tunnelling` | tunnels through a proxy |
//! | `securing` | handshakes of the transport |
//! | `greeting` | handshakes of a protocol |
//! | `losses` | everything that can go wrong |
mod greeting;
pub(super) mod losses;
mod opening;
mod securing;
pub(super) mod tunnelling;

use crate::protocol::Protocol;
use crate::request::check::Judge;
use crate::transport::Transport;

use super::Stack;
use super::stops::{STOOD_STILL_NS, Stops};

/// How far the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Down,
    Connecting,
    /// Connected to a proxy, which is asked for a tunnel to the server.
    Tunnelling,
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
pub(crate) struct Connection<T, P, O> {
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
    /// The places of their requests among those sent together, counted from 1, as a sum.
    pub places: u64,
    /// The template that the user sends next.
    pub template: u32,
    /// When the pending requests were due.
    pub pending_since: u64,
    /// When the connection last became free for a request: when it was opened, or an answer was
    /// complete. Before that, when the transport's handshake began.
    pub free_at: u64,
    /// How much earlier it would have been free if the generator had not stood still: what waited
    /// behind a request that was sent late is late by the generator too.
    pub owed_ns: u64,
    /// When `connect()` was called; later, when the head of the present answer was complete.
    pub mark: u64,
    pub judge: Judge,
    pub transport: T,
    pub protocol: P,
    pub out: O,
}

/// The connection of a stack.
pub(in crate::worker) type ConnectionOf<S> = Connection<
    <<S as Stack>::Transport as Transport>::State,
    <<S as Stack>::Protocol as Protocol>::Session,
    <<S as Stack>::Protocol as Protocol>::Out,
>;

impl<T, P, O> Connection<T, P, O> {
    /// From when on only the generator delays a request that is due since `intended_at`.
    #[inline]
    pub fn sendable_at(&self, intended_at: u64) -> u64 {
        intended_at.max(self.free_at.saturating_sub(self.owed_ns))
    }

    /// A request with this own lag is settled: what waits behind it is as late. Lags shorter than a
    /// stop are those of each turn. They do not add up, because the server works meanwhile.
    #[inline]
    pub fn owes(&mut self, own_lag_ns: u64) {
        let own = own_lag_ns.saturating_sub(self.owed_ns);
        self.owed_ns =
            if own >= STOOD_STILL_NS { own_lag_ns } else { self.owed_ns.min(own_lag_ns) };
    }

    /// A connection begins to open for what is pending. It would have begun earlier by what the
    /// user's last connection owed, and by the stops since it was asked for.
    #[inline]
    pub fn opens(&mut self, stops: &Stops, now: u64) {
        let since = if self.pending > 0 { self.pending_since } else { now };
        let late_ns = now.saturating_sub(self.sendable_at(since));
        let owed_ns = self.owed_ns + stops.within(since.max(self.free_at), now);
        self.owed_ns = owed_ns.min(late_ns);
    }
}

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
            places: 0,
            template,
            pending_since: 0,
            free_at: 0,
            owed_ns: 0,
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
    use super::super::seats::flights::InFlight;
    use super::*;
    use crate::io::epoll::Epoll;
    use crate::protocol::http1::Http1;
    use crate::transport::{Tcp, Tls};

    /// One connection, answers after 10 ms, a request due every 10 ms, and a generator that stands
    /// still from 100 ms to 1,100 ms: its backlog never ends, and every request of it is 1 s late
    /// by the generator alone.
    #[test]
    fn what_waits_behind_a_stop_is_late_by_the_generator() {
        const MS: u64 = 1_000_000;
        let mut connection: Connection<(), (), ()> = Connection::new(0);
        let mut sent_at = 0;
        for nth in 0..300_u64 {
            let intended_at = nth * 10 * MS;
            sent_at = intended_at.max(connection.free_at).max(sent_at);
            if (100 * MS..1_100 * MS).contains(&sent_at) {
                sent_at = 1_100 * MS;
            }
            let own_lag_ns = sent_at - connection.sendable_at(intended_at);
            assert_eq!(own_lag_ns, if nth < 10 { 0 } else { 1_000 * MS }, "request {nth}");
            connection.free_at = sent_at + 10 * MS;
            connection.owes(own_lag_ns);
        }
    }

    /// Turns of 20 us before each request of a server that is never done do not add up.
    #[test]
    fn turns_do_not_add_up() {
        let mut connection: Connection<(), (), ()> = Connection::new(0);
        for _ in 0..10_000 {
            let sent_at = connection.free_at + 20_000;
            let own_lag_ns = sent_at - connection.sendable_at(0);
            assert_eq!(own_lag_ns, 20_000);
            connection.free_at = sent_at + 1_000_000;
            connection.owes(own_lag_ns);
        }
        // An idle connection owes nothing.
        connection.owes(2_000_000_000);
        connection.owes(15_000);
        assert_eq!(connection.owed_ns, 15_000);
    }

    #[test]
    fn a_connection_stays_far_below_its_budget() {
        let plain = size_of::<ConnectionOf<Over<Epoll, Tcp, Http1>>>() + size_of::<InFlight>();
        let secured = size_of::<ConnectionOf<Over<Epoll, Tls, Http1>>>() + size_of::<InFlight>();
        assert!(plain <= 256 && secured <= 256, "{plain}, {secured}");
    }
}
