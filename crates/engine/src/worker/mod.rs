//! A thread of the load: its connections, its event loop, its measurements. On the hot path it
//! shares nothing with other threads.
//!
//! - this file: the loop; [`users`]: when a request is due; [`sending`]: opening and writing;
//!   [`answers`]: reading and judging; [`losses`]: everything that can go wrong; [`securing`]:
//!   handshakes of the transport; [`greeting`]: those of a protocol; [`streams`]: connections that
//!   several users share; [`gathering`]: answers that come on all connections; [`walking`]: users
//!   whose requests vary; [`batching`]: answers that are picked up together; [`firsts`]: what is kept
//!   of errors; [`connection`], [`due`], [`flights`]: the state.
mod answers;
mod batching;
mod connection;
mod departure;
mod due;
mod firsts;
mod flights;
mod gathering;
mod greeting;
mod losses;
mod securing;
mod sending;
mod streams;
mod users;
mod walking;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pippin_model::load::LoadSpec;

use crate::error::{EngineError, panic_text};
use crate::io::{Event, Io};
use crate::protocol::Protocol;
use crate::record::outcome::{Mark, Outcome};
use crate::record::paths::Paths;
use crate::record::recorder::{Crossing, Message, Recorder};
use crate::request::drawn::Drawer;
use crate::request::referee::Referee;
use crate::request::surprises::Surprises;
use crate::request::wire::Wire;
use crate::scenario::Walkers;
use crate::schedule::lane::{Lane, all_users, first_template};
use crate::schedule::users::Users;
use crate::shared::{OPENING_AT_ONCE, Shared};
use crate::time::clock;
use crate::time::timeline::{Progress, Timeline, UNKNOWN};
use crate::time::timer::Wheel;
use crate::transport::Transport;
use batching::Batching;
use connection::{Connection, ConnectionOf};
use departure::SendPace;
use firsts::Blame;
use flights::Flights;
use streams::Streams;

/// The longest sleep: how late a thread can notice that the load was stopped.
const MAX_WAIT_NS: u64 = 10_000_000;

/// What a worker is to do.
pub(crate) struct Assignment {
    pub shared: Arc<Shared>,
    /// Which of the threads this is.
    pub thread: u32,
}

/// What a worker is built of, chosen at compile time.
pub(crate) trait Stack {
    type Io: Io;
    type Transport: Transport;
    type Protocol: Protocol;
}

/// A protocol over a transport on an event loop.
pub(crate) struct Over<I, T, P>(PhantomData<(I, T, P)>);

impl<I: Io, T: Transport, P: Protocol> Stack for Over<I, T, P> {
    type Io = I;
    type Transport = T;
    type Protocol = P;
}

pub(crate) struct Worker<'a, S: Stack> {
    io: S::Io,
    transport: S::Transport,
    core: Core<'a, S>,
}

/// Everything but event loop and transport, so that they can be borrowed at the same time.
struct Core<'a, S: Stack> {
    spec: &'a LoadSpec,
    thread: u32,
    timeline: &'a Timeline,
    progress: &'a Progress,
    wire: Arc<Wire>,
    referee: Option<&'a dyn Referee>,
    protocol: S::Protocol,
    recorder: Recorder,
    users: Users,
    drawer: Drawer,
    surprises: Surprises,
    connections: Vec<ConnectionOf<S>>,
    flights: Flights,
    streams: Streams,
    blame: Blame,
    /// The paths that are counted by themselves; `None` in most loads.
    paths: Option<Paths>,
    /// Where the first redirection led to.
    redirected_to: Option<Box<str>>,
    walkers: Walkers,
    opening: Connecting,
    timers: Wheel,
    /// Open loop: users that wait for an arrival, in turn.
    free: VecDeque<u32>,
    /// Slots whose last send is queued in the event loop and not stamped yet, each with its number
    /// of requests.
    queued: Vec<(u32, u32)>,
    pace: SendPace,
    batching: Batching,
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
    cost: Cost,
}

/// Connections that are being opened.
struct Connecting {
    /// Slots whose user is still to begin, and since when (now, if that is not said).
    waiting: VecDeque<(u32, Option<u64>)>,
    /// How many are being opened, and how many may be.
    connecting: u32,
    at_once: u32,
    /// The schedule has not started yet.
    is_setting_up: bool,
    /// The number of the next connection, which decides its addresses. Threads start at different
    /// numbers.
    nth: u64,
}

impl Connecting {
    const fn has_room(&self) -> bool {
        self.connecting < self.at_once
    }
}

/// What the thread costs.
#[derive(Default)]
struct Cost {
    /// Time spent polling for a deadline.
    spin_ns: u64,
    marks: Vec<Mark>,
}

