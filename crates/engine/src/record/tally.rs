//! What one thread counts in one stretch of the load.
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use pippin_model::result::ByteCounts;
use pippin_model::result::closes::Closes;
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{
    Answered, Arrivals, ByConnection, ConnectionCounts, ErrorKind, EventCounts, FirstError,
    Measured, RequestCounts, Spans, StampCounts, StatusCounts, StepMeasured, Successes, Window,
    WindowHistograms,
};

use crate::record::exchanges::Exchanges;
use crate::record::paths::PathTally;
use crate::request::check::NO_STATUS;

/// The kinds of errors, in the order of their discriminants.
const KINDS: [ErrorKind; ErrorKind::ALL.len()] = ErrorKind::ALL;

/// Status codes have three digits.
const CODES: usize = 1_000;

/// Answers by status code. One code is counted nearly always, and it stays in one cache line.
#[derive(Debug)]
struct Codes(Box<[u64; CODES]>);

impl Default for Codes {
    fn default() -> Self {
        Self(Box::new([0; CODES]))
    }
}

/// The first error of each kind.
#[derive(Debug, Default)]
pub(crate) struct Firsts(BTreeMap<ErrorKind, FirstError>);

impl Firsts {
    /// Whether one of this kind is kept.
    pub fn has(&self, kind: ErrorKind) -> bool {
        self.0.contains_key(&kind)
    }

    pub fn keep(&mut self, kind: ErrorKind, first: FirstError) {
        self.0.entry(kind).or_insert(first);
    }

    fn merge(&mut self, other: &Self) {
        for (kind, first) in &other.0 {
            self.keep(*kind, first.clone());
        }
    }
}

/// Errors by kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errors([u64; KINDS.len()]);

impl Default for Errors {
    fn default() -> Self {
        Self([0; KINDS.len()])
    }
}

impl Errors {
    pub fn merge(&mut self, other: &Self) {
        self.iter_mut().zip(other.iter()).for_each(|(own, other)| *own += other);
    }
}

impl Deref for Errors {
    type Target = [u64; KINDS.len()];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Errors {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Counters and time spans of a stretch.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub requests: RequestCounts,
    pub answered: Answered,
    pub successes: Successes,
    pub interim: u64,
    codes: Codes,
    pub errors: Errors,
    pub firsts: Firsts,
    /// Where the first redirection led to.
    pub redirected_to: Option<Box<str>>,
    pub connections: ConnectionCounts,
    pub closes: Closes,
    pub by_connection: ByConnection,
    pub bytes: ByteCounts,
    pub events: EventCounts,
    pub stamps: StampCounts,
    pub spans: Spans,
    /// Scenarios only: by step, as far as any was counted.
    pub steps: Vec<StepTally>,
    /// The redirections that were followed; empty if none were.
    pub followed: StepTally,
    /// By path ([`crate::record::paths`]), as far as any was counted; empty where they are not.
    pub paths: Vec<PathTally>,
    pub exchanges: Exchanges,
}

/// What is counted of one step of a scenario.
#[derive(Debug, Default)]
pub(crate) struct StepTally {
    pub completed: u64,
    pub good: u64,
    pub failed: u64,
    errors: Errors,
    pub service_time: Histogram,
    pub response_time: Histogram,
    example: Option<String>,
}

impl StepTally {
    /// An error; `what` says it in words. The first is kept as an example.
    pub fn error(&mut self, kind: ErrorKind, what: impl FnOnce() -> String) {
        self.errors[kind as usize] += 1;
        self.example.get_or_insert_with(what);
    }

    /// The plain data of it.
    pub fn into_measured(self, name: &str) -> StepMeasured {
        StepMeasured {
            name: name.into(),
            scenario: None,
            completed: self.completed,
            good: self.good,
            failed: self.failed,
            errors: by_kind(self.errors),
            service_time: self.service_time,
            response_time: self.response_time,
            example: self.example,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.good += other.good;
        self.failed += other.failed;
        self.errors.merge(&other.errors);
        self.service_time.merge(&other.service_time);
        self.response_time.merge(&other.response_time);
        if self.example.is_none() {
            self.example.clone_from(&other.example);
        }
    }
}

/// The errors that occurred.
pub(crate) fn by_kind(counts: Errors) -> BTreeMap<ErrorKind, u64> {
    KINDS.into_iter().zip(*counts).filter(|(_, count)| *count > 0).collect()
}

impl Tally {
    /// An empty one that keeps these requests one by one. Its memory is there before the load begins.
    pub fn keeping(exchanges: Exchanges) -> Self {
        let mut tally = Self { exchanges, ..Self::default() };
        tally.spans.reserve();
        tally
    }

    #[inline]
    pub fn error(&mut self, kind: ErrorKind) {
        self.errors[kind as usize] += 1;
    }

    #[inline]
    pub fn status(&mut self, status: u16) {
        // A protocol without status counts under NO_STATUS, which nobody reads.
        self.codes.0[usize::from(status) % CODES] += 1;
    }

    /// Complete answers by their status code.
    fn statuses(&self) -> StatusCounts {
        let codes = (0..).zip(&self.codes.0[..]).filter(|(code, n)| *code != NO_STATUS && **n > 0);
        StatusCounts { interim: self.interim, codes: codes.map(|(code, n)| (code, *n)).collect() }
    }

