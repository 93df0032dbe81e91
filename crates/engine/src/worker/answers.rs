//! Reading answers and judging them.
use pippin_model::load_result::ErrorKind;
use pippin_model::load_spec::BodyCheck;

use super::connection::Connection;
use super::{Core, Worker};
use crate::check::{BodyJudge, accepts_status};
use crate::http1::{DecodeError, HeadInfo, Rules, Sink};
use crate::io::Io;
use crate::uncounted::AnswerSpans;

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
    body: &'a BodyCheck,
    judge: &'a mut BodyJudge,
    /// Bytes of the body before the next piece.
    position: u64,
    status: &'a mut u16,
    server_closes: &'a mut bool,
    head_at: &'a mut u64,
    interim: &'a mut u64,
}

impl Sink for Answer<'_> {
    fn interim(&mut self, _status: u16) {
        *self.interim += 1;
    }

    #[inline]
    fn head(&mut self, info: &HeadInfo, _raw: &[u8]) {
        *self.status = info.status;
        *self.server_closes = !info.keep_alive;
        *self.head_at = self.arrived;
        self.position = 0;
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        self.judge.piece(self.body, piece, self.position);
        self.position += piece.len() as u64;
    }
}

impl<I: Io> Worker<'_, I> {
    /// Bytes arrived.
    #[inline]
    pub(super) fn received(&mut self, slot: u32) {
        if self.core.security.is_some() {
            return self.unseal(slot);
        }
        self.tick_received();
        if self.core.recorder.finished_at.is_some() {
            return;
        }
        let input = self.io.received();
        self.core.recorder.bytes_in(input.len());
        let reading = self.core.read(slot, input);
        self.has_read(slot, reading);
    }

    /// Input was decoded: what follows from it.
    #[inline]
    pub(super) fn has_read(&mut self, slot: u32, Reading { settled, fault }: Reading) {
        if let Some(kind) = fault {
            return self.broken(slot, kind, settled);
        }
        if settled > 0 {
            self.settled(slot);
        }
    }

    /// Answers are complete and the connection is sound: whether it stays open, and what comes
    /// next.
    #[inline]
    fn settled(&mut self, slot: u32) {
        let connection = &self.core.connections[slot as usize];
        if connection.in_flight == 0 && self.core.is_used_up(connection) {
            self.drop_connection(slot);
        } else if connection.server_closes
            || (connection.in_flight == 0
                && (self.io.is_closing(slot) || self.core.is_closed_by_peer(slot)))
        {
            self.server_closed(slot);
        }
        let arrived = self.core.arrived;
        self.after_requests(slot, arrived);
    }
}

