//! Reading answers and judging them.
use pippin_model::result::ErrorKind;

use super::firsts::Wrong;
use super::link::{ConnectionOf, Link};
use super::seats::flights::InFlight;
use super::{Core, Stack, Worker};
use crate::io::Io;
use crate::protocol::{Answers, Outgoing as _, Protocol, Step};
use crate::record::exchanges::Exchange;
use crate::record::uncounted::AnswerSpans;
use crate::request::check::{Judge, NO_STATUS, Timing};
use crate::request::surprises::{Look, Surprises};
use crate::request::wire::Wire;
use crate::scenario::redirection::is_redirection;
use crate::transport::Transport;

/// What a piece of input led to.
#[derive(Default)]
pub(super) struct Reading {
    /// Answers that are complete now.
    pub settled: u32,
    /// Why the connection is of no further use.
    pub fault: Option<ErrorKind>,
}

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
        let value = self.flights[self.head as usize].value;
        self.judge.piece(&self.wire.template(template).right(value), piece);
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

impl<S: Stack> Worker<'_, S> {
    /// Bytes arrived over a transport that changes nothing about them.
    #[inline]
    pub(super) fn received(&mut self, slot: u32, now: u64) {
        let input = self.io.received();
        self.core.recorder.bytes_in(input.len());
        if self.core.is_greeting(slot) {
            return self.received_greeting(slot, now);
        }
        let reading = self.core.read(slot, input, now);
        self.has_read(slot, reading, now);
    }

    /// Input was decoded: what follows from it.
    #[inline]
    pub(super) fn has_read(&mut self, slot: u32, reading: Reading, now: u64) {
        if !S::Protocol::IN_ORDER {
            return self.has_read_streams(slot, reading, now);
        }
        let Reading { settled, fault } = reading;
        if let Some(kind) = fault {
            return self.broken(slot, kind, settled, now);
        }
        if settled > 0 {
            self.settled(slot, now);
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
        self.after_requests(slot, arrived, now);
    }
}

