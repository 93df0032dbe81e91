//! Opening connections, and taking them into use.
use pippin_model::result::ErrorKind;

use super::Link;
use crate::io::{Io, Opening, Sending};
use crate::protocol::Protocol;
use crate::transport::Transport;
use crate::transport::proxy_header;
use crate::worker::seats::{Seating as _, SeatsOf};
use crate::worker::{Stack, Worker};

impl<S: Stack> Worker<'_, S> {
    /// Begins to open a connection in `slot`.
    pub(in crate::worker) fn open(&mut self, slot: u32, now: u64) {
        let nth = self.core.opening.nth;
        self.core.opening.nth += 1;
        let connection = &mut self.core.connections[slot as usize];
        connection.link = Link::Connecting;
        connection.opens(&self.core.stops, now);
        (connection.served, connection.used) = (0, 0);
        (connection.server_closes, connection.is_spoilt) = (false, false);
        S::Protocol::reopened(&mut connection.protocol);
        self.core.opening.connecting += 1;
        let (at, opening) = self.connect(slot, nth);
        self.core.connections[slot as usize].mark = at;
        match opening {
            Opening::Pending => {}
            Opening::Failed(errno) => self.connect_refused(slot, errno, now),
        }
    }

    pub(in crate::worker) fn connected(&mut self, slot: u32, now: u64) {
        let handshake = self.io.handshake(slot);
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        // It does no harm if such a server sends first.
        connection.is_spoilt =
            !SeatsOf::<S>::IS_SHARED && handshake.is_some_and(|seen| seen.has_received);
        let until_writable_ns = now - connection.mark;
        // The kernel knows when it was open, however late this thread looks.
        let round_trip_ns = handshake.and_then(|seen| seen.round_trip_ns).unwrap_or(0);
        connection.owed_ns += core.stops.within(connection.mark + round_trip_ns, now);
        if !S::Protocol::IN_DATAGRAMS {
            core.recorder.connected(until_writable_ns, handshake, !connection.was_opened);
        }
        if self.core.spec.proxy_header.is_some() && !self.introduce(slot) {
            self.io.close(slot);
            return self.connect_failed(slot, ErrorKind::ConnectReset, now);
        }
        if self.core.tunnels.are_asked_for() {
            return self.ask_for_tunnel(slot, now);
        }
        self.leads_to_server(slot, now);
    }

    /// What is sent now reaches the server.
    pub(in crate::worker) fn leads_to_server(&mut self, slot: u32, now: u64) {
        if S::Transport::SECURES { self.secure(slot, now) } else { self.carries(slot, now) }
    }

    /// Sends the PROXY header. Returns whether that worked; a new connection has room for it.
    fn introduce(&mut self, slot: u32) -> bool {
        let Some((version, (own, peer))) = self.core.spec.proxy_header.zip(self.io.ends(slot))
        else {
            return false;
        };
        let header = proxy_header::encode(version, own, peer);
        let is_sent = self.io.send(slot, &header) == Sending::Done;
        self.core.recorder.bytes_out(header.len() as u32);
        is_sent
    }

    /// The connection can carry requests.
    pub(in crate::worker) fn take_into_use(&mut self, slot: u32, now: u64) {
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        connection.link = Link::Up;
        if S::Transport::SECURES || S::Protocol::GREETS {
            connection.owed_ns += core.stops.within(connection.free_at, now);
        }
        connection.free_at = now;
        let is_first = !std::mem::replace(&mut connection.was_opened, true);
        if !S::Protocol::GREETS {
            core.protocol.begin(&mut connection.protocol, &mut connection.out);
        }
        core.opening.connecting -= 1;
        core.recorder.opened(is_first);
        let is_idle = connection.pending == 0;
        SeatsOf::<S>::opened(self, slot, is_idle, now);
        self.listener_opened(now);
    }
}
