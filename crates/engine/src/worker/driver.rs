//! The loop of a thread, and the only part of the worker that reads a clock: everything else is
//! told the instant at which it happens.
//!
//! The clock is read once a turn, once for each event that has a time of its own, and around a call
//! that sends.
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::departure::Departure;
use super::link::losses;
use super::{GreetingOf, Stack, Worker};
use crate::error::{EngineError, panic_text};
use crate::io::{Event, Io, Opening, Sending};
use crate::protocol::{Greeted, Greets, Protocol};
use crate::record::outcome::{Mark, Outcome};
use crate::record::recorder::{Crossing, MEASURED, Message};
use crate::time::clock::{self, Clock};
use crate::time::timeline::UNKNOWN;
use crate::transport::Transport;

/// The longest sleep: how late a thread can notice that the load was stopped.
pub(super) const MAX_WAIT_NS: u64 = 10_000_000;
/// How long servers have to take in the last connection that listens.
const TAKEN_IN_NS: u64 = 100_000_000;

impl<S: Stack> Worker<'_, S> {
    /// The whole life of the thread. What was measured survives a failure.
    pub fn run(mut self) -> Outcome {
        let failure = match catch_unwind(AssertUnwindSafe(|| self.live())) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("a worker could not wait for events: {error}")),
            Err(panic) => Some(format!("a worker panicked: {}", panic_text(&*panic))),
        };
        if failure.is_some() {
            self.core.recorder.finish(S::Clock::now_ns());
            self.mark();
        }
        Outcome { failure: failure.map(EngineError::died), ..self.into_outcome() }
    }

    pub(super) fn live(&mut self) -> std::io::Result<()> {
        self.core.recorder.tell(Message::Ready);
        sleep_until::<S::Clock>(|| self.core.timeline.begin());
        self.set_up()?;
        let start = sleep_until::<S::Clock>(|| self.core.timeline.instants().start);
        self.read_early_bytes()?;
        self.core.recorder.start(start);
        self.core.stops.turn(start);
        self.begin_users(start);
        self.mark();
        while self.core.recorder.finished_at.is_none() {
            self.turn()?;
        }
        Ok(())
    }

    /// Opens what must be open before the schedule starts: all connections, unless opening them is
    /// part of the load. Gives up when none could be opened for as long as connecting may take;
    /// users then try again within the load.
    fn set_up(&mut self) -> std::io::Result<()> {
        let connect_ns = self.core.spec.timeouts.connect_ns;
        self.now = S::Clock::now_ns();
        self.core.next_timeout_scan = self.now + connect_ns;
        let requests_each = self.core.spec.connections.requests_per_connection;
        let is_part_of_the_load =
            self.pace.opens_late() || self.core.carries_over && requests_each == Some(1);
        let count = if is_part_of_the_load { 0 } else { self.core.connections.len() as u32 };
        let mut to_open = 0..count;
        self.core.opening.is_setting_up = true;
        let (mut live, mut last_opened) = (0, self.now);
        while (!to_open.is_empty() || self.core.opening.connecting > 0)
            && self.core.timeline.instants().end == UNKNOWN
        {
            self.read_clock();
            while self.core.opening.has_room()
                && let Some(slot) = to_open.next()
            {
                self.open(slot, self.now);
            }
            self.run_timers();
            self.end_what_is_late()?;
            self.io.wait(MAX_WAIT_NS, 0)?;
            self.events();
            if self.core.recorder.live > live {
                last_opened = self.now;
            }
            live = self.core.recorder.live;
            if self.now >= last_opened + connect_ns {
                break;
            }
        }
        if S::Protocol::REACHES_ALL {
            self.let_listeners_in()?;
        }
        self.core.opening.is_setting_up = false;
        self.core.recorder.tell(Message::SetUp);
        Ok(())
    }

    /// A server may consent a moment before it takes a connection in. What is sent until then would
    /// be lost, and nobody's error.
    fn let_listeners_in(&mut self) -> std::io::Result<()> {
        let until = S::Clock::now_ns() + TAKEN_IN_NS;
        while self.now < until && self.core.timeline.instants().end == UNKNOWN {
            self.io.wait(MAX_WAIT_NS, 0)?;
            self.events();
            self.read_clock();
        }
        Ok(())
    }

    /// Reads bytes that came before the first request, so that they do not pass for an answer.
    fn read_early_bytes(&mut self) -> std::io::Result<()> {
        // What goes on coming is no longer early.
        for _ in 0..=self.core.connections.len() / losses::READ_AT_ONCE {
            self.io.wait(0, 0)?;
            if !self.events() {
                break;
            }
        }
        Ok(())
    }

    /// One turn of the loop.
    fn turn(&mut self) -> std::io::Result<()> {
        self.read_clock();
        self.core.stops.turn(self.now);
        self.core.recorder.learn(self.core.timeline.instants());
        self.cross_boundaries();
        // Nothing begins at the end of the load, or later.
        let end = self.core.recorder.finished_at.unwrap_or(UNKNOWN);
        self.fire(self.now.min(end - 1));
        self.run_timers();
        self.end_what_is_late()?;
        if self.is_done() && self.core.recorder.finished_at.is_none() {
            self.core.recorder.finish(self.now);
            self.mark();
        }
        if self.core.recorder.finished_at.is_some() {
            return Ok(());
        }
        let (wait_ns, is_spin) = self.wait_ns();
        self.core.stops.sleeps(wait_ns);
        self.io.wait(wait_ns, self.core.stay_ns(wait_ns))?;
        self.core.sent_together = 0;
        let found = self.events();
        if is_spin && !found {
            self.core.cost.spin_ns += S::Clock::now_ns() - self.now;
        }
        self.core.progress.set(self.core.recorder.completed);
        Ok(())
    }

    fn is_done(&self) -> bool {
        let core = &self.core;
        let ends_by_count = core.spec.stop.requests.is_some();
        ends_by_count && core.open_requests == 0 && (core.quota == 0 || self.pace.is_over())
    }

    /// How long to wait for events, and whether that is polling for a deadline.
    fn wait_ns(&self) -> (u64, bool) {
        let (core, now) = (&self.core, self.now);
        if core.opening.has_room() && !core.opening.waiting.is_empty() {
            // Connections that took too long have just made room.
            return (0, false);
        }
        let mut until = now + MAX_WAIT_NS;
        until = until.min(core.recorder.next_boundary).min(core.next_timeout_scan);
        if let Some(due) = self.pace.next_due() {
            until = until.min(due);
        }
        if let Some(due) = core.timers.next_due() {
            until = until.min(due);
        }
        let mut is_spin = false;
        if core.quota > 0
            && let Some((due, poll_from)) = self.pace.next_arrival(core)
        {
            is_spin = poll_from <= now && now < due;
            until = until.min(poll_from);
        }
        (until.saturating_sub(now), is_spin)
    }

    /// Processes the events of the last wait. Returns whether there were any.
    fn events(&mut self) -> bool {
        let mut found = false;
        self.core.begins_to_read();
        while let Some(event) = self.next_event() {
            found = true;
            self.event(event);
            self.has_seen(event);
            if self.core.recorder.finished_at.is_some() {
                break;
            }
        }
        self.has_read_all();
        found
    }

    /// Passes an event on with its instant. After the end of the load nothing happens any more.
    #[inline]
    fn event(&mut self, event: Event) {
        match event {
            Event::Received { slot } => {
                self.receive(slot);
                self.set_timer(slot);
            }
            Event::Connected { slot } => {
                self.tick();
                if self.core.recorder.finished_at.is_none() {
                    self.connected(slot, self.now);
                    self.set_timer(slot);
                }
            }
            Event::Writable { slot } => self.writable(slot, self.now),
            Event::Closed { slot, errno } => {
                self.tick();
                self.closed(slot, errno, self.now);
            }
            Event::ConnectFailed { slot, errno } => self.connect_refused(slot, errno, self.now),
        }
    }

    /// Bytes arrived.
    #[inline]
    fn receive(&mut self, slot: u32) {
        if self.core.is_tunnelling(slot) {
            self.tick_received();
            if self.core.recorder.finished_at.is_none() {
                self.received_of_proxy(slot, self.now);
            }
            return;
        }
        if S::Transport::SECURES {
            let state = &mut self.core.connections[slot as usize].transport;
            let received = self.transport.receive(&mut self.io, state);
            // The clock is read after decrypting, so that the time spent on it counts.
            self.tick_received();
            if self.core.recorder.finished_at.is_none() {
                self.received_secured(slot, received, self.now);
            }
            return;
        }
        self.tick_received();
        if self.core.recorder.finished_at.is_none() {
            self.look_at_departure(slot);
            self.received(slot, self.now);
        }
    }

    /// Reads when the request left that this connection carries, if it is one that is looked at.
    #[inline]
    pub(super) fn look_at_departure(&mut self, slot: u32) {
        if self.core.sampling.ends(slot)
            && let Some(left_at) = self.io.departed_at(slot, S::Clock::now_ns())
        {
            self.core.departed(slot, left_at);
        }
    }

    /// Begins to connect in `slot`. Returns when, and how that went.
    pub(super) fn connect(&mut self, slot: u32, nth: u64) -> (u64, Opening) {
        let at = S::Clock::now_ns();
        (at, self.io.open(slot, nth))
    }

    /// Sends what waits on a connection. Returns how that went, and when it left.
    #[inline]
    pub(super) fn transmit_timed(&mut self, slot: u32) -> (Sending, Departure) {
        // As late as can be: after a sleep all of this is cold.
        let begin = S::Clock::now_ns();
        let sending = self.transmit(slot);
        self.set_timer(slot);
        (sending, Departure::within(begin, S::Clock::now_ns()))
    }

    /// Reads the clock, and tells a protocol that needs to know.
    #[inline]
    fn read_clock(&mut self) {
        self.now = S::Clock::now_ns();
        if S::Protocol::HAS_TIMERS {
            self.core.protocol.at(self.now);
        }
    }

    /// Reads the clock for the present event and passes the boundaries that lie before it.
    #[inline]
    fn tick(&mut self) {
        self.read_clock();
        if self.now >= self.core.recorder.next_boundary {
            self.cross_boundaries();
        }
    }

    /// Takes the time for bytes that came: `arrived` is when the kernel received the last of them.
    #[inline]
    fn tick_received(&mut self) {
        self.tick();
        let stamp = self.io.arrived_at(self.now);
        (self.core.arrived, self.core.is_stamped) = (stamp.unwrap_or(self.now), stamp.is_some());
    }

    #[cold]
    fn cross_boundaries(&mut self) {
        // What is ready was due before these boundaries.
        self.send_ready();
        while self.now >= self.core.recorder.next_boundary {
            let before = self.core.recorder.current;
            match self.core.recorder.cross() {
                Crossing::Window => {}
                Crossing::Stretch => {
                    self.core.close_accounts(before);
                    if self.core.recorder.current == MEASURED && self.core.carries_over {
                        self.core.carry_over();
                    }
                    self.mark();
                }
                Crossing::End => return self.mark(),
            }
        }
    }

    /// Ends requests and connects that have taken too long. Costs nothing while nothing is late: it
    /// looks when the oldest of those that were open at the last look would be too old.
    ///
    /// What has come by now is read first. This thread may have been late itself, and must not
    /// blame the server for that.
    fn end_what_is_late(&mut self) -> std::io::Result<()> {
        let late_at = self.now;
        if late_at < self.core.next_timeout_scan {
            return Ok(());
        }
        for _ in 0..=self.core.connections.len() / losses::READ_AT_ONCE {
            if self.core.recorder.finished_at.is_some() {
                return Ok(());
            }
            self.io.wait(0, 0)?;
            if !self.events() {
                break;
            }
        }
        if self.core.recorder.finished_at.is_none() {
            self.look_for_timeouts(late_at, self.now);
        }
        Ok(())
    }

    fn mark(&mut self) {
        let mark = Mark {
            cpu_ns: clock::thread_cpu_ns(),
            spin_ns: self.core.cost.spin_ns,
            syscalls: self.io.syscalls(),
            clock_steps: self.io.clock_steps(),
        };
        self.core.cost.marks.push(mark);
    }

    /// The end: unfinished requests are censored, requests not sent are unsent.
    pub(super) fn into_outcome(mut self) -> Outcome {
        let ended_at = self.core.recorder.finished_at.unwrap_or(self.now);
        self.give_up_before(ended_at);
        self.core.settle_the_rest(ended_at);
        if S::Protocol::GREETS {
            self.part_from_all();
        }
        let marks = std::mem::take(&mut self.core.cost.marks);
        let tls = self.transport.into_seen();
        let without_tunnel = std::mem::take(&mut self.core.tunnels.failures);
        // Each connection counts for itself until it ends.
        self.core.connections.clear();
        let Greeted { websocket, tls: by_protocol, quic } =
            GreetingOf::<S>::into_seen(self.core.protocol);
        let tls = tls.or(by_protocol);
        let thread = self.core.thread;
        let mut stretches = self.core.recorder.into_stretches();
        // One that is followed leads nowhere that the user should know of.
        for stretch in stretches.iter_mut().filter(|_| self.core.spec.follow == 0) {
            stretch.redirected_to.clone_from(&self.core.redirected_to);
        }
        Outcome { thread, marks, without_tunnel, tls, websocket, quic, stretches, failure: None }
    }
}

/// Sleeps until an instant that the coordinator will set.
fn sleep_until<C: Clock>(instant: impl Fn() -> u64) -> u64 {
    loop {
        let (at, now) = (instant(), C::now_ns());
        if at <= now {
            return at;
        }
        let left = if at == UNKNOWN { 200_000 } else { (at - now).min(1_000_000) };
        C::sleep_ns(left);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Who reads a clock cannot be tested in virtual time.
    #[test]
    fn only_this_file_reads_a_clock() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/worker");
        let of = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let folders = ["", "link", "seats"].map(|name| folder.join(name));
        let files = folders.iter().flat_map(|folder| of(folder)).filter(|path| path.is_file());
        let reads = |path: &std::path::PathBuf| {
            let source = fs::read_to_string(path).unwrap();
            ["now_ns()", "Instant::now"].iter().any(|read| source.contains(read))
        };
        let found: Vec<_> = files.filter(reads).collect();
        assert!(found.len() == 1 && found[0].ends_with("driver.rs"), "{found:?}");
    }
}
