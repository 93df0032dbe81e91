//! Timers of connections whose protocol has its own (QUIC: packets that were lost, acknowledgements that
//! may wait a little). A load over TCP uses nothing of this.
use super::seats::{Seating as _, SeatsOf};
use super::{Core, Stack, Worker};
use crate::protocol::Protocol;

impl<S: Stack> Worker<'_, S> {
    /// Something happened to a connection: its timer may have changed.
    #[inline]
    pub(super) fn set_timer(&mut self, slot: u32) {
        if S::Protocol::HAS_TIMERS {
            self.core.set_timer(slot, self.now);
        }
    }

    /// Asks the connections whose time has come.
    #[inline]
    pub(super) fn run_timers(&mut self) {
        if !S::Protocol::HAS_TIMERS {
            return;
        }
        while self.core.recorder.finished_at.is_none()
            && let Some((slot, _)) = self.core.timers.pop(self.now)
        {
            self.its_time_has_come(slot, self.now);
            self.set_timer(slot);
        }
    }

    fn its_time_has_come(&mut self, slot: u32, now: u64) {
        (self.core.arrived, self.core.is_stamped) = (now, false);
        if self.core.is_greeting(slot) {
            self.greet(slot, false, now);
        } else if self.core.is_up(slot) {
            let reading = SeatsOf::<S>::read(&mut self.core, slot, &[], now);
            SeatsOf::<S>::has_read(self, slot, reading, now);
        }
    }
}

impl<S: Stack> Core<'_, S> {
    /// Sets the timer of a connection. One that is set for an earlier instant stays: the connection is
    /// then asked in vain, which is cheaper than to take a timer back with each packet.
    fn set_timer(&mut self, slot: u32, now: u64) {
        let session = &mut self.connections[slot as usize].protocol;
        let Some(due) = self.protocol.due(session) else { return };
        // Within one turn nobody is asked twice for the same instant.
        let due = due.max(now + 1);
        match self.timers.due_of(slot) {
            Some(before) if before <= due => return,
            Some(_) => self.timers.take_back(slot),
            None => {}
        }
        self.timers.set(slot, due);
    }
}
