//! Handles connections whose transport has a handshake. A load over plain TCP uses nothing of this.
use pippin_model::result::ErrorKind;

use super::answers::Reading;
use super::connection::Link;
use super::{Stack, Worker};
use crate::io::{Io, Sending};
use crate::protocol::{End, Protocol};
use crate::tls::reason;
use crate::transport::{Broken, Handshake, Received, Transport};

impl<S: Stack> Worker<'_, S> {
    /// The socket is open: the transport's handshake begins.
    pub(super) fn secure(&mut self, slot: u32) {
        let connection = &mut self.core.connections[slot as usize];
        connection.link = Link::Securing;
        connection.free_at = self.core.now;
        let begun = self.transport.begin(&mut self.io, &mut connection.transport, slot);
        self.count_sent();
        match begun {
            Handshake::UnderWay => {}
            Handshake::Done => self.secured(slot),
            Handshake::Failed(why) => self.handshake_failed(slot, &why),
        }
    }

    /// Bytes of the transport arrived. Their content is read like every answer.
    pub(super) fn received_secured(&mut self, slot: u32) {
        let state = &mut self.core.connections[slot as usize].transport;
        let Received { bytes, handshake, broken } = self.transport.receive(&mut self.io, state);
        // Read the clock after decrypting, so that the time spent on it counts.
        self.tick_received();
        if self.core.recorder.finished_at.is_some() {
            return;
        }
        self.core.recorder.bytes_in(bytes);
        if self.core.connections[slot as usize].link == Link::Securing {
            match handshake {
                Handshake::Done => {
                    let is_spoilt =
                        S::Protocol::IN_ORDER && !self.transport.input(&self.io).is_empty();
                    self.core.connections[slot as usize].is_spoilt = is_spoilt;
                    self.secured(slot);
                }
                Handshake::UnderWay => _ = self.flush_or_fail(slot),
                Handshake::Failed(why) => {
                    self.flush(slot);
                    self.handshake_failed(slot, &why);
                }
            }
        }
        if self.core.is_greeting(slot) {
            self.received_greeting_secured(slot, broken);
        } else if self.core.is_up(slot) {
            self.read_secured(slot, broken);
        }
    }

    /// Reads on; then the connection goes on, or ends for reasons of its own.
    fn read_secured(&mut self, slot: u32, broken: Option<Broken>) {
        let input = self.transport.input(&self.io);
        let reading =
            if input.is_empty() { Reading::default() } else { self.core.read(slot, input) };
        match broken {
            Some(broken) => {
                self.transport.note_failure(&broken.why);
                if reading.fault.is_some() {
                    self.has_read(slot, reading)
                } else {
                    self.session_broken(slot, broken.is_close, reading.settled)
                }
            }
            None => {
                self.has_read(slot, reading);
                self.after_reading(slot);
            }
        }
    }

    /// The connection may be gone by now, and another one may be opening in its slot.
    pub(super) fn after_reading(&mut self, slot: u32) {
        if !self.core.carries_bytes(slot) || self.core.recorder.finished_at.is_some() {
            return;
        }
        if S::Transport::is_closed_by_peer(&self.core.connections[slot as usize].transport) {
            self.closed(slot, None);
        } else {
            _ = self.flush_or_fail(slot);
        }
    }

    /// The handshake is done.
    fn secured(&mut self, slot: u32) {
        let core = &mut self.core;
        let connection = &core.connections[slot as usize];
        core.recorder.secured(core.now.saturating_sub(connection.free_at), !connection.was_opened);
        self.carries(slot);
    }

    /// The handshake failed. For the load, this is a connection that could not be opened.
    pub(super) fn handshake_failed(&mut self, slot: u32, why: &str) {
        self.io.close(slot);
        self.core.connections[slot as usize].transport = Default::default();
        self.transport.note_failure(why);
        self.connect_failed(slot, ErrorKind::Tls);
    }

    /// A connection in use broke in its transport, after `settled` complete answers. An orderly
    /// alert of the server is a close with a reason.
    pub(super) fn session_broken(&mut self, slot: u32, is_close: bool, settled: u32) {
        self.flush(slot);
        let connection = &mut self.core.connections[slot as usize];
        if connection.in_flight > 0 {
            let kind = match S::Protocol::end(&mut connection.protocol) {
                _ if !is_close => ErrorKind::Malformed,
                End::BeforeHead { .. } => ErrorKind::CloseBeforeAnswer,
                End::InBody | End::Complete => ErrorKind::CloseInBody,
            };
            return self.broken(slot, kind, settled);
        }
        // No request was under way: a close, whose reason is noted.
        if settled == 0 {
            return self.ended_idle(slot);
        }
        self.server_closed(slot);
        let now = self.core.now;
        self.after_requests(slot, now);
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
    fn flush_or_fail(&mut self, slot: u32) -> bool {
        let Sending::Failed(errno) = self.flush(slot) else { return true };
        self.closed(slot, Some(errno));
        false
    }

    /// The kernel takes more: sends the rest of the transport's own bytes first. Returns whether
    /// requests may follow.
    pub(super) fn flush_rest(&mut self, slot: u32) -> bool {
        S::Transport::unblock(&mut self.core.connections[slot as usize].transport);
        match self.flush(slot) {
            Sending::Failed(errno) => {
                self.rest_failed(slot, errno);
                false
            }
            Sending::Blocked(_) => false,
            Sending::Done | Sending::Queued => self.core.carries_bytes(slot),
        }
    }

    /// Counts what the transport has sent of its own.
    pub(super) fn count_sent(&mut self) {
        let sent = self.transport.take_sent();
        self.core.recorder.bytes_out(sent);
    }

    /// Why a connection ended in its handshake.
    pub(super) fn closed_in_handshake(&mut self, slot: u32, errno: Option<i32>) {
        let why =
            if errno.is_none() { reason::CLOSED_IN_HANDSHAKE } else { reason::RESET_IN_HANDSHAKE };
        self.handshake_failed(slot, why);
    }
}
