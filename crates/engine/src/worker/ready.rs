//! Closed loops: a few answers are read one after the other, then the next requests of their users are
//! sent one after the other.
//!
//! A call that sends goes through the whole network of the kernel. Where each answer was followed by its
//! call, the code and data of this thread had to come back into the processor's caches for every answer
//! (docs/engine-cost.md).
use super::{Core, Stack, Worker};
use crate::io::Event;
use crate::protocol::Outgoing as _;

/// At most so many answers are read before the requests behind them are sent. The first of these leaves later
/// by the time that it takes to read the others, about 0.3 us each.
const MOST: usize = 16;

/// Requests that are rendered and not sent.
#[derive(Default)]
pub(super) struct Ready {
    /// Connections, and how many requests each has.
    requests: Vec<(u32, u32)>,
    /// Whether answers are read, in a load whose requests have no planned instant.
    is_reading: bool,
}

impl Ready {
    /// Whether the last `count` requests of a connection are sent later, with others.
    #[inline]
    pub fn takes(&mut self, slot: u32, count: u32) -> bool {
        if self.is_reading {
            self.requests.push((slot, count));
        }
        self.is_reading
    }
}

impl<S: Stack> Core<'_, S> {
    /// Answers are read from now on.
    #[inline]
    pub(super) fn begins_to_read(&mut self) {
        self.ready.is_reading = !self.has_plan;
    }

    /// Whether enough is ready to be sent, or the next event is about a connection that has something to send.
    #[inline]
    fn must_send_before(&self, event: Event) -> bool {
        let count = self.ready.requests.len();
        count >= MOST || count > 0 && !self.connections[event.slot() as usize].out.is_empty()
    }
}

impl<S: Stack> Worker<'_, S> {
    /// Sends what is ready, if it must be sent before this event is looked at.
    #[inline]
    pub(super) fn send_before(&mut self, event: Event) {
        if self.core.must_send_before(event) {
            self.send_ready();
        }
    }

    /// Answers were read: sends what is ready.
    #[inline]
    pub(super) fn has_read_all(&mut self) {
        self.send_ready();
        self.core.ready.is_reading = false;
    }

    /// Sends what is ready.
    #[inline]
    pub(super) fn send_ready(&mut self) {
        let mut next = 0;
        while let Some(&(slot, count)) = self.core.ready.requests.get(next) {
            next += 1;
            self.depart(slot, count, self.now);
        }
        self.core.ready.requests.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Ready;

    #[test]
    fn requests_are_kept_only_while_answers_are_read() {
        let mut ready = Ready::default();
        assert!(!ready.takes(3, 1), "it is sent at once");
        ready.is_reading = true;
        assert!(ready.takes(3, 1) && ready.takes(1, 16));
        assert_eq!(ready.requests, [(3, 1), (1, 16)], "in the order of their answers");
    }
}
