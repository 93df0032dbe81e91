//! Handles connections whose transport has a handshake. A load over plain TCP uses nothing of this.
use pippin_model::result::ErrorKind;

use super::Link;
use crate::io::{Io, Sending};
use crate::protocol::{End, Protocol};
use crate::tls::reason;
use crate::transport::{Broken, Handshake, Received, Transport};
use crate::worker::answers::Reading;
use crate::worker::seats::{Seating as _, SeatsOf};
use crate::worker::{Stack, Worker};

impl<S: Stack> Worker<'_, S> {
    /// The socket is open: the transport's handshake begins.
    pub(in crate::worker) fn secure(&mut self, slot: u32, now: u64) {
        let connection = &mut self.core.connections[slot as usize];
        connection.link = Link::Securing;
        connection.free_at = now;
        let begun = self.transport.begin(&mut self.io, &mut connection.transport, slot);
        self.count_sent();
        match begun {
            Handshake::UnderWay => {}
            Handshake::Done => self.secured(slot, now),
            Handshake::Failed(why) => self.handshake_failed(slot, &why, now),
        }
    }

    /// Bytes of the transport arrived. Their content is read like every answer.
    pub(in crate::worker) fn received_secured(&mut self, slot: u32, received: Received, now: u64) {
        let Received { bytes, handshake, broken } = received;
        self.core.recorder.bytes_in(bytes);
        if self.core.connections[slot as usize].link == Link::Securing {
            match handshake {
                Handshake::Done => {
                    let is_spoilt =
                        !SeatsOf::<S>::IS_SHARED && !self.transport.input(&self.io).is_empty();
                    self.core.connections[slot as usize].is_spoilt = is_spoilt;
                    self.secured(slot, now);
                }
                Handshake::UnderWay => _ = self.flush_or_fail(slot, now),
                Handshake::Failed(why) => {
                    self.flush(slot);
                    self.handshake_failed(slot, &why, now);
                }
            }
        }
        if self.core.is_greeting(slot) {
            self.received_greeting_secured(slot, broken, now);
        } else if self.core.is_up(slot) {
            self.read_secured(slot, broken, now);
        }
    }

    /// Reads on; then the connection goes on, or ends for reasons of its own.
    fn read_secured(&mut self, slot: u32, broken: Option<Broken>, now: u64) {
        let input = self.transport.input(&self.io);
        let reading = if input.is_empty() {
            Reading::default()
        } else {
            SeatsOf::<S>::read(&mut self.core, slot, input, now)
        };
        match broken {
            Some(broken) => {
                self.transport.note_failure(&broken.why);
                if reading.fault.is_some() {
                    SeatsOf::<S>::has_read(self, slot, reading, now)
                } else {
                    self.session_broken(slot, broken.is_close, reading.settled, now)
                }
            }
            None => {
                SeatsOf::<S>::has_read(self, slot, reading, now);
                self.after_reading(slot, now);
            }
        }
    }

    /// The connection may be gone by now, and another one may be opening in its slot.
    pub(in crate::worker) fn after_reading(&mut self, slot: u32, now: u64) {
        if !self.core.carries_bytes(slot) || self.core.recorder.finished_at.is_some() {
            return;
        }
        if S::Transport::is_closed_by_peer(&self.core.connections[slot as usize].transport) {
            self.closed(slot, None, now);
        } else {
            _ = self.flush_or_fail(slot, now);
        }
    }

    /// The handshake is done.
    fn secured(&mut self, slot: u32, now: u64) {
        let core = &mut self.core;
        let connection = &core.connections[slot as usize];
        core.recorder.secured(now.saturating_sub(connection.free_at), !connection.was_opened);
        self.carries(slot, now);
    }

    /// The handshake failed. For the load, this is a connection that could not be opened.
    pub(in crate::worker) fn handshake_failed(&mut self, slot: u32, why: &str, now: u64) {
        self.io.close(slot);
        self.core.connections[slot as usize].transport = Default::default();
        self.transport.note_failure(why);
        self.connect_failed(slot, ErrorKind::Tls, now);
    }

    /// A connection in use broke in its transport, after `settled` complete answers. An orderly
    /// alert of the server is a close with a reason.
    pub(in crate::worker) fn session_broken(
        &mut self,
        slot: u32,
        is_close: bool,
        settled: u32,
        now: u64,
    ) {
        self.flush(slot);
        let connection = &mut self.core.connections[slot as usize];
        if connection.in_flight > 0 {
            let kind = match S::Protocol::end(&mut connection.protocol) {
                _ if !is_close => ErrorKind::Malformed,
                End::BeforeHead { .. } => ErrorKind::CloseBeforeAnswer,
                End::InBody | End::Complete => ErrorKind::CloseInBody,
            };
            return self.broken(slot, kind, settled, now);
        }
        // No request was under way: a close, whose reason is noted.
        if settled == 0 {
            return self.ended_idle(slot, now);
        }
        self.server_closed(slot, now);
        SeatsOf::<S>::after_requests(self, slot, now, now);
    }

    /// Hands the transport's own bytes to the kernel, as much as it takes.
    fn flush(&mut self, slot: u32) -> Sending {
        let state = &mut self.core.connections[slot as usize].transport;
        let sending = self.transport.flush(&mut self.io, state, slot);
        self.count_sent();
        sending
    }

    /// Flushes, and closes the connection if that fails. Returns whether the connection still
    /// exists.
    fn flush_or_fail(&mut self, slot: u32, now: u64) -> bool {
        let Sending::Failed(errno) = self.flush(slot) else { return true };
        self.closed(slot, Some(errno), now);
        false
    }

    /// The kernel takes more: sends the rest of the transport's own bytes first. Returns whether
    /// requests may follow.
    pub(in crate::worker) fn flush_rest(&mut self, slot: u32, now: u64) -> bool {
        S::Transport::unblock(&mut self.core.connections[slot as usize].transport);
        match self.flush(slot) {
            Sending::Failed(errno) => {
                self.rest_failed(slot, errno, now);
                false
            }
            Sending::Blocked(_) => false,
            Sending::Done => self.core.carries_bytes(slot),
        }
    }

    /// Counts what the transport has sent of its own.
    pub(in crate::worker) fn count_sent(&mut self) {
        let sent = self.transport.take_sent();
        self.core.recorder.bytes_out(sent);
    }

    /// Why a connection ended in its handshake.
    pub(in crate::worker) fn closed_in_handshake(
        &mut self,
        slot: u32,
        errno: Option<i32>,
        now: u64,
    ) {
        let why =
            if errno.is_none() { reason::CLOSED_IN_HANDSHAKE } else { reason::RESET_IN_HANDSHAKE };
        self.handshake_failed(slot, why, now);
    }
}
