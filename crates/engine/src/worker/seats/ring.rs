//! A user with a connection of its own: its requests under way are a ring, because their answers come
//! in order.
use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;

use super::flights::{Flights, InFlight};
use super::streams::Streams;
use super::{Place, Seating};
use crate::io::{Io, Sending};
use crate::pace::{Fate, Next};
use crate::protocol::order::InOrder;
use crate::protocol::{Answers, Outgoing, Protocol, Step};
use crate::request::check::Judge;
use crate::request::event_stream::{EventLog, EventTimes};
use crate::request::surprises::{Look, Surprises};
use crate::request::wire::Wire;
use crate::scenario::redirection::is_redirection;
use crate::transport::Transport;
use crate::worker::answers::Reading;
use crate::worker::departure::Departure;
use crate::worker::link::{Connection, Link};
use crate::worker::{Core, Stack, Worker};

/// Where the parts of an answer go.
struct Answer<'a> {
    arrived: u64,
    wire: &'a Wire,
    /// Places of the connection's requests, and where the oldest is.
    flights: &'a [InFlight],
    head: u32,
    judge: &'a mut Judge,
    surprises: &'a mut Surprises,
    server_closes: &'a mut bool,
    head_at: &'a mut u64,
    interim: u64,
    /// Where the first redirection led to.
    redirected_to: &'a mut Option<Box<str>>,
    /// Why the answer must be rejected.
    refused: &'static str,
    events: EventLog<'a>,
}

impl Answers for Answer<'_> {
    #[inline]
    fn oldest(&self) -> u32 {
        self.head
    }

    #[inline]
    fn template(&self, tag: u32) -> Option<u32> {
        self.flights.get(tag as usize).filter(|place| place.is_taken()).map(|place| place.template)
    }

    fn interim(&mut self) {
        self.interim += 1;
    }

    #[inline]
    fn head(&mut self, _tag: u32, status: u16, is_last: bool) {
        self.judge.head(status);
        let template = self.flights[self.head as usize].template;
        self.judge.decide(self.surprises.look(template));
        *self.server_closes = is_last;
        *self.head_at = self.arrived;
    }

    #[inline]
    fn body(&mut self, _tag: u32, template: u32, piece: &[u8]) {
        // Answers come in order: it is the oldest request's.
        let flight = &self.flights[self.head as usize];
        let right = self.wire.template(template).right(flight.value);
        let times = EventTimes { sent_ns: flight.sent.begun_at(), arrived_ns: self.arrived };
        self.judge.piece_at(&right, piece, times, &mut self.events);
    }

    #[inline]
    fn head_bytes(&mut self, raw: &[u8]) {
        if is_redirection(self.judge.status) && self.redirected_to.is_none() {
            *self.redirected_to = location(raw);
        }
        if self.judge.look() != Look::Checked {
            self.judge.head_bytes(self.surprises.content_type(), raw);
        }
    }

    fn refused(&mut self, why: &'static str) {
        self.refused = why;
    }
}

/// The value of the field `Location` of a head.
#[cold]
fn location(raw: &[u8]) -> Option<Box<str>> {
    const NAME: &[u8] = b"location:";
    raw.split(|byte| *byte == b'\n').find_map(|line| {
        let (name, value) = line.split_at_checked(NAME.len())?;
        let value = String::from_utf8_lossy(value.trim_ascii());
        name.eq_ignore_ascii_case(NAME).then(|| value.escape_debug().to_string().into())
    })
}

impl Seating for InOrder {
    const IS_SHARED: bool = false;

    fn places(spec: &LoadSpec, _first: u64, slots: u32) -> (Flights, Streams, u32) {
        (Flights::new(slots, spec.connections.pipeline, true), Streams::default(), 1)
    }

    #[inline]
    fn place(_: &Streams, user: u32) -> Place {
        (user, 0)
    }

    #[inline]
    fn user(_: &Streams, (slot, _): Place) -> u32 {
        slot
    }

    fn users_of_a_connection(_: &Streams) -> u32 {
        1
    }

    /// Its user waits for the answer, and asks for nothing meanwhile.
    #[inline]
    fn is_full<S: Stack>(_: &Core<'_, S>, _: u32) -> bool {
        false
    }

