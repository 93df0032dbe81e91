//! Handles connections whose protocol begins with a handshake of its own (WebSocket, QUIC). A load over
//! HTTP/1.1 or HTTP/2 uses nothing of this.
use pippin_model::result::ErrorKind;

use super::Link;
use crate::io::{Io, Sending};
use crate::protocol::{Greeting, Greets, Outgoing as _, Protocol};
use crate::transport::{Broken, Transport};
use crate::worker::seats::{Seating as _, SeatsOf};
use crate::worker::{Core, GreetingOf, Stack, Worker};

impl<S: Stack> Worker<'_, S> {
    /// The transport carries bytes: the connection can be used, or its protocol's handshake begins.
    pub(in crate::worker) fn carries(&mut self, slot: u32, now: u64) {
        if !S::Protocol::GREETS {
            return self.take_into_use(slot, now);
        }
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        connection.link = Link::Greeting;
        connection.free_at = now;
        core.protocol.begin(&mut connection.protocol, &mut connection.out);
        if let Sending::Failed(_) = self.transmit(slot) {
            self.greeting_failed(slot, GreetingOf::<S>::CLOSED, now);
        }
    }

    /// Bytes came while the handshake was under way.
    pub(in crate::worker) fn received_greeting(&mut self, slot: u32, now: u64) {
        self.greet(slot, true, now);
    }

    /// The handshake goes on: bytes came, or its time has come.
    pub(in crate::worker) fn greet(&mut self, slot: u32, has_input: bool, now: u64) {
        let input = if has_input { self.transport.input(&self.io) } else { &[] };
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        let (state, out) = (&mut connection.protocol, &mut connection.out);
        match GreetingOf::<S>::greet(&mut core.protocol, state, input, out) {
            Greeting::UnderWay if connection.out.is_empty() => {}
            Greeting::UnderWay => {
                if let Sending::Failed(_) = self.transmit(slot) {
                    self.greeting_failed(slot, GreetingOf::<S>::CLOSED, now);
                }
            }
            Greeting::Failed(why) => self.greeting_failed(slot, &why, now),
            Greeting::Done { used } => {
                let took_ns = core.arrived.saturating_sub(connection.free_at);
                if GreetingOf::<S>::SECURES {
                    core.recorder.secured(took_ns, !connection.was_opened);
                } else {
                    core.recorder.upgraded(took_ns, !connection.was_opened);
                }
                connection.link = Link::Up;
                let reading = SeatsOf::<S>::read(core, slot, &input[used..], now);
                self.take_into_use(slot, now);
                if self.core.is_up(slot) {
                    SeatsOf::<S>::has_read(self, slot, reading, now);
                }
            }
        }
    }

    /// A greeting came over a transport that may have broken meanwhile.
    pub(in crate::worker) fn received_greeting_secured(
        &mut self,
        slot: u32,
        broken: Option<Broken>,
        now: u64,
    ) {
        self.received_greeting(slot, now);
        match broken {
            Some(broken) if self.core.is_greeting(slot) => {
                self.transport.note_failure(&broken.why);
                self.greeting_failed(slot, GreetingOf::<S>::CLOSED, now);
            }
            Some(broken) if self.core.is_up(slot) => {
                self.transport.note_failure(&broken.why);
                self.session_broken(slot, broken.is_close, 0, now);
            }
            Some(_) => {}
            None => self.after_reading(slot, now),
        }
    }

    /// For the load, this is a connection that could not be opened.
    fn greeting_failed(&mut self, slot: u32, why: &str, now: u64) {
        if S::Transport::SECURES {
            let state = &mut self.core.connections[slot as usize].transport;
            self.transport.leave(&mut self.io, state, slot);
            self.count_sent();
        }
        self.io.close(slot);
        let core = &mut self.core;
        GreetingOf::<S>::note_failure(&mut core.protocol, why);
        let connection = &mut core.connections[slot as usize];
        (connection.out, connection.protocol) = Default::default();
        let kind = if GreetingOf::<S>::SECURES { ErrorKind::Tls } else { ErrorKind::Upgrade };
        self.connect_failed(slot, kind, now);
    }

    /// The connection ended in the handshake.
    pub(in crate::worker) fn closed_in_greeting(&mut self, slot: u32, now: u64) {
        self.greeting_failed(slot, GreetingOf::<S>::CLOSED, now);
    }

    /// The handshake takes too long.
    pub(in crate::worker) fn greeting_is_late(&mut self, slot: u32, now: u64) {
        let core = &self.core;
        let state = &core.connections[slot as usize].protocol;
        let why = GreetingOf::<S>::late(&core.protocol, state);
        self.greeting_failed(slot, &why, now);
    }

    /// Sends the protocol's goodbye before we close an open connection. A failure is ignored.
    pub(in crate::worker) fn part(&mut self, slot: u32) {
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        GreetingOf::<S>::leave(&core.protocol, &mut connection.protocol, &mut connection.out);
        _ = self.transmit(slot);
    }

    /// The load is over: all connections that are open end in order.
    pub(in crate::worker) fn part_from_all(&mut self) {
        for slot in 0..self.core.connections.len() as u32 {
            if self.core.is_up(slot) {
                self.part(slot);
            }
        }
    }
}

impl<S: Stack> Core<'_, S> {
    /// Whether the handshake of the protocol is under way.
    #[inline]
    pub(in crate::worker) fn is_greeting(&self, slot: u32) -> bool {
        S::Protocol::GREETS && self.connections[slot as usize].link == Link::Greeting
    }

    /// Whether bytes of the protocol may go over the connection.
    #[inline]
    pub(in crate::worker) fn carries_bytes(&self, slot: u32) -> bool {
        self.is_up(slot) || self.is_greeting(slot)
    }
}
