//! Everything that was measured in one stretch.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{
    Answered, ByConnection, ByteCounts, ConnectionCounts, CounterSets, ErrorKind, EventCounts,
    FirstError, RequestCounts, Slowest, Spans, StampCounts, StatusCounts, Successes,
};
use crate::result::closes::Closes;
use crate::result::histogram::Histogram;

/// Counters and time spans of one measured stretch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Its length in nanoseconds.
    pub duration_ns: u64,
    /// Requests by fate.
    pub requests: RequestCounts,
    /// Answers that ended within the stretch, whenever their requests were due. Throughput and
    /// goodput use these. `requests` follows the requests that were due within the stretch. The two
    /// differ by the requests that were under way at either end.
    pub answered: Answered,
    /// Those of them with a status of 200 to 299; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successes: Option<Successes>,
    /// Complete answers by status class.
    pub status: StatusCounts,
    /// Errors by kind; kinds that did not occur are absent.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// The first error of each kind, as far as it is kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub firsts: BTreeMap<ErrorKind, FirstError>,
    /// Where the first redirection led to (`Location`); `None` if there was none, or it is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirected_to: Option<String>,
    /// Connections.
    pub connections: ConnectionCounts,
    /// When the server closed connections.
    pub closes: Closes,
    /// What each connection got.
    #[serde(default)]
    pub by_connection: ByConnection,
    /// Bytes sent and received.
    pub bytes: ByteCounts,
    /// Server-sent events; absent in JSON where there are none.
    #[serde(default, skip_serializing_if = "EventCounts::is_empty")]
    pub events: EventCounts,
    /// Which clock ended the spans of its answers.
    pub stamps: StampCounts,
    /// Time spans.
    pub spans: Spans,
    /// Scenarios only: each step separately, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepMeasured>,
    /// The redirections that were followed, each by itself; `None` if the load follows none. A step
    /// then counts its last answers, and its times are those of the whole chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<Box<StepMeasured>>,
    /// Each path of the requests separately, the worst first, if the load asked for that and has
    /// more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<StepMeasured>,
    /// The slowest requests, if the load asked for them.
    #[serde(default, skip_serializing_if = "Slowest::is_empty")]
    pub slowest: Slowest,
}

impl Measured {
    /// Complete answers per second.
    #[must_use]
    pub fn throughput_per_s(&self) -> Option<f64> {
        self.per_second(self.answered.completed)
    }

    /// Complete and right answers per second.
    #[must_use]
    pub fn goodput_per_s(&self) -> Option<f64> {
        self.per_second(self.answered.good)
    }

    /// The sets that the counters of the register are read from.
    #[must_use]
    pub const fn counter_sets(&self) -> CounterSets {
        let Self { requests, connections, bytes, events, .. } = self;
        CounterSets {
            requests: *requests,
            connections: *connections,
            bytes: *bytes,
            events: *events,
        }
    }

    /// Server-sent events that came per second; `None` where none did.
    #[must_use]
    pub fn events_per_s(&self) -> Option<f64> {
        (self.events.received > 0).then(|| self.per_second(self.events.received))?
    }

