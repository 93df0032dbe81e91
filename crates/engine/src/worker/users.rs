//! The users of each kind of schedule, and what they lead to: connections are opened for them, and
//! their requests become due.
use std::collections::HashSet;

use super::connection::Link;
use super::{Core, Stack, Worker};
use crate::protocol::Protocol;
use crate::record::recorder::{MEASURED, WARM_UP};
use crate::schedule::random::ThinkTimes;
use crate::schedule::users::Users;
use crate::time::timeline::UNKNOWN;

/// How long each user waits after a failed connection before it tries again, per user of the
/// thread: all of them together try at most 10,000 times a second.
const RETRY_EACH_NS: u64 = 100_000;
/// At least and at the most so long.
const RETRY_BOUNDS_NS: (u64, u64) = (10_000_000, 1_000_000_000);

impl<S: Stack> Worker<'_, S> {
    /// The schedule starts.
    pub(super) fn begin_users(&mut self, at: u64) {
        let timeouts = self.core.spec.timeouts;
        self.core.next_timeout_scan = at + timeouts.connect_ns.min(timeouts.request_ns);
        let slots = 0..self.core.with_users();
        match &mut self.core.users {
            Users::Closed { think: None } if S::Protocol::VARIES && self.core.walkers.think() => {
                for slot in slots {
                    let due = at + self.core.walkers.first_wait_ns(slot);
                    self.core.think(slot, 0, due);
                }
            }
            Users::Closed { think: None } => {
                self.core.opening.waiting = slots.map(|slot| (slot, None)).collect()
            }
            // Users start at random points of their think time. Starting all at once would be a
            // rhythm that real users do not have.
            Users::Closed { think: Some(_) } => {
                for slot in slots {
                    for tag in 0..self.core.users_of_a_connection() {
                        let Users::Closed { think: Some(think) } = &mut self.core.users else {
                            return;
                        };
                        let due = at + think.draw_remainder_ns();
                        self.core.think(slot, tag, due);
                    }
                }
            }
            Users::Open(open) => {
                open.start = at;
                // What could not be opened before is tried again. Users whose connection has been
                // open and has ended since wait already: who waits twice would send two requests at
                // a time.
                let waiting: HashSet<u32> = self.core.free.iter().copied().collect();
                for slot in slots {
                    let connection = &self.core.connections[slot as usize];
                    let waits = S::Protocol::IN_ORDER && waiting.contains(&slot);
                    if connection.link == Link::Down && !connection.has_failed && !waits {
                        self.core.wait_all_for_arrivals(slot);
                    }
                }
                self.core.deal_out();
            }
            Users::Devices(devices) => {
                devices.start = at;
                devices.until += at;
                let boundaries = vec![at + devices.ramp_up_ns, devices.until];
                self.core.recorder.set_boundaries(boundaries);
            }
        }
        self.open_listeners();
    }

    /// Everything that is due by now.
    pub(super) fn fire(&mut self, now: u64) -> std::io::Result<()> {
        if let Users::Devices(devices) = &mut self.core.users {
            while let Some(due) = devices.next_birth().filter(|due| *due <= now) {
                self.core.opening.waiting.push_back((devices.born as u32, Some(due)));
                devices.born += 1;
            }
        }
        while let Some((timer, due)) = self.core.timers.pop(now) {
            match self.core.retried(timer) {
                // Where many fail, they must not try again all at once.
                Some(slot) => self.core.opening.waiting.push_back((slot, Some(due))),
                None => self.has_thought(timer, due, now),
            }
            self.submit_many()?;
        }
        while self.core.opening.has_room()
            && let Some((slot, since)) = self.core.opening.waiting.pop_front()
        {
            self.wake_up(slot, since.unwrap_or(now), now);
            self.submit_many()?;
        }
        self.dispatch(now);
        Ok(())
    }

    /// A user has thought.
    fn has_thought(&mut self, user: u32, due: u64, now: u64) {
        let (slot, tag) = self.core.place_of(user);
        if S::Protocol::IN_ORDER || matches!(self.core.users, Users::Devices(_)) {
            self.core.has_thought(slot, tag);
            self.wake_up(slot, due, now);
        } else {
            self.core.make_due(slot, tag, due);
            self.push(slot, now);
        }
    }

    /// The users of a connection start, or try again.
    fn wake_up(&mut self, slot: u32, due: u64, now: u64) {
        if Core::<S>::listens(slot) {
            return self.open_listener(slot, now);
        }
        match &self.core.users {
            // It thinks, or its request is due already and was refused.
            Users::Devices(_) if self.core.is_busy(slot) => self.push(slot, now),
            Users::Devices(devices) => {
                let connection = &mut self.core.connections[slot as usize];
                if connection.device_left == 0 {
                    if due >= devices.until {
                        return;
                    }
                    connection.device_left = devices.requests_each;
                    if S::Protocol::VARIES {
                        self.core.replace_walker(slot);
                    }
                }
                self.ready(slot, due, 1, now);
            }
            Users::Closed { .. } if S::Protocol::IN_ORDER => {
                self.ready(slot, due, self.core.flights.depth, now);
            }
            Users::Closed { .. } => {
                for tag in self.core.idle(slot) {
                    self.core.make_due(slot, tag, due);
                }
                self.push(slot, now);
            }
            Users::Open(_) if S::Protocol::VARIES && self.core.walkers.is_walking(slot) => {
                self.ready(slot, due, 1, now);
            }
            Users::Open(_) => {
                self.core.wait_all_for_arrivals(slot);
                if !S::Protocol::IN_ORDER {
                    // Requests that were refused are due.
                    self.push(slot, now);
                }
            }
        }
    }

    /// Open loop: sends what is due, as long as a connection is free for it.
    pub(super) fn dispatch(&mut self, now: u64) {
        if let Some(patience_ns) = self.core.spec.timeouts.patience_ns {
            self.core.give_up_before(now.saturating_sub(patience_ns));
        }
        while let Users::Open(open) = &self.core.users {
            if open.start == UNKNOWN {
                return;
            }
            let Some(due) = open.next_due().filter(|due| *due <= now) else { return };
            if self.core.quota == 0 {
                return;
            }
            let Some(user) = self.core.take_free() else { return };
            let (slot, tag) = self.core.place_of(user);
            if !S::Protocol::IN_ORDER && self.core.is_parked(slot, tag) {
                continue;
            }
            let Users::Open(open) = &mut self.core.users else { return };
            let template = open.take();
            if S::Protocol::IN_ORDER {
                let template = if S::Protocol::VARIES {
                    self.core.begin_walk(slot, template)
                } else {
                    template
                };
                self.core.connections[slot as usize].template = template;
                self.ready(slot, due, 1, now);
            } else {
                self.core.flights.place(slot, tag).template = template;
                self.core.make_due(slot, tag, due);
                self.push(slot, now);
            }
        }
    }

    /// The user of `slot` wants to send `count` requests, since `intended_at`.
    pub(super) fn ready(&mut self, slot: u32, intended_at: u64, count: u32, now: u64) {
        if !S::Protocol::IN_ORDER {
            // Devices, each of which has a connection of its own.
            self.core.make_due(slot, 0, intended_at);
            return self.push(slot, now);
        }
        let count = u64::from(count).min(self.core.quota) as u32;
        if count == 0 {
            return;
        }
        self.core.schedule(slot, intended_at, count);
        match self.core.connections[slot as usize].link {
            Link::Up => self.send_pending(slot, now),
            Link::Connecting | Link::Securing | Link::Greeting => {}
            Link::Down => self.open(slot, now),
        }
    }

    /// Requests of `slot` were settled at `at`, successful or not: its user goes on.
    #[inline]
    pub(super) fn after_requests(&mut self, slot: u32, at: u64, now: u64) {
        if !S::Protocol::IN_ORDER {
            return self.after_all_streams(slot, at, now);
        }
        let step_thinks = if S::Protocol::VARIES { self.core.walkers.think_ns(slot) } else { None };
        let goes_on = S::Protocol::VARIES && self.core.walkers.is_walking(slot);
        match &mut self.core.users {
            // With pipelining, a user sends a batch of requests and, when the last of them is
            // answered, the next batch.
            Users::Closed { think: None } if !S::Protocol::VARIES || step_thinks.is_none() => {
                if self.core.connections[slot as usize].in_flight == 0 {
                    self.ready(slot, at, self.core.flights.depth, now);
                }
            }
            Users::Closed { think } => {
                let think_ns = step_thinks
                    .or_else(|| think.as_mut().map(ThinkTimes::draw_ns))
                    .unwrap_or_default();
                self.core.timers.set(slot, at + think_ns);
            }
            // Only the first step of a walk is an arrival.
            Users::Open(_) if goes_on => match step_thinks {
                Some(think_ns) => self.core.timers.set(slot, at + think_ns),
                None => self.ready(slot, at, 1, now),
            },
            Users::Open(_) => {
                self.core.free.push_back(slot);
                self.dispatch(now);
            }
            Users::Devices(_) => self.after_device_request(slot, at, step_thinks),
        }
    }

    /// The request of a user who shares a connection was settled at `at`: the user goes on.
    pub(super) fn after_stream(&mut self, slot: u32, tag: u32, at: u64) {
        let core = &mut self.core;
        let place = core.flights.place(slot, tag);
        place.template = core.surprises.after(place.template);
        match &mut core.users {
            Users::Closed { think: None } => core.make_due(slot, tag, at),
            Users::Closed { think: Some(think) } => {
                let due = at + think.draw_ns();
                core.think(slot, tag, due);
            }
            Users::Open(_) => core.wait_for_arrivals(slot, [tag]),
            Users::Devices(_) => self.after_device_request(slot, at, None),
        }
    }

    /// `step_thinks`: how long, where a step of a scenario says so.
    fn after_device_request(&mut self, slot: u32, at: u64, step_thinks: Option<u64>) {
        let Users::Devices(devices) = &mut self.core.users else { return };
        if self.core.connections[slot as usize].device_left > 0 {
            let due = at + step_thinks.unwrap_or_else(|| devices.think.draw_ns());
            self.core.think(slot, 0, due);
            return;
        }
        let is_replaced = at < devices.until;
        if self.core.is_up(slot) {
            self.drop_connection(slot);
        }
        if is_replaced {
            self.core.opening.waiting.push_back((slot, Some(at)));
        }
    }

    /// A connection opened without a request for it: the open loop's before its schedule starts.
    pub(super) fn opened_idle(&mut self, slot: u32) {
        if let Users::Open(_) = &self.core.users
            && !Core::<S>::listens(slot)
        {
            self.core.wait_all_for_arrivals(slot);
        }
    }

    /// The connection of `slot` could not be opened, or ended without an answer, and its requests
    /// were given up: the user tries again later.
    pub(super) fn after_failure(&mut self, slot: u32, now: u64) {
        self.core.connections[slot as usize].has_failed = true;
        let (least, most) = RETRY_BOUNDS_NS;
        let wait_ns = (self.core.connections.len() as u64 * RETRY_EACH_NS).clamp(least, most);
        let due = now + wait_ns;
        if let Some(timer) = self.core.retry_timer(slot) {
            self.core.timers.set(timer, due);
        }
    }
}

