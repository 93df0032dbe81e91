//! Who sends the next request, and when: the schedule. Three kinds of users over the same
//! connections.
use std::collections::VecDeque;

use pippin_model::load_spec::{LoadSpec, Schedule};

use super::connection::Link;
use super::polling::AnswerPolling;
use super::{Core, Worker};
use crate::arrivals::Arrivals;
use crate::io::Io;
use crate::random::ThinkTimes;
use crate::recorder::{MEASURED, Message, WARM_UP};
use crate::timeline::UNKNOWN;

/// The users of a thread.
pub(super) enum Users {
    /// One for each connection; the next request follows the last answer, after the think time.
    Closed { think: Option<ThinkTimes> },
    /// Arrivals that wait for nothing; connections that are free wait for them, in turn.
    Open {
        arrivals: Arrivals,
        start: u64,
        free: VecDeque<u32>,
        spin_ns: u64,
        polling: AnswerPolling,
    },
    /// Each opens a connection, sends its requests with think time between, and is replaced.
    Devices(Devices),
}

/// The devices of a thread: its slots, numbered through the whole load by every `threads`-th.
pub(super) struct Devices {
    think: ThinkTimes,
    requests_each: u32,
    all: u64,
    thread: u64,
    threads: u64,
    ramp_up_ns: u64,
    /// From then on devices that end are not replaced.
    until: u64,
    start: u64,
    born: u64,
}

/// How long before a deadline polling replaces sleeping, unless the load says otherwise.
pub(crate) const DEFAULT_SPIN_NS: u64 = 50_000;

/// For an answer the thread polls so many times as long: it takes a round trip, and a server that
/// has to wake up.
const ANSWER_SPINS: u64 = 2;

/// How long a user waits after a connection could not be opened, before it tries again.
const RETRY_AFTER_NS: u64 = 10_000_000;

impl Users {
    pub fn new(spec: &LoadSpec, thread: u32) -> Self {
        let think_times = |spread| ThinkTimes::new(spread, spec.seed, thread);
        match &spec.schedule {
            Schedule::Closed { think } => Self::Closed { think: think.map(think_times) },
            Schedule::Open { arrivals, stages } => {
                let spin_ns = spec.spin_ns.unwrap_or(DEFAULT_SPIN_NS);
                let arrivals = Arrivals::new(*arrivals, stages, thread, spec.threads, spec.seed);
                let polling = AnswerPolling::new(spin_ns * ANSWER_SPINS);
                Self::Open { arrivals, start: UNKNOWN, free: VecDeque::new(), spin_ns, polling }
            }
            Schedule::Devices {
                devices,
                requests_per_device,
                think,
                ramp_up_ns,
                sustain_ns,
                ..
            } => Self::Devices(Devices {
                think: think_times(*think),
                requests_each: *requests_per_device,
                all: u64::from(*devices),
                thread: u64::from(thread),
                threads: u64::from(spec.threads),
                ramp_up_ns: *ramp_up_ns,
                until: ramp_up_ns + sustain_ns,
                start: UNKNOWN,
                born: 0,
            }),
        }
    }

