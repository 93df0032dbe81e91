//! The worker in virtual time: its own code from the schedule to the recorder, between a clock that
//! only waiting moves and servers that a test scripts. What takes a second in the world takes
//! microseconds here, and every instant has one right value.
//!
//! | module | what it does |
//! |---|---|
//! | `world` | clock, connections and servers |
//! | `times` | figures with values that are worked out on paper |
//! | `users` | what users do between their requests |
//! | `mixes` | several scenarios in one load |
//! | `failing` | connections that fail, and answers that do not end |
//! | `tunnels` | tunnels through a proxy |
//! | `stopped` | a generator that stands still |
//! | `laws` | what holds whatever servers do |
mod failing;
mod laws;
mod mixes;
mod stopped;
mod times;
mod tunnels;
mod users;
mod world;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc::channel;

use pippin_model::load::{Connections, LoadSpec, Request, Schedule, StopRule, Timeouts};
use pippin_model::result::{Measured, RequestSample, Window};

use super::link::Link;
use super::seats::flights::{DUE, IDLE};
use super::{Assignment, Stack, Worker};
use crate::io::socket::Endpoints;
use crate::protocol::Protocol;
use crate::protocol::http1::Http1;
use crate::record::outcome::Outcome;
use crate::record::recorder::{Message, Recorder};
use crate::record::tally::Tally;
use crate::run::exchanges::{Names, kept};
use crate::run::result::{followed, steps, stretches};
use crate::shared::Shared;
use crate::time::timeline::{Progress, Timeline};
use crate::transport::Tcp;
use world::{Framing, Script, SimClock, SimIo};

const MS: u64 = 1_000_000;

/// A protocol in virtual time.
struct Sim<P>(PhantomData<P>);

impl<P: Protocol> Stack for Sim<P> {
    type Io = SimIo;
    type Transport = Tcp;
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
    /// Requests that servers have read.
    read: u64,
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

/// Applies a load to a server of HTTP/1.1, from the first connection to its result.
fn play(spec: &LoadSpec, script: Script) -> Played {
    play_over::<Http1>(spec, script, Framing::Heads)
}

/// Applies a load to a server of this protocol.
fn play_over<P: Protocol>(spec: &LoadSpec, script: Script, framing: Framing) -> Played {
    let shared = Arc::new(Shared {
        spec: spec.clone(),
        wire: Arc::new(P::wire(spec).unwrap()),
        endpoints: Arc::new(Endpoints::of(spec).unwrap()),
        challenges: Vec::new(),
        tls: None,
        timeline: Timeline::new(),
        referee: None,
        progress: vec![Progress::default()],
    });
    shared.timeline.begin_at(0);
    world::begin(script, framing, Arc::clone(&shared));
    let (_, has_warm_up, headline) = stretches(spec);
    let (outbox, inbox) = channel();
    let assignment = Assignment { shared, thread: 0 };
    let recorder = Recorder::new(kept(spec, 0), has_warm_up, outbox);
    let mut worker = Worker::<Sim<P>>::new(&assignment, recorder, world::now()).unwrap();
    worker.live().unwrap();
    worker.assert_nobody_is_forgotten();
    let Outcome { stretches, .. } = worker.into_outcome();
    let windows = inbox.try_iter().filter_map(|message| match message {
        Message::Window { from, to, tally } => Some(tally.to_window(0, to - from, false)),
        _ => None,
    });
    let windows = windows.collect();
    let names = Names::of(spec, (0, 0));
    let sample = names.sample(spec, std::iter::once((0, &stretches[headline].exchanges)));
    let measured = |mut tally: Tally| {
        let steps = steps(spec, &mut tally);
        let followed = followed(spec, &mut tally);
        let slowest = names.slowest(spec, std::iter::once((0, &tally.exchanges)));
        Measured { steps, followed, slowest, ..tally.into_measured(1, 0) }
    };
    let stretches = stretches.into_iter().map(measured).collect();
    Played { stretches, headline, sample, windows, read: world::end() }
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
        for (slot, connection) in (0..).zip(&self.core.connections) {
            let opening = &self.core.opening.waiting;
            let tries =
                opening.iter().any(|(waiting, _)| *waiting == slot) || self.pace.is_retrying(slot);
            for tag in 0..self.core.users_of_a_connection() {
                let rests = self.pace.rests(self.core.user(slot, tag));
                let doing = if S::Protocol::IN_ORDER {
                    vec![connection.in_flight > 0 || connection.pending > 0, rests, tries]
                } else {
                    let place = &self.core.flights.of(slot)[tag as usize];
                    // Without a connection, nothing would bring it back.
                    let is_parked =
                        connection.link == Link::Up && self.core.is_set_aside(slot, tag);
                    let is_busy = place.is_taken() || place.stretch == DUE;
                    vec![is_busy, rests, is_parked, place.stretch == IDLE && tries]
                };
                let count = doing.iter().filter(|does| **does).count();
                let is_away = self.pace.is_away(self.core.user(slot, tag)) == Some(true);
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