impl<S: Stack> Core<'_, S> {
    /// The stretch that a request belongs to.
    #[inline]
    pub(super) fn stretch_of(&self, intended_at: u64) -> usize {
        if self.users.carries_over() {
            self.recorder.current
        } else {
            self.recorder.stretch_at(intended_at)
        }
    }

    /// When the schedule needs the loop next, and from when on the loop should poll instead of
    /// sleep.
    pub(super) fn next_arrival(&self) -> Option<(u64, u64)> {
        match &self.users {
            Users::Open(open) if self.has_free() && self.quota > 0 => {
                open.next_due().map(|due| (due, due.saturating_sub(open.spin_ns)))
            }
            Users::Open(_) | Users::Closed { .. } => None,
            Users::Devices(devices) => devices.next_birth().map(|due| (due, due)),
        }
    }

    /// Open loop: whether a connection is free for an arrival.
    fn has_free(&self) -> bool {
        self.free.iter().any(|user| self.is_usable(*user))
    }

    /// The first user whose connection is free for an arrival. Those before it go to the end of the
    /// line.
    fn take_free(&mut self) -> Option<u32> {
        let place = self.free.iter().position(|user| self.is_usable(*user))?;
        self.free.rotate_left(place);
        self.free.pop_front()
    }

    /// Whether the connection of a user is open, or may be opened, which is limited after a failure.
    fn is_usable(&self, user: u32) -> bool {
        let (slot, _) = self.place_of(user);
        let connection = &self.connections[slot as usize];
        !connection.has_failed || connection.link == Link::Up || self.opening.has_room()
    }

    /// The users of a connection who do nothing wait for arrivals.
    fn wait_all_for_arrivals(&mut self, slot: u32) {
        if S::Protocol::IN_ORDER {
            return self.free.push_back(slot);
        }
        let idle = self.idle(slot);
        self.wait_for_arrivals(slot, idle);
    }

    /// Arrivals begin: orders free users so that arrivals go to all connections in turn, and not to
    /// all users of the first.
    fn deal_out(&mut self) {
        if !S::Protocol::IN_ORDER {
            let mut users: Vec<u32> = self.free.drain(..).collect();
            users.sort_by_key(|user| (self.place_of(*user).1, *user));
            self.free = users.into();
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
        connection.device_left = connection.device_left.saturating_sub(count);
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

    /// Counts arrivals that were due before an instant and were not taken as unsent.
    pub(super) fn give_up_before(&mut self, instant: u64) {
        let Users::Open(open) = &mut self.users else { return };
        if open.start == UNKNOWN {
            return;
        }
        while let Some(due) = open.next_due().filter(|due| *due < instant && self.quota > 0) {
            // As many as belong to the same stretch.
            let skipped = open.skip_to(instant.min(self.recorder.end_of_stretch(due)), self.quota);
            if self.quota != u64::MAX {
                self.quota -= skipped;
            }
            let stretch = self.recorder.stretch_at(due);
            let requests = &mut self.recorder.tally(stretch).requests;
            requests.scheduled += skipped;
            requests.unsent += skipped;
        }
    }
}
