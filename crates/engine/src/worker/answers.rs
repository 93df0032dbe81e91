//! Reading answers and judging them.
use pippin_model::result::ErrorKind;

use super::firsts::Wrong;
use super::link::{ConnectionOf, Link};
use super::seats::flights::InFlight;
use super::seats::{Place, Seating as _, SeatsOf};
use super::{Core, Stack, Worker};
use crate::io::Io;
use crate::protocol::Protocol;
use crate::record::exchanges::Exchange;
use crate::record::uncounted::AnswerSpans;
use crate::request::check::{NO_STATUS, Timing};

/// What a piece of input led to.
#[derive(Default)]
pub(crate) struct Reading {
    /// Answers that are complete now.
    pub settled: u32,
    /// Why the connection is of no further use.
    pub fault: Option<ErrorKind>,
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
        let reading = SeatsOf::<S>::read(&mut self.core, slot, input, now);
        SeatsOf::<S>::has_read(self, slot, reading, now);
    }
}

impl<S: Stack> Core<'_, S> {
    /// Whether the connection has carried as many requests as it may.
    #[inline]
    pub(super) fn is_used_up(&self, connection: &ConnectionOf<S>) -> bool {
        self.spec.connections.requests_per_connection.is_some_and(|limit| connection.used >= limit)
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
        self.completed_for_all(slot, tag);
        let arrived = self.arrived;
        let (has_plan, user) = (self.has_plan, self.user(slot, tag));
        let mut request = SeatsOf::<S>::take_out(self, (slot, tag));
        let connection = &mut self.connections[slot as usize];
        connection.in_flight -= 1;
        connection.served += u32::from(Self::ACCOUNTS_BY_CONNECTION);
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
        let (status, body_bytes, wrong, mark) = self.judged((slot, tag), request.template, timing);
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
        if Self::ACCOUNTS_BY_CONNECTION {
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

    /// What was judged of an answer that is complete now: its status, the bytes of its body, what
    /// is wrong with it, and when its head came.
    #[inline]
    fn judged(
        &mut self,
        place: Place,
        template: u32,
        timing: Timing,
    ) -> (u16, u64, Option<ErrorKind>, u64) {
        let connection = &mut self.connections[place.0 as usize];
        let (judge, head_at) = SeatsOf::<S>::judge(connection, &mut self.streams, place);
        let (status, body_bytes) = (judge.status, judge.body_bytes);
        let right = self.wire.template(template).right(timing.value);
        let missing = judge.missing_events(right.check);
        if missing > 0 {
            self.recorder.now_tally().events.lost += missing;
        }
        let error = judge.finish(&right, timing, self.referee);
        if error.is_some() {
            self.blame.words = judge.take_words();
        }
        (status, body_bytes, error, head_at)
    }

    /// Answers that were read together have one stamp.
    #[inline]
    pub(super) fn count_shared_stamps(&mut self, reading: &Reading) {
        if reading.settled > 1 && self.is_stamped && Self::SHARES_STAMPS {
            self.recorder.now_tally().stamps.shared += u64::from(reading.settled - 1);
        }
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
