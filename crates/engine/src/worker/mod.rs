//! A thread of the load: its connections, its event loop, its measurements. Shares nothing with the
//! others on the hot path.
//!
//! - this file: the loop; [`users`]: when a request is due; [`sending`]: opening and writing;
//!   [`answers`]: reading and judging; [`polling`]: staying awake for an answer; [`losses`]:
//!   everything that can go wrong; [`securing`]: TLS, between the event loop and the two;
//!   [`connection`]: the state.
mod answers;
mod connection;
mod losses;
mod polling;
mod securing;
mod sending;
mod users;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pippin_model::load_spec::LoadSpec;
use pippin_model::tls::TlsUse;

use crate::clock;
use crate::error::EngineError;
use crate::http1::HeadCache;
use crate::io::socket::Endpoints;
use crate::io::{Event, Io};
use crate::recorder::{Crossing, Message, Recorder};
use crate::run::message;
use crate::tally::Tally;
use crate::timeline::{Progress, Timeline, UNKNOWN};
use crate::timer::Wheel;
use crate::tls::Client;
use crate::wire::Wire;
use connection::{Connection, InFlight};
use securing::Security;
use users::Users;

/// The longest sleep: how late a thread can notice that the load was stopped.
const MAX_WAIT_NS: u64 = 10_000_000;
/// Connections that all threads together open at the same time before the load; more would overflow
/// the listen queues of many servers, whose dropped SYN comes again only after a second.
pub(crate) const OPENING_AT_ONCE: u32 = 64;

/// What all workers of a load have in common.
pub(crate) struct Shared {
    pub spec: LoadSpec,
    pub wire: Arc<Wire>,
    pub endpoints: Arc<Endpoints>,
    /// `None` in a load without TLS.
    pub tls: Option<Client>,
    pub timeline: Timeline,
    /// One for each worker.
    pub progress: Vec<Progress>,
}

/// What a worker is to do.
pub(crate) struct Assignment {
    pub shared: Arc<Shared>,
    /// Which of the threads this is.
    pub thread: u32,
    /// Connections (or devices) of this thread, and the number of the first of them in the whole
    /// load.
    pub slots: u32,
    pub first_slot: u32,
    /// Requests that this thread schedules at the most.
    pub quota: u64,
}

/// What a worker has measured.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub thread: u32,
    pub stretches: Vec<Tally>,
    /// At the start of each stretch, and at the end of the last one that began.
    pub marks: Vec<Mark>,
    pub tls: Option<TlsUse>,
    /// Why the worker ended before the load did.
    pub failure: Option<EngineError>,
}

/// What the thread had cost up to an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub cpu_ns: u64,
    pub spin_ns: u64,
    pub syscalls: u64,
    pub clock_steps: u64,
}

pub(crate) struct Worker<'a, I> {
    io: I,
    core: Core<'a>,
}

/// Everything but the event loop, so that both can be borrowed at the same time.
struct Core<'a> {
    spec: &'a LoadSpec,
    wire: Arc<Wire>,
    thread: u32,
    /// `None` in a load without TLS.
    security: Option<Security>,
    timeline: &'a Timeline,
    progress: &'a Progress,
    recorder: Recorder,
    users: Users,
    connections: Vec<Connection>,
    /// `pipeline` entries for each connection.
    in_flight: Vec<InFlight>,
    pipeline: u32,
    /// The template that is sent next.
    template: u32,
    cache: HeadCache,
    timers: Wheel,
    /// Slots whose user is still to begin, and since when (now, if that is not said); and how many
    /// connections are being opened.
    to_open: VecDeque<(u32, Option<u64>)>,
    connecting: u32,
    /// The schedule has not started yet.
    is_setting_up: bool,
    opening_at_once: u32,
    /// The number of the next connection that is opened, which decides its addresses; threads begin
    /// at different numbers.
    nth: u64,
    /// Slots whose last send (of so many requests) is queued in the event loop and not stamped yet.
    queued: Vec<(u32, u32)>,
    /// Requests due or sent, and not settled.
    open_requests: u64,
    /// Requests that may still be scheduled.
    quota: u64,
    next_timeout_scan: u64,
    /// The instant of the present event or turn of the loop.
    now: u64,
    /// When the kernel received what is being read; and whether it said so, or `now` stands in.
    arrived: u64,
    is_stamped: bool,
    /// Time spent polling for a deadline.
    spin_ns: u64,
    marks: Vec<Mark>,
}

