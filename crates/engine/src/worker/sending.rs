//! Opening connections and writing requests.
use super::connection::{InFlight, Link};
use super::{Core, Worker, losses};
use crate::clock;
use crate::io::{Io, Opening, Sending};
use crate::wire::Slice;

impl<I: Io> Worker<'_, I> {
    /// Begins to open a connection in `slot`.
    pub(super) fn open(&mut self, slot: u32) {
        let nth = self.core.nth;
        self.core.nth += 1;
        let connection = &mut self.core.connections[slot as usize];
        connection.link = Link::Connecting;
        connection.mark = clock::now_ns();
        (connection.served, connection.used) = (0, 0);
        connection.server_closes = false;
        connection.decoder.reset();
        self.core.connecting += 1;
        match self.io.open(slot, nth) {
            Opening::Pending => {}
            Opening::Failed(errno) => self.connect_failed(slot, losses::connect_error(errno)),
        }
    }

    pub(super) fn connected(&mut self, slot: u32) {
        self.tick();
        let handshake = self.io.handshake(slot);
        let core = &mut self.core;
        let connection = &core.connections[slot as usize];
        let until_writable_ns = core.now - connection.mark;
        core.recorder.connected(until_writable_ns, handshake, !connection.was_opened);
        if core.security.is_some() { self.secure(slot) } else { self.take_into_use(slot) }
    }

    /// The connection can carry requests.
    pub(super) fn take_into_use(&mut self, slot: u32) {
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        connection.link = Link::Up;
        connection.free_at = core.now;
        let is_first = !std::mem::replace(&mut connection.was_opened, true);
        core.connecting -= 1;
        core.recorder.opened(is_first);
        if connection.pending > 0 {
            self.send_pending(slot);
        } else {
            self.opened_idle(slot);
        }
    }

    /// Sends what is due on an open connection.
    #[inline]
    pub(super) fn send_pending(&mut self, slot: u32) {
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        if connection.unsent.start != connection.unsent.end {
            // The last write is not through yet (pipelining): these follow it.
            return;
        }
        let count = connection.pending;
        let slice = core.wire.slice(core.template, count);
        // What is only queued is stamped when it is handed over.
        let is_queued = I::QUEUES && core.pipeline == 1 && core.security.is_none();
        let sent_at = if is_queued { core.now } else { clock::now_ns() };
        core.enter(slot, sent_at);
        match self.transmit(slot, slice) {
            Sending::Done => self.core.stamp(slot, count, sent_at),
            Sending::Queued => self.core.queued.push((slot, count)),
            Sending::Blocked(written) => {
                self.core.connections[slot as usize].unsent =
                    Slice { start: slice.start + written, end: slice.end };
                self.core.stamp(slot, count, sent_at);
            }
            Sending::Failed(errno) => {
                self.core.stamp(slot, count, sent_at);
                self.closed(slot, Some(errno));
            }
        }
    }

    /// Sends a part of the wire, through TLS if there is any, and counts the bytes that go out.
    #[inline]
    fn transmit(&mut self, slot: u32, slice: Slice) -> Sending {
        if self.core.security.is_some() {
            return self.seal(slot, slice);
        }
        let sending = self.io.send(slot, slice);
        self.core.recorder.bytes_out(match sending {
            Sending::Done | Sending::Queued => slice.end - slice.start,
            Sending::Blocked(written) => written,
            Sending::Failed(_) => 0,
        });
        sending
    }

    /// The kernel takes more: what is left of the last write, then what has become due meanwhile.
    pub(super) fn writable(&mut self, slot: u32) {
        if self.core.security.is_some() && !self.flush_rest(slot) {
            return;
        }
        let slice = self.core.connections[slot as usize].unsent;
        if slice.start != slice.end {
            let written = match self.transmit(slot, slice) {
                Sending::Done | Sending::Queued => slice.end - slice.start,
                Sending::Blocked(written) => written,
                Sending::Failed(errno) => return self.closed(slot, Some(errno)),
            };
            self.core.connections[slot as usize].unsent.start += written;
        }
        let connection = &self.core.connections[slot as usize];
        if connection.pending > 0 && connection.link == super::connection::Link::Up {
            self.send_pending(slot);
        }
    }
}

impl Core<'_> {
    /// Moves the pending requests of `slot` in flight.
    #[inline]
    fn enter(&mut self, slot: u32, sent_at: u64) {
        let intended_at = self.connections[slot as usize].pending_since;
        let stretch = self.stretch_of(intended_at) as u32;
        let connection = &mut self.connections[slot as usize];
        let count = std::mem::take(&mut connection.pending);
        let sendable_at = intended_at.max(connection.free_at);
        let base = slot as usize * self.pipeline as usize;
        for _ in 0..count {
            let place = (connection.head + connection.in_flight) % self.pipeline;
            self.in_flight[base + place as usize] =
                InFlight { intended_at, sendable_at, sent_at, template: self.template, stretch };
            connection.in_flight += 1;
            self.template += 1;
            if self.template == self.wire.count() {
                self.template = 0;
            }
        }
        connection.used += count;
        connection.server_closes = false;
        self.recorder.tally(stretch as usize).requests.sent += u64::from(count);
        self.recorder.window().sent += u64::from(count);
    }

    /// The last `count` requests of `slot` are with the kernel since `sent_at`.
    #[inline]
    pub(super) fn stamp(&mut self, slot: u32, count: u32, sent_at: u64) {
        let connection = &self.connections[slot as usize];
        let base = slot as usize * self.pipeline as usize;
        for i in connection.in_flight.saturating_sub(count)..connection.in_flight {
            let request =
                &mut self.in_flight[base + ((connection.head + i) % self.pipeline) as usize];
            request.sent_at = sent_at;
            let lag_ns = request.send_lag_ns();
            self.recorder.sent_late_by(lag_ns);
        }
    }
}