impl<S: Stack> Core<'_, S> {
    /// Whether the connection has carried as many requests as it may.
    #[inline]
    pub(super) fn is_used_up(&self, connection: &ConnectionOf<S>) -> bool {
        self.spec.connections.requests_per_connection.is_some_and(|limit| connection.used >= limit)
    }

    /// Decodes what arrived.
    #[inline]
    pub(super) fn read(&mut self, slot: u32, input: &[u8], now: u64) -> Reading {
        let reading = if S::Protocol::IN_ORDER {
            self.read_in_order(slot, input, now)
        } else {
            self.read_streams(slot, input, now)
        };
        // A message to all has the stamps of its receivers.
        if reading.settled > 1 && self.is_stamped && !S::Protocol::GATHERS {
            self.recorder.now_tally().stamps.shared += u64::from(reading.settled - 1);
        }
        reading
    }

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
        };
        let out = &mut connection.out;
        let step = self.protocol.decode(&mut connection.protocol, input, &mut answer, out);
        if step.is_err() {
            self.blame.why = answer.refused;
        }
        if answer.interim > 0 {
            let stretch = flights[connection.head as usize].stretch as usize;
            let interim = answer.interim;
            self.recorder.tally(stretch).interim += interim;
        }
        step
    }

    /// Records the answer to the request with this tag. `surplus`: bytes followed it that belong to
    /// no answer. Returns what is wrong with it.
    #[inline]
    pub(super) fn complete(
        &mut self,
        slot: u32,
        tag: u32,
        surplus: bool,
        now: u64,
    ) -> Option<Wrong> {
        if S::Protocol::GATHERS {
            self.take_last(slot, tag);
        }
        let arrived = self.arrived;
        let (has_plan, user) = (self.has_plan, self.user(slot, tag));
        let (mut request, head) = if S::Protocol::IN_ORDER {
            self.flights.settle::<true>(slot, tag)
        } else {
            self.flights.settle::<false>(slot, tag)
        };
        let connection = &mut self.connections[slot as usize];
        connection.head = head;
        connection.in_flight -= 1;
        connection.served += u32::from(!S::Protocol::GATHERS);
        // Where users share a connection, what was read in one go frees it (`freed`).
        if S::Protocol::IN_ORDER || S::Protocol::GATHERS {
            connection.free_at = arrived;
        }
        connection.owes(request.own_lag_ns());
        connection.has_failed = false;
        self.open_requests -= 1;

        // Arrival stamps and send times come from different clocks.
        let is_early = request.sent.is_refuted(arrived);
        let is_impossible = request.sent.is_impossible(arrived);
        request.sent = request.sent.before(arrived);
        let sent_at = request.sent.left_at();
        let done_at = arrived.max(sent_at);
        let timing = Timing {
            template: request.template,
            value: request.value,
            // What is right must not hang on an estimate.
            sent_ns: request.sent.begun_at(),
            done_ns: done_at,
            read_ns: now,
        };
        let (status, body_bytes, wrong, mark) = self.judged(slot, tag, request.template, timing);
        let error = if surplus { Some(ErrorKind::Malformed) } else { wrong };
        let head_at = mark.clamp(sent_at, done_at);
        let spans = AnswerSpans {
            stretch: request.stretch,
            headers_ns: head_at - sent_at,
            body_ns: done_at - head_at,
            service_ns: done_at - sent_at,
            response_ns: request.response_ns(done_at, has_plan),
            send_lag_ns: request.send_lag_ns(),
            own_lag_ns: request.own_lag_ns(),
            pick_up_ns: now.saturating_sub(done_at),
            leads: request.sent.leads(),
        };

        let error = if S::Protocol::VARIES {
            self.step_answered(slot, request.template, body_bytes, error, &spans)
        } else {
            error
        };

        if let Some(paths) = &self.paths {
            let path =
                self.recorder.tally(request.stretch as usize).path(paths.place(request.template));
            path.answered(spans.response_ns, error);
        }
        let exchanges = &mut self.recorder.tally(request.stretch as usize).exchanges;
        if exchanges.wants(spans.response_ns) {
            exchanges.keep(Exchange {
                intended_at: request.intended_at,
                sent_at,
                took: Some((spans.response_ns, spans.service_ns)),
                user,
                template: request.template,
                value: request.value,
                status: (status != NO_STATUS).then_some(status),
                error,
                body_bytes: Some(body_bytes),
            });
        }
        if !S::Protocol::GATHERS {
            let connection = &mut self.connections[slot as usize];
            connection.answers += 1;
            connection.service_ns += spans.service_ns;
            connection.places += u64::from(request.sent.place()) + 1;
        }
        self.batching.learn(spans.service_ns);
        self.recorder.arrived_at(done_at);
        self.recorder.answered(spans);
        if is_early {
            let stamps = &mut self.recorder.tally(request.stretch as usize).stamps;
            stamps.early += 1;
            stamps.impossible += u64::from(is_impossible);
        }
        self.count(request.stretch as usize, status, body_bytes, error);
        let InFlight { stretch, template, .. } = request;
        error.map(|kind| Wrong { kind, stretch, template, status })
    }

    /// Counts a complete answer: for the stretch in which its request was due, for the present
    /// stretch, and for the window.
    #[inline]
    fn count(&mut self, stretch: usize, status: u16, body_bytes: u64, error: Option<ErrorKind>) {
        self.recorder.completed += 1;
        let tally = self.recorder.tally(stretch);
        tally.requests.completed += 1;
        tally.stamps.kernel += u64::from(self.is_stamped);
        tally.stamps.user_space += u64::from(!self.is_stamped);
        tally.status(status);
        tally.requests.good += u64::from(error.is_none());
        if let Some(kind) = error {
            self.recorder.error(stretch, kind);
        }
        let now_tally = self.recorder.now_tally();
        now_tally.bytes.body += body_bytes;
        if matches!(status, 200..=299) {
            now_tally.successes.completed += 1;
            now_tally.successes.body_bytes += body_bytes;
        }
        now_tally.answered.completed += 1;
        now_tally.answered.good += u64::from(error.is_none());
        let window = self.recorder.window();
        window.completed += 1;
        window.good += u64::from(error.is_none());
    }

    /// Whether the connection of `slot` carries requests.
    #[inline]
    pub(super) fn is_up(&self, slot: u32) -> bool {
        self.connections[slot as usize].link == Link::Up
    }
}
