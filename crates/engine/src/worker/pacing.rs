//! Asks the pace who is due, and does what it answers: opens connections and makes requests due.
use super::link::Link;
use super::seats::{Place, Seating as _, SeatsOf};
use super::{Core, Stack, Worker};
use crate::pace::{Arrival, Due, Next, Seat, Seats};
use crate::protocol::Protocol;
use crate::record::recorder::{MEASURED, WARM_UP};

impl<S: Stack> Worker<'_, S> {
    /// The schedule starts.
    pub(super) fn begin_users(&mut self, at: u64) {
        let timeouts = self.core.spec.timeouts;
        self.core.next_timeout_scan = at + timeouts.connect_ns.min(timeouts.request_ns);
        for slot in 0..self.core.with_users() {
            let connection = &self.core.connections[slot as usize];
            // In an open loop, users whose connection is open wait already, and those whose
            // connection has failed try again later.
            if self.core.has_plan && (connection.link != Link::Down || connection.has_failed) {
                continue;
            }
            for tag in 0..self.core.users_of_a_connection() {
                self.begin_first(slot, tag, at);
            }
        }
        if let Some(phases) = self.pace.start(at) {
            self.core.recorder.set_boundaries(phases);
        }
        self.open_listeners();
    }

    /// A user begins with the schedule. Who does not think first waits until its connection may be
    /// opened.
    fn begin_first(&mut self, slot: u32, tag: u32, at: u64) {
        let user = self.core.user(slot, tag);
        let walkers = &mut self.core.walkers;
        let steps_wait = || if S::Protocol::VARIES { walkers.first_wait_ns(slot) } else { None };
        match self.pace.first(user, at, steps_wait) {
            Next::Sends | Next::Starts if tag == 0 => {
                // If this thread begins late, that is its own lag, and no time in which nobody was there.
                let since = self.core.is_up(slot).then_some(at);
                self.core.opening.waiting.push_back((slot, since));
            }
            Next::Thinks { .. } | Next::Waits => {
                SeatsOf::<S>::rests(&mut self.core, (slot, tag), at);
            }
            Next::Sends | Next::Starts | Next::IsReplaced | Next::Ends => {}
        }
    }

    /// Everything that is due by now.
    pub(super) fn fire(&mut self, now: u64) {
        while let Some(due) = self.pace.take(now) {
            match due {
                // Where many fail, they must not try again all at once.
                Due::Connection { slot, at } => {
                    self.core.opening.waiting.push_back((slot, Some(at)));
                }
                Due::User { user, at } => {
                    let place = self.core.place_of(user);
                    SeatsOf::<S>::has_thought(self, place, at, now);
                }
            }
        }
        while self.core.opening.has_room()
            && let Some((slot, since)) = self.core.opening.waiting.pop_front()
        {
            let at = since.unwrap_or(now);
            if Core::<S>::listens(slot) {
                self.open_listener(slot, now);
            } else {
                SeatsOf::<S>::wake_up(self, slot, at, now);
            }
        }
        self.dispatch(now);
    }

    /// A user begins, has thought, or tries again.
    pub(super) fn begin(&mut self, (slot, tag): Place, at: u64, now: u64) {
        let goes_on = S::Protocol::VARIES && self.core.walkers.is_walking(slot);
        let next = self.pace.begins(self.core.user(slot, tag), at, goes_on);
        self.follow((slot, tag), next, at, now);
    }

    /// A user does what it does next. `at`: since when its next request is due.
    #[inline]
    pub(super) fn follow(&mut self, place: Place, next: Next, at: u64, now: u64) {
        let (slot, _) = place;
        match next {
            Next::Sends => SeatsOf::<S>::ready(self, place, at, now),
            Next::Starts => {
                if S::Protocol::VARIES {
                    self.core.replace_walker(slot);
                }
                SeatsOf::<S>::ready(self, place, at, now);
            }
            Next::Thinks { .. } | Next::Waits => SeatsOf::<S>::rests(&mut self.core, place, at),
            Next::IsReplaced | Next::Ends => {
                SeatsOf::<S>::ends(&mut self.core, place);
                if self.core.is_up(slot) {
                    self.drop_connection(slot);
                }
                if next == Next::IsReplaced {
                    self.core.opening.waiting.push_back((slot, Some(at)));
                }
            }
        }
    }

    /// Open loop: sends what is due, as long as somebody is free for it.
    #[inline]
    pub(super) fn dispatch(&mut self, now: u64) {
        if !self.core.has_plan {
            return;
        }
        if let Some(patience_ns) = self.core.spec.timeouts.patience_ns {
            self.give_up_before(now.saturating_sub(patience_ns));
        }
        while self.core.quota > 0
            && let Some(Arrival { user, at, turn }) = self.pace.arrive(now, &mut self.core)
        {
            let place = self.core.place_of(user);
            SeatsOf::<S>::arrives(self, place, at, turn, now);
        }
    }

    /// Counts arrivals that were due before an instant and were not taken as unsent.
    pub(super) fn give_up_before(&mut self, instant: u64) {
        let core = &mut self.core;
        while core.quota > 0
            && let Some(due) = self.pace.unsent_before(instant)
        {
            // As many as belong to the same stretch.
            let end = instant.min(core.recorder.end_of_stretch(due));
            let skipped = self.pace.skip_to(end, core.quota);
            if core.quota != u64::MAX {
                core.quota -= skipped;
            }
            let stretch = core.recorder.stretch_at(due);
            let requests = &mut core.recorder.tally(stretch).requests;
            requests.scheduled += skipped;
            requests.unsent += skipped;
        }
    }

    /// A connection opened without a request for it: the open loop's before its schedule starts.
    pub(super) fn opened_idle(&mut self, slot: u32, now: u64) {
        if !self.core.has_plan || Core::<S>::listens(slot) {
            return;
        }
        SeatsOf::<S>::begin_all(self, slot, now, now);
    }

    /// The connection of `slot` could not be opened, or ended without an answer, and its requests
    /// were given up: its users try again later.
    pub(super) fn after_failure(&mut self, slot: u32, now: u64) {
        self.core.connections[slot as usize].has_failed = true;
        self.pace.failed(slot, now);
    }

    /// Users who were put aside wait for arrivals again.
    pub(super) fn unpark(&mut self, slot: u32) {
        for tag in self.core.take_parked(slot) {
            self.pace.unpark(self.core.user(slot, tag));
        }
    }
}

