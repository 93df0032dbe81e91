//! The worker in virtual time: its own code from the schedule to the recorder, between a clock that
//! only waiting moves and servers that a test scripts. What takes a second in the world takes
//! microseconds here, and every instant has one right value.
//!
//! | module | what it does |
//! |---|---|
//! | `world` | clock, connections and servers |
//! | `framing` | how servers tell apart what they read |
//! | `times` | figures with values that are worked out on paper |
//! | `counting` | right and wrong answers, and what ends a connection |
//! | `firsts` | what is kept of the first error of each kind |
//! | `pipelining` | several requests under way on a connection of HTTP/1.1 |
//! | `drawn` | values that are drawn, and requests of another kind |
//! | `users` | what users do between their requests |
//! | `walking` | steps that fail, and values that steps hand on |
//! | `mixes` | several scenarios in one load |
//! | `failing` | connections that fail, and answers that do not end |
//! | `http2` | streams beside each other, refused, reset and left out |
//! | `messages` | WebSockets whose messages come back |
//! | `events` | streams of server-sent events |
//! | `broadcasts` | messages that must come to all connections |
//! | `secured` | handshakes of TLS |
//! | `tunnels` | tunnels through a proxy |
//! | `stopped` | a generator that stands still |
//! | `laws` | what holds whatever servers do |
mod broadcasts;
mod counting;
mod drawn;
mod events;
mod failing;
mod firsts;
mod framing;
mod http2;
mod laws;
mod messages;
mod mixes;
mod pipelining;
mod secured;
mod stopped;
mod times;
mod tunnels;
mod users;
mod walking;
mod world;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc::channel;

use pippin_model::load::websocket::WebSocketUse;
use pippin_model::load::{Connections, LoadSpec, Request, Schedule, StopRule, Timeouts};
use pippin_model::result::{Measured, RequestSample, Window};
use pippin_model::text::units::Spread;

use super::link::Link;
use super::seats::flights::{DUE, IDLE};
use super::seats::{Seating, SeatsOf};
use super::{Assignment, Stack, Worker};
use crate::io::Loop;
use crate::io::socket::Endpoints;
use crate::protocol::Protocol;
use crate::protocol::http1::Http1;
use crate::record::outcome::Outcome;
use crate::record::recorder::{Message, Recorder};
use crate::record::tally::Tally;
use crate::run::exchanges::{Names, kept};
use crate::run::result::{followed, paths, steps, stretches};
use crate::shared::Shared;
use crate::time::timeline::{Progress, Timeline};
use crate::tls::Client;
use crate::transport::{Tcp, Transport};
use framing::Framing;
use world::{Script, SimClock, SimIo};

const MS: u64 = 1_000_000;

/// A protocol over a transport in virtual time.
struct Sim<T, P>(PhantomData<(T, P)>);

impl<T: Transport, P: Protocol<Order: Seating>> Stack for Sim<T, P> {
    type Io = SimIo;
    type Transport = T;
    type Protocol = P;
    type Clock = SimClock;
    /// In virtual time a tunnel leads to a server of plain HTTP/1.1, too.
    const TUNNELS: bool = true;
}

/// What a load came to.
struct Played {
    /// Each stretch: warm-up and measured part, or the phases of devices.
    stretches: Vec<Measured>,
    /// Which of them is the headline.
    headline: usize,
    /// The requests of the headline one by one, if the load asked for them.
    sample: Option<RequestSample>,
    windows: Vec<Window>,
    websocket: Option<WebSocketUse>,
    /// Requests that servers have read.
    read: u64,
    /// When the schedule started, by the clock of the rows of `sample`.
    start: u64,
}

impl Played {
    fn measured(&self) -> &Measured {
        &self.stretches[self.headline]
    }
}

/// A closed loop of so many connections for so long.
fn closed(connections: u32, duration_ms: u64) -> LoadSpec {
    LoadSpec {
        addresses: vec![([127, 0, 0, 1], 80).into()],
        requests: vec![Request::get("/", "sim")].into(),
        schedule: Schedule::Closed { think: None },
        connections: Connections::kept(connections),
        stop: StopRule { duration_ns: Some(duration_ms * MS), requests: None },
        timeouts: Timeouts { connect_ns: 1_000 * MS, request_ns: 1_000 * MS, patience_ns: None },
        // Time does not pass while polling.
        spin_ns: Some(0),
        ..LoadSpec::default()
    }
}

/// So many devices at most, each with 2 requests and so long between them, in milliseconds; and how long
/// they come, stay as many, and go.
fn devices(devices: u32, think_ms: u64, [come, stay, go]: [u64; 3]) -> LoadSpec {
    let schedule = Schedule::Devices {
        devices,
        requests_per_device: 2,
        think: Spread::exactly(think_ms * MS),
        ramp_up_ns: come * MS,
        sustain_ns: stay * MS,
        ramp_down_ns: go * MS,
    };
    let stop = StopRule { duration_ns: None, requests: None };
    LoadSpec { schedule, stop, ..closed(1, 1) }
}

