//! Users who share a connection, with answers in any order. Each place of a connection is a user with
//! one request under way at a time, and its number is the tag of that request.
use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;

use super::flights::{DUE, Flights, IDLE, InFlight, WAITING};
use super::streams::{StreamAnswers, Streams};
use super::{Place, Seating};
use crate::io::{Io, Sending};
use crate::pace::Fate;
use crate::pace::lane::first_template;
use crate::protocol::order::ByTag;
use crate::protocol::{Outgoing, Protocol, Step};
use crate::request::check::Judge;
use crate::request::event_stream::EventLog;
use crate::transport::Transport;
use crate::worker::answers::Reading;
use crate::worker::departure::Departure;
use crate::worker::link::{Connection, Link};
use crate::worker::{Core, Stack, Worker};

/// A request that the server refuses more often fails, so that it is not sent again for ever.
const MOST_REFUSALS: u8 = 3;

/// While more bytes than this wait for the kernel, because the server does not read, no request
/// follows them: the memory for them must have an end.
const MOST_AHEAD_BYTES: u32 = 1 << 20;

impl Seating for ByTag {
    const IS_SHARED: bool = true;

    fn places(spec: &LoadSpec, first: u64, slots: u32) -> (Flights, Streams, u32) {
        let depth = spec.connections.streams;
        let mut flights = Flights::new(slots, depth, false);
        for (slot, tag) in (0..slots).flat_map(|slot| (0..depth).map(move |tag| (slot, tag))) {
            let user = (first + u64::from(slot)) * u64::from(depth) + u64::from(tag);
            flights.place(slot, tag).template = first_template(spec, user);
        }
        (flights, Streams::new(slots, depth), depth)
    }

    #[inline]
    fn place(streams: &Streams, user: u32) -> Place {
        (user / streams.depth, user % streams.depth)
    }

    #[inline]
    fn user(streams: &Streams, (slot, tag): Place) -> u32 {
        streams.user(slot, tag)
    }

    fn users_of_a_connection(streams: &Streams) -> u32 {
        streams.depth
    }

    #[inline]
    fn is_full<S: Stack>(core: &Core<'_, S>, slot: u32) -> bool {
        core.is_full(slot)
    }

    /// Nothing if the load has no further requests.
    #[inline]
    fn ready<S: Stack>(worker: &mut Worker<'_, S>, (slot, tag): Place, at: u64, _now: u64) {
        let core = &mut worker.core;
        let has_quota = core.quota > 0;
        let place = core.flights.place(slot, tag);
        place.stretch = if has_quota { DUE } else { IDLE };
        place.intended_at = at;
        // An arrival may have waited for its user.
        place.sendable_at = place.sendable_at.max(at);
        if has_quota {
            core.schedule(slot, at, 1);
            core.streams.due[slot as usize].push(tag);
        }
    }

    #[inline]
    fn arrives<S: Stack>(worker: &mut Worker<'_, S>, place: Place, at: u64, turn: u32, now: u64) {
        let (slot, tag) = place;
        worker.core.flights.place(slot, tag).template = turn;
        Self::ready(worker, place, at, now);
        worker.push(slot, now);
    }

    #[inline]
    fn has_thought<S: Stack>(worker: &mut Worker<'_, S>, (slot, tag): Place, at: u64, now: u64) {
        worker.begin((slot, tag), at, now);
        worker.push(slot, now);
    }

    #[inline]
    fn rests<S: Stack>(core: &mut Core<'_, S>, (slot, tag): Place, since: u64) {
        let owed_ns = core.connections[slot as usize].owed_ns;
        let place = core.flights.place(slot, tag);
        place.stretch = WAITING;
        place.sendable_at = since.saturating_sub(owed_ns);
    }

    fn ends<S: Stack>(core: &mut Core<'_, S>, (slot, tag): Place) {
        core.flights.place(slot, tag).stretch = IDLE;
    }

