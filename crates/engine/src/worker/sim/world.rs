//! Clock, connections and servers of a thread of tests.
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use pippin_model::load::LoadSpec;
use rustls::{ServerConfig, ServerConnection};

use super::framing::Framing;
use crate::io::socket::Endpoints;
use crate::io::{Event, Handshake, Io, Loop, Opening, Sending};
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
    /// Bytes of TLS, as they are.
    Sealed(Vec<u8>),
    /// To the connection of this number, if it is open.
    Tell(u64, Vec<u8>),
    Close,
    /// With this errno.
    Break(i32),
}

/// A request that a server has read, or something else that a client says.
#[derive(Debug, Clone, Copy)]
pub struct ReadRequest<'a> {
    /// The number of its connection, from 0 on.
    pub connection: u64,
    /// Its number on its connection, and in the whole load, from 0 on.
    pub of_connection: u64,
    pub nth: u64,
    /// What tells its answer from others, where answers come in any order.
    pub tag: u32,
    /// When it was read, in nanoseconds after the start of the schedule.
    pub at: u64,
    /// The last piece of it, as it came.
    pub bytes: &'a [u8],
}

/// What happens so many nanoseconds later; nothing, for ever, if the list is empty.
pub type Acts = Vec<(u64, Act)>;

/// How a server behaves.
pub struct Script {
    /// What becomes of the connection of this number.
    pub connect: Box<dyn FnMut(u64) -> Acts>,
    pub answer: Box<dyn FnMut(ReadRequest<'_>) -> Acts>,
    /// What follows from anything that is no request.
    pub other: Box<dyn FnMut(ReadRequest<'_>) -> Acts>,
    /// With TLS: its configuration, and how long the server's part of the handshake takes.
    pub tls: Option<(Arc<ServerConfig>, u64)>,
    /// From when until when the generator stands still, in nanoseconds of the schedule.
    pub stop: Option<(u64, u64)>,
}

impl Script {
    /// A server that accepts at once.
    pub fn answering(answer: impl FnMut(ReadRequest<'_>) -> Acts + 'static) -> Self {
        Self {
            connect: Box::new(|_| vec![(0, Act::Accept)]),
            answer: Box::new(answer),
            other: Box::new(|_| Vec::new()),
            tls: None,
            stop: None,
        }
    }

    /// A server that answers everything after so long.
    pub fn after(ns: u64) -> Self {
        Self::answering(move |_| vec![(ns, ok())])
    }

    pub fn connecting(self, connect: impl FnMut(u64) -> Acts + 'static) -> Self {
        Self { connect: Box::new(connect), ..self }
    }

    pub fn hearing(self, other: impl FnMut(ReadRequest<'_>) -> Acts + 'static) -> Self {
        Self { other: Box::new(other), ..self }
    }

    /// Over TLS, whose server takes so long for its part of the handshake.
    pub fn secured(self, config: Arc<ServerConfig>, after_ns: u64) -> Self {
        Self { tls: Some((config, after_ns)), ..self }
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

/// An answer with these fields besides its length.
pub fn answer(status: u16, fields: &str, body: &str) -> Act {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} x\r\n{fields}Content-Length: {length}\r\n\r\n{body}");
    Act::Send(text.into_bytes())
}

/// A connection of the client, from the server's side.
#[derive(Debug, Default)]
struct Link {
    /// Tells it from those that were in its slot before.
    number: u64,
    is_open: bool,
    input: Vec<u8>,
    /// Requests, and pieces of any kind, that were read.
    read: u64,
    pieces: u64,
    tls: Option<ServerConnection>,
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
pub const BEGIN: u64 = 1_000_000_000_000;
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

/// The end of it. Returns how many requests the servers have read, and when the schedule started.
pub fn end() -> (u64, u64) {
    let world = WORLD.take().unwrap();
    (world.read, world.start)
}

pub fn now() -> u64 {
    with(|world| world.now)
}

impl World {
    fn plan(&mut self, slot: u32, acts: Acts) {
        for (after, act) in acts {
            let at = self.now + after;
            let (slot, act) = match act {
                Act::Tell(to, bytes) => {
                    let is_meant = |link: &Link| link.is_open && link.number == to;
                    let Some(place) = self.links.iter().position(is_meant) else { continue };
                    (place as u32, Act::Send(bytes))
                }
                act => (slot, act),
            };
            let link = &mut self.links[slot as usize];
            if matches!(act, Act::Close | Act::Break(_)) {
                link.ends_at = Some(link.ends_at.map_or(at, |known| known.min(at)));
            }
            self.planned += 1;
            self.events.push(Reverse((at, self.planned, slot, link.number, act)));
        }
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) {
        let now = self.now;
        let link = &mut self.links[slot as usize];
        link.is_unread = link.ends_at.is_some_and(|at| at <= now);
        if link.is_unread {
            return;
        }
        if link.tls.is_some() {
            self.unseal(slot, bytes);
        } else {
            link.input.extend_from_slice(bytes);
        }
        while self.read(slot).is_some() {}
    }

    /// Reads one piece of what has come; `None` if there is no whole one.
    fn read(&mut self, slot: u32) -> Option<()> {
        let link = &mut self.links[slot as usize];
        let piece = self.framing.first(link.pieces == 0, &link.input)?;
        let bytes: Vec<u8> = link.input.drain(..piece.length).collect();
        let asked = ReadRequest {
            connection: link.number,
            of_connection: link.read,
            nth: self.read,
            tag: piece.tag,
            at: self.now.saturating_sub(self.start),
            bytes: &bytes,
        };
        link.pieces += 1;
        let acts = if piece.ends_request {
            link.read += 1;
            self.read += 1;
            (self.script.answer)(asked)
        } else {
            (self.script.other)(asked)
        };
        self.plan(slot, acts);
        Some(())
    }

    /// Takes bytes of TLS. What the server has to say of its own goes out at once, but for its
    /// part of the handshake.
    fn unseal(&mut self, slot: u32, mut bytes: &[u8]) {
        let Link { tls, input, number, .. } = &mut self.links[slot as usize];
        let Some(session) = tls else { return };
        while !bytes.is_empty() {
            session.read_tls(&mut bytes).unwrap();
            if session.process_new_packets().is_err() {
                // An alert: the client has given up.
                break;
            }
            // Nothing more is an error ("would block").
            drop(session.reader().read_to_end(input));
        }
        let takes_ns = self.script.tls.as_ref().map_or(0, |(_, takes_ns)| *takes_ns);
        let after = if session.is_handshaking() { takes_ns } else { 0 };
        let mut own = Vec::new();
        while session.wants_write() {
            session.write_tls(&mut own).unwrap();
        }
        if !own.is_empty() {
            self.planned += 1;
            let event = (self.now + after, self.planned, slot, *number, Act::Sealed(own));
            self.events.push(Reverse(event));
        }
    }

    /// What goes over the wire.
    fn sealed(&mut self, slot: u32, bytes: Vec<u8>) -> Vec<u8> {
        let Some(session) = &mut self.links[slot as usize].tls else { return bytes };
        session.writer().write_all(&bytes).unwrap();
        let mut sealed = Vec::new();
        while session.wants_write() {
            session.write_tls(&mut sealed).unwrap();
        }
        sealed
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
            if !link.is_open || link.number != number {
                continue;
            }
            let act = match act {
                Act::Send(bytes) => Act::Sealed(self.sealed(slot, bytes)),
                act => act,
            };
            return Some((at, slot, act));
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
    fn new(slots: u32, _: &Arc<Endpoints>, _: Loop) -> io::Result<Self> {
        with(|world| world.links.resize_with(slots as usize, Link::default));
        Ok(Self { received: Vec::new(), arrived_at: 0 })
    }

    fn open(&mut self, slot: u32, _: u64) -> Opening {
        with(|world| {
            let number = world.connections;
            world.connections += 1;
            let acts = (world.script.connect)(number);
            let connect_ns = acts.first().map_or(0, |(after, _)| *after);
            let tls = world.script.tls.as_ref();
            let tls = tls.map(|(config, _)| ServerConnection::new(Arc::clone(config)).unwrap());
            let link = Link { number, is_open: true, connect_ns, tls, ..Link::default() };
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
            Act::Send(bytes) | Act::Tell(_, bytes) | Act::Sealed(bytes) => {
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
        Some(with(|world| world.links[slot as usize].pieces > 0))
    }

    fn syscalls(&self) -> u64 {
        0
    }
}
