//! Loads in which the first connection sends and every connection is to have the answer (broadcasts
//! over WebSocket): the other connections have no users, they listen. In any other load nothing of
//! this runs.
use pippin_model::result::ErrorKind;

use super::{Seating as _, SeatsOf};
use crate::protocol::Protocol;
use crate::worker::link::Link;
use crate::worker::{Core, Stack, Worker};

/// The connection that sends.
const SENDER: u32 = 0;

impl<S: Stack> Core<'_, S> {
    /// The connection that sent the request to which an answer on this one belongs.
    #[inline]
    pub(in crate::worker) const fn asker(slot: u32) -> u32 {
        if S::Protocol::GATHERS { SENDER } else { slot }
    }

    /// Whether a connection has no users.
    #[inline]
    pub(in crate::worker) const fn listens(slot: u32) -> bool {
        S::Protocol::GATHERS && slot != SENDER
    }

    /// Connections that have users: the first ones.
    pub(in crate::worker) fn with_users(&self) -> u32 {
        if S::Protocol::GATHERS { 1 } else { self.connections.len() as u32 }
    }

    /// Whether the answer under way has not come on a connection that listens.
    pub(in crate::worker) fn lacks_answer(&self, slot: u32) -> bool {
        self.protocol.lacks(&self.connections[slot as usize].protocol)
    }

    /// Remembers why a connection is missing that is to have the answer.
    pub(in crate::worker) fn note_missing(&mut self, slot: u32, why: ErrorKind) {
        if Self::listens(slot) {
            self.streams.missing = Some(why);
        }
    }

    /// Whether somebody is missing who is to have the answer.
    #[inline]
    pub(in crate::worker) fn misses_some(&self) -> bool {
        S::Protocol::GATHERS && self.recorder.live < self.connections.len() as u64
    }
}

impl<S: Stack> Worker<'_, S> {
    /// The schedule starts: what listens and could not be opened before is tried again.
    pub(in crate::worker) fn open_listeners(&mut self) {
        for slot in self.core.with_users()..self.core.connections.len() as u32 {
            let connection = &self.core.connections[slot as usize];
            if connection.link == Link::Down && !connection.has_failed {
                self.core.opening.waiting.push_back((slot, None));
            }
        }
    }

    /// A connection that listens has waited to be opened again.
    pub(in crate::worker) fn open_listener(&mut self, slot: u32, now: u64) {
        if self.core.connections[slot as usize].link == Link::Down {
            self.open(slot, now);
        }
    }

    /// A connection that listens has ended. `why`: for this reason what is under way cannot come to
    /// all any more; `None` if nothing is, or the connection has it. It is opened again after a
    /// while, and nothing is sent until then.
    pub(in crate::worker) fn listener_ended(
        &mut self,
        slot: u32,
        why: Option<ErrorKind>,
        now: u64,
    ) {
        self.drop_connection(slot);
        self.core.note_missing(slot, why.unwrap_or(ErrorKind::CloseBeforeAnswer));
        if let Some(kind) = why {
            if self.core.fail_all(SENDER, kind) > 0 {
                SeatsOf::<S>::after_requests(self, SENDER, now, now);
            } else {
                self.core.recorder.error(self.core.recorder.current, kind);
            }
        }
        self.after_failure(slot, now);
    }

    /// A connection is open: if it was the last one, what is due is sent. Nobody but the server
    /// kept it waiting until now.
    pub(in crate::worker) fn listener_opened(&mut self, now: u64) {
        if !S::Protocol::GATHERS || self.core.misses_some() {
            return;
        }
        self.core.connections[SENDER as usize].free_at = now;
        self.go_on(SENDER, now);
        self.dispatch(now);
    }
}