    fn begin_all<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64) {
        for tag in worker.core.idle(slot) {
            worker.begin((slot, tag), at, now);
        }
    }

    /// Requests that were refused are due.
    fn wake_up<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64) {
        Self::begin_all(worker, slot, at, now);
        worker.push(slot, now);
    }

    /// The protocol sends something before the first request.
    fn opened<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, is_idle: bool, now: u64) {
        worker.pace.opened(slot);
        if is_idle {
            worker.opened_idle(slot, now);
        }
        Self::send(worker, slot, now);
    }

    /// What else waits goes out in the same write.
    #[inline]
    fn send<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, now: u64) {
        worker.core.enter_streams(slot, now);
        let connection = &mut worker.core.connections[slot as usize];
        worker.core.protocol.refill(&mut connection.protocol, &mut connection.out);
        if connection.out.is_empty() {
            return;
        }
        let (sending, sent) = worker.transmit_timed(slot);
        worker.core.stamp_streams(slot, sent);
        if let Sending::Failed(errno) = sending {
            worker.closed(slot, Some(errno), now);
        }
    }

    fn written<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, was_full: bool, now: u64) {
        worker.core.freed(slot, was_full, now);
        worker.go_on(slot, now);
        worker.dispatch(now);
    }

    #[inline]
    fn read<S: Stack>(core: &mut Core<'_, S>, slot: u32, mut input: &[u8], now: u64) -> Reading {
        let asker = Core::<S>::asker(slot);
        let was_full = core.is_full(slot);
        core.streams.settled.clear();
        let fault = loop {
            let read = match core.decode_streams(slot, input) {
                Err(kind) => break Some(kind),
                Ok(Step::More) => break None,
                Ok(Step::Complete { tag, used }) => {
                    if let Some(wrong) = core.complete(asker, tag, false, now) {
                        core.note_wrong(wrong, &[]);
                    }
                    core.forget_refusals(asker, tag);
                    core.streams.settled.push(tag);
                    used
                }
                Ok(Step::Failed { tag, used, kind }) => {
                    core.fail_stream(slot, tag, kind);
                    used
                }
                Ok(Step::Refused { tag, used }) => {
                    core.refused(slot, tag);
                    used
                }
            };
            input = &input[read..];
        };
        core.freed(slot, was_full, core.arrived);
        let reading = Reading { settled: core.streams.settled.len() as u32, fault };
        core.count_shared_stamps(&reading);
        reading
    }

    /// Where the input had no content, the list of settled requests is that of an earlier input,
    /// perhaps of another connection.
    fn has_read<S: Stack>(
        worker: &mut Worker<'_, S>,
        slot: u32,
        Reading { settled, fault }: Reading,
        now: u64,
    ) {
        if settled > 0 {
            let asker = Core::<S>::asker(slot);
            worker.after_settled(asker, worker.core.arrived, now);
            if asker != slot {
                if worker.core.is_up(asker) {
                    worker.go_on(asker, now)
                } else {
                    worker.push(asker, now)
                }
            }
        }
        if !worker.core.is_up(slot) {
            return;
        }
        match fault {
            Some(kind) => {
                // The server is told, if it still listens.
                _ = worker.transmit(slot);
                worker.broken(slot, kind, settled, now);
            }
            None => worker.go_on(slot, now),
        }
        worker.dispatch(now);
    }

    #[inline]
    fn judge<'a, T, P, O>(
        _: &'a mut Connection<T, P, O>,
        streams: &'a mut Streams,
        (slot, tag): Place,
    ) -> (&'a mut Judge, u64) {
        let answering = streams.answering(slot, tag);
        (&mut answering.judge, answering.head_at)
    }

    #[inline]
    fn take_out<S: Stack>(core: &mut Core<'_, S>, (slot, tag): Place) -> InFlight {
        core.freed_by_all(slot);
        core.flights.take_out(slot, tag)
    }

    fn after_requests<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64) {
        for tag in worker.core.idle(slot) {
            worker.after_stream(slot, tag, at, now);
        }
        worker.push(slot, now);
        worker.dispatch(now);
    }

    fn take_back<S: Stack>(core: &mut Core<'_, S>, slot: u32) {
        let tags: Vec<u32> = core.flights.tags(slot, (0, 0)).collect();
        tags.into_iter().for_each(|tag| core.take_back_stream(slot, tag));
    }

    fn take_due<S: Stack>(core: &mut Core<'_, S>, slot: u32) -> Vec<u64> {
        let tags = core.streams.due[slot as usize].take();
        let mut give_up = |tag| {
            let place = core.flights.place(slot, tag);
            place.stretch = IDLE;
            place.intended_at
        };
        tags.into_iter().map(&mut give_up).collect()
    }

    /// Of many answers some may have begun, and others not.
    fn loss<S: Stack>(core: &mut Core<'_, S>, (slot, tag): Place, kind: ErrorKind) -> ErrorKind {
        core.forget_refusals(slot, tag);
        match kind {
            ErrorKind::CloseBeforeAnswer | ErrorKind::CloseInBody if core.has_head(slot, tag) => {
                ErrorKind::CloseInBody
            }
            ErrorKind::CloseBeforeAnswer | ErrorKind::CloseInBody => ErrorKind::CloseBeforeAnswer,
            kind => kind,
        }
    }

    fn has_begun<S: Stack>(core: &mut Core<'_, S>, slot: u32) -> bool {
        let tags: Vec<u32> = core.flights.tags(slot, (0, 0)).collect();
        tags.into_iter().any(|tag| core.has_head(slot, tag))
    }

    /// The others go on.
    fn time_out<S: Stack>(
        worker: &mut Worker<'_, S>,
        slot: u32,
        late_at: u64,
        now: u64,
    ) -> Option<u64> {
        if worker.core.connections[slot as usize].in_flight == 0 {
            worker.give_up_barred(slot, now);
            return None;
        }
        let limit = worker.core.spec.timeouts.request_ns;
        let was_full = worker.core.is_full(slot);
        worker.core.streams.settled.clear();
        let tags: Vec<u32> = worker.core.flights.tags(slot, (0, 0)).collect();
        let mut next = None;
        for tag in tags {
            let deadline =
                worker.core.flights.place(slot, tag).sent.left_at().saturating_add(limit);
            if deadline > late_at {
                next = Some(next.map_or(deadline, |next: u64| next.min(deadline)));
                continue;
            }
            worker.core.fail_stream(slot, tag, ErrorKind::Timeout);
            worker.core.cancel(slot, tag);
        }
        worker.core.freed(slot, was_full, now);
        worker.after_settled(slot, now, now);
        if worker.core.is_up(slot) {
            worker.go_on(slot, now);
        }
        next
    }

    /// A server may allow no stream at all (RFC 9113 section 6.5.2), or not read. A broadcast waits
    /// for its listeners.
    fn barred_until<S: Stack>(core: &mut Core<'_, S>, slot: u32, now: u64) -> Option<u64> {
        let connection = &core.connections[slot as usize];
        let waits = connection.pending > 0 || !core.streams.parked[slot as usize].is_empty();
        let is_barred = waits && connection.in_flight == 0 && core.is_full(slot);
        let used = connection.used;
        let known = &mut core.streams.barred[slot as usize];
        // What it has carried since then says that it took some meanwhile.
        *known = known.filter(|(_, before)| is_barred && *before == used);
        if !is_barred {
            return None;
        }
        let (since, _) = *known.get_or_insert((now, used));
        Some(since.saturating_add(core.spec.timeouts.request_ns))
    }

    /// It is an error all the same.
    fn broke_idle<S: Stack>(core: &mut Core<'_, S>, has_served: bool, kind: ErrorKind) {
        if has_served {
            core.recorder.error(core.recorder.current, kind);
        }
    }

    fn broke_unused<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, now: u64) {
        if worker.core.connections[slot as usize].pending > 0 {
            worker.after_failure(slot, now);
        }
    }

    fn ended_idle<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, has_served: bool, now: u64) {
        if has_served { worker.push(slot, now) } else { worker.after_failure(slot, now) }
    }

    /// Another connection may take what this one did not.
    fn leave<S: Stack>(worker: &mut Worker<'_, S>, slot: u32) {
        worker.unpark(slot);
    }
}

