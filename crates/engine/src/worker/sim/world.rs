//! Clock, connections and servers of a thread of tests.
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use pippin_model::load::LoadSpec;

use crate::io::socket::Endpoints;
use crate::io::{Event, Handshake, Io, Opening, Sending};
use crate::shared::Shared;
use crate::time::clock::Clock;
use crate::time::stop;
use crate::time::timeline::UNKNOWN;

/// What a server does on a connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// The connection is open: the server's kernel has answered.
    Accept,
    /// It is refused, or fails, with this errno.
    Refuse(i32),
    Send(Vec<u8>),
    Close,
    /// With this errno.
    Break(i32),
}

/// A request that a server has read.
#[derive(Debug, Clone, Copy)]
pub struct ReadRequest {
    /// Its number on its connection, and in the whole load, from 0 on.
    pub of_connection: u64,
    pub nth: u64,
    /// What tells its answer from others, where answers come in any order.
    pub tag: u32,
    /// When it was read, in nanoseconds after the start of the schedule.
    pub at: u64,
}

/// How a server tells requests apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Heads of HTTP/1.1 without bodies.
    Heads,
    /// Frames of [`crate::protocol::tests::Echo`].
    Frames,
}

impl Framing {
    /// The length of the first whole request, and its tag.
    fn first(self, input: &[u8]) -> Option<(usize, u32)> {
        if self == Self::Heads {
            return Some((memchr::memmem::find(input, b"\r\n\r\n")? + 4, 0));
        }
        let length = 4 + u32::from_be_bytes(*input.first_chunk()?) as usize;
        let frame = input.get(..length)?;
        Some((length, u32::from_be_bytes(*frame[4..].first_chunk()?)))
    }
}

/// What happens so many nanoseconds later; nothing, for ever, if the list is empty.
pub type Acts = Vec<(u64, Act)>;

/// How a server behaves.
pub struct Script {
    /// What becomes of the connection of this number.
    pub connect: Box<dyn FnMut(u64) -> Acts>,
    pub answer: Box<dyn FnMut(ReadRequest) -> Acts>,
    /// From when until when the generator stands still, in nanoseconds of the schedule.
    pub stop: Option<(u64, u64)>,
}

impl Script {
    /// A server that accepts at once.
    pub fn of(answer: impl FnMut(ReadRequest) -> Acts + 'static) -> Self {
        let connect = Box::new(|_| vec![(0, Act::Accept)]);
        Self { connect, answer: Box::new(answer), stop: None }
    }

    /// A server that answers everything after so long.
    pub fn after(ns: u64) -> Self {
        Self::of(move |_| vec![(ns, ok())])
    }

    pub fn connecting(self, connect: impl FnMut(u64) -> Acts + 'static) -> Self {
        Self { connect: Box::new(connect), ..self }
    }

    /// The generator stands still from `from_ms` on, for `ms`. What is due then is not sent before.
    pub fn stopping(self, from_ms: u64, ms: u64) -> Self {
        Self { stop: Some((from_ms * 1_000_000, (from_ms + ms) * 1_000_000)), ..self }
    }
}

/// A right answer.
pub fn ok() -> Act {
    Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec())
}

/// A connection of the client, from the server's side.
#[derive(Debug, Default, Clone)]
struct Link {
    /// Tells it from those that were in its slot before.
    number: u64,
    is_open: bool,
    input: Vec<u8>,
    read: u64,
    connect_ns: u64,
    /// From then on the server reads nothing more.
    ends_at: Option<u64>,
    /// What was sent last was not read.
    is_unread: bool,
}

/// What will happen: when, in which order, in which slot, on which connection.
type Planned = (u64, u64, u32, u64, Act);

struct World {
    now: u64,
    /// When the schedule starts.
    start: u64,
    script: Script,
    framing: Framing,
    shared: Arc<Shared>,
    links: Vec<Link>,
    connections: u64,
    read: u64,
    events: BinaryHeap<Reverse<Planned>>,
    planned: u64,
    /// Waits since time moved.
    standing: u32,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// The begin of time, which is not 0.
const BEGIN: u64 = 1_000_000_000_000;
/// So many waits in a row without any time passing are a loop without an end.
const MOST_STANDING: u32 = 100_000;

fn with<T>(work: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with_borrow_mut(|world| work(world.as_mut().unwrap()))
}

/// A world begins, with one kind of server in it.
pub fn begin(script: Script, framing: Framing, shared: Arc<Shared>) {
    WORLD.set(Some(World {
        now: BEGIN,
        start: UNKNOWN,
        script,
        framing,
        shared,
        links: Vec::new(),
        connections: 0,
        read: 0,
        events: BinaryHeap::new(),
        planned: 0,
        standing: 0,
    }));
}

/// The end of it. Returns how many requests the servers have read.
pub fn end() -> u64 {
    WORLD.take().unwrap().read
}

pub fn now() -> u64 {
    with(|world| world.now)
}

impl World {
    fn plan(&mut self, slot: u32, acts: Acts) {
        let number = self.links[slot as usize].number;
        for (after, act) in acts {
            let at = self.now + after;
            if matches!(act, Act::Close | Act::Break(_)) {
                let ends_at = &mut self.links[slot as usize].ends_at;
                *ends_at = Some(ends_at.map_or(at, |known| known.min(at)));
            }
            self.planned += 1;
            self.events.push(Reverse((at, self.planned, slot, number, act)));
        }
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) {
        let now = self.now;
        let link = &mut self.links[slot as usize];
        link.is_unread = link.ends_at.is_some_and(|at| at <= now);
        if link.is_unread {
            return;
        }
        link.input.extend_from_slice(bytes);
        loop {
            let link = &mut self.links[slot as usize];
            let Some((length, tag)) = self.framing.first(&link.input) else { return };
            link.input.drain(..length);
            let at = now.saturating_sub(self.start);
            let asked = ReadRequest { of_connection: link.read, nth: self.read, tag, at };
            link.read += 1;
            self.read += 1;
            let acts = (self.script.answer)(asked);
            self.plan(slot, acts);
        }
    }