impl Core<'_> {
    /// Whether the connection has carried as many requests as it may.
    pub(super) fn is_used_up(&self, connection: &Connection) -> bool {
        self.spec.connections.requests_per_connection.is_some_and(|limit| connection.used >= limit)
    }

    /// Decodes what arrived.
    #[inline]
    pub(super) fn read(&mut self, slot: u32, mut input: &[u8]) -> Reading {
        let mut settled = 0;
        while self.connections[slot as usize].in_flight > 0 {
            match self.decode(slot, input) {
                Err(DecodeError::Malformed(_)) => {
                    return Reading { settled, fault: Some(ErrorKind::Malformed) };
                }
                Err(DecodeError::TooLarge(_)) => {
                    return Reading { settled, fault: Some(ErrorKind::TooLarge) };
                }
                Ok(None) => return Reading { settled, fault: None },
                Ok(Some(used)) => input = &input[used..],
            }
            let connection = &self.connections[slot as usize];
            let is_last = connection.in_flight == 1 || connection.server_closes;
            self.complete(slot, is_last && !input.is_empty());
            settled += 1;
            if is_last && !input.is_empty() {
                // The error is counted with the answer; the connection cannot be trusted any more.
                return Reading { settled, fault: Some(ErrorKind::Malformed) };
            }
            if is_last || input.is_empty() {
                return Reading { settled, fault: None };
            }
        }
        if !input.is_empty() {
            self.recorder.error(self.recorder.current, ErrorKind::Malformed);
            return Reading { settled, fault: Some(ErrorKind::Malformed) };
        }
        Reading { settled, fault: None }
    }

    /// Decodes one answer as far as it has come; how many bytes it took if it is complete.
    #[inline]
    fn decode(&mut self, slot: u32, input: &[u8]) -> Result<Option<usize>, DecodeError> {
        let connection = &mut self.connections[slot as usize];
        let request =
            &self.in_flight[slot as usize * self.pipeline as usize + connection.head as usize];
        let template = self.wire.template(request.template);
        let limits = self.spec.limits;
        let rules = Rules {
            head_only: template.head_only,
            head_bytes: limits.head_bytes,
            body_bytes: limits.body_bytes,
        };
        let position = connection.decoder.body_bytes();
        let mut interim = 0;
        let mut answer = Answer {
            arrived: self.arrived,
            body: &template.check.body,
            judge: &mut connection.judge,
            position,
            status: &mut connection.status,
            server_closes: &mut connection.server_closes,
            head_at: &mut connection.mark,
            interim: &mut interim,
        };
        let step = connection.decoder.decode(input, &rules, &mut self.cache, &mut answer);
        if interim > 0 {
            self.recorder.tally(request.stretch as usize).status.interim += interim;
        }
        step.map(|step| step.complete.then_some(step.used))
    }

    /// Records the answer at the head of the line. `surplus`: bytes followed it that belong to no
    /// answer.
    #[inline]
    pub(super) fn complete(&mut self, slot: u32, surplus: bool) {
        let (now, arrived, is_stamped) = (self.now, self.arrived, self.is_stamped);
        let has_plan = self.users.have_a_plan();
        let connection = &mut self.connections[slot as usize];
        let request =
            self.in_flight[slot as usize * self.pipeline as usize + connection.head as usize];
        connection.head =
            if connection.head + 1 == self.pipeline { 0 } else { connection.head + 1 };
        connection.in_flight -= 1;
        connection.served += 1;
        connection.free_at = arrived;
        self.open_requests -= 1;

        let check = &self.wire.template(request.template).check;
        let body_bytes = connection.decoder.body_bytes();
        let body_is_right = connection.judge.finish(&check.body, body_bytes);
        let error = if surplus {
            Some(ErrorKind::Malformed)
        } else if !accepts_status(check, connection.status) {
            Some(ErrorKind::WrongStatus)
        } else if !body_is_right {
            Some(ErrorKind::WrongBody)
        } else {
            None
        };
        // The clock that stamps is not the one that says when a request was sent.
        let done_at = arrived.max(request.sent_at);
        let head_at = connection.mark.clamp(request.sent_at, done_at);
        let spans = AnswerSpans {
            stretch: request.stretch,
            headers_ns: head_at - request.sent_at,
            body_ns: done_at - head_at,
            service_ns: done_at - request.sent_at,
            response_ns: request.response_ns(done_at, has_plan),
            send_lag_ns: request.send_lag_ns(),
            own_lag_ns: request.own_lag_ns(),
            pick_up_ns: now.saturating_sub(done_at),
        };

        self.recorder.answered(spans);
        self.recorder.completed += 1;
        let tally = self.recorder.tally(request.stretch as usize);
        tally.requests.completed += 1;
        tally.stamps.kernel += u64::from(is_stamped);
        tally.stamps.user_space += u64::from(!is_stamped);
        tally.status(connection.status);
        tally.requests.good += u64::from(error.is_none());
        if let Some(kind) = error {
            self.recorder.error(request.stretch as usize, kind);
        }
        let now_tally = self.recorder.now_tally();
        now_tally.bytes.body += body_bytes;
        now_tally.answered.completed += 1;
        now_tally.answered.good += u64::from(error.is_none());
        let window = self.recorder.window();
        window.completed += 1;
        window.good += u64::from(error.is_none());
    }
}