impl<S: Stack> Core<'_, S> {
    /// Puts a user of an open loop aside, because the server takes no more on its connection.
    pub(in crate::worker) fn set_aside(&mut self, user: u32) {
        let (slot, tag) = self.place_of(user);
        self.streams.parked[slot as usize].push(tag);
    }

    /// Whether a user was put aside.
    #[cfg(test)]
    pub(in crate::worker) fn is_set_aside(&self, slot: u32, tag: u32) -> bool {
        self.streams.parked[slot as usize].contains(&tag)
    }

    /// The users of a connection who were put aside.
    pub(in crate::worker) fn take_parked(&mut self, slot: u32) -> Vec<u32> {
        std::mem::take(&mut self.streams.parked[slot as usize])
    }

    /// How many more requests may be sent on a connection.
    #[inline]
    fn room(&self, slot: u32) -> u32 {
        let connection = &self.connections[slot as usize];
        let is_closing = connection.link != Link::Up || connection.server_closes;
        if is_closing || connection.out.bytes().len() > MOST_AHEAD_BYTES || self.misses_some() {
            return 0;
        }
        let left = self.spec.connections.requests_per_connection;
        let left = left.map_or(u32::MAX, |limit| limit.saturating_sub(connection.used));
        S::Protocol::room(&connection.protocol, connection.in_flight).min(left)
    }

    /// The users of a connection who do nothing.
    fn idle(&self, slot: u32) -> Vec<u32> {
        let places = (0..).zip(self.flights.places(slot));
        places.filter(|(_, place)| place.stretch == IDLE).map(|(tag, _)| tag).collect()
    }

    /// The fate of a request is known: its refusals say nothing of the next one.
    fn forget_refusals(&mut self, slot: u32, tag: u32) {
        self.streams.answering(slot, tag).refusals = 0;
    }

    /// Moves due requests in flight, as many as the server takes, and renders them.
    #[inline]
    fn enter_streams(&mut self, slot: u32, now: u64) {
        let room = self.room(slot);
        for _ in 0..room.min(self.connections[slot as usize].pending) {
            let Some(tag) = self.streams.due[slot as usize].pop() else { break };
            let intended_at = self.flights.place(slot, tag).intended_at;
            let stretch = self.stretch_of(intended_at) as u32;
            let connection = &mut self.connections[slot as usize];
            let place = self.flights.place(slot, tag);
            place.sendable_at = connection.sendable_at(place.sendable_at);
            (place.sent, place.stretch) = (Departure::at(now), stretch);
            let template = self.surprises.instead_of(place.template);
            place.template = template;
            place.value = self.wire.draw::<S::Protocol>(template, &mut self.drawer);
            let value = place.value;
            let answering = self.streams.answering(slot, tag);
            answering.judge.forget();
            (answering.head_at, answering.last_at, answering.is_unstamped) = (0, 0, false);
            let session = &mut connection.protocol;
            self.protocol.render(session, template, tag, value, &mut connection.out);
            connection.pending -= 1;
            connection.in_flight += 1;
            connection.used += 1;
            self.recorder.tally(stretch as usize).requests.sent += 1;
            self.recorder.window().sent += 1;
            self.streams.entered.push(tag);
        }
    }

    /// The requests of the present write have left.
    #[inline]
    fn stamp_streams(&mut self, slot: u32, sent: Departure) {
        for tag in self.streams.entered.drain(..) {
            let place = self.flights.place(slot, tag);
            place.sent = sent.in_place(self.sent_together);
            self.sent_together += 1;
            self.recorder.sent_late_by(place.send_lag_ns());
        }
    }

    #[inline]
    fn decode_streams(&mut self, slot: u32, input: &[u8]) -> Result<Step, ErrorKind> {
        let asker = Self::asker(slot);
        let connection = &mut self.connections[slot as usize];
        let mut answers = StreamAnswers {
            arrived: self.arrived,
            is_stamped: self.is_stamped,
            wire: &self.wire,
            places: self.flights.places(asker),
            answering: self.streams.answering_on(asker),
            surprises: &mut self.surprises,
            server_closes: &mut connection.server_closes,
            served: &mut connection.served,
            interim: 0,
            refused: "",
            events: EventLog::into_tally(self.recorder.now_tally()),
        };
        let out = &mut connection.out;
        let step = self.protocol.decode(&mut connection.protocol, input, &mut answers, out);
        if matches!(step, Err(_) | Ok(Step::Failed { .. })) {
            self.blame.why = answers.refused;
        }
        let StreamAnswers { interim, events: EventLog { has_come: has_events, .. }, .. } = answers;
        if interim > 0 {
            self.recorder.now_tally().interim += interim;
        }
        if has_events {
            self.recorder.arrived_at(self.arrived);
        }
        step
    }

    /// A connection that was full takes requests again, since `at`. It was the server that kept
    /// them waiting until then.
    #[inline]
    fn freed(&mut self, slot: u32, was_full: bool, at: u64) {
        if was_full && !self.is_full(slot) {
            self.connections[slot as usize].free_at = at;
        }
    }

    /// Whether a connection takes no request now.
    #[inline]
    fn is_full(&self, slot: u32) -> bool {
        self.room(slot) == 0
    }

    /// One request fails, and its connection goes on.
    fn fail_stream(&mut self, slot: u32, tag: u32, kind: ErrorKind) {
        let request = self.flights.take_out(slot, tag);
        self.connections[slot as usize].in_flight -= 1;
        self.open_requests -= 1;
        self.fail((slot, tag), &request, kind);
        self.forget_refusals(slot, tag);
        self.streams.settled.push(tag);
    }

    /// Nobody waits for an answer any more.
    pub(in crate::worker) fn cancel(&mut self, slot: u32, tag: u32) {
        let connection = &mut self.connections[slot as usize];
        self.protocol.cancel(&mut connection.protocol, tag, &mut connection.out);
    }

    /// Whether the answer to a request under way had begun.
    fn has_head(&mut self, slot: u32, tag: u32) -> bool {
        self.streams.answering(slot, tag).head_at > 0
    }

    /// The server has not processed a request: it is sent again, unless that has failed too often.
    fn refused(&mut self, slot: u32, tag: u32) {
        let answering = self.streams.answering(slot, tag);
        answering.refusals += 1;
        if answering.refusals > MOST_REFUSALS {
            return self.fail_stream(slot, tag, ErrorKind::StreamReset);
        }
        self.recorder.now_tally().requests.sent_again += 1;
        self.take_back_stream(slot, tag);
    }

    /// A request under way never reached the server: it is due again, and counts as not sent.
    fn take_back_stream(&mut self, slot: u32, tag: u32) {
        let arrived = self.arrived;
        let place = self.flights.place(slot, tag);
        // Until then it was with the server.
        place.sendable_at = arrived;
        let stretch = std::mem::replace(&mut place.stretch, DUE);
        self.streams.due[slot as usize].put_back(tag);
        let connection = &mut self.connections[slot as usize];
        connection.in_flight -= 1;
        connection.pending += 1;
        self.recorder.take_back(stretch as usize, 1);
    }
}

