//! Connections that several users share (HTTP/2). Each place of a connection is a user with one
//! request under way at a time, and its number is the tag of that request. A load over HTTP/1.1
//! uses nothing of this.
use pippin_model::result::ErrorKind;

use super::due::Due;
use super::flights::{DUE, IDLE, InFlight, WAITING};
use crate::io::{Io, Sending};
use crate::protocol::{Answers, Outgoing, Protocol, Step};
use crate::request::check::{Judge, Timing, is_of_type};
use crate::request::drawn::Value;
use crate::request::surprises::{Look, Surprises};
use crate::request::wire::Wire;
use crate::transport::Transport;
use crate::worker::answers::Reading;
use crate::worker::departure::Departure;
use crate::worker::link::Link;
use crate::worker::{Core, Stack, Worker};

/// A request that the server refuses more often fails, so that it is not sent again for ever.
const MOST_REFUSALS: u8 = 3;

/// While more bytes than this wait for the kernel, because the server does not read, no request
/// follows them: the memory for them must have an end.
const MOST_AHEAD_BYTES: u32 = 1 << 20;

/// What is remembered of users who share connections; empty where each has its own.
#[derive(Default)]
pub(in crate::worker) struct Streams {
    /// Users of a connection.
    depth: u32,
    /// For each connection: users whose requests are due, in turn.
    due: Vec<Due>,
    /// For each connection: users of an open loop whose turn it was when the server took no more.
    parked: Vec<Vec<u32>>,
    /// For each connection whose server takes none of the requests that wait: since when that is
    /// known, and how many requests it had carried by then.
    barred: Vec<Option<(u64, u32)>>,
    /// Where every connection is to have the answer: why the last one that is missing is so.
    pub missing: Option<ErrorKind>,
    /// For each user: the answer that is being read.
    answering: Vec<Answering>,
    /// Tags of the requests that what is being read has settled.
    settled: Vec<u32>,
    /// Tags of the requests that the present write begins to send.
    entered: Vec<u32>,
}

#[derive(Default)]
pub(in crate::worker) struct Answering {
    judge: Judge,
    /// When the head was complete; 0 before.
    head_at: u64,
    /// Where every connection is to have the answer: when the last one so far had it, and whether
    /// any of these instants is not the kernel's.
    last_at: u64,
    is_unstamped: bool,
    refusals: u8,
    /// Whether the head has the media type that examined answers must have; `None` if it names none.
    is_of_type: Option<bool>,
}

impl Streams {
    pub fn new(slots: u32, depth: u32) -> Self {
        Self {
            depth,
            due: (0..slots).map(|_| Due::default()).collect(),
            parked: (0..slots).map(|_| Vec::new()).collect(),
            barred: vec![None; slots as usize],
            missing: None,
            answering: (0..slots * depth).map(|_| Answering::default()).collect(),
            settled: Vec::new(),
            entered: Vec::new(),
        }
    }

    const fn user(&self, slot: u32, tag: u32) -> u32 {
        slot * self.depth + tag
    }

    fn answering(&mut self, slot: u32, tag: u32) -> &mut Answering {
        let user = self.user(slot, tag);
        &mut self.answering[user as usize]
    }

    fn answering_on(&mut self, slot: u32) -> &mut [Answering] {
        let from = self.user(slot, 0) as usize;
        &mut self.answering[from..from + self.depth as usize]
    }
}

/// Receives the parts of the answers of a connection.
struct StreamAnswers<'a> {
    arrived: u64,
    is_stamped: bool,
    wire: &'a Wire,
    places: &'a [InFlight],
    answering: &'a mut [Answering],
    surprises: &'a mut Surprises,
    server_closes: &'a mut bool,
    served: &'a mut u32,
    interim: u64,
    /// Why an answer must be rejected.
    refused: &'static str,
}

impl StreamAnswers<'_> {
    /// Whether the answer to this request is examined, which is decided when this is asked first.
    #[inline]
    fn is_examined(&mut self, tag: u32) -> bool {
        let Some(place) = self.places.get(tag as usize) else { return false };
        let judge = &mut self.answering[tag as usize].judge;
        if judge.look() == Look::Undecided {
            judge.decide(self.surprises.look(place.template));
        }
        judge.look() != Look::Checked
    }

    /// The media type that the answer to this request must have, if it is examined.
    #[inline]
    fn wanted_type(&mut self, tag: u32) -> Option<&str> {
        if self.is_examined(tag) { self.surprises.content_type() } else { None }
    }
}

