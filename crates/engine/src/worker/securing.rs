//! Connections over TLS: the handshake, and the way of bytes through the codec. In a load without
//! TLS nothing of this runs.
use pippin_model::load_result::ErrorKind;
use pippin_model::tls::TlsUse;

use super::answers::Reading;
use super::connection::Link;
use super::{Core, Worker};
use crate::http1::Eof;
use crate::io::{Io, Sending};
use crate::tls::{Client, Session, reason};
use crate::wire::Slice;

/// What a thread needs for TLS.
pub(super) struct Security {
    client: Client,
    /// What the bytes that arrived last hold.
    plaintext: Vec<u8>,
    pub seen: TlsUse,
}

/// How much of a large request is encrypted before the kernel has taken what came before.
const PORTION_BYTES: u32 = 64 * 1024;

impl Security {
    pub fn new(client: Client, seen: TlsUse) -> Self {
        Self { client, plaintext: Vec::new(), seen }
    }
}

impl<I: Io> Worker<'_, I> {
    /// The transport is open: the handshake begins.
    pub(super) fn secure(&mut self, slot: u32) {
        let core = &mut self.core;
        let Some(security) = &core.security else { return };
        let connection = &mut core.connections[slot as usize];
        connection.link = Link::Securing;
        let began = std::mem::replace(&mut connection.mark, core.now);
        match Session::new(&security.client, began) {
            Ok(session) => {
                connection.tls = Some(Box::new(session));
                _ = self.flush_or_fail(slot);
            }
            Err(error) => self.handshake_failed(slot, &reason::in_words(&error)),
        }
    }

    /// Ciphertext arrived: what it holds goes the way of all answers.
    pub(super) fn unseal(&mut self, slot: u32) {
        let input = self.io.received_mut();
        let received = input.len();
        let core = &mut self.core;
        let (Some(security), Some(session)) =
            (&mut core.security, &mut core.connections[slot as usize].tls)
        else {
            return;
        };
        let mut plaintext = std::mem::take(&mut security.plaintext);
        let result = session.receive(input, &mut plaintext);
        // Only now: a handshake is done, and a body is read, when the mathematics are.
        self.tick_received();
        if self.core.recorder.finished_at.is_some() {
            return;
        }
        self.core.recorder.bytes_in(received);
        if self.core.connections[slot as usize].link == Link::Securing {
            self.go_on_securing(slot, &result);
        }
        if self.is_secured(slot) {
            self.read_unsealed(slot, &plaintext, result);
        }
        plaintext.clear();
        if let Some(security) = &mut self.core.security {
            security.plaintext = plaintext;
        }
    }

    /// Plaintext goes the way of all answers; then the connection goes on, or ends for reasons of
    /// its own.
    fn read_unsealed(&mut self, slot: u32, plaintext: &[u8], result: Result<(), rustls::Error>) {
        let reading =
            if plaintext.is_empty() { Reading::default() } else { self.core.read(slot, plaintext) };
        match result {
            Err(error) => {
                self.core.note_failure(&reason::in_words(&error));
                if reading.fault.is_some() {
                    self.has_read(slot, reading)
                } else {
                    self.session_broken(slot, &error, reading.settled)
                }
            }
            Ok(()) => {
                self.has_read(slot, reading);
                self.after_reading(slot);
            }
        }
    }

    /// A message of the handshake was taken.
    fn go_on_securing(&mut self, slot: u32, result: &Result<(), rustls::Error>) {
        let Some(session) = &self.core.connections[slot as usize].tls else { return };
        match (result, session.is_secured()) {
            (_, true) => self.secured(slot),
            (Ok(()), false) if session.is_closed_by_peer() => {
                self.handshake_failed(slot, reason::CLOSED_IN_HANDSHAKE)
            }
            (Ok(()), false) => _ = self.flush_or_fail(slot),
            (Err(error), false) => {
                self.flush(slot);
                self.handshake_failed(slot, &reason::in_words(error));
            }
        }
    }

    /// The connection may be gone by now, and another one be on its way in its slot.
    fn after_reading(&mut self, slot: u32) {
        if !self.is_secured(slot) || self.core.recorder.finished_at.is_some() {
            return;
        }
        if self.core.is_closed_by_peer(slot) {
            self.closed(slot, None);
        } else {
            _ = self.flush_or_fail(slot);
        }
    }

    fn is_secured(&self, slot: u32) -> bool {
        let connection = &self.core.connections[slot as usize];
        connection.link == Link::Up && connection.tls.is_some()
    }

    /// The handshake is done.
    fn secured(&mut self, slot: u32) {
        let core = &mut self.core;
        let connection = &core.connections[slot as usize];
        if let (Some(security), Some(session)) = (&mut core.security, &connection.tls) {
            security.seen.add(&session.negotiated());
        }
        core.recorder.secured(core.now.saturating_sub(connection.mark), !connection.was_opened);
        self.take_into_use(slot);
    }

    /// The handshake failed: for the load that is a connection that could not be opened.
    pub(super) fn handshake_failed(&mut self, slot: u32, why: &str) {
        self.io.close(slot);
        self.core.connections[slot as usize].tls = None;
        self.core.note_failure(why);
        self.connect_failed(slot, ErrorKind::Tls);
    }

    /// A secured connection broke within TLS, after `settled` answers that came whole. An alert is
    /// a close with a reason; anything else is no TLS.
    fn session_broken(&mut self, slot: u32, error: &rustls::Error, settled: u32) {
        self.flush(slot);
        let is_alert = matches!(error, rustls::Error::AlertReceived(_));
        let connection = &mut self.core.connections[slot as usize];
        if connection.in_flight > 0 {
            let kind = match connection.decoder.eof() {
                _ if !is_alert => ErrorKind::Malformed,
                Eof::BeforeAnswer | Eof::InHead => ErrorKind::CloseBeforeAnswer,
                Eof::InBody | Eof::Complete => ErrorKind::CloseInBody,
            };
            return self.broken(slot, kind, settled);
        }
        // No request is concerned: a close, whose reason is noted.
        self.server_closed(slot);
        if settled > 0 {
            let now = self.core.now;
            self.after_requests(slot, now);
        }
    }

    /// Encrypts a part of the wire and sends it; `Blocked` counts what the session has taken.
    pub(super) fn seal(&mut self, slot: u32, slice: Slice) -> Sending {
        let mut at = slice.start;
        while at < slice.end {
            let core = &mut self.core;
            let Some(session) =
                core.connections[slot as usize].tls.as_mut().filter(|session| !session.is_blocked)
            else {
                break;
            };
            let end = (at + PORTION_BYTES).min(slice.end);
            if session.seal(core.wire.bytes(Slice { start: at, end })).is_err() {
                return Sending::Failed(libc::EPROTO);
            }
            at = end;
            match self.flush(slot) {
                Sending::Done => {}
                Sending::Queued if at == slice.end => return Sending::Queued,
                Sending::Queued | Sending::Blocked(_) => break,
                failed @ Sending::Failed(_) => return failed,
            }
        }
        if at == slice.end && !self.core.is_blocked(slot) {
            Sending::Done
        } else {
            Sending::Blocked(at - slice.start)
        }
    }

    /// Hands ciphertext to the kernel, as much as it takes.
    fn flush(&mut self, slot: u32) -> Sending {
        let Some(session) = &mut self.core.connections[slot as usize].tls else {
            return Sending::Done;
        };
        if session.is_blocked {
            return Sending::Blocked(0);
        }
        let outgoing = session.outgoing();
        if outgoing.is_empty() {
            return Sending::Done;
        }
        let sending = self.io.send_bytes(slot, outgoing);
        let taken = match sending {
            Sending::Done | Sending::Queued => outgoing.len() as u32,
            Sending::Blocked(taken) => taken,
            Sending::Failed(_) => 0,
        };
        session.is_blocked = matches!(sending, Sending::Blocked(_));
        session.took(taken as usize);
        self.core.recorder.bytes_out(taken);
        sending
    }

    /// The same where nothing waits for the outcome; whether the connection still stands.
    fn flush_or_fail(&mut self, slot: u32) -> bool {
        let Sending::Failed(errno) = self.flush(slot) else { return true };
        self.closed(slot, Some(errno));
        false
    }

    /// The kernel takes more: first what is left of the ciphertext. Whether requests may follow it.
    pub(super) fn flush_rest(&mut self, slot: u32) -> bool {
        if let Some(session) = &mut self.core.connections[slot as usize].tls {
            session.is_blocked = false;
        }
        self.flush_or_fail(slot) && self.is_secured(slot) && !self.core.is_blocked(slot)
    }

    /// Before a connection is closed by us.
    pub(super) fn say_goodbye(&mut self, slot: u32) {
        if let Some(session) = &mut self.core.connections[slot as usize].tls {
            session.say_goodbye();
            self.flush(slot);
            self.core.connections[slot as usize].tls = None;
        }
    }
}

impl Core<'_> {
    /// Whether the server has said that nothing more will come.
    #[inline]
    pub(super) fn is_closed_by_peer(&self, slot: u32) -> bool {
        self.connections[slot as usize]
            .tls
            .as_ref()
            .is_some_and(|session| session.is_closed_by_peer())
    }

    /// Whether the end of the connection is the server's word, and not that of anyone between:
    /// TCP's is taken as it comes, TLS has its own.
    pub(super) fn end_is_authentic(&self, slot: u32) -> bool {
        self.connections[slot as usize]
            .tls
            .as_ref()
            .is_none_or(|session| session.is_closed_by_peer())
    }

    fn is_blocked(&self, slot: u32) -> bool {
        self.connections[slot as usize].tls.as_ref().is_some_and(|session| session.is_blocked)
    }

    /// Counts why a handshake failed or a session broke.
    pub(super) fn note_failure(&mut self, why: &str) {
        if let Some(security) = &mut self.security {
            security.seen.fail(why);
        }
    }
}
