//! Everything that can go wrong: connections that do not open, break or close, answers that do not
//! come.
use pippin_model::result::ErrorKind;

use super::Link;
use crate::io::Io;
use crate::protocol::http1::tunnel;
use crate::protocol::{End, Outgoing, Protocol};
use crate::record::exchanges::Exchange;
use crate::record::tally::Tally;
use crate::shared::LEAST_TIMEOUT_NS;
use crate::time::timeline::UNKNOWN;
use crate::tls::reason;
use crate::transport::Transport;
use crate::worker::firsts::{Blame, why_not_opened};
use crate::worker::seats::flights::{IDLE, InFlight};
use crate::worker::seats::{Seating as _, SeatsOf};
use crate::worker::{Core, Stack, Worker};

/// Events that one wait takes of an event loop, at the least.
pub(in crate::worker) const READ_AT_ONCE: usize = 256;

/// The kind of a failed connect().
pub(in crate::worker) const fn connect_error(errno: i32) -> ErrorKind {
    match errno {
        libc::ECONNREFUSED => ErrorKind::ConnectRefused,
        libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE => ErrorKind::ConnectReset,
        libc::ETIMEDOUT => ErrorKind::ConnectTimeout,
        _ => ErrorKind::ConnectLocal,
    }
}

/// Why there is no answer although the request was sent.
const fn why_closed(was_reset: bool, untouched: bool) -> &'static str {
    match (was_reset, untouched) {
        (false, true) => "the server closed the connection without a byte of an answer",
        (true, true) => "the server reset the connection (RST) without a byte of an answer",
        (false, false) => "the server closed the connection within the head of its answer",
        (true, false) => "the server reset the connection (RST) within the head of its answer",
    }
}