impl Answers for StreamAnswers<'_> {
    fn oldest(&self) -> u32 {
        0
    }

    fn template(&self, tag: u32) -> Option<u32> {
        self.places.get(tag as usize).filter(|place| place.is_taken()).map(|place| place.template)
    }

    fn interim(&mut self) {
        self.interim += 1;
    }

    #[inline]
    fn wants_fields(&mut self, tag: u32) -> bool {
        self.is_examined(tag)
    }

    #[inline]
    fn field(&mut self, tag: u32, name: &[u8], value: &[u8]) {
        match name {
            // Each head begins with it, that of an interim answer too.
            b":status" => {
                let answering = &mut self.answering[tag as usize];
                answering.is_of_type = None;
                answering.judge.head_begins();
            }
            b"content-encoding" => self.answering[tag as usize].judge.coded(value),
            b"content-type" => {
                let is_right = self.wanted_type(tag).map(|wanted| is_of_type(value, wanted));
                let known = &mut self.answering[tag as usize].is_of_type;
                *known = known.or(is_right);
            }
            _ => {}
        }
    }

    #[inline]
    fn head(&mut self, tag: u32, status: u16, _is_last: bool) {
        let is_wanted = self.wanted_type(tag).is_some();
        let answering = &mut self.answering[tag as usize];
        answering.judge.head(status);
        answering.head_at = self.arrived;
        if is_wanted && Judge::has_type(status) && answering.is_of_type != Some(true) {
            answering.judge.refuse();
        }
    }

    #[inline]
    fn body(&mut self, tag: u32, template: u32, piece: &[u8]) {
        let value = self.places.get(tag as usize).map_or(Value::default(), |place| place.value);
        let right = self.wire.template(template).right(value);
        self.answering[tag as usize].judge.piece(&right, piece);
    }

    #[inline]
    fn heard(&mut self, tag: u32) {
        let answering = &mut self.answering[tag as usize];
        answering.head_at = answering.head_at.min(self.arrived);
        answering.last_at = answering.last_at.max(self.arrived);
        answering.is_unstamped |= !self.is_stamped;
        *self.served += 1;
    }

    fn wrong(&mut self, tag: u32) {
        self.answering[tag as usize].judge.refuse();
    }

    fn failed(&mut self, tag: u32, kind: ErrorKind, words: String) {
        self.answering[tag as usize].judge.refuse_as(kind, words);
    }

    fn closing(&mut self) {
        *self.server_closes = true;
    }

    fn refused(&mut self, why: &'static str) {
        self.refused = why;
    }
}