/// Applies a load to a server of HTTP/1.1, from the first connection to its result.
fn play(spec: &LoadSpec, script: Script) -> Played {
    play_over::<Http1>(spec, script, Framing::Heads)
}

/// Applies a load to a server of this protocol.
fn play_over<P: Protocol<Order: Seating>>(
    spec: &LoadSpec,
    script: Script,
    framing: Framing,
) -> Played {
    play_on::<Tcp, P>(spec, script, framing)
}

/// Applies a load to a server of this protocol over this transport.
fn play_on<T: Transport, P: Protocol<Order: Seating>>(
    spec: &LoadSpec,
    script: Script,
    framing: Framing,
) -> Played {
    play_thread::<T, P>(spec, 0, script, framing)
}

/// Applies what one thread applies of a load.
fn play_thread<T: Transport, P: Protocol<Order: Seating>>(
    spec: &LoadSpec,
    thread: u32,
    script: Script,
    framing: Framing,
) -> Played {
    let shared = Arc::new(Shared {
        spec: spec.clone(),
        wire: Arc::new(P::wire(spec).unwrap()),
        endpoints: Arc::new(Endpoints::from_spec(spec).unwrap()),
        on: Loop::Epoll,
        challenges: Vec::new(),
        tls: spec.tls.as_ref().map(|tls| Client::new(tls, spec.protocol).unwrap()),
        timeline: Timeline::new(),
        referee: None,
        progress: (0..spec.threads).map(|_| Progress::default()).collect(),
    });
    shared.timeline.begin_at(0);
    world::begin(script, framing, Arc::clone(&shared));
    let (_, has_warm_up, headline) = stretches(spec);
    let (outbox, inbox) = channel();
    let assignment = Assignment { shared, thread };
    let recorder = Recorder::new(kept(spec, thread), has_warm_up, outbox);
    let mut worker = Worker::<Sim<T, P>>::new(&assignment, recorder, world::now()).unwrap();
    worker.live().unwrap();
    worker.assert_nobody_is_forgotten();
    let Outcome { stretches, websocket, .. } = worker.into_outcome();
    let windows = inbox.try_iter().filter_map(|message| match message {
        Message::Window { from, to, tally } => Some(tally.to_window(0, to - from, false)),
        _ => None,
    });
    let windows = windows.collect();
    let names = Names::from_spec(spec, (0, 0));
    let sample = names.sample(spec, std::iter::once((thread, &stretches[headline].exchanges)));
    let measured = |mut tally: Tally| {
        let steps = steps(spec, &mut tally);
        let followed = followed(spec, &mut tally);
        let by_request = paths(spec, &mut tally);
        let slowest = names.slowest(spec, std::iter::once((thread, &tally.exchanges)));
        Measured { steps, followed, by_request, slowest, ..tally.into_measured(1, 0) }
    };
    let stretches = stretches.into_iter().map(measured).collect();
    let (read, start) = world::end();
    Played { stretches, headline, sample, windows, websocket, read, start }
}

impl<S: Stack> Worker<'_, S> {
    /// Each user is under way, waits for its connection, thinks, waits for an arrival, or tries
    /// again, and does one of these things only. Who is away does none of them. Devices go for good,
    /// and nobody goes on when all requests of a load have been sent.
    fn assert_nobody_is_forgotten(&self) {
        let is_device = self.pace.opens_late() && self.pace.is_away(0).is_none();
        if is_device || self.core.quota == 0 {
            return;
        }
        for (slot, connection) in (0..self.core.with_users()).zip(&self.core.connections) {
            let opening = &self.core.opening.waiting;
            let tries =
                opening.iter().any(|(waiting, _)| *waiting == slot) || self.pace.is_retrying(slot);
            for tag in 0..self.core.users_of_a_connection() {
                let user = self.core.user(slot, tag);
                let is_away = self.pace.is_away(user) == Some(true);
                // A connection that is tried again finds nobody there (`Crowd::begins`).
                let tries = tries && !is_away;
                let rests = self.pace.rests(user);
                let doing = if !SeatsOf::<S>::IS_SHARED {
                    vec![connection.in_flight > 0 || connection.pending > 0, rests, tries]
                } else {
                    let place = &self.core.flights.places(slot)[tag as usize];
                    // Without a connection, nothing would bring it back.
                    let is_parked =
                        connection.link == Link::Up && self.core.is_set_aside(slot, tag);
                    let is_busy = place.is_taken() || place.stretch == DUE;
                    vec![is_busy, rests, is_parked, place.stretch == IDLE && tries]
                };
                let count = doing.iter().filter(|does| **does).count();
                assert_eq!(
                    count,
                    usize::from(!is_away),
                    "user {tag} of connection {slot}: {doing:?}"
                );
            }
            let is_stuck = connection.pending > 0 && connection.link == Link::Down && !tries;
            assert!(
                !is_stuck,
                "nobody opens connection {slot} for {} requests",
                connection.pending
            );
        }
    }
}