    /// The server closed a connection after `served` complete answers, when it had been idle for so
    /// long.
    pub fn closed_by_server(&mut self, served: u64, idle_ns: u64) {
        self.connections.closed_by_server += 1;
        self.closes.add(served, idle_ns);
    }

    /// Adds what another thread counted in the same stretch. Peaks add up: an upper bound where
    /// there is more than one thread.
    pub fn merge(&mut self, other: &Self) {
        self.requests.merge(&other.requests);
        self.answered.merge(&other.answered);
        self.successes.merge(&other.successes);
        self.interim += other.interim;
        for (own, others) in self.codes.0.iter_mut().zip(&other.codes.0[..]) {
            *own += others;
        }
        self.errors.merge(&other.errors);
        self.firsts.merge(&other.firsts);
        if self.redirected_to.is_none() {
            self.redirected_to.clone_from(&other.redirected_to);
        }
        self.connections.peak += other.connections.peak;
        self.connections.merge_closes(&other.connections);
        self.closes.merge(&other.closes);
        self.by_connection.merge(&other.by_connection);
        self.bytes.merge(&other.bytes);
        self.events.merge(&other.events);
        self.stamps.merge(&other.stamps);
        self.spans.merge(&other.spans);
        for (step, others) in (0..).zip(&other.steps) {
            self.step(step).merge(others);
        }
        self.followed.merge(&other.followed);
        for (place, others) in other.paths.iter().enumerate() {
            self.path(place).merge(others);
        }
    }

    /// What is counted of a path.
    #[inline]
    pub fn path(&mut self, place: usize) -> &mut PathTally {
        if self.paths.len() <= place {
            self.paths.resize_with(place + 1, PathTally::default);
        }
        &mut self.paths[place]
    }

    /// What is counted of a step.
    pub fn step(&mut self, step: u32) -> &mut StepTally {
        let place = step as usize;
        if self.steps.len() <= place {
            self.steps.resize_with(place + 1, StepTally::default);
        }
        &mut self.steps[place]
    }

    /// The errors that occurred, by kind.
    pub fn errors(&self) -> BTreeMap<ErrorKind, u64> {
        by_kind(self.errors)
    }

    /// This tally as plain data, without the steps and the paths.
    pub fn into_measured(self, duration_ns: u64, asked: u64) -> Measured {
        Measured {
            duration_ns,
            requests: self.requests,
            answered: self.answered,
            successes: Some(self.successes),
            status: self.statuses(),
            errors: self.errors(),
            firsts: self.firsts.0,
            redirected_to: self.redirected_to.map(Into::into),
            connections: ConnectionCounts { asked, ..self.connections },
            closes: self.closes,
            by_connection: self.by_connection,
            bytes: self.bytes,
            events: self.events,
            stamps: self.stamps,
            spans: self.spans,
            steps: Vec::new(),
            followed: None,
            by_request: Vec::new(),
            slowest: Default::default(),
        }
    }
}

/// What one thread counts in one window of about a second.
#[derive(Debug, Default)]
pub(crate) struct WindowTally {
    pub sent: u64,
    /// Requests of earlier windows that count as not sent after all.
    pub taken_back: u64,
    pub completed: u64,
    pub good: u64,
    pub errors: u64,
    pub live_connections: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub arrivals: Arrivals,
    pub response: Histogram,
    pub send_lag: Histogram,
}

impl WindowTally {
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.taken_back += other.taken_back;
        self.completed += other.completed;
        self.good += other.good;
        self.errors += other.errors;
        self.live_connections += other.live_connections;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.arrivals.merge(&other.arrivals);
        self.response.merge(&other.response);
        self.send_lag.merge(&other.send_lag);
    }

    /// The window; with its histograms, if that is asked for.
    pub fn to_window(&self, from_ns: i64, duration_ns: u64, with_histograms: bool) -> Window {
        let mut window = Window {
            from_ns,
            duration_ns,
            sent: self.sent,
            completed: self.completed,
            good: self.good,
            errors: self.errors,
            live_connections: self.live_connections,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            silences: self.arrivals.silences(duration_ns),
            ..Window::default()
        };
        window.read(&self.response, &self.send_lag);
        window.histograms = with_histograms.then(|| WindowHistograms {
            response: self.response.encode(),
            send_lag: self.send_lag.encode(),
        });
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_counted_under_its_own_name() {
        for kind in KINDS {
            let mut tally = Tally::default();
            tally.error(kind);
            let measured = tally.into_measured(1, 1);
            assert_eq!(measured.errors.into_iter().collect::<Vec<_>>(), [(kind, 1)]);
        }
    }

    #[test]
    fn a_keep_alive_limit_is_seen_through_the_merge() {
        let mut one = Tally::default();
        one.closed_by_server(100, 5);
        one.closed_by_server(7, 0);
        let mut all = Tally::default();
        all.merge(&one);
        all.merge(&Tally::default());
        assert_eq!(all.closes.requests_range(), Some((7, 100)));
        assert_eq!((all.connections.closed_by_server, all.closes.count()), (2, 2));
    }
}