impl<S: Stack> Worker<'_, S> {
    /// The kernel refused to open the connection, for this reason.
    pub(in crate::worker) fn connect_refused(&mut self, slot: u32, errno: i32, now: u64) {
        self.core.blame.why = why_not_opened(errno);
        self.connect_failed(slot, connect_error(errno), now);
    }

    /// The connection could not be opened: what was due on it stays unsent.
    pub(in crate::worker) fn connect_failed(&mut self, slot: u32, kind: ErrorKind, now: u64) {
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        connection.link = Link::Down;
        core.opening.connecting -= 1;
        core.note_missing(slot, kind);
        if core.opening.is_setting_up && core.carries_over {
            // Counted when the user itself tries, as soon as the load starts.
            core.blame = Blame::default();
            return;
        }
        self.give_up(slot, kind, now);
    }

    /// What was due on a connection stays unsent, for this reason.
    pub(in crate::worker) fn give_up(&mut self, slot: u32, kind: ErrorKind, now: u64) {
        let core = &mut self.core;
        let due = SeatsOf::<S>::take_due(core, slot);
        let connection = &mut core.connections[slot as usize];
        let pending = std::mem::take(&mut connection.pending);
        let intended_at = due.first().copied().unwrap_or(connection.pending_since);
        let stretch = if pending > 0 {
            core.stretch_of(intended_at)
        } else {
            core.recorder.stretch_of_first()
        };
        core.recorder.error(stretch, kind);
        core.note_failure(stretch, kind, None);
        for intended_at in due {
            let stretch = core.stretch_of(intended_at);
            core.recorder.tally(stretch).requests.unsent += 1;
        }
        core.open_requests -= u64::from(pending);
        if S::Protocol::VARIES && pending > 0 {
            core.walk_interrupted(slot, stretch, kind);
        }
        self.after_failure(slot, now);
    }

    /// The server closed the connection, or it broke.
    pub(in crate::worker) fn closed(&mut self, slot: u32, errno: Option<i32>, now: u64) {
        if self.core.recorder.finished_at.is_some() {
            return;
        }
        // The end of a connection has no stamp.
        (self.core.arrived, self.core.is_stamped) = (now, false);
        let connection = &mut self.core.connections[slot as usize];
        let is_authentic = errno.is_none() && S::Transport::end_is_authentic(&connection.transport);
        match connection.link {
            Link::Up => {}
            Link::Tunnelling => return self.closed_by_proxy(slot, errno, now),
            Link::Securing => return self.closed_in_handshake(slot, errno, now),
            Link::Greeting => return self.closed_in_greeting(slot, now),
            Link::Down | Link::Connecting => return,
        }
        if connection.in_flight == 0 {
            return self.ended_idle(slot, now);
        }
        let end = S::Protocol::end(&mut connection.protocol);
        let oldest = connection.head;
        match end {
            End::Complete if is_authentic => {
                if let Some(wrong) = self.core.complete(slot, oldest, false, now) {
                    self.core.note_wrong(wrong, &[]);
                }
                let connection = &self.core.connections[slot as usize];
                if self.core.is_used_up(connection) && connection.in_flight == 0 {
                    self.drop_connection(slot);
                } else {
                    self.server_closed(slot, now);
                }
                SeatsOf::<S>::after_requests(self, slot, now, now);
            }
            End::BeforeHead { untouched: true } if self.may_send_again(slot) => {
                self.send_again(slot, now)
            }
            End::BeforeHead { untouched: true } if self.was_reset_at_once(slot, errno) => {
                SeatsOf::<S>::take_back(&mut self.core, slot);
                self.drop_connection(slot);
                self.give_up(slot, ErrorKind::ConnectReset, now);
            }
            End::BeforeHead { untouched } => {
                self.core.blame.why = why_closed(errno.is_some(), untouched);
                self.broken(slot, ErrorKind::CloseBeforeAnswer, 0, now);
            }
            End::Complete if errno.is_none() => {
                self.transport.note_failure(reason::TRUNCATED);
                self.broken(slot, ErrorKind::CloseInBody, 0, now);
            }
            End::InBody | End::Complete => self.broken(slot, ErrorKind::CloseInBody, 0, now),
        }
    }

    /// The connection is of no further use, for this reason; `settled` answers were complete before
    /// that.
    #[cold]
    pub(in crate::worker) fn broken(&mut self, slot: u32, kind: ErrorKind, settled: u32, now: u64) {
        if Core::<S>::listens(slot) {
            return self.listener_ended(slot, Some(kind), now);
        }
        let failed = self.core.fail_all(slot, kind);
        let has_served = self.core.connections[slot as usize].served > 0;
        self.drop_connection(slot);
        if failed == 0 {
            SeatsOf::<S>::broke_idle(&mut self.core, has_served, kind);
        }
        if settled + failed == 0 {
            return SeatsOf::<S>::broke_unused(self, slot, now);
        }
        if has_served || kind == ErrorKind::Timeout {
            SeatsOf::<S>::after_requests(self, slot, now, now);
        } else {
            self.after_failure(slot, now);
        }
    }

    /// The server closes after a complete answer, or has said so. Requests that were sent behind
    /// that answer fail.
    pub(in crate::worker) fn server_closed(&mut self, slot: u32, now: u64) {
        self.core.blame.why = "the server closed the connection after an earlier answer; this request was sent behind that one";
        self.core.fail_all(slot, ErrorKind::CloseBeforeAnswer);
        self.core.blame.why = "";
        self.note_close(slot, now);
        if Core::<S>::listens(slot) {
            let lacks = self.core.lacks_answer(slot);
            return self.listener_ended(slot, lacks.then_some(ErrorKind::CloseBeforeAnswer), now);
        }
        self.drop_connection(slot);
    }

    /// The server has ended a connection with nothing under way.
    pub(in crate::worker) fn ended_idle(&mut self, slot: u32, now: u64) {
        let has_served = self.core.connections[slot as usize].served > 0;
        self.server_closed(slot, now);
        SeatsOf::<S>::ended_idle(self, slot, has_served, now);
    }

    fn note_close(&mut self, slot: u32, now: u64) {
        let core = &mut self.core;
        let connection = &core.connections[slot as usize];
        let idle_ns = now.saturating_sub(connection.free_at);
        core.recorder.now_tally().closed_by_server(connection.served.into(), idle_ns);
    }

    pub(in crate::worker) fn drop_connection(&mut self, slot: u32) {
        if S::Protocol::GREETS {
            self.part(slot);
        }
        SeatsOf::<S>::leave(self, slot);
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        if S::Transport::SECURES {
            self.transport.leave(&mut self.io, &mut connection.transport, slot);
            core.recorder.bytes_out(self.transport.take_sent());
        }
        self.io.close(slot);
        connection.link = Link::Down;
        connection.server_closes = false;
        connection.out.forget();
        S::Protocol::reopened(&mut connection.protocol);
        connection.judge = crate::request::check::Judge::new();
        core.recorder.live -= 1;
    }

    /// Whether the requests under way can be sent again on a new connection, as every browser does:
    /// the server closed a connection that had served before, and its kernel never acknowledged
    /// them, so that nobody can have read them (RFC 9112 section 9.3.1).
    fn may_send_again(&self, slot: u32) -> bool {
        let connection = &self.core.connections[slot as usize];
        connection.served > 0
            && self
                .core
                .under_way(slot)
                .all(|request| self.core.wire.template(request.template).may_repeat)
            && self.io.is_undelivered(slot) == Some(true)
    }

    /// Whether a new connection was reset before any byte of a request reached the server. Whoever
    /// resets it has not refused it, and has not read a request either.
    fn was_reset_at_once(&self, slot: u32, errno: Option<i32>) -> bool {
        let connection = &self.core.connections[slot as usize];
        errno.is_some_and(|errno| connect_error(errno) == ErrorKind::ConnectReset)
            && connection.served == 0
            && self.io.has_delivered(slot) == Some(false)
    }

    fn send_again(&mut self, slot: u32, now: u64) {
        let again = u64::from(self.core.connections[slot as usize].in_flight);
        self.core.recorder.now_tally().requests.sent_again += again;
        SeatsOf::<S>::take_back(&mut self.core, slot);
        self.note_close(slot, now);
        self.drop_connection(slot);
        // Until then it was with the server.
        self.core.connections[slot as usize].free_at = now;
        self.open(slot, now);
    }

    /// Looks through all connections for what was too late at `late_at`, when the thread began to
    /// read what had come; it has read that by `now`.
    pub(in crate::worker) fn look_for_timeouts(&mut self, late_at: u64, now: u64) {
        let timeouts = self.core.spec.timeouts;
        let mut next = late_at + timeouts.connect_ns.min(timeouts.request_ns);
        for slot in 0..self.core.connections.len() as u32 {
            let connection = &self.core.connections[slot as usize];
            let deadline = match connection.link {
                Link::Connecting | Link::Tunnelling | Link::Securing | Link::Greeting => {
                    connection.mark + timeouts.connect_ns
                }
                Link::Up if connection.in_flight > 0 => self
                    .core
                    .under_way(slot)
                    .map(|request| request.sent.left_at())
                    .min()
                    .map_or(UNKNOWN, |sent_at| sent_at.saturating_add(timeouts.request_ns)),
                Link::Up => match SeatsOf::<S>::barred_until(&mut self.core, slot, now) {
                    Some(deadline) => deadline,
                    None => continue,
                },
                Link::Down => continue,
            };
            let connection = &self.core.connections[slot as usize];
            if deadline > late_at {
                next = next.min(deadline);
            } else if connection.link == Link::Tunnelling {
                self.no_tunnel(slot, tunnel::LATE.into(), now);
            } else if connection.link == Link::Securing {
                self.handshake_failed(slot, reason::HANDSHAKE_TIMEOUT, now);
            } else if connection.link == Link::Greeting {
                self.greeting_is_late(slot, now);
            } else if connection.link == Link::Connecting {
                self.io.close(slot);
                self.connect_failed(slot, ErrorKind::ConnectTimeout, now);
            } else if let Some(deadline) = SeatsOf::<S>::time_out(self, slot, late_at, now) {
                next = next.min(deadline);
            }
        }
        // Many timeouts in a row must not mean a look at all connections each time.
        let least = (self.core.connections.len() as u64 * 100).max(LEAST_TIMEOUT_NS);
        self.core.next_timeout_scan = next.max(late_at + least);
    }
}