    /// Time passes until the next event, `most` at the most.
    fn pass(&mut self, most: u64) {
        let next = self.events.peek().map_or(UNKNOWN, |Reverse((at, ..))| *at);
        let mut to = next.min(self.now + most).max(self.now);
        if let Some((from, until)) = self.script.stop
            && to >= self.start.saturating_add(from)
        {
            to = to.max(self.start + until);
            self.script.stop = None;
        }
        self.standing = if to > self.now { 0 } else { self.standing + 1 };
        assert!(self.standing < MOST_STANDING, "time stands still at {} ns", self.now - BEGIN);
        self.now = to;
    }

    /// The next event of a connection that still exists.
    fn next(&mut self) -> Option<(u64, u32, Act)> {
        loop {
            let Reverse((at, ..)) = self.events.peek()?;
            if *at > self.now {
                return None;
            }
            let Reverse((at, _, slot, number, act)) = self.events.pop()?;
            let link = &self.links[slot as usize];
            if link.is_open && link.number == number {
                return Some((at, slot, act));
            }
        }
    }

    /// What the coordinator of a load does when all connections are open.
    fn coordinate(&mut self) {
        let Shared { timeline, spec, .. } = &*self.shared;
        if timeline.instants().start != UNKNOWN {
            return;
        }
        let start = self.now + 1_000_000;
        self.start = start;
        let measure_from = start + warm_up_ns(spec);
        timeline.measure_from(measure_from);
        if let Some(end) = stop::end(spec, start, measure_from) {
            timeline.end_at(end);
        }
        timeline.start_at(start);
    }
}

const fn warm_up_ns(spec: &LoadSpec) -> u64 {
    spec.warm_up.at_most_ns()
}

/// A clock that waiting moves.
pub struct SimClock;

impl Clock for SimClock {
    fn now_ns() -> u64 {
        now()
    }

    /// A thread sleeps while the load is set up.
    fn sleep_ns(ns: u64) {
        with(|world| {
            world.coordinate();
            world.now += ns;
        });
    }
}

/// Connections to the servers of the world.
pub struct SimIo {
    received: Vec<u8>,
    arrived_at: u64,
}

impl Io for SimIo {
    const NAME: &'static str = "sim";

    fn new(slots: u32, _: &Arc<Endpoints>) -> io::Result<Self> {
        with(|world| world.links = vec![Link::default(); slots as usize]);
        Ok(Self { received: Vec::new(), arrived_at: 0 })
    }

    fn open(&mut self, slot: u32, _: u64) -> Opening {
        with(|world| {
            let number = world.connections;
            world.connections += 1;
            let acts = (world.script.connect)(number);
            let connect_ns = acts.first().map_or(0, |(after, _)| *after);
            let link = Link { number, is_open: true, connect_ns, ..Link::default() };
            world.links[slot as usize] = link;
            world.plan(slot, acts);
        });
        Opening::Pending
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Sending {
        with(|world| world.send(slot, bytes));
        Sending::Done
    }

    fn close(&mut self, slot: u32) {
        with(|world| world.links[slot as usize].is_open = false);
    }

    fn wait(&mut self, timeout_ns: u64, _: u64) -> io::Result<()> {
        with(|world| world.pass(timeout_ns));
        Ok(())
    }

    fn next_event(&mut self) -> Option<Event> {
        let (at, slot, act) = with(World::next)?;
        self.arrived_at = at;
        Some(match act {
            Act::Accept => Event::Connected { slot },
            Act::Refuse(errno) => Event::ConnectFailed { slot, errno },
            Act::Send(bytes) => {
                self.received = bytes;
                Event::Received { slot }
            }
            Act::Close => Event::Closed { slot, errno: None },
            Act::Break(errno) => Event::Closed { slot, errno: Some(errno) },
        })
    }

    fn received(&self) -> &[u8] {
        &self.received
    }

    fn received_mut(&mut self) -> &mut [u8] {
        &mut self.received
    }

    fn arrived_at(&mut self, _: u64) -> Option<u64> {
        Some(self.arrived_at)
    }

    fn clock_steps(&self) -> u64 {
        0
    }

    fn handshake(&mut self, slot: u32) -> Option<Handshake> {
        let round_trip_ns = with(|world| Some(world.links[slot as usize].connect_ns));
        Some(Handshake { round_trip_ns, repeated_syns: 0, has_received: false })
    }

    fn ends(&self, _: u32) -> Option<(SocketAddr, SocketAddr)> {
        None
    }

    fn is_closing(&self, slot: u32) -> bool {
        with(|world| world.links[slot as usize].ends_at.is_some_and(|at| at <= world.now))
    }

    fn is_undelivered(&self, slot: u32) -> Option<bool> {
        Some(with(|world| world.links[slot as usize].is_unread))
    }

    fn has_delivered(&self, slot: u32) -> Option<bool> {
        Some(with(|world| world.links[slot as usize].read > 0))
    }

    fn syscalls(&self) -> u64 {
        0
    }
}