impl<'a, S: Stack> Worker<'a, S> {
    pub fn new(assignment: &'a Assignment, recorder: Recorder) -> std::io::Result<Self> {
        let Assignment { shared, thread } = assignment;
        let Shared { spec, wire, timeline, .. } = shared.as_ref();
        let lane = Lane::new(spec, *thread);
        let slots = lane.users(spec);
        let first = lane.before(u64::from(all_users(spec)));
        let now = clock::now_ns();
        let connections =
            (0..u64::from(slots)).map(|slot| Connection::new(first_template(spec, first + slot)));
        let (flights, streams, timers) = Self::flights(spec, first, slots);
        let walkers = if S::Protocol::VARIES {
            let all = all_users(spec);
            Walkers::new(spec, first, slots, all).map_err(std::io::Error::other)?
        } else {
            Walkers::default()
        };
        let core = Core {
            spec,
            thread: *thread,
            timeline,
            progress: &shared.progress[*thread as usize],
            wire: Arc::clone(wire),
            referee: shared.referee.as_deref(),
            protocol: S::Protocol::new(spec, wire),
            recorder,
            users: Users::new(spec, &lane),
            // Loads of one seed have other values too: what a server remembers of one load must not
            // help it in the next.
            drawer: Drawer::new(spec.seed ^ now, lane.stream()),
            surprises: Surprises::new(spec, lane.stream(), wire.count()),
            connections: connections.collect(),
            flights,
            streams,
            blame: Blame::default(),
            paths: Paths::of(spec),
            redirected_to: None,
            walkers,
            opening: Connecting {
                waiting: VecDeque::new(),
                connecting: 0,
                at_once: ((f64::from(OPENING_AT_ONCE) * lane.fraction()) as u32).max(1),
                is_setting_up: false,
                nth: first,
            },
            timers: Wheel::new(timers, now),
            free: VecDeque::new(),
            queued: Vec::new(),
            pace: SendPace::default(),
            batching: Batching::default(),
            open_requests: 0,
            quota: lane.quota(spec),
            next_timeout_scan: UNKNOWN,
            now,
            arrived: now,
            is_stamped: false,
            cost: Cost::default(),
        };
        Ok(Self {
            io: S::Io::new(slots, wire, &shared.endpoints)?,
            transport: S::Transport::new(shared),
            core,
        })
    }

    /// Places for requests under way, streams, and the number of timers. `first` is the number of
    /// the first user.
    fn flights(spec: &LoadSpec, first: u64, slots: u32) -> (Flights, Streams, u32) {
        if S::Protocol::IN_ORDER {
            let flights = Flights::new(slots, spec.connections.pipeline, true);
            return (flights, Streams::default(), slots);
        }
        let depth = spec.connections.streams;
        let mut flights = Flights::new(slots, depth, false);
        for (slot, tag) in (0..slots).flat_map(|slot| (0..depth).map(move |tag| (slot, tag))) {
            let user = (first + u64::from(slot)) * u64::from(depth) + u64::from(tag);
            flights.place(slot, tag).template = first_template(spec, user);
        }
        // Users who share connections have their own timers, besides those of connections.
        (flights, Streams::new(slots, depth), slots * (depth + 1))
    }