    /// All errors: failed requests, wrong answers, connections that could not be opened.
    #[must_use]
    pub fn errors_total(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Errors as a fraction of the attempts; `None` without any.
    #[must_use]
    pub fn error_fraction(&self) -> Option<f64> {
        let tried = self.requests.completed
            + self.requests.failed
            + self
                .errors
                .iter()
                .filter(|(kind, _)| kind.is_before_sending())
                .map(|(_, n)| n)
                .sum::<u64>();
        (tried > 0).then(|| self.errors_total() as f64 / tried as f64)
    }

    /// The steps of each scenario: of all that are mixed, or of the only one.
    pub fn walks(&self) -> impl Iterator<Item = &[StepMeasured]> {
        self.steps.chunk_by(|one, next| one.scenario == next.scenario)
    }

    /// Adds another repetition of the same load. Counters and time spans add up; for connections,
    /// the maximum counts.
    pub fn add_repetition(&mut self, other: &Self) {
        self.duration_ns += other.duration_ns;
        self.add_counts(other);
        let (own, others) = (&mut self.connections, &other.connections);
        own.asked = own.asked.max(others.asked);
        own.peak = own.peak.max(others.peak);
    }

    /// Adds the measurement of a peer at the same time: another slice of the same load. Everything
    /// except the time adds up. The sum of the peaks is an upper bound of the common peak.
    pub fn merge(&mut self, peer: &Self) {
        self.duration_ns = self.duration_ns.max(peer.duration_ns);
        self.add_counts(peer);
        self.connections.asked += peer.connections.asked;
        self.connections.peak += peer.connections.peak;
    }

    fn add_counts(&mut self, other: &Self) {
        self.requests.merge(&other.requests);
        self.answered.merge(&other.answered);
        if let Some(successes) = &other.successes {
            self.successes.get_or_insert_default().merge(successes);
        }
        self.status.merge(&other.status);
        for (kind, count) in &other.errors {
            *self.errors.entry(*kind).or_default() += count;
        }
        for (kind, first) in &other.firsts {
            self.firsts.entry(*kind).or_insert_with(|| first.clone());
        }
        if self.redirected_to.is_none() {
            self.redirected_to.clone_from(&other.redirected_to);
        }
        self.connections.merge_closes(&other.connections);
        self.closes.merge(&other.closes);
        self.by_connection.merge(&other.by_connection);
        self.bytes.merge(&other.bytes);
        self.events.merge(&other.events);
        self.stamps.merge(&other.stamps);
        self.spans.merge(&other.spans);
        StepMeasured::merge_all(&mut self.steps, &other.steps);
        if let Some(followed) = &other.followed {
            self.followed.get_or_insert_default().join(followed);
        }
        StepMeasured::merge_by_name(&mut self.by_request, &other.by_request);
        self.slowest.merge(&other.slowest);
    }

    fn per_second(&self, count: u64) -> Option<f64> {
        (self.duration_ns > 0).then(|| count as f64 * 1e9 / self.duration_ns as f64)
    }
}

/// The measurement of one step of a scenario, or of one path of other loads. Requests that were under way at the end of the
/// stretch are not counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepMeasured {
    /// Its name.
    pub name: String,
    /// The scenario whose step it is, where several are mixed; `None` elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Answered in full, whatever the status.
    pub completed: u64,
    /// Completed, and everything that was checked or captured was right.
    pub good: u64,
    /// Sent without a complete answer.
    pub failed: u64,
    /// Errors by kind; kinds that did not occur are absent.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// From the first byte sent to the arrival of the answer.
    pub service_time: Histogram,
    /// From the instant at which the request was due to the arrival of the answer.
    pub response_time: Histogram,
    /// The first error, for people.
    pub example: Option<String>,
}

impl StepMeasured {
    /// Adds another part or repetition of the same step, and takes its name.
    fn join(&mut self, other: &Self) {
        self.name.clone_from(&other.name);
        self.merge(other);
    }

    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.good += other.good;
        self.failed += other.failed;
        for (kind, count) in &other.errors {
            *self.errors.entry(*kind).or_default() += count;
        }
        self.service_time.merge(&other.service_time);
        self.response_time.merge(&other.response_time);
        if self.example.is_none() {
            self.example.clone_from(&other.example);
        }
    }

    /// Adds the paths of another part or repetition of the same load.
    fn merge_by_name(own: &mut Vec<Self>, others: &[Self]) {
        for other in others {
            match own.iter_mut().find(|known| known.name == other.name) {
                Some(known) => known.merge(other),
                None => own.push(other.clone()),
            }
        }
    }

    /// Adds the steps of another part or repetition of the same load.
    fn merge_all(own: &mut Vec<Self>, others: &[Self]) {
        if own.is_empty() {
            *own = others.to_vec();
            return;
        }
        own.iter_mut().zip(others).for_each(|(own, other)| own.merge(other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(spans: &[u64], asked: u64) -> Measured {
        let mut measured = Measured { duration_ns: 1_000, ..Measured::default() };
        measured.connections.asked = asked;
        measured.connections.peak = asked;
        for ns in spans {
            measured.requests.scheduled += 1;
            measured.requests.completed += 1;
            measured.spans.service_time.record(*ns);
        }
        measured.errors.insert(ErrorKind::Timeout, 1);
        measured
    }

    #[test]
    fn peers_add_up_and_repetitions_follow_each_other() {
        let (one, other) = (measured(&[1_000, 2_000], 3), measured(&[9_000], 4));
        let (mut peers, mut repetitions) = (one.clone(), one);
        peers.merge(&other);
        repetitions.add_repetition(&other);
        for both in [&peers, &repetitions] {
            assert_eq!((both.requests.completed, both.spans.service_time.count()), (3, 3));
            assert_eq!(both.errors[&ErrorKind::Timeout], 2);
        }
        assert_eq!((peers.duration_ns, repetitions.duration_ns), (1_000, 2_000));
        assert_eq!((peers.connections.asked, repetitions.connections.asked), (7, 4));
        assert_eq!((peers.connections.peak, repetitions.connections.peak), (7, 4));
    }
}
