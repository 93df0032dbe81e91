//! What a thread of the load is made of.
use std::collections::VecDeque;
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
use crate::time::timeline::{Progress, Timeline, UNKNOWN};
use crate::time::timer::Wheel;
use crate::transport::Transport;

use super::batching::Batching;
use super::firsts::Blame;
use super::link::tunnelling::Tunnels;
use super::link::{Connection, ConnectionOf};
use super::ready::Ready;
use super::sampling::Sampling;
use super::seats::flights::Flights;
use super::seats::streams::Streams;
use super::seats::{Seating as _, SeatsOf};
use super::stops::Stops;
use super::{Assignment, Stack};

pub(crate) struct Worker<'a, S: Stack> {
    pub(super) io: S::Io,
    pub(super) transport: S::Transport,
    pub(super) pace: Pace,
    pub(super) core: Core<'a, S>,
    /// When the driver last read the clock.
    pub(super) now: u64,
}

/// Everything but event loop, transport and pace, so that they can be borrowed at the same time.
pub(crate) struct Core<'a, S: Stack> {
    pub(super) spec: &'a LoadSpec,
    pub(super) thread: u32,
    pub(super) timeline: &'a Timeline,
    pub(super) progress: &'a Progress,
    pub(super) wire: Arc<Wire>,
    pub(super) referee: Option<&'a dyn Referee>,
    pub(super) protocol: S::Protocol,
    pub(super) recorder: Recorder,
    /// What [`Pace::carries_over`] and [`Pace::has_a_plan`] say.
    pub(super) carries_over: bool,
    pub(super) has_plan: bool,
    pub(super) drawer: Drawer,
    pub(super) surprises: Surprises,
    pub(super) connections: Vec<ConnectionOf<S>>,
    pub(super) flights: Flights,
    pub(super) streams: Streams,
    pub(super) blame: Blame,
    /// The paths that are counted by themselves; `None` in most loads.
    pub(super) paths: Option<Paths>,
    /// Where the first redirection led to.
    pub(super) redirected_to: Option<Box<str>>,
    pub(super) walkers: Walkers,
    pub(super) opening: Connecting,
    pub(super) tunnels: Tunnels,
    pub(super) ready: Ready,
    /// How many requests were sent since the last wait for events.
    pub(super) sent_together: u32,
    pub(super) sampling: Sampling,
    pub(super) stops: Stops,
    pub(super) batching: Batching,
    /// Requests due or sent, and not settled.
    pub(super) open_requests: u64,
    /// Requests that may still be scheduled.
    pub(super) quota: u64,
    pub(super) next_timeout_scan: u64,
    /// Those of connections, where the protocol has timers.
    pub(super) timers: Wheel,
    /// When the kernel received what is being read; and whether it said so, or the instant at which
    /// it was read stands in.
    pub(super) arrived: u64,
    pub(super) is_stamped: bool,
    pub(super) cost: Cost,
}

/// Connections that are being opened.
pub(super) struct Connecting {
    /// Slots whose user is still to begin, and since when (now, if that is not said).
    pub(super) waiting: VecDeque<(u32, Option<u64>)>,
    /// How many are being opened, and how many may be.
    pub(super) connecting: u32,
    pub(super) at_once: u32,
    /// The schedule has not started yet.
    pub(super) is_setting_up: bool,
    /// The number of the next connection, which decides its addresses. Threads start at different
    /// numbers.
    pub(super) nth: u64,
}

impl Connecting {
    pub const fn has_room(&self) -> bool {
        self.connecting < self.at_once
    }
}

/// What the thread costs.
#[derive(Default)]
pub(super) struct Cost {
    /// Time spent polling for a deadline.
    pub(super) spin_ns: u64,
    pub(super) marks: Vec<Mark>,
}

impl<'a, S: Stack> Worker<'a, S> {
    /// A worker that begins its life at `now`.
    pub fn new(assignment: &'a Assignment, recorder: Recorder, now: u64) -> std::io::Result<Self> {
        let Assignment { shared, thread } = assignment;
        let Shared { spec, wire, timeline, .. } = shared.as_ref();
        let lane = Lane::new(spec, *thread);
        let slots = lane.users(spec);
        let first = lane.before(u64::from(all_users(spec)));
        let (flights, streams, depth) = SeatsOf::<S>::places(spec, first, slots);
        let places = Places { connections: slots, depth, is_shared: SeatsOf::<S>::IS_SHARED };
        let pace = Pace::new(spec, &lane, places, now);
        let walkers = if S::Protocol::VARIES {
            let all = all_users(spec);
            Walkers::new(spec, first, slots, all).map_err(std::io::Error::other)?
        } else {
            Walkers::default()
        };
        let connection = |slot: u32| {
            Connection::new(match S::Protocol::VARIES {
                true => walkers.first_step(slot),
                false => first_template(spec, first + u64::from(slot)),
            })
        };
        let connections = (0..slots).map(connection).collect();
        let mut core: Core<'a, S> = Core {
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
            drawer: Drawer::new(spec.seed ^ now, &lane),
            surprises: Surprises::new(spec, lane.stream(), wire.count()),
            connections,
            flights,
            streams,
            blame: Blame::default(),
            paths: Paths::from_spec(spec),
            redirected_to: None,
            walkers,
            opening: Connecting {
                waiting: VecDeque::new(),
                connecting: 0,
                at_once: ((f64::from(OPENING_AT_ONCE) * lane.fraction()) as u32).max(1),
                is_setting_up: false,
                nth: first,
            },
            tunnels: Tunnels::from_spec(spec),
            ready: Ready::default(),
            sent_together: 0,
            sampling: Sampling::from_spec(spec),
            stops: Stops::default(),
            batching: Batching::default(),
            open_requests: 0,
            quota: lane.quota(spec),
            next_timeout_scan: UNKNOWN,
            timers: Wheel::new(if S::Protocol::HAS_TIMERS { slots } else { 0 }, now),
            arrived: now,
            is_stamped: false,
            cost: Cost::default(),
        };
        if let Some(client) = &shared.tls {
            core.protocol.secured_by(client);
        }
        let challenges = shared.challenges.iter().skip(first as usize);
        for (connection, challenge) in core.connections.iter_mut().zip(challenges) {
            core.protocol.challenged(&mut connection.protocol, challenge);
        }
        Ok(Self {
            io: S::Io::new(slots, &shared.endpoints, shared.on)?,
            transport: S::Transport::new(shared),
            pace,
            core,
            now,
        })
    }
}

impl<S: Stack> Core<'_, S> {
    /// How long answers may lie in a wait. Where requests have a planned instant, or a
    /// connection is being opened, each event counts.
    #[inline]
    pub(super) fn stay_ns(&self, wait_ns: u64) -> u64 {
        if self.has_plan || self.opening.connecting > 0 {
            return 0;
        }
        self.batching.stay_ns(self.open_requests, wait_ns)
    }
}
