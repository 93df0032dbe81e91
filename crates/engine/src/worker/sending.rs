//! Writing requests.
use pippin_model::result::ErrorKind;

use super::departure::Departure;
use super::link::losses;
use super::sampling;
use super::seats::flights::InFlight;
use super::{Core, Stack, Worker};
use crate::io::{Io, Sending};
use crate::protocol::{Outgoing, Protocol};
use crate::transport::Transport;

impl<S: Stack> Worker<'_, S> {
    /// Sends what is due on an open connection.
    #[inline]
    pub(super) fn send_pending(&mut self, slot: u32, now: u64) {
        if !S::Protocol::IN_ORDER {
            return self.send_due(slot, now);
        }
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        if !connection.out.is_empty() {
            // The last write is incomplete (pipelining), and these follow it.
            return;
        }
        let count = connection.pending;
        core.enter(slot, now);
        // Of several calls that send, a stamp would not say which it belongs to.
        let is_sample = !S::Transport::SECURES
            && !S::Protocol::IN_PIECES
            && core.flights.depth == 1
            && core.sampling.is_due()
            && self.io.stamp_next_send(true);
        let (sending, sent) = self.transmit_timed(slot);
        self.core.stamp(slot, count, sent);
        if is_sample {
            self.sampled(slot);
        }
        if let Sending::Failed(errno) = sending {
            return self.closed(slot, Some(errno), now);
        }
        if self.core.connections[slot as usize].is_spoilt {
            self.broken(slot, ErrorKind::Malformed, 0, now);
        }
    }

    /// A request was sent whose departure the kernel stamps.
    #[cold]
    fn sampled(&mut self, slot: u32) {
        self.io.stamp_next_send(false);
        self.core.sampling.begin(slot);
        self.look_at_departure(slot);
    }

    /// Sends what waits on a connection and counts the bytes that go out.
    #[inline]
    pub(super) fn transmit(&mut self, slot: u32) -> Sending {
        loop {
            let core = &mut self.core;
            let connection = &mut core.connections[slot as usize];
            core.protocol.refill(&mut connection.protocol, &mut connection.out);
            let bytes = connection.out.bytes();
            let length = bytes.len();
            if !S::Protocol::IN_ORDER && length == 0 {
                return Sending::Done;
            }
            let state = &mut connection.transport;
            let sending = self.transport.send(&mut self.io, state, slot, bytes, &core.wire);
            let taken = match sending {
                Sending::Done => length,
                Sending::Blocked(taken) => taken,
                Sending::Failed(_) => 0,
            };
            connection.out.took(taken);
            let has_more = if S::Protocol::IN_PIECES {
                !connection.out.is_empty()
            } else {
                !S::Protocol::IN_ORDER
            };
            if S::Transport::SECURES {
                self.count_sent();
            } else {
                core.recorder.bytes_out(taken);
            }
            if !has_more || taken < length {
                return sending;
            }
        }
    }

    /// The kernel takes more: sends the rest of the last write, then what has become due.
    pub(super) fn writable(&mut self, slot: u32, now: u64) {
        if self.core.recorder.finished_at.is_some()
            || S::Transport::SECURES && !self.flush_rest(slot, now)
        {
            return;
        }
        let was_full = !S::Protocol::IN_ORDER && self.core.is_full(slot);
        if !self.core.connections[slot as usize].out.is_empty()
            && let Sending::Failed(errno) = self.transmit(slot)
        {
            return self.rest_failed(slot, errno, now);
        }
        if !self.core.is_up(slot) {
            return;
        }
        if !S::Protocol::IN_ORDER {
            self.core.freed(slot, was_full, now);
            self.go_on(slot, now);
            self.dispatch(now);
        } else if self.core.connections[slot as usize].pending > 0 {
            self.send_pending(slot, now);
        }
    }

    /// The rest of a request cannot be sent. If the server is gone, it may have answered before: what
    /// it sent is read first, and the end of the connection comes behind it.
    pub(super) fn rest_failed(&mut self, slot: u32, errno: i32, now: u64) {
        let is_gone = losses::connect_error(errno) == ErrorKind::ConnectReset;
        if !is_gone || self.core.connections[slot as usize].in_flight == 0 {
            self.closed(slot, Some(errno), now);
        }
    }
}

impl<S: Stack> Core<'_, S> {
    /// Moves the pending requests of `slot` in flight, and renders them.
    #[inline]
    fn enter(&mut self, slot: u32, now: u64) {
        let intended_at = self.connections[slot as usize].pending_since;
        let stretch = self.stretch_of(intended_at) as u32;
        let connection = &mut self.connections[slot as usize];
        let count = std::mem::take(&mut connection.pending);
        let sendable_at = connection.sendable_at(intended_at);
        let step = connection.template;
        for _ in 0..count {
            let template = self.surprises.instead_of(connection.template);
            let sent = Departure::at(now);
            let value = self.wire.draw::<S::Protocol>(template, &mut self.drawer);
            let request = InFlight { intended_at, sendable_at, sent, template, stretch, value };
            let ring = (connection.head, connection.in_flight);
            let tag = self.flights.enter(slot, ring, request);
            let session = &mut connection.protocol;
            self.protocol.render(session, template, tag, value, &mut connection.out);
            connection.in_flight += 1;
            connection.template = self.surprises.after(connection.template);
        }
        connection.used += count;
        connection.server_closes = false;
        if S::Protocol::VARIES {
            // Users of steps send one request at a time.
            self.render_step(slot, step);
        }
        self.recorder.tally(stretch as usize).requests.sent += u64::from(count);
        self.recorder.window().sent += u64::from(count);
    }

    /// The request that this connection carries left at this instant, by the kernel's stamp.
    pub(super) fn departed(&mut self, slot: u32, left_at: u64) {
        let connection = &self.connections[slot as usize];
        let ring = (connection.head, connection.in_flight);
        if let Some(request) = self.flights.under_way(slot, ring).next() {
            let (stretch, sent) = (request.stretch as usize, request.sent);
            sampling::count(&mut self.recorder.tally(stretch).stamps, sent, left_at);
        }
    }

    /// The last `count` requests of `slot` have left.
    #[inline]
    pub(super) fn stamp(&mut self, slot: u32, count: u32, sent: Departure) {
        let sent = sent.in_place(self.sent_together);
        self.sent_together += count;
        let connection = &self.connections[slot as usize];
        let ring = (connection.head, connection.in_flight);
        let recorder = &mut self.recorder;
        let each = |request: &InFlight| recorder.sent_late_by(request.send_lag_ns());
        self.flights.stamp(slot, ring, count, sent, each);
    }
}