    /// Whether requests that are under way when measuring starts are measured: in a closed loop one
    /// follows the other without end, and leaving those out would count a request for each user too
    /// few in every load. Elsewhere a request belongs to the stretch in which it was intended.
    pub const fn carries_over(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Whether requests are due at planned instants, whatever the answers before them did.
    pub const fn have_a_plan(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// Whether to stay awake for an answer.
    #[inline]
    pub const fn polls_for_an_answer(&self, now: u64) -> bool {
        matches!(self, Self::Open { polling, .. } if polling.polls(now))
    }

    /// Something arrived.
    #[inline]
    pub fn came(&mut self, now: u64) {
        if let Self::Open { polling, .. } = self {
            polling.came(now);
        }
    }

    /// Whether the schedule holds no further requests.
    pub const fn are_exhausted(&self) -> bool {
        matches!(self, Self::Open { arrivals, .. } if arrivals.next_ns().is_none())
    }
}

impl Devices {
    /// When the next device of the ramp is due; `None` when all have been.
    fn next_birth(&self) -> Option<u64> {
        let number = self.thread + self.born * self.threads;
        (number < self.all).then(|| {
            self.start
                + (u128::from(number) * u128::from(self.ramp_up_ns) / u128::from(self.all)) as u64
        })
    }
}

impl<I: Io> Worker<'_, I> {
    /// Opens what must be open before the schedule starts: all connections, unless opening them is
    /// part of the load.
    pub(super) fn set_up(&mut self) -> std::io::Result<()> {
        self.core.next_timeout_scan = crate::clock::now_ns() + self.core.spec.timeouts.connect_ns;
        let mut to_open: VecDeque<u32> = match self.core.users {
            Users::Closed { .. }
                if self.core.spec.connections.requests_per_connection == Some(1) =>
            {
                VecDeque::new()
            }
            Users::Closed { .. } | Users::Open { .. } => {
                (0..self.core.connections.len() as u32).collect()
            }
            Users::Devices(_) => VecDeque::new(),
        };
        self.core.is_setting_up = true;
        while (!to_open.is_empty() || self.core.connecting > 0)
            && self.core.timeline.instants().end == UNKNOWN
        {
            self.core.now = crate::clock::now_ns();
            while self.core.connecting < self.core.opening_at_once
                && let Some(slot) = to_open.pop_front()
            {
                self.open(slot);
            }
            self.look_for_timeouts();
            self.io.wait(super::MAX_WAIT_NS)?;
            self.events()?;
        }
        self.core.is_setting_up = false;
        self.core.recorder.tell(Message::SetUp);
        Ok(())
    }

    /// The schedule starts.
    pub(super) fn begin_users(&mut self, at: u64) {
        self.core.now = at;
        let timeouts = self.core.spec.timeouts;
        self.core.next_timeout_scan = at + timeouts.connect_ns.min(timeouts.request_ns);
        match &mut self.core.users {
            Users::Closed { think: None } => {
                self.core.to_open =
                    (0..self.core.connections.len() as u32).map(|slot| (slot, None)).collect()
            }
            // Users that think begin anywhere in their thoughts: all at once would be a beat that
            // no crowd has.
            Users::Closed { think: Some(think) } => {
                for slot in 0..self.core.connections.len() as u32 {
                    let due = at + think.draw_remainder_ns();
                    self.core.timers.set(slot, due);
                }
            }
            Users::Open { start, .. } => *start = at,
            Users::Devices(devices) => {
                devices.start = at;
                devices.until += at;
                let boundaries = vec![at + devices.ramp_up_ns, devices.until];
                self.core.recorder.set_boundaries(boundaries);
            }
        }
    }

    /// Everything that is due by now.
    pub(super) fn fire(&mut self) {
        let now = self.core.now;
        if let Users::Devices(devices) = &mut self.core.users {
            while let Some(due) = devices.next_birth().filter(|due| *due <= now) {
                self.core.to_open.push_back((devices.born as u32, Some(due)));
                devices.born += 1;
            }
        }
        while self.core.connecting < self.core.opening_at_once
            && let Some((slot, since)) = self.core.to_open.pop_front()
        {
            self.enter_user(slot, since.unwrap_or(now));
        }
        while let Some((slot, due)) = self.core.timers.pop(now) {
            self.wake_up(slot, due);
        }
        self.dispatch();
    }

    /// A user begins: its connection is opened for its first request.
    fn enter_user(&mut self, slot: u32, since: u64) {
        if let Users::Devices(devices) = &self.core.users {
            if since >= devices.until {
                return;
            }
            self.core.connections[slot as usize].device_left = devices.requests_each;
        }
        self.ready(slot, since, self.core.pipeline);
    }

    /// A timer has run out: a user has thought, or waited to try again.
    fn wake_up(&mut self, slot: u32, due: u64) {
        match &mut self.core.users {
            // A device whose last request found no connection is replaced.
            Users::Devices(_) if self.core.connections[slot as usize].device_left == 0 => {
                self.enter_user(slot, due)
            }
            Users::Closed { .. } | Users::Devices(_) => self.ready(slot, due, self.core.pipeline),
            Users::Open { free, .. } => free.push_back(slot),
        }
    }

    /// Open loop: sends what is due, as long as a connection is free for it.
    fn dispatch(&mut self) {
        while let Users::Open { arrivals, start, free, .. } = &mut self.core.users {
            let Some(due) =
                arrivals.next_ns().map(|after| *start + after).filter(|due| *due <= self.core.now)
            else {
                return;
            };
            if self.core.quota == 0 {
                return;
            }
            let Some(slot) = free.pop_front() else { return };
            arrivals.advance();
            self.ready(slot, due, 1);
            let now = self.core.now;
            if let Users::Open { polling, .. } = &mut self.core.users {
                polling.sent(now);
            }
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
            Link::Connecting | Link::Securing => {}
            Link::Down => self.open(slot),
        }
    }

    /// Requests of `slot` are settled, well or not, since `at`: what comes next.
    #[inline]
    pub(super) fn after_requests(&mut self, slot: u32, at: u64) {
        match &mut self.core.users {
            // With pipelining a user sends a row of requests and, when the last of it is answered,
            // the next row.
            Users::Closed { think: None } => {
                if self.core.connections[slot as usize].in_flight == 0 {
                    self.ready(slot, at, self.core.pipeline);
                }
            }
            Users::Closed { think: Some(think) } => {
                let due = at + think.draw_ns();
                self.core.timers.set(slot, due);
            }
            Users::Open { free, .. } => {
                free.push_back(slot);
                self.dispatch();
            }
            Users::Devices(_) => self.after_device_request(slot, at),
        }
    }

    fn after_device_request(&mut self, slot: u32, at: u64) {
        let Users::Devices(devices) = &mut self.core.users else { return };
        if self.core.connections[slot as usize].device_left > 0 {
            let due = at + devices.think.draw_ns();
            self.core.timers.set(slot, due);
            return;
        }
        let is_replaced = at < devices.until;
        if self.core.connections[slot as usize].link == Link::Up {
            self.drop_connection(slot);
        }
        if is_replaced {
            self.core.to_open.push_back((slot, Some(at)));
        }
    }

    /// A connection opened without a request for it: the open loop's before its schedule starts.
    pub(super) fn opened_idle(&mut self, slot: u32) {
        if let Users::Open { free, .. } = &mut self.core.users {
            free.push_back(slot);
        }
    }

    /// The connection of `slot` could not be opened, and its requests were given up.
    pub(super) fn after_connect_failure(&mut self, slot: u32) {
        let due = self.core.now + RETRY_AFTER_NS;
        self.core.timers.set(slot, due);
    }
}

impl Core<'_> {
    /// The stretch that a request belongs to.
    #[inline]
    pub(super) fn stretch_of(&self, intended_at: u64) -> usize {
        if self.users.carries_over() {
            self.recorder.current
        } else {
            self.recorder.stretch_at(intended_at)
        }
    }

