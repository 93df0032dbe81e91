//! Asks the pace who is due, and does what it answers: opens connections and makes requests due.
use super::link::Link;
use super::{Core, Stack, Worker};
use crate::pace::{Arrival, Due, Fate, Next, Seat, Seats};
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
                self.core.opening.waiting.push_back((slot, None));
            }
            Next::Thinks { .. } | Next::Waits => self.core.rests(slot, tag, at),
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
                Due::User { user, at } => self.has_thought(user, at, now),
            }
        }
        while self.core.opening.has_room()
            && let Some((slot, since)) = self.core.opening.waiting.pop_front()
        {
            self.wake_up(slot, since.unwrap_or(now), now);
        }
        self.dispatch(now);
    }

    /// A user has thought.
    fn has_thought(&mut self, user: u32, at: u64, now: u64) {
        let (slot, tag) = self.core.place_of(user);
        if S::Protocol::IN_ORDER {
            if self.core.connections[slot as usize].has_failed {
                return self.core.opening.waiting.push_back((slot, Some(at)));
            }
            return self.begin(slot, tag, at, now);
        }
        self.begin(slot, tag, at, now);
        self.push(slot, now);
    }

    /// The users of a connection begin, or try again.
    fn wake_up(&mut self, slot: u32, at: u64, now: u64) {
        if Core::<S>::listens(slot) {
            return self.open_listener(slot, now);
        }
        if S::Protocol::IN_ORDER {
            return self.begin(slot, 0, at, now);
        }
        for tag in self.core.idle(slot) {
            self.begin(slot, tag, at, now);
        }
        // Requests that were refused are due.
        self.push(slot, now);
    }

    /// A user begins, has thought, or tries again.
    fn begin(&mut self, slot: u32, tag: u32, at: u64, now: u64) {
        let goes_on = S::Protocol::VARIES && self.core.walkers.is_walking(slot);
        let next = self.pace.begins(self.core.user(slot, tag), at, goes_on);
        self.follow((slot, tag), next, at, now);
    }

    /// A user does what it does next. `at`: since when its next request is due.
    #[inline]
    fn follow(&mut self, (slot, tag): (u32, u32), next: Next, at: u64, now: u64) {
        match next {
            Next::Sends => self.ready(slot, tag, at, now),
            Next::Starts => {
                if S::Protocol::VARIES {
                    self.core.replace_walker(slot);
                }
                self.ready(slot, tag, at, now);
            }
            Next::Thinks { .. } | Next::Waits => self.core.rests(slot, tag, at),
            Next::IsReplaced | Next::Ends => {
                self.core.ends(slot, tag);
                if self.core.is_up(slot) {
                    self.drop_connection(slot);
                }
                if next == Next::IsReplaced {
                    self.core.opening.waiting.push_back((slot, Some(at)));
                }
            }
        }
    }

    /// A user wants to send, since `intended_at`. Users who share a connection send when all of
    /// them have been asked ([`Worker::push`]).
    #[inline]
    pub(super) fn ready(&mut self, slot: u32, tag: u32, intended_at: u64, now: u64) {
        if !S::Protocol::IN_ORDER {
            return self.core.make_due(slot, tag, intended_at);
        }
        // With pipelining, a user sends a batch of requests.
        let count = u64::from(self.core.flights.depth).min(self.core.quota) as u32;
        if count == 0 {
            return;
        }
        self.core.schedule(slot, intended_at, count);
        match self.core.connections[slot as usize].link {
            Link::Up => self.send_pending(slot, now),
            Link::Connecting | Link::Tunnelling | Link::Securing | Link::Greeting => {}
            Link::Down => self.open(slot, now),
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
            let (slot, tag) = self.core.place_of(user);
            if S::Protocol::IN_ORDER {
                let template =
                    if S::Protocol::VARIES { self.core.begin_walk(slot, turn) } else { turn };
                self.core.connections[slot as usize].template = template;
                self.ready(slot, tag, at, now);
            } else {
                self.core.flights.place(slot, tag).template = turn;
                self.ready(slot, tag, at, now);
                self.push(slot, now);
            }
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

    /// Requests of `slot` were settled at `at`, successful or not: its users go on.
    #[inline]
    pub(super) fn after_requests(&mut self, slot: u32, at: u64, now: u64) {
        if !S::Protocol::IN_ORDER {
            return self.after_all_streams(slot, at, now);
        }
        // Who pipelines goes on when the last of a batch is answered.
        if self.core.connections[slot as usize].in_flight > 0 {
            return;
        }
        // Who is redirected asks at once, whatever the schedule.
        let next = if S::Protocol::VARIES && self.core.walkers.is_redirected(slot) {
            Next::Sends
        } else {
            let fate =
                if S::Protocol::VARIES { self.core.walkers.fate(slot) } else { Fate::default() };
            self.pace.settled(slot, at, fate)
        };
        self.follow((slot, 0), next, at, now);
        if next == Next::Waits {
            self.dispatch(now);
        }
    }

    /// The request of a user who shares a connection was settled at `at`: the user goes on.
    pub(super) fn after_stream(&mut self, slot: u32, tag: u32, at: u64, now: u64) {
        let place = self.core.flights.place(slot, tag);
        place.template = self.core.surprises.after(place.template);
        let next = self.pace.settled(self.core.user(slot, tag), at, Fate::default());
        self.follow((slot, tag), next, at, now);
    }

    /// A connection opened without a request for it: the open loop's before its schedule starts.
    pub(super) fn opened_idle(&mut self, slot: u32, now: u64) {
        if !self.core.has_plan || Core::<S>::listens(slot) {
            return;
        }
        if S::Protocol::IN_ORDER {
            return self.begin(slot, 0, now, now);
        }
        for tag in self.core.idle(slot) {
            self.begin(slot, tag, now, now);
        }
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
            Link::Up if !S::Protocol::IN_ORDER && self.is_full(slot) => Seat::Full,
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
