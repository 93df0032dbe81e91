//! Closed loops: a few answers are read one after the other, then the next requests of their users are
//! sent one after the other.
//!
//! A call that sends goes through the kernel's whole network code. If each answer is followed by such a call,
//! the processor's caches must load the code and data of this thread again for each answer
//! (docs/engine-cost.md).
use super::{Core, Stack, Worker};
use crate::io::{Event, Io as _};
use crate::protocol::Outgoing as _;

/// The most small answers that are read before the next requests are sent. The first of these requests waits
/// while the others are read: about 0.3 us each.
const MOST: usize = 16;
/// Reading so many bytes takes about as long as one small answer.
const SMALL_BYTES: usize = 4_096;

/// Requests that are rendered and not sent.
#[derive(Default)]
pub(super) struct Ready {
    /// Connections, and how many requests each has.
    requests: Vec<(u32, u32)>,
    /// What was read since the first of them was rendered, in small answers.
    read: usize,
    /// Whether answers are being read. Never in a load whose requests have planned instants.
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

    /// An event was looked at, with so many bytes; `None` if it brought none.
    #[inline]
    fn has_read(&mut self, bytes: Option<usize>) {
        if !self.requests.is_empty() {
            // Whatever else there is, as a handshake, takes longer than an answer.
            self.read += bytes.map_or(MOST, |bytes| 1 + bytes / SMALL_BYTES);
        }
    }
}

impl<S: Stack> Core<'_, S> {
    /// Answers are read from now on.
    #[inline]
    pub(super) fn begins_to_read(&mut self) {
        self.ready.is_reading = !self.has_plan;
    }
}

impl<S: Stack> Worker<'_, S> {
    /// The next event. Before that, what has waited long enough is sent.
    ///
    /// If something is ready on the connection of the event, it is sent first too. A connection that ends by
    /// that has no more events.
    #[inline]
    pub(super) fn next_event(&mut self) -> Option<Event> {
        loop {
            if self.core.ready.read >= MOST {
                self.send_ready();
            }
            let event = self.io.next_event()?;
            if self.core.ready.requests.is_empty() {
                return Some(event);
            }
            let slot = event.slot();
            if self.core.connections[slot as usize].out.is_empty() {
                return Some(event);
            }
            let was_up = self.core.is_up(slot);
            self.send_ready();
            if !was_up || self.core.is_up(slot) {
                return Some(event);
            }
        }
    }

    /// An event was looked at.
    #[inline]
    pub(super) fn has_seen(&mut self, event: Event) {
        let bytes = matches!(event, Event::Received { .. }).then(|| self.io.received().len());
        self.core.ready.has_read(bytes);
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
            // Over TLS, an answer may bring the end of its connection along, after the next request was rendered.
            if self.core.is_up(slot) && self.core.connections[slot as usize].in_flight >= count {
                self.depart(slot, count, self.now);
            }
        }
        self.core.ready.requests.clear();
        self.core.ready.read = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Ready, SMALL_BYTES};

    #[test]
    fn requests_are_kept_only_while_answers_are_read() {
        let mut ready = Ready::default();
        assert!(!ready.takes(3, 1), "it is sent at once");
        ready.is_reading = true;
        assert!(ready.takes(3, 1) && ready.takes(1, 16));
        assert_eq!(ready.requests, [(3, 1), (1, 16)], "in the order of their answers");
    }

    #[test]
    fn large_answers_and_handshakes_count_as_many_small_ones() {
        let mut ready = Ready { is_reading: true, ..Ready::default() };
        ready.has_read(Some(1_000));
        assert_eq!(ready.read, 0, "nothing waits for it");
        ready.takes(0, 1);
        ready.has_read(Some(100));
        ready.has_read(Some(2 * SMALL_BYTES));
        assert_eq!(ready.read, 1 + 3);
        ready.has_read(None);
        assert!(ready.read >= MOST);
    }
}