impl<'a, I: Io> Worker<'a, I> {
    pub fn new(assignment: &'a Assignment, recorder: Recorder) -> std::io::Result<Self> {
        let Assignment { shared, thread, slots, first_slot, quota } = assignment;
        let (thread, slots, first_slot, quota) = (*thread, *slots, *first_slot, *quota);
        let Shared { spec, wire, timeline, .. } = shared.as_ref();
        let io = I::new(slots, wire, &shared.endpoints)?;
        let pipeline = spec.connections.pipeline;
        let now = clock::now_ns();
        let core =
            Core {
                spec,
                wire: Arc::clone(wire),
                thread,
                security: shared.tls.clone().zip(spec.tls.as_ref()).map(|(client, tls)| {
                    Security::new(client, crate::tls::config::nothing_yet(tls))
                }),
                timeline,
                progress: &shared.progress[thread as usize],
                recorder,
                users: Users::new(spec, thread),
                connections: (0..slots).map(|_| Connection::new()).collect(),
                in_flight: vec![InFlight::default(); slots as usize * pipeline as usize],
                pipeline,
                template: (u64::from(thread) * u64::from(wire.count()) / u64::from(spec.threads))
                    as u32,
                cache: HeadCache::default(),
                timers: Wheel::new(slots, now),
                to_open: VecDeque::new(),
                connecting: 0,
                is_setting_up: false,
                opening_at_once: (OPENING_AT_ONCE / spec.threads).max(1),
                nth: u64::from(first_slot),
                queued: Vec::new(),
                open_requests: 0,
                quota,
                next_timeout_scan: UNKNOWN,
                now,
                arrived: now,
                is_stamped: false,
                spin_ns: 0,
                marks: Vec::new(),
            };
        Ok(Self { io, core })
    }