impl<S: Stack> Seats for Core<'_, S> {
    #[inline]
    fn seat(&self, user: u32) -> Seat {
        let (slot, _) = self.place_of(user);
        let connection = &self.connections[slot as usize];
        match connection.link {
            Link::Up if SeatsOf::<S>::is_full(self, slot) => Seat::Full,
            Link::Up => Seat::Open,
            // Who has failed takes its turn among those that are being opened.
            _ if connection.has_failed && !self.opening.has_room() => Seat::Barred,
            _ => Seat::Closed,
        }
    }

    fn park(&mut self, user: u32) {
        self.set_aside(user);
    }
}

impl<S: Stack> Core<'_, S> {
    /// The stretch that a request belongs to.
    #[inline]
    pub(super) fn stretch_of(&self, intended_at: u64) -> usize {
        if self.carries_over {
            self.recorder.current
        } else {
            self.recorder.stretch_at(intended_at)
        }
    }

    /// Counts requests as due.
    pub(super) fn schedule(&mut self, slot: u32, intended_at: u64, count: u32) {
        let stretch = self.stretch_of(intended_at);
        self.recorder.tally(stretch).requests.scheduled += u64::from(count);
        if self.quota != u64::MAX {
            self.quota -= u64::from(count);
        }
        self.open_requests += u64::from(count);
        let connection = &mut self.connections[slot as usize];
        if connection.pending == 0 {
            connection.pending_since = intended_at;
        }
        connection.pending += count;
    }

    /// Measuring starts in a closed loop: what is due or under way now belongs to it.
    pub(super) fn carry_over(&mut self) {
        let (mut sent, mut due) = (0, 0);
        for (slot, connection) in (0..).zip(&self.connections) {
            due += u64::from(connection.pending);
            self.flights.change(slot, (connection.head, connection.in_flight), |request| {
                if request.stretch == WARM_UP as u32 {
                    request.stretch = MEASURED as u32;
                    sent += 1;
                }
            });
        }
        let tally = self.recorder.tally(MEASURED);
        tally.requests.scheduled += sent + due;
        tally.requests.sent += sent;
    }
}