    /// The whole life of the thread. What was measured survives a failure.
    pub fn run(mut self) -> Outcome {
        let failure = match catch_unwind(AssertUnwindSafe(|| self.live())) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("a worker could not wait for events: {error}")),
            Err(panic) => Some(format!("a worker panicked: {}", panic_text(&*panic))),
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
        self.read_early_bytes()?;
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
        self.fire()?;
        self.end_what_is_late()?;
        if self.core.is_done() && self.core.recorder.finished_at.is_none() {
            self.core.recorder.finish(self.core.now);
            self.mark();
        }
        if self.core.recorder.finished_at.is_some() {
            return Ok(());
        }
        if !self.core.queued.is_empty() && self.core.pace.is_due() {
            self.submit()?;
        } else {
            self.stamp_queued();
        }
        let (wait_ns, is_spin) = self.core.wait_ns();
        self.io.wait(wait_ns, self.core.stay_ns(wait_ns))?;
        let found = self.events()?;
        if is_spin && !found {
            self.core.cost.spin_ns += clock::now_ns() - self.core.now;
        }
        self.core.progress.set(self.core.recorder.completed);
        Ok(())
    }

    /// Reads bytes that came before the first request, so that they do not pass for an answer.
    fn read_early_bytes(&mut self) -> std::io::Result<()> {
        // What goes on coming is no longer early.
        for _ in 0..=self.core.connections.len() / losses::READ_AT_ONCE {
            self.io.wait(0, 0)?;
            if !self.events()? {
                break;
            }
        }
        Ok(())
    }

    /// Processes the events of the last wait. Returns whether there were any.
    fn events(&mut self) -> std::io::Result<bool> {
        let mut found = false;
        while let Some(event) = self.io.next_event() {
            found = true;
            match event {
                Event::Received { slot } => self.received(slot),
                Event::Connected { slot } => self.connected(slot),
                Event::Writable { slot } => self.writable(slot),
                Event::Closed { slot, errno } => self.closed(slot, errno),
                Event::ConnectFailed { slot, errno } => self.connect_refused(slot, errno),
            }
            if self.core.recorder.finished_at.is_some() {
                return Ok(true);
            }
            self.submit_many()?;
        }
        Ok(found)
    }

    /// Hands queued sends over once they are many.
    #[inline]
    fn submit_many(&mut self) -> std::io::Result<()> {
        if self.core.queued.len() >= SUBMIT_AT { self.submit() } else { Ok(()) }
    }

    /// Hands the queued sends over, and learns how long each takes.
    fn submit(&mut self) -> std::io::Result<()> {
        let count = self.core.queued.len();
        let begin = self.stamp_queued();
        self.io.submit()?;
        self.core.pace.learn(clock::now_ns() - begin, count);
        Ok(())
    }

    /// Called before queued sends go to the kernel, which performs them one after the other.
    /// Returns the instant.
    #[inline]
    fn stamp_queued(&mut self) -> u64 {
        if self.core.queued.is_empty() {
            return self.core.now;
        }
        let now = clock::now_ns();
        let queued = std::mem::take(&mut self.core.queued);
        for (index, (slot, count)) in queued.iter().enumerate() {
            self.core.stamp(*slot, *count, self.core.pace.at(now, index));
        }
        self.core.queued = queued;
        self.core.queued.clear();
        now
    }

    /// Reads the clock for the present event and passes the boundaries that lie before it.
    #[inline]
    fn tick(&mut self) {
        self.core.now = clock::now_ns();
        if self.core.now >= self.core.recorder.next_boundary {
            self.cross_boundaries();
        }
    }

    /// Takes the time for bytes that came: `arrived` is when the kernel received the last of them.
    #[inline]
    fn tick_received(&mut self) {
        self.tick();
        let stamp = self.io.arrived_at(self.core.now);
        (self.core.arrived, self.core.is_stamped) =
            (stamp.unwrap_or(self.core.now), stamp.is_some());
    }

    /// Takes the time for what has no stamp: the end of a connection.
    fn tick_ended(&mut self) {
        self.tick();
        (self.core.arrived, self.core.is_stamped) = (self.core.now, false);
    }

    #[cold]
    fn cross_boundaries(&mut self) {
        while self.core.now >= self.core.recorder.next_boundary {
            let before = self.core.recorder.current;
            match self.core.recorder.cross() {
                Crossing::Window => {}
                Crossing::Stretch => {
                    self.core.close_accounts(before);
                    if self.core.recorder.current == crate::record::recorder::MEASURED
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
            spin_ns: self.core.cost.spin_ns,
            syscalls: self.io.syscalls(),
            clock_steps: self.io.clock_steps(),
        };
        self.core.cost.marks.push(mark);
    }

    /// The end: unfinished requests are censored, requests not sent are unsent.
    fn into_outcome(mut self) -> Outcome {
        self.core.settle_the_rest();
        if S::Protocol::GREETS {
            self.part_from_all();
        }
        let marks = std::mem::take(&mut self.core.cost.marks);
        let tls = self.transport.into_seen();
        let websocket = self.core.protocol.into_seen();
        let thread = self.core.thread;
        let mut stretches = self.core.recorder.into_stretches();
        for stretch in &mut stretches {
            stretch.redirected_to.clone_from(&self.core.redirected_to);
        }
        Outcome { thread, marks, tls, websocket, stretches, failure: None }
    }
}

/// The most queued sends before they are handed over, so that the first does not wait until all
/// answers are decoded or all users have begun.
const SUBMIT_AT: usize = 16;

impl<S: Stack> Core<'_, S> {
    fn is_done(&self) -> bool {
        let ends_by_count = self.spec.stop.requests.is_some();
        ends_by_count && self.open_requests == 0 && (self.quota == 0 || self.users.are_exhausted())
    }

    /// How long to wait for events, and whether that is polling for a deadline.
    fn wait_ns(&self) -> (u64, bool) {
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

    /// How long answers may lie in such a wait. Where requests have a planned instant, or a
    /// connection is being opened, each event counts.
    #[inline]
    fn stay_ns(&self, wait_ns: u64) -> u64 {
        if self.users.have_a_plan() || self.opening.connecting > 0 {
            return 0;
        }
        self.batching.stay_ns(self.open_requests, wait_ns)
    }
}

/// Sleeps until an instant that the coordinator will set.
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