    /// The whole life of the thread after its birth. What was measured survives a death.
    pub fn run(mut self) -> Outcome {
        let failure = match catch_unwind(AssertUnwindSafe(|| self.live())) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("a worker could not wait for events: {error}")),
            Err(panic) => Some(format!("a worker panicked: {}", message(&*panic))),
        };
        if failure.is_some() {
            self.core.recorder.finish(clock::now_ns());
            self.mark();
        }
        Outcome { failure: failure.map(EngineError::died), ..self.into_outcome() }
    }

    fn live(&mut self) -> std::io::Result<()> {
        self.core.recorder.tell(Message::Ready);
        sleep_until(|| self.core.timeline.begin());
        self.set_up()?;
        let start = sleep_until(|| self.core.timeline.instants().start);
        self.core.recorder.start(start);
        self.begin_users(start);
        self.mark();
        while self.core.recorder.finished_at.is_none() {
            self.turn()?;
        }
        Ok(())
    }

    /// One turn of the loop.
    fn turn(&mut self) -> std::io::Result<()> {
        self.core.now = clock::now_ns();
        self.core.recorder.learn(self.core.timeline.instants());
        self.cross_boundaries();
        self.fire();
        self.look_for_timeouts();
        if self.core.is_done() && self.core.recorder.finished_at.is_none() {
            self.core.recorder.finish(self.core.now);
            self.mark();
        }
        if self.core.recorder.finished_at.is_some() {
            return Ok(());
        }
        self.stamp_queued();
        let (wait_ns, is_spin) = self.core.wait_ns();
        self.io.wait(wait_ns)?;
        let found = self.events()?;
        if found {
            self.core.users.came(self.core.now);
        }
        if is_spin && !found {
            self.core.spin_ns += clock::now_ns() - self.core.now;
        }
        self.core.progress.set(self.core.recorder.completed);
        Ok(())
    }

    /// Takes what the last wait found; whether there was anything.
    fn events(&mut self) -> std::io::Result<bool> {
        let mut found = false;
        while let Some(event) = self.io.next_event() {
            found = true;
            match event {
                Event::Received { slot } => self.received(slot),
                Event::Connected { slot } => self.connected(slot),
                Event::Writable { slot } => self.writable(slot),
                Event::Closed { slot, errno } => self.closed(slot, errno),
                Event::ConnectFailed { slot, errno } => {
                    self.connect_failed(slot, losses::connect_error(errno))
                }
            }
            if self.core.recorder.finished_at.is_some() {
                return Ok(true);
            }
            if self.core.queued.len() >= SUBMIT_AT {
                self.stamp_queued();
                self.io.submit()?;
            }
        }
        Ok(found)
    }

    /// Queued sends are about to be handed to the kernel: that is the instant at which they are
    /// sent.
    #[inline]
    fn stamp_queued(&mut self) {
        if !self.core.queued.is_empty() {
            let now = clock::now_ns();
            let queued = std::mem::take(&mut self.core.queued);
            for (slot, count) in &queued {
                self.core.stamp(*slot, *count, now);
            }
            self.core.queued = queued;
            self.core.queued.clear();
        }
    }

    /// Reads the clock for the present event and passes the boundaries that lie before it.
    #[inline]
    fn tick(&mut self) {
        self.core.now = clock::now_ns();
        if self.core.now >= self.core.recorder.next_boundary {
            self.cross_boundaries();
        }
    }

    /// The same for bytes that came: `arrived` is when the kernel received the last of them.
    #[inline]
    fn tick_received(&mut self) {
        self.tick();
        let stamp = self.io.arrived_at(self.core.now);
        (self.core.arrived, self.core.is_stamped) =
            (stamp.unwrap_or(self.core.now), stamp.is_some());
    }

    /// The same for what has no stamp: the end of a connection.
    fn tick_ended(&mut self) {
        self.tick();
        (self.core.arrived, self.core.is_stamped) = (self.core.now, false);
    }

    #[cold]
    fn cross_boundaries(&mut self) {
        while self.core.now >= self.core.recorder.next_boundary {
            match self.core.recorder.cross() {
                Crossing::Window => {}
                Crossing::Stretch => {
                    if self.core.recorder.current == crate::recorder::MEASURED
                        && self.core.users.carries_over()
                    {
                        self.core.carry_over();
                    }
                    self.mark();
                }
                Crossing::End => return self.mark(),
            }
        }
    }

    fn mark(&mut self) {
        let mark = Mark {
            cpu_ns: clock::thread_cpu_ns(),
            spin_ns: self.core.spin_ns,
            syscalls: self.io.syscalls(),
            clock_steps: self.io.clock_steps(),
        };
        self.core.marks.push(mark);
    }

    /// Ends: what is not settled is censored, what was not sent is unsent.
    fn into_outcome(mut self) -> Outcome {
        self.core.settle_the_rest();
        let marks = std::mem::take(&mut self.core.marks);
        let tls = self.core.security.take().map(|security| security.seen);
        let thread = self.core.thread;
        Outcome {
            thread,
            marks,
            tls,
            stretches: self.core.recorder.into_stretches(),
            failure: None,
        }
    }
}

/// Queued sends are handed over at the latest when there are this many: the first must not wait for
/// the decoding of all answers.
const SUBMIT_AT: usize = 16;

impl Core<'_> {
    fn is_done(&self) -> bool {
        let ends_by_count = self.spec.stop.requests.is_some();
        ends_by_count && self.open_requests == 0 && (self.quota == 0 || self.users.are_exhausted())
    }

    /// How long to wait for events, and whether that is polling for a deadline.
    fn wait_ns(&self) -> (u64, bool) {
        if self.open_requests > 0 && self.users.polls_for_an_answer(self.now) {
            return (0, true);
        }
        let mut until = self.now + MAX_WAIT_NS;
        until = until.min(self.recorder.next_boundary).min(self.next_timeout_scan);
        if let Some(due) = self.timers.next_due() {
            until = until.min(due);
        }
        let mut is_spin = false;
        if let Some((due, poll_from)) = self.next_arrival() {
            is_spin = poll_from <= self.now && self.now < due;
            until = until.min(poll_from);
        }
        (until.saturating_sub(self.now), is_spin)
    }
}

/// Sleeps until an instant that is not known yet; afterwards it has passed.
fn sleep_until(instant: impl Fn() -> u64) -> u64 {
    loop {
        let (at, now) = (instant(), clock::now_ns());
        if at <= now {
            return at;
        }
        let left = if at == UNKNOWN { 200_000 } else { (at - now).min(1_000_000) };
        std::thread::sleep(std::time::Duration::from_nanos(left));
    }
}