    #[inline]
    fn ready<S: Stack>(worker: &mut Worker<'_, S>, (slot, _): Place, at: u64, now: u64) {
        // With pipelining, a user sends a batch of requests.
        let count = u64::from(worker.core.flights.depth).min(worker.core.quota) as u32;
        if count == 0 {
            return;
        }
        worker.core.schedule(slot, at, count);
        match worker.core.connections[slot as usize].link {
            Link::Up => {
                let Some(count) = worker.render(slot, now) else { return };
                if !worker.core.ready.takes(slot, count) {
                    worker.depart(slot, count, now);
                }
            }
            Link::Connecting | Link::Tunnelling | Link::Securing | Link::Greeting => {}
            Link::Down => worker.open(slot, now),
        }
    }

    #[inline]
    fn arrives<S: Stack>(worker: &mut Worker<'_, S>, place: Place, at: u64, turn: u32, now: u64) {
        let (slot, _) = place;
        let template = if S::Protocol::VARIES { worker.core.begin_walk(slot, turn) } else { turn };
        worker.core.connections[slot as usize].template = template;
        Self::ready(worker, place, at, now);
    }

    #[inline]
    fn has_thought<S: Stack>(worker: &mut Worker<'_, S>, (slot, tag): Place, at: u64, now: u64) {
        if worker.core.connections[slot as usize].has_failed {
            return worker.core.opening.waiting.push_back((slot, Some(at)));
        }
        worker.begin((slot, tag), at, now);
    }

    #[inline]
    fn rests<S: Stack>(_: &mut Core<'_, S>, _: Place, _: u64) {}

    fn ends<S: Stack>(_: &mut Core<'_, S>, _: Place) {}

    fn begin_all<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64) {
        worker.begin((slot, 0), at, now);
    }

    fn wake_up<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64) {
        Self::begin_all(worker, slot, at, now);
    }

