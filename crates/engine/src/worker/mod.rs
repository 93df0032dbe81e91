//! A thread of the load: its connections, its event loop, its measurements. On the hot path it
//! shares nothing with other threads.
//!
//! - this file: what a thread is made of; [`driver`]: its loop, and the only clock; [`pacing`]:
//!   asks who is due; [`sending`]: opening and writing; [`answers`]: reading and judging;
//!   [`losses`]: everything that can go wrong; [`securing`]: handshakes of the transport;
//!   [`greeting`]: those of a protocol; [`streams`]: connections that several users share;
//!   [`gathering`]: answers that come on all connections; [`walking`]: users whose requests vary;
//!   [`batching`]: answers that are picked up together; [`firsts`]: what is kept of errors;
//!   [`stops`]: when the thread stood still; [`connection`], [`due`], [`flights`]: the state; `sim`: tests in virtual time.
mod answers;
mod batching;
mod connection;
mod departure;
mod driver;
mod due;
mod firsts;
mod flights;
mod gathering;
mod greeting;
mod losses;
mod pacing;
mod securing;
mod sending;
#[cfg(test)]
mod sim;
mod stops;
mod streams;
mod walking;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;

use pippin_model::load::LoadSpec;

use crate::io::Io;
use crate::pace::lane::{Lane, all_users, first_template};
use crate::pace::{Pace, Places};
use crate::protocol::Protocol;
use crate::record::outcome::Mark;
use crate::record::paths::Paths;
use crate::record::recorder::Recorder;
use crate::request::drawn::Drawer;
use crate::request::referee::Referee;
use crate::request::surprises::Surprises;
use crate::request::wire::Wire;
use crate::scenario::Walkers;
use crate::shared::{OPENING_AT_ONCE, Shared};
use crate::time::clock::{Clock, Monotonic};
use crate::time::timeline::{Progress, Timeline, UNKNOWN};
use crate::transport::Transport;
use batching::Batching;
use connection::{Connection, ConnectionOf};
use departure::SendPace;
use firsts::Blame;
use flights::Flights;
use stops::Stops;
use streams::Streams;

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
    /// What the loop reads the time from.
    type Clock: Clock;
}

/// A protocol over a transport on an event loop.
pub(crate) struct Over<I, T, P>(PhantomData<(I, T, P)>);

impl<I: Io, T: Transport, P: Protocol> Stack for Over<I, T, P> {
    type Io = I;
    type Transport = T;
    type Protocol = P;
    type Clock = Monotonic;
}

pub(crate) struct Worker<'a, S: Stack> {
    io: S::Io,
    transport: S::Transport,
    pace: Pace,
    core: Core<'a, S>,
    /// When the driver last read the clock.
    now: u64,
}

/// Everything but event loop, transport and pace, so that they can be borrowed at the same time.
struct Core<'a, S: Stack> {
    spec: &'a LoadSpec,
    thread: u32,
    timeline: &'a Timeline,
    progress: &'a Progress,
    wire: Arc<Wire>,
    referee: Option<&'a dyn Referee>,
    protocol: S::Protocol,
    recorder: Recorder,
    /// What [`Pace::carries_over`] and [`Pace::has_a_plan`] say.
    carries_over: bool,
    has_plan: bool,
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
    /// Slots whose last send is queued in the event loop and not stamped yet, each with its number
    /// of requests.
    queued: Vec<(u32, u32)>,
    send_pace: SendPace,
    stops: Stops,
    batching: Batching,
    /// Requests due or sent, and not settled.
    open_requests: u64,
    /// Requests that may still be scheduled.
    quota: u64,
    next_timeout_scan: u64,
    /// When the kernel received what is being read; and whether it said so, or the instant at which
    /// it was read stands in.
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
    /// A worker that begins its life at `now`.
    pub fn new(assignment: &'a Assignment, recorder: Recorder, now: u64) -> std::io::Result<Self> {
        let Assignment { shared, thread } = assignment;
        let Shared { spec, wire, timeline, .. } = shared.as_ref();
        let lane = Lane::new(spec, *thread);
        let slots = lane.users(spec);
        let first = lane.before(u64::from(all_users(spec)));
        let connections =
            (0..u64::from(slots)).map(|slot| Connection::new(first_template(spec, first + slot)));
        let (flights, streams, depth) = Self::flights(spec, first, slots);
        let places = Places { connections: slots, depth, is_shared: !S::Protocol::IN_ORDER };
        let pace = Pace::new(spec, &lane, places, now);
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
            carries_over: pace.carries_over(),
            has_plan: pace.has_a_plan(),
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
            queued: Vec::new(),
            send_pace: SendPace::default(),
            stops: Stops::default(),
            batching: Batching::default(),
            open_requests: 0,
            quota: lane.quota(spec),
            next_timeout_scan: UNKNOWN,
            arrived: now,
            is_stamped: false,
            cost: Cost::default(),
        };
        Ok(Self {
            io: S::Io::new(slots, wire, &shared.endpoints)?,
            transport: S::Transport::new(shared),
            pace,
            core,
            now,
        })
    }

    /// Places for requests under way, streams, and the users of each connection. `first` is the
    /// number of the first user.
    fn flights(spec: &LoadSpec, first: u64, slots: u32) -> (Flights, Streams, u32) {
        if S::Protocol::IN_ORDER {
            let flights = Flights::new(slots, spec.connections.pipeline, true);
            return (flights, Streams::default(), 1);
        }
        let depth = spec.connections.streams;
        let mut flights = Flights::new(slots, depth, false);
        for (slot, tag) in (0..slots).flat_map(|slot| (0..depth).map(move |tag| (slot, tag))) {
            let user = (first + u64::from(slot)) * u64::from(depth) + u64::from(tag);
            flights.place(slot, tag).template = first_template(spec, user);
        }
        (flights, Streams::new(slots, depth), depth)
    }
}

impl<S: Stack> Core<'_, S> {
    /// How long answers may lie in a wait. Where requests have a planned instant, or a
    /// connection is being opened, each event counts.
    #[inline]
    fn stay_ns(&self, wait_ns: u64) -> u64 {
        if self.has_plan || self.opening.connecting > 0 {
            return 0;
        }
        self.batching.stay_ns(self.open_requests, wait_ns)
    }
}