impl<S: Stack> Worker<'_, S> {
    /// The users whose requests were settled at `at` go on.
    fn after_settled(&mut self, slot: u32, at: u64, now: u64) {
        for nth in 0..self.core.streams.settled.len() {
            let tag = self.core.streams.settled[nth];
            self.after_stream(slot, tag, at, now);
        }
    }

    /// Answers were read and the connection is intact: closes it if it carries no more requests,
    /// else sends what is due.
    pub(in crate::worker) fn go_on(&mut self, slot: u32, now: u64) {
        let connection = &self.core.connections[slot as usize];
        if connection.in_flight == 0 {
            let is_used_up =
                self.core.is_used_up(connection) || S::Protocol::is_spent(&connection.protocol);
            let is_closed =
                self.io.is_closing(slot) || S::Transport::is_closed_by_peer(&connection.transport);
            if (connection.server_closes || is_closed) && connection.served == 0 {
                self.drop_connection(slot);
                return self.after_failure(slot, now);
            }
            if is_used_up || is_closed || connection.server_closes {
                if is_used_up {
                    self.drop_connection(slot)
                } else {
                    self.server_closed(slot, now)
                }
                return self.push(slot, now);
            }
        }
        if !self.core.streams.parked[slot as usize].is_empty() && !self.core.is_full(slot) {
            self.unpark(slot);
        }
        ByTag::send(self, slot, now);
    }

    /// Makes sure that what is due on a connection is sent.
    #[inline]
    pub(in crate::worker) fn push(&mut self, slot: u32, now: u64) {
        let connection = &self.core.connections[slot as usize];
        match connection.link {
            Link::Up => ByTag::send(self, slot, now),
            Link::Down if connection.pending > 0 && !self.pace.is_retrying(slot) => {
                self.open(slot, now);
            }
            Link::Down | Link::Connecting | Link::Tunnelling | Link::Securing | Link::Greeting => {}
        }
    }

    /// The server has taken no request for too long: what waits is given up, and the users try
    /// again later on another connection.
    fn give_up_barred(&mut self, slot: u32, now: u64) {
        self.core.streams.barred[slot as usize] = None;
        for tag in self.core.take_parked(slot) {
            self.core.flights.place(slot, tag).stretch = IDLE;
        }
        if let Some(why) = self.core.missed_by_some() {
            return self.give_up(slot, why, now);
        }
        self.drop_connection(slot);
        self.give_up(slot, ErrorKind::NoStream, now);
    }

    /// The request of a user who shares a connection was settled at `at`: the user goes on.
    fn after_stream(&mut self, slot: u32, tag: u32, at: u64, now: u64) {
        let place = self.core.flights.place(slot, tag);
        place.template = self.core.surprises.after(place.template);
        let next = self.pace.settled(self.core.user(slot, tag), at, Fate::default());
        self.follow((slot, tag), next, at, now);
    }
}