impl<S: Stack> Core<'_, S> {
    /// The connection of a user, and its place there.
    #[inline]
    pub(in crate::worker) const fn place_of(&self, user: u32) -> (u32, u32) {
        if S::Protocol::IN_ORDER {
            (user, 0)
        } else {
            (user / self.streams.depth, user % self.streams.depth)
        }
    }

    /// The number of the user in a place of a connection.
    #[inline]
    pub(in crate::worker) const fn user(&self, slot: u32, tag: u32) -> u32 {
        if S::Protocol::IN_ORDER { slot } else { self.streams.user(slot, tag) }
    }

    /// A user thinks, or waits for an arrival, since this instant: until then it was with the server,
    /// but for what it owes ([`Connection::owes`](crate::worker::link::Connection::owes)).
    #[inline]
    pub(in crate::worker) fn rests(&mut self, slot: u32, tag: u32, since: u64) {
        if !S::Protocol::IN_ORDER {
            let owed_ns = self.connections[slot as usize].owed_ns;
            let place = self.flights.place(slot, tag);
            place.stretch = WAITING;
            place.sendable_at = since.saturating_sub(owed_ns);
        }
    }

    /// A user ends. Another one may have its place.
    pub(in crate::worker) fn ends(&mut self, slot: u32, tag: u32) {
        if !S::Protocol::IN_ORDER {
            self.flights.place(slot, tag).stretch = IDLE;
        }
    }

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

    /// A user wants to send, since `at`. Nothing if the load has no further requests.
    #[inline]
    pub(in crate::worker) fn make_due(&mut self, slot: u32, tag: u32, at: u64) {
        let has_quota = self.quota > 0;
        let place = self.flights.place(slot, tag);
        place.stretch = if has_quota { DUE } else { IDLE };
        place.intended_at = at;
        // An arrival may have waited for its user.
        place.sendable_at = place.sendable_at.max(at);
        if has_quota {
            self.schedule(slot, at, 1);
            self.streams.due[slot as usize].push(tag);
        }
    }

    /// The users of a connection who do nothing.
    pub(in crate::worker) fn idle(&self, slot: u32) -> Vec<u32> {
        let places = (0..).zip(self.flights.places(slot));
        places.filter(|(_, place)| place.stretch == IDLE).map(|(tag, _)| tag).collect()
    }

    /// The fate of a request is known: its refusals say nothing of the next one.
    pub(in crate::worker) fn forget_refusals(&mut self, slot: u32, tag: u32) {
        self.streams.answering(slot, tag).refusals = 0;
    }

    /// Users of each connection.
    pub(in crate::worker) const fn users_of_a_connection(&self) -> u32 {
        if S::Protocol::IN_ORDER { 1 } else { self.streams.depth }
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

    /// Decodes what arrived.
    #[inline]
    pub(in crate::worker) fn read_streams(
        &mut self,
        slot: u32,
        mut input: &[u8],
        now: u64,
    ) -> Reading {
        let asker = Self::asker(slot);
        let was_full = self.is_full(slot);
        self.streams.settled.clear();
        let fault = loop {
            let read = match self.decode_streams(slot, input) {
                Err(kind) => break Some(kind),
                Ok(Step::More) => break None,
                Ok(Step::Complete { tag, used }) => {
                    if let Some(wrong) = self.complete(asker, tag, false, now) {
                        self.note_wrong(wrong, &[]);
                    }
                    self.forget_refusals(asker, tag);
                    self.streams.settled.push(tag);
                    used
                }
                Ok(Step::Failed { tag, used, kind }) => {
                    self.fail_stream(slot, tag, kind);
                    used
                }
                Ok(Step::Refused { tag, used }) => {
                    self.refused(slot, tag);
                    used
                }
            };
            input = &input[read..];
        };
        self.freed(slot, was_full, self.arrived);
        Reading { settled: self.streams.settled.len() as u32, fault }
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
        };
        let out = &mut connection.out;
        let step = self.protocol.decode(&mut connection.protocol, input, &mut answers, out);
        if matches!(step, Err(_) | Ok(Step::Failed { .. })) {
            self.blame.why = answers.refused;
        }
        if answers.interim > 0 {
            let interim = answers.interim;
            self.recorder.now_tally().interim += interim;
        }
        step
    }

    /// What was judged of an answer that is complete now: its status, the bytes of its body, what
    /// is wrong with it, and when its head came.
    #[inline]
    pub(in crate::worker) fn judged(
        &mut self,
        slot: u32,
        tag: u32,
        template: u32,
        timing: Timing,
    ) -> (u16, u64, Option<ErrorKind>, u64) {
        let (judge, head_at) = if S::Protocol::IN_ORDER {
            let connection = &mut self.connections[slot as usize];
            (&mut connection.judge, connection.mark)
        } else {
            let answering = self.streams.answering(slot, tag);
            (&mut answering.judge, answering.head_at)
        };
        let (status, body_bytes) = (judge.status, judge.body_bytes);
        let right = self.wire.template(template).right(timing.value);
        let error = judge.finish(&right, timing, self.referee);
        if error.is_some() {
            self.blame.words = judge.take_words();
        }
        (status, body_bytes, error, head_at)
    }

    /// Every connection has the answer: it arrived when the last one had it, whichever was read
    /// last.
    pub(in crate::worker) fn take_last(&mut self, slot: u32, tag: u32) {
        let answering = self.streams.answering(slot, tag);
        (self.arrived, self.is_stamped) = (answering.last_at, !answering.is_unstamped);
    }

    /// A connection that was full takes requests again, since `at`. It was the server that kept
    /// them waiting until then.
    #[inline]
    pub(in crate::worker) fn freed(&mut self, slot: u32, was_full: bool, at: u64) {
        if was_full && !self.is_full(slot) {
            self.connections[slot as usize].free_at = at;
        }
    }

    /// Whether a connection takes no request now.
    #[inline]
    pub(in crate::worker) fn is_full(&self, slot: u32) -> bool {
        self.room(slot) == 0
    }

    /// One request fails, and its connection goes on.
    pub(in crate::worker) fn fail_stream(&mut self, slot: u32, tag: u32, kind: ErrorKind) {
        let (request, _) = self.flights.settle::<false>(slot, tag);
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
    pub(in crate::worker) fn has_head(&mut self, slot: u32, tag: u32) -> bool {
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
    pub(in crate::worker) fn take_back_stream(&mut self, slot: u32, tag: u32) {
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

    /// Until when the server may go on to take none of the requests that wait for a connection
    /// which has none under way; `None` if it takes them, or none waits. A server may allow no
    /// stream at all (RFC 9113 section 6.5.2), or not read. A broadcast waits for its listeners.
    pub(in crate::worker) fn barred_until(&mut self, slot: u32, now: u64) -> Option<u64> {
        let connection = &self.connections[slot as usize];
        let waits = connection.pending > 0 || !self.streams.parked[slot as usize].is_empty();
        let is_barred = waits && connection.in_flight == 0 && self.is_full(slot);
        let used = connection.used;
        let known = &mut self.streams.barred[slot as usize];
        // What it has carried since then says that it took some meanwhile.
        *known = known.filter(|(_, before)| is_barred && *before == used);
        if !is_barred {
            return None;
        }
        let (since, _) = *known.get_or_insert((now, used));
        Some(since.saturating_add(self.spec.timeouts.request_ns))
    }

    /// The due requests of a connection are given up: how many of each instant.
    pub(in crate::worker) fn take_due(&mut self, slot: u32) -> Vec<u64> {
        let tags = self.streams.due[slot as usize].take();
        let mut give_up = |tag| {
            let place = self.flights.place(slot, tag);
            place.stretch = IDLE;
            place.intended_at
        };
        tags.into_iter().map(&mut give_up).collect()
    }
}

impl<S: Stack> Worker<'_, S> {
    /// Acts on decoded input. Bytes of the transport may have no content; then the list of settled
    /// requests is that of an earlier input, perhaps of another connection.
    pub(in crate::worker) fn has_read_streams(
        &mut self,
        slot: u32,
        Reading { settled, fault }: Reading,
        now: u64,
    ) {
        if settled > 0 {
            let asker = Core::<S>::asker(slot);
            self.after_settled(asker, self.core.arrived, now);
            if asker != slot {
                if self.core.is_up(asker) { self.go_on(asker, now) } else { self.push(asker, now) }
            }
        }
        if !self.core.is_up(slot) {
            return;
        }
        match fault {
            Some(kind) => {
                // The server is told, if it still listens.
                _ = self.transmit(slot);
                self.broken(slot, kind, settled, now);
            }
            None => self.go_on(slot, now),
        }
        self.dispatch(now);
    }

    /// The users whose requests were settled at `at` go on.
    fn after_settled(&mut self, slot: u32, at: u64, now: u64) {
        for nth in 0..self.core.streams.settled.len() {
            let tag = self.core.streams.settled[nth];
            self.after_stream(slot, tag, at, now);
        }
    }

    /// All requests of a connection that is gone have failed.
    pub(in crate::worker) fn after_all_streams(&mut self, slot: u32, at: u64, now: u64) {
        for tag in self.core.idle(slot) {
            self.after_stream(slot, tag, at, now);
        }
        self.push(slot, now);
        self.dispatch(now);
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
        self.send_due(slot, now);
    }

    /// Makes sure that what is due on a connection is sent.
    #[inline]
    pub(in crate::worker) fn push(&mut self, slot: u32, now: u64) {
        let connection = &self.core.connections[slot as usize];
        match connection.link {
            Link::Up => self.send_due(slot, now),
            Link::Down if connection.pending > 0 && !self.pace.is_retrying(slot) => {
                self.open(slot, now);
            }
            Link::Down | Link::Connecting | Link::Tunnelling | Link::Securing | Link::Greeting => {}
        }
    }

    /// Sends what is due and what else waits, in one write.
    #[inline]
    pub(in crate::worker) fn send_due(&mut self, slot: u32, now: u64) {
        self.core.enter_streams(slot, now);
        let connection = &mut self.core.connections[slot as usize];
        self.core.protocol.refill(&mut connection.protocol, &mut connection.out);
        if connection.out.is_empty() {
            return;
        }
        let (sending, sent) = self.transmit_timed(slot);
        self.core.stamp_streams(slot, sent);
        if let Sending::Failed(errno) = sending {
            self.closed(slot, Some(errno), now);
        }
    }

    /// The server has taken no request for too long: what waits is given up, and the users try
    /// again later on another connection.
    pub(in crate::worker) fn give_up_barred(&mut self, slot: u32, now: u64) {
        self.core.streams.barred[slot as usize] = None;
        for tag in self.core.take_parked(slot) {
            self.core.flights.place(slot, tag).stretch = IDLE;
        }
        if S::Protocol::GATHERS {
            let why = self.core.streams.missing.unwrap_or(ErrorKind::CloseBeforeAnswer);
            return self.give_up(slot, why, now);
        }
        self.drop_connection(slot);
        self.give_up(slot, ErrorKind::NoStream, now);
    }

    /// The requests of a connection that had taken too long at `late_at` fail; the others go on.
    /// Returns when the next one would be too old.
    pub(in crate::worker) fn time_out_streams(
        &mut self,
        slot: u32,
        late_at: u64,
        now: u64,
    ) -> Option<u64> {
        let limit = self.core.spec.timeouts.request_ns;
        let was_full = self.core.is_full(slot);
        self.core.streams.settled.clear();
        let tags: Vec<u32> = self.core.flights.tags(slot, (0, 0)).collect();
        let mut next = None;
        for tag in tags {
            let deadline = self.core.flights.place(slot, tag).sent.left_at().saturating_add(limit);
            if deadline > late_at {
                next = Some(next.map_or(deadline, |next: u64| next.min(deadline)));
                continue;
            }
            self.core.fail_stream(slot, tag, ErrorKind::Timeout);
            self.core.cancel(slot, tag);
        }
        self.core.freed(slot, was_full, now);
        self.after_settled(slot, now, now);
        if self.core.is_up(slot) {
            self.go_on(slot, now);
        }
        next
    }
}
