//! Who sends the next request, and when: the schedule.
use pippin_model::load_spec::{LoadSpec, Schedule};
use pippin_model::units::Spread;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::Worker;
use super::connection::Link;
use crate::io::Io;

/// The users of a thread.
pub(super) enum Users {
    /// One for each connection.
    Closed { think: Option<Thinking> },
}

/// Draws think times.
pub(super) struct Thinking {
    spread: Spread,
    random: Xoshiro256PlusPlus,
}

impl Thinking {
    fn new(spread: Spread, seed: u64, thread: u32) -> Self {
        Self { spread, random: Xoshiro256PlusPlus::seed_from_u64(seed ^ u64::from(thread).wrapping_mul(0x9E37_79B9_7F4A_7C15)) }
    }

    fn draw(&mut self) -> u64 {
        self.spread.at(unit(self.random.next_u64()))
    }
}

/// 53 random bits as a number from 0 to 1, 1 excluded.
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

impl Users {
    pub fn new(spec: &LoadSpec, thread: u32, _slots: u32) -> Self {
        match &spec.schedule {
            Schedule::Closed { think } => Self::Closed { think: think.map(|spread| Thinking::new(spread, spec.seed, thread)) },
            Schedule::Open { .. } | Schedule::Devices { .. } => Self::Closed { think: None },
        }
    }

    /// Whether requests that are under way when measuring starts are measured: in a closed loop one follows the other without end, and
    /// leaving those out would count N requests too few in every load.
    pub const fn carries_over(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }
}

/// How long a user waits after a connection could not be opened, before it tries again.
const RETRY_AFTER_NS: u64 = 10_000_000;

impl<I: Io> Worker<'_, I> {
    /// Opens what must be open before the schedule starts.
    pub(super) fn set_up(&mut self) -> std::io::Result<()> {
        self.core.recorder.tell(crate::recorder::Message::SetUp);
        Ok(())
    }

    pub(super) fn wait_for_start(&mut self) -> std::io::Result<u64> {
        Ok(super::sleep_until(|| self.core.timeline.instants().start))
    }

    /// The schedule starts.
    pub(super) fn begin_users(&mut self, start: u64) {
        self.core.now = start;
        let timeouts = self.core.spec.timeouts;
        self.core.next_timeout_scan = start + timeouts.connect_ns.min(timeouts.request_ns);
        self.core.to_open = (0..self.core.connections.len() as u32).collect();
    }

    /// Everything that is due by now: first connections, users that have thought.
    pub(super) fn fire(&mut self) {
        while self.core.connecting < self.core.opening_at_once
            && let Some(slot) = self.core.to_open.pop_front()
        {
            let now = self.core.now;
            self.ready(slot, now, self.core.pipeline);
        }
        while let Some((slot, due)) = self.core.timers.pop(self.core.now) {
            self.core.connections[slot as usize].waiting = false;
            self.ready(slot, due, self.core.pipeline);
        }
    }

    /// The user of `slot` wants to send `count` requests, since `intended_at`.
    pub(super) fn ready(&mut self, slot: u32, intended_at: u64, count: u32) {
        let count = u64::from(count).min(self.core.quota) as u32;
        if count == 0 {
            return;
        }
        self.core.schedule(slot, intended_at, count);
        match self.core.connections[slot as usize].link {
            Link::Up => self.send_pending(slot),
            Link::Connecting => {}
            Link::Down => self.open(slot),
        }
    }

    /// `count` requests of `slot` are settled, well or not, since `at`: what the user does next.
    pub(super) fn after_requests(&mut self, slot: u32, at: u64, count: u32) {
        let Users::Closed { think } = &mut self.core.users;
        match think {
            None => self.ready(slot, at, count),
            Some(think) => {
                let due = at + think.draw();
                self.core.wake(slot, due);
            }
        }
    }

    /// The connection of `slot` could not be opened, and its requests were given up.
    pub(super) fn after_connect_failure(&mut self, slot: u32) {
        let due = self.core.now + RETRY_AFTER_NS;
        self.core.wake(slot, due);
    }
}

impl super::Core<'_> {
    /// The stretch that a request belongs to.
    #[inline]
    pub(super) fn stretch_of(&self, intended_at: u64) -> usize {
        if self.users.carries_over() { self.recorder.current } else { self.recorder.stretch_at(intended_at) }
    }

    fn wake(&mut self, slot: u32, due: u64) {
        self.connections[slot as usize].waiting = true;
        self.timers.set(slot, due);
    }

    /// Counts requests as due.
    fn schedule(&mut self, slot: u32, intended_at: u64, count: u32) {
        let stretch = self.stretch_of(intended_at);
        self.recorder.tally(stretch).requests.scheduled += u64::from(count);
        self.quota = if self.quota == u64::MAX { u64::MAX } else { self.quota - u64::from(count) };
        self.open_requests += u64::from(count);
        let connection = &mut self.connections[slot as usize];
        if connection.pending == 0 {
            connection.pending_since = intended_at;
        }
        connection.pending += count;
    }

    /// Measuring starts in a closed loop: what is due or under way now belongs to it.
    pub(super) fn carry_over(&mut self) {
        let (measured, warm_up) = (crate::recorder::MEASURED as u32, crate::recorder::WARM_UP as u32);
        let (mut sent, mut due) = (0, 0);
        for (slot, connection) in self.connections.iter_mut().enumerate() {
            due += u64::from(connection.pending);
            for i in 0..connection.in_flight {
                let request = &mut self.in_flight[slot * self.pipeline as usize + ((connection.head + i) % self.pipeline) as usize];
                if request.stretch == warm_up {
                    request.stretch = measured;
                    sent += 1;
                }
            }
        }
        let tally = self.recorder.tally(crate::recorder::MEASURED);
        tally.requests.scheduled += sent + due;
        tally.requests.sent += sent;
    }
}