impl<S: Stack> Core<'_, S> {
    /// The requests of `slot` that were sent and not answered, oldest first.
    pub(in crate::worker) fn under_way(&self, slot: u32) -> impl Iterator<Item = &InFlight> {
        let connection = &self.connections[slot as usize];
        self.flights.under_way(slot, (connection.head, connection.in_flight))
    }

    /// All requests under way on a connection fail: the oldest for this reason, those behind it
    /// because their answers never came.
    pub(in crate::worker) fn fail_all(&mut self, slot: u32, kind: ErrorKind) -> u32 {
        let connection = &self.connections[slot as usize];
        let ring = (connection.head, connection.in_flight);
        let tags: Vec<u32> = self.flights.tags(slot, ring).collect();
        let behind = if kind == ErrorKind::Timeout { kind } else { ErrorKind::CloseBeforeAnswer };
        for (place, tag) in tags.iter().enumerate() {
            let request = *self.flights.place(slot, *tag);
            self.flights.place(slot, *tag).stretch = IDLE;
            let kind = if place == 0 { kind } else { behind };
            let kind = SeatsOf::<S>::loss(self, (slot, *tag), kind);
            self.fail((slot, *tag), &request, kind);
            if S::Protocol::VARIES {
                self.step_failed(slot, &request, kind);
            }
            self.cancelled_for_all(slot, *tag);
        }
        self.connections[slot as usize].in_flight = 0;
        self.open_requests -= tags.len() as u64;
        tags.len() as u32
    }

    /// A request fails.
    pub(in crate::worker) fn fail(
        &mut self,
        (slot, tag): (u32, u32),
        request: &InFlight,
        kind: ErrorKind,
    ) {
        let user = self.user(slot, tag);
        let stretch = request.stretch as usize;
        let connection = &mut self.connections[slot as usize];
        let (judge, _) = SeatsOf::<S>::judge(connection, &mut self.streams, (slot, tag));
        if judge.is_under_way() {
            let check = &self.wire.template(request.template).check;
            self.recorder.now_tally().events.lost += judge.missing_events(check);
        }
        self.recorder.error(stretch, kind);
        self.note_failure(stretch, kind, Some(request.template));
        let timeout = self.spec.timeouts.request_ns;
        let response = request.response_ns(request.sent.left_at() + timeout, self.has_plan);
        let tally = self.recorder.tally(stretch);
        if let Some(paths) = &self.paths {
            let late = (kind == ErrorKind::Timeout).then_some(response);
            tally.path(paths.place(request.template)).failed(kind, late);
        }
        tally.requests.failed += 1;
        tally.lags(request);
        let took = (kind == ErrorKind::Timeout).then_some((response, timeout));
        tally.exchanges.keep(Exchange { took, error: Some(kind), ..request.unanswered(user) });
        if kind == ErrorKind::Timeout {
            tally.spans.service_time.record(timeout);
            tally.spans.response_time.record(response);
            self.recorder.window().response.record(response);
        }
    }

    /// Counts what each connection got in a stretch that ends, and begins anew.
    pub(in crate::worker) fn close_accounts(&mut self, stretch: usize) {
        if !Self::ACCOUNTS_BY_CONNECTION {
            return;
        }
        for slot in 0..self.connections.len() as u32 {
            let connection = &mut self.connections[slot as usize];
            let answers = std::mem::take(&mut connection.answers);
            let service_ns = std::mem::take(&mut connection.service_ns);
            let places = std::mem::take(&mut connection.places);
            let hangs = answers == 0 && connection.in_flight > 0;
            let has_begun = hangs && SeatsOf::<S>::has_begun(self, slot);
            let by_connection = &mut self.recorder.tally(stretch).by_connection;
            by_connection.add(answers.into(), service_ns, places);
            by_connection.without_answer += u64::from(hangs);
            by_connection.with_head_only += u64::from(has_begun);
        }
    }

    /// The load is over: what is under way is censored, what is due was never sent.
    pub(in crate::worker) fn settle_the_rest(&mut self, ended_at: u64) {
        self.close_accounts(self.recorder.current);
        let has_plan = self.has_plan;
        for slot in 0..self.connections.len() as u32 {
            let connection = &self.connections[slot as usize];
            let ring = (connection.head, connection.in_flight);
            let tags: Vec<u32> = self.flights.tags(slot, ring).collect();
            for tag in tags {
                let (request, user) = (*self.flights.place(slot, tag), self.user(slot, tag));
                let tally = self.recorder.tally(request.stretch as usize);
                tally.exchanges.keep(request.unanswered(user));
                tally.requests.censored += 1;
                tally.lags(&request);
                let age_ns = request.response_ns(ended_at, has_plan);
                self.recorder.left_open(request.stretch as usize, age_ns);
            }
            for intended_at in SeatsOf::<S>::take_due(self, slot) {
                let stretch = self.stretch_of(intended_at);
                self.recorder.tally(stretch).requests.unsent += 1;
            }
        }
    }
}

impl InFlight {
    /// What is kept of it while it has no answer.
    const fn unanswered(&self, user: u32) -> Exchange {
        Exchange {
            intended_at: self.intended_at,
            sent_at: self.sent.left_at(),
            took: None,
            user,
            template: self.template,
            value: self.value,
            status: None,
            error: None,
            body_bytes: None,
        }
    }
}

impl Tally {
    /// Records how late a request was sent that is not answered; once for each, when its fate is
    /// known.
    fn lags(&mut self, request: &InFlight) {
        self.spans.send_lag.record(request.send_lag_ns());
        self.spans.own_lag.record(request.own_lag_ns());
    }
}