    #[inline]
    fn opened<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, is_idle: bool, now: u64) {
        if is_idle {
            worker.opened_idle(slot, now);
        }
        if worker.core.connections[slot as usize].pending > 0 {
            Self::send(worker, slot, now);
        }
    }

    #[inline]
    fn send<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, now: u64) {
        if let Some(count) = worker.render(slot, now) {
            worker.depart(slot, count, now);
        }
    }

    fn written<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, _: bool, now: u64) {
        if worker.core.connections[slot as usize].pending > 0 {
            Self::send(worker, slot, now);
        }
    }

    #[inline]
    fn read<S: Stack>(core: &mut Core<'_, S>, slot: u32, input: &[u8], now: u64) -> Reading {
        let reading = core.read_in_order(slot, input, now);
        core.count_shared_stamps(&reading);
        reading
    }

    #[inline]
    fn has_read<S: Stack>(
        worker: &mut Worker<'_, S>,
        slot: u32,
        Reading { settled, fault }: Reading,
        now: u64,
    ) {
        if let Some(kind) = fault {
            return worker.broken(slot, kind, settled, now);
        }
        if settled > 0 {
            worker.settled(slot, now);
        }
    }

    #[inline]
    fn judge<'a, T, P, O>(
        connection: &'a mut Connection<T, P, O>,
        _: &'a mut Streams,
        _: Place,
    ) -> (&'a mut Judge, u64) {
        (&mut connection.judge, connection.mark)
    }

    #[inline]
    fn take_out<S: Stack>(core: &mut Core<'_, S>, (slot, tag): Place) -> InFlight {
        let (request, head) = core.flights.leave_ring(slot, tag);
        let connection = &mut core.connections[slot as usize];
        (connection.head, connection.free_at) = (head, core.arrived);
        request
    }

    #[inline]
    fn after_requests<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64) {
        // Who pipelines goes on when the last of a batch is answered.
        if worker.core.connections[slot as usize].in_flight > 0 {
            return;
        }
        // Who is redirected asks at once, whatever the schedule.
        let walkers = &mut worker.core.walkers;
        let next = if S::Protocol::VARIES && walkers.is_redirected(slot) {
            Next::Sends
        } else {
            let fate = if S::Protocol::VARIES { walkers.fate(slot) } else { Fate::default() };
            worker.pace.settled(slot, at, fate)
        };
        worker.follow((slot, 0), next, at, now);
        if next == Next::Waits {
            worker.dispatch(now);
        }
    }

    fn take_back<S: Stack>(core: &mut Core<'_, S>, slot: u32) {
        let connection = &mut core.connections[slot as usize];
        let ring = (connection.head, connection.in_flight);
        let requests = core.flights.take_all(slot, ring);
        let Some(first) = requests.first() else { return };
        connection.in_flight = 0;
        connection.pending = requests.len() as u32;
        connection.pending_since = first.intended_at;
        connection.template = first.template;
        connection.owes(first.own_lag_ns());
        let count = u64::from(connection.pending);
        core.recorder.take_back(first.stretch as usize, count);
    }

    fn take_due<S: Stack>(core: &mut Core<'_, S>, slot: u32) -> Vec<u64> {
        let connection = &core.connections[slot as usize];
        vec![connection.pending_since; connection.pending as usize]
    }

    fn loss<S: Stack>(_: &mut Core<'_, S>, _: Place, kind: ErrorKind) -> ErrorKind {
        kind
    }

    fn has_begun<S: Stack>(core: &mut Core<'_, S>, slot: u32) -> bool {
        core.connections[slot as usize].judge.is_under_way()
    }

    /// The oldest is late, and those behind it wait for it.
    fn time_out<S: Stack>(
        worker: &mut Worker<'_, S>,
        slot: u32,
        _late_at: u64,
        now: u64,
    ) -> Option<u64> {
        if Self::has_begun(&mut worker.core, slot) {
            worker.core.blame.why = "its head came, and its body did not end";
        }
        worker.broken(slot, ErrorKind::Timeout, 0, now);
        worker.core.blame.why = "";
        None
    }

    fn barred_until<S: Stack>(_: &mut Core<'_, S>, _: u32, _: u64) -> Option<u64> {
        None
    }

    fn broke_idle<S: Stack>(_: &mut Core<'_, S>, _: bool, _: ErrorKind) {}

    fn broke_unused<S: Stack>(_: &mut Worker<'_, S>, _: u32, _: u64) {}

    fn ended_idle<S: Stack>(_: &mut Worker<'_, S>, _: u32, _: bool, _: u64) {}

    fn leave<S: Stack>(_: &mut Worker<'_, S>, _: u32) {}
}

impl<S: Stack> Worker<'_, S> {
    /// Renders what is due on a connection. Returns how many requests these are; `None` if the last write is
    /// incomplete (pipelining), which they follow.
    #[inline]
    fn render(&mut self, slot: u32, now: u64) -> Option<u32> {
        let connection = &self.core.connections[slot as usize];
        let count = connection.pending;
        connection.out.is_empty().then(|| {
            self.core.enter(slot, now);
            count
        })
    }

    /// Sends the last `count` requests of a connection. They are rendered already.
    #[inline]
    pub(in crate::worker) fn depart(&mut self, slot: u32, count: u32, now: u64) {
        // Of several calls that send, a stamp would not say which it belongs to.
        let is_sample = !S::Transport::SECURES
            && !S::Protocol::IN_PIECES
            && self.core.flights.depth == 1
            && self.core.sampling.is_due()
            && self.io.stamp_next_send(true);
        let (sending, sent) = self.transmit_timed(slot);
        self.core.stamp(slot, count, sent);
        if is_sample {
            self.sampled(slot);
        }
        if let Sending::Failed(errno) = sending {
            return self.closed(slot, Some(errno), now);
        }
        if self.core.connections[slot as usize].is_spoilt {
            self.broken(slot, ErrorKind::Malformed, 0, now);
        }
    }

    /// Answers are complete and the connection is sound: whether it stays open, and what comes
    /// next.
    #[inline]
    fn settled(&mut self, slot: u32, now: u64) {
        let connection = &self.core.connections[slot as usize];
        // The server answered before it had read the whole request. What is left of it would keep
        // the next one waiting, perhaps for ever (RFC 9112 section 9.3: who stops sending closes).
        let is_unsent = !connection.out.is_empty();
        let is_closing = self.io.is_closing(slot);
        if (connection.server_closes || is_closing) && self.core.is_stamped {
            self.core.recorder.now_tally().stamps.with_end += 1;
        }
        let connection = &self.core.connections[slot as usize];
        if connection.in_flight == 0 && (is_unsent || self.core.is_used_up(connection)) {
            self.drop_connection(slot);
        } else if connection.server_closes
            || (connection.in_flight == 0
                && (is_closing || S::Transport::is_closed_by_peer(&connection.transport)))
        {
            self.server_closed(slot, now);
        }
        let arrived = self.core.arrived;
        InOrder::after_requests(self, slot, arrived, now);
    }
}

impl<S: Stack> Core<'_, S> {
    #[inline]
    fn read_in_order(&mut self, slot: u32, mut input: &[u8], now: u64) -> Reading {
        let mut settled = 0;
        while self.connections[slot as usize].in_flight > 0 {
            let (tag, used) = match self.decode(slot, input) {
                Err(kind) | Ok(Step::Failed { kind, .. }) => {
                    self.blame.take(self.blame.why, input);
                    return Reading { settled, fault: Some(kind) };
                }
                Ok(Step::More | Step::Refused { .. }) => return Reading { settled, fault: None },
                Ok(Step::Complete { tag, used }) => (tag, used),
            };
            let answer = &input[..used];
            input = &input[used..];
            let connection = &self.connections[slot as usize];
            let is_last = connection.in_flight == 1 || connection.server_closes;
            if let Some(wrong) = self.complete(slot, tag, is_last && !input.is_empty(), now) {
                self.note_wrong(wrong, answer);
            }
            settled += 1;
            if is_last && !input.is_empty() {
                // The error is counted with the answer; the connection cannot be trusted any more.
                return Reading { settled, fault: Some(ErrorKind::Malformed) };
            }
            if is_last || input.is_empty() {
                return Reading { settled, fault: None };
            }
        }
        let connection = &mut self.connections[slot as usize];
        if connection.used == 0 {
            connection.is_spoilt |= !input.is_empty();
        } else if !input.is_empty() {
            self.recorder.error(self.recorder.current, ErrorKind::Malformed);
            self.blame.take("bytes that belong to no answer", input);
            self.note_failure(self.recorder.current, ErrorKind::Malformed, None);
            return Reading { settled, fault: Some(ErrorKind::Malformed) };
        }
        Reading { settled, fault: None }
    }

    /// Decodes one answer as far as it has come.
    #[inline]
    fn decode(&mut self, slot: u32, input: &[u8]) -> Result<Step, ErrorKind> {
        let connection = &mut self.connections[slot as usize];
        let flights = self.flights.places(slot);
        let mut answer = Answer {
            arrived: self.arrived,
            wire: &self.wire,
            flights,
            head: connection.head,
            judge: &mut connection.judge,
            surprises: &mut self.surprises,
            server_closes: &mut connection.server_closes,
            head_at: &mut connection.mark,
            interim: 0,
            redirected_to: &mut self.redirected_to,
            refused: "",
            events: EventLog::into_tally(self.recorder.now_tally()),
        };
        let out = &mut connection.out;
        let step = self.protocol.decode(&mut connection.protocol, input, &mut answer, out);
        if step.is_err() {
            self.blame.why = answer.refused;
        }
        let Answer { interim, events: EventLog { has_come: has_events, .. }, .. } = answer;
        if interim > 0 {
            let stretch = flights[connection.head as usize].stretch as usize;
            self.recorder.tally(stretch).interim += interim;
        }
        if has_events {
            self.recorder.arrived_at(self.arrived);
        }
        step
    }

    /// Moves the pending requests of `slot` in flight, and renders them.
    #[inline]
    fn enter(&mut self, slot: u32, now: u64) {
        let intended_at = self.connections[slot as usize].pending_since;
        let stretch = self.stretch_of(intended_at) as u32;
        let connection = &mut self.connections[slot as usize];
        let count = std::mem::take(&mut connection.pending);
        let sendable_at = connection.sendable_at(intended_at);
        let step = connection.template;
        for _ in 0..count {
            let template = self.surprises.instead_of(connection.template);
            let sent = Departure::at(now);
            let value = self.wire.draw::<S::Protocol>(template, &mut self.drawer);
            let request = InFlight { intended_at, sendable_at, sent, template, stretch, value };
            let ring = (connection.head, connection.in_flight);
            let tag = self.flights.enter(slot, ring, request);
            let session = &mut connection.protocol;
            self.protocol.render(session, template, tag, value, &mut connection.out);
            connection.in_flight += 1;
            connection.template = self.surprises.after(connection.template);
        }
        connection.used += count;
        connection.server_closes = false;
        if S::Protocol::VARIES {
            // Users of steps send one request at a time.
            self.render_step(slot, step);
        }
        self.recorder.tally(stretch as usize).requests.sent += u64::from(count);
        self.recorder.window().sent += u64::from(count);
    }

    /// The last `count` requests of `slot` have left.
    #[inline]
    fn stamp(&mut self, slot: u32, count: u32, sent: Departure) {
        let sent = sent.in_place(self.sent_together);
        self.sent_together += count;
        let connection = &self.connections[slot as usize];
        let ring = (connection.head, connection.in_flight);
        let recorder = &mut self.recorder;
        let each = |request: &InFlight| recorder.sent_late_by(request.send_lag_ns());
        self.flights.stamp(slot, ring, count, sent, each);
    }
}
