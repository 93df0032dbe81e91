//! Loads in which the first connection sends and every connection is to have the answer (broadcasts
//! over WebSocket): the other connections have no users, they listen. In any other load nothing of
//! this runs.
use pippin_model::result::ErrorKind;

use super::{Seating as _, SeatsOf};
use crate::protocol::{Protocol, Reaches as _};
use crate::worker::link::Link;
use crate::worker::{Core, Stack, Worker};

/// The connection that sends.
const SENDER: u32 = 0;

/// Who is to have the answers of a stack's protocol.
type ReachOf<S> = <<S as Stack>::Protocol as Protocol>::Reach;

impl<S: Stack> Core<'_, S> {
    /// Whether answers are counted for each connection. One that is everybody's is nobody's.
    pub(in crate::worker) const ACCOUNTS_BY_CONNECTION: bool = !S::Protocol::REACHES_ALL;
    /// Whether answers that were read together have one stamp. A message to all has the stamps of its
    /// receivers, and what lies in one datagram came at once.
    pub(in crate::worker) const SHARES_STAMPS: bool =
        !S::Protocol::REACHES_ALL && !S::Protocol::IN_DATAGRAMS;

    /// The connection that sent the request to which an answer on this one belongs.
    #[inline]
    pub(in crate::worker) const fn asker(slot: u32) -> u32 {
        if S::Protocol::REACHES_ALL { SENDER } else { slot }
    }

    /// Whether a connection has no users.
    #[inline]
    pub(in crate::worker) const fn listens(slot: u32) -> bool {
        S::Protocol::REACHES_ALL && slot != SENDER
    }

    /// Connections that have users: the first ones.
    pub(in crate::worker) fn with_users(&self) -> u32 {
        if S::Protocol::REACHES_ALL { 1 } else { self.connections.len() as u32 }
    }

    /// Whether the answer under way has not come on a connection that listens.
    pub(in crate::worker) fn lacks_answer(&self, slot: u32) -> bool {
        ReachOf::<S>::lacks(&self.protocol, &self.connections[slot as usize].protocol)
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
        S::Protocol::REACHES_ALL && self.recorder.live < self.connections.len() as u64
    }

    /// Why nothing could be sent to all; `None` where a request is to reach nobody else.
    pub(in crate::worker) fn missed_by_some(&self) -> Option<ErrorKind> {
        let why = self.streams.missing.unwrap_or(ErrorKind::CloseBeforeAnswer);
        S::Protocol::REACHES_ALL.then_some(why)
    }

    /// Every connection has the answer: it arrived when the last one had it, whichever was read
    /// last.
    #[inline]
    pub(in crate::worker) fn completed_for_all(&mut self, slot: u32, tag: u32) {
        if S::Protocol::REACHES_ALL {
            let answering = self.streams.answering(slot, tag);
            (self.arrived, self.is_stamped) = (answering.last_at, !answering.is_unstamped);
        }
    }

    /// The connection that sent is free since everybody has the answer. Any other that was full is
    /// free when what arrived for it was read.
    #[inline]
    pub(in crate::worker) fn freed_by_all(&mut self, slot: u32) {
        if S::Protocol::REACHES_ALL {
            self.connections[slot as usize].free_at = self.arrived;
        }
    }

    /// A request failed: nobody is to have its answer any more.
    pub(in crate::worker) fn cancelled_for_all(&mut self, slot: u32, tag: u32) {
        if S::Protocol::REACHES_ALL {
            self.cancel(slot, tag);
        }
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
        if !S::Protocol::REACHES_ALL || self.core.misses_some() {
            return;
        }
        self.core.connections[SENDER as usize].free_at = now;
        self.go_on(SENDER, now);
        self.dispatch(now);
    }
}
