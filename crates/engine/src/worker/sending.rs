//! Writing requests.
use pippin_model::result::ErrorKind;

use super::link::losses;
use super::sampling;
use super::seats::{Seating as _, SeatsOf};
use super::{Core, Stack, Worker};
use crate::io::{Io, Sending};
use crate::protocol::{Outgoing, Protocol};
use crate::transport::Transport;

impl<S: Stack> Worker<'_, S> {
    /// A request was sent whose departure the kernel stamps.
    #[cold]
    pub(super) fn sampled(&mut self, slot: u32) {
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
            if SeatsOf::<S>::IS_SHARED && length == 0 {
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
                SeatsOf::<S>::IS_SHARED
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
        let was_full = SeatsOf::<S>::is_full(&self.core, slot);
        if !self.core.connections[slot as usize].out.is_empty()
            && let Sending::Failed(errno) = self.transmit(slot)
        {
            return self.rest_failed(slot, errno, now);
        }
        if !self.core.is_up(slot) {
            return;
        }
        SeatsOf::<S>::written(self, slot, was_full, now);
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
    /// The request that this connection carries left at this instant, by the kernel's stamp.
    pub(super) fn departed(&mut self, slot: u32, left_at: u64) {
        let connection = &self.connections[slot as usize];
        let ring = (connection.head, connection.in_flight);
        if let Some(request) = self.flights.under_way(slot, ring).next() {
            let (stretch, sent) = (request.stretch as usize, request.sent);
            sampling::count(&mut self.recorder.tally(stretch).stamps, sent, left_at);
        }
    }
}