    /// Until when the loop may sleep for the schedule's sake, and from when on it should poll
    /// instead.
    pub(super) fn next_arrival(&self) -> Option<(u64, u64)> {
        match &self.users {
            Users::Closed { .. } => None,
            Users::Open { arrivals, start, free, spin_ns, .. }
                if !free.is_empty() && self.quota > 0 =>
            {
                arrivals
                    .next_ns()
                    .map(|after| (start + after, (start + after).saturating_sub(*spin_ns)))
            }
            Users::Open { .. } => None,
            Users::Devices(devices) => devices.next_birth().map(|due| (due, due)),
        }
    }

    /// Counts requests as due.
    fn schedule(&mut self, slot: u32, intended_at: u64, count: u32) {
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
        for (slot, connection) in self.connections.iter_mut().enumerate() {
            due += u64::from(connection.pending);
            for i in 0..connection.in_flight {
                let request = &mut self.in_flight[slot * self.pipeline as usize
                    + ((connection.head + i) % self.pipeline) as usize];
                if request.stretch == WARM_UP as u32 {
                    request.stretch = MEASURED as u32;
                    sent += 1;
                }
            }
        }
        let tally = self.recorder.tally(MEASURED);
        tally.requests.scheduled += sent + due;
        tally.requests.sent += sent;
    }

    /// The load is over: what was due in the schedule and never left it.
    pub(super) fn count_unsent_arrivals(&mut self, end: u64) {
        let Users::Open { arrivals, start, .. } = &mut self.users else { return };
        if *start == UNKNOWN {
            return;
        }
        while let Some(due) = arrivals
            .next_ns()
            .map(|after| *start + after)
            .filter(|due| *due < end && self.quota > 0)
        {
            arrivals.advance();
            if self.quota != u64::MAX {
                self.quota -= 1;
            }
            let stretch = self.recorder.stretch_at(due);
            let requests = &mut self.recorder.tally(stretch).requests;
            requests.scheduled += 1;
            requests.unsent += 1;
        }
    }
}
