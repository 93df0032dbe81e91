//! The measurement of the engine: counters, histograms of time spans, windows.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::bins::ResponseBins;
use crate::histogram::{EncodedHistogram, Histogram, HistogramError};
use crate::tls::TlsUse;
use crate::websocket::WebSocketUse;

/// The outcome of one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// The event loop: `"epoll"` or `"io_uring"`.
    pub io: String,
    /// The number of threads.
    pub threads: u32,
    /// CLOCK_REALTIME at the start of the load, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// CLOCK_MONOTONIC when the first connection was opened.
    pub started_ns: u64,
    /// CLOCK_MONOTONIC at the start and the end of the measured part. The probe's samples are cut
    /// at these instants.
    pub measured_from_ns: u64,
    /// See `measured_from_ns`.
    pub measured_to_ns: u64,
    /// How the warm-up ended.
    pub warm_up: WarmUpResult,
    /// The headline: the measured part of the load; for devices, the phase `sustain`.
    pub measured: Measured,
    /// Devices only: all phases, each separately, in order.
    pub phases: Vec<Phase>,
    /// One for each second, including the warm-up (negative offsets from `measured_from_ns`).
    pub windows: Vec<Window>,
    /// The generator's cost of the load.
    pub generator: GeneratorUse,
    /// The TLS parameters; `None` for plain HTTP.
    #[serde(default)]
    pub tls: Option<TlsUse>,
    /// What happened on WebSockets; `None` over other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSocketUse>,
    /// Whether the load was stopped early.
    pub interrupted: bool,
}

/// How the warm-up ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmUpResult {
    /// Its length in nanoseconds; 0 if there was none.
    pub duration_ns: u64,
    /// Whether the throughput had stopped trending; `None` if that was not checked.
    pub steady: Option<bool>,
    /// Requests completed in it; no other figure counts them.
    pub completed: u64,
    /// Errors in it by kind, including wrong answers; no other figure counts them.
    #[serde(default)]
    pub errors: BTreeMap<ErrorKind, u64>,
}

/// A phase of a device load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `"ramp_up"`, `"sustain"` or `"ramp_down"`.
    pub name: String,
    /// Start, as an offset from `started_ns`.
    pub from_ns: u64,
    /// The measurement of this phase. A request belongs to the phase in which it was due.
    pub measured: Measured,
}

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
    /// Complete answers by status class.
    pub status: StatusCounts,
    /// Errors by kind; kinds that did not occur are absent.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Connections.
    pub connections: ConnectionCounts,
    /// Bytes sent and received.
    pub bytes: ByteCounts,
    /// Which clock ended the spans of its answers.
    #[serde(default)]
    pub stamps: StampCounts,
    /// Time spans.
    pub spans: Spans,
    /// Scenarios only: each step separately, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepMeasured>,
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
        self.status.merge(&other.status);
        for (kind, count) in &other.errors {
            *self.errors.entry(*kind).or_default() += count;
        }
        self.connections.merge_closes(&other.connections);
        self.bytes.merge(&other.bytes);
        self.stamps.merge(&other.stamps);
        self.spans.merge(&other.spans);
        StepMeasured::merge_all(&mut self.steps, &other.steps);
    }

    fn per_second(&self, count: u64) -> Option<f64> {
        (self.duration_ns > 0).then(|| count as f64 * 1e9 / self.duration_ns as f64)
    }
}

/// The measurement of one step of a scenario. Requests that were under way at the end of the
/// stretch are not counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepMeasured {
    /// Its name.
    pub name: String,
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
    #[serde(default)]
    pub example: Option<String>,
}

impl StepMeasured {
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

    /// Adds the steps of another part or repetition of the same load.
    fn merge_all(own: &mut Vec<Self>, others: &[Self]) {
        if own.is_empty() {
            *own = others.to_vec();
            return;
        }
        own.iter_mut().zip(others).for_each(|(own, other)| own.merge(other));
    }
}

/// Answers that ended within a stretch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Complete ones, whatever the status.
    pub completed: u64,
    /// Complete ones with the right status and body.
    pub good: u64,
}

impl Answered {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.good += other.good;
    }
}

/// Requests by fate. These always hold: `scheduled = sent + unsent`, `sent = completed + failed +
/// censored`, and `good <= completed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCounts {
    /// Due within the stretch.
    pub scheduled: u64,
    /// Handed to the kernel.
    pub sent: u64,
    /// Due but never sent: no connection was free, or none could be opened.
    pub unsent: u64,
    /// Answered in full, whatever the status.
    pub completed: u64,
    /// Completed with the right status and body.
    pub good: u64,
    /// Sent without a complete answer: closed, reset, malformed, timed out, too large.
    pub failed: u64,
    /// Still under way when the stretch ended.
    pub censored: u64,
    /// How often a request was sent again because the server had not processed it; `sent` counts it
    /// once.
    #[serde(default)]
    pub sent_again: u64,
}

impl RequestCounts {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.sent += other.sent;
        self.unsent += other.unsent;
        self.completed += other.completed;
        self.good += other.good;
        self.failed += other.failed;
        self.censored += other.censored;
        self.sent_again += other.sent_again;
    }

    /// Whether every request is accounted for.
    #[must_use]
    pub fn are_conserved(&self) -> bool {
        self.scheduled == self.sent + self.unsent
            && self.sent == self.completed + self.failed + self.censored
            && self.good <= self.completed
    }
}

/// Complete answers by status class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StatusCounts {
    /// Interim answers (100 Continue and the like). They do not count as answers.
    pub interim: u64,
    pub s2xx: u64,
    pub s3xx: u64,
    pub s4xx: u64,
    pub s5xx: u64,
    /// Outside 200 to 599.
    pub other: u64,
}

impl StatusCounts {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.interim += other.interim;
        self.s2xx += other.s2xx;
        self.s3xx += other.s3xx;
        self.s4xx += other.s4xx;
        self.s5xx += other.s5xx;
        self.other += other.other;
    }
}

/// What went wrong with a request or a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The server does not listen (ECONNREFUSED).
    ConnectRefused,
    /// The connection was reset while it was opened, or before any byte of a request had reached
    /// the server.
    ConnectReset,
    /// The connection was not opened in time.
    ConnectTimeout,
    /// The connection could not be opened for a local reason: ports, descriptors, memory.
    ConnectLocal,
    /// The TLS handshake failed, or did not end in time; [`TlsUse::failures`] says why.
    Tls,
    /// The opening handshake of a WebSocket failed, or did not end in time;
    /// [`WebSocketUse::failures`] says why.
    Upgrade,
    /// Closed or reset after the request was sent, before the head of its answer was complete.
    CloseBeforeAnswer,
    /// Closed or reset inside the body.
    CloseInBody,
    /// Not HTTP, or HTTP that must be rejected.
    Malformed,
    /// A complete answer with a status that the check does not accept.
    WrongStatus,
    /// A complete answer with a body that the check does not accept.
    WrongBody,
    /// A complete and right answer that came before the wait of the workload could be over.
    TooEarly,
    /// No complete answer in time.
    Timeout,
    /// Head or body beyond the limit.
    TooLarge,
    /// HTTP/2: the server ended the stream without a whole answer (RST_STREAM).
    StreamReset,
    /// HTTP/2: the server allowed no stream for as long as an answer may take
    /// (SETTINGS_MAX_CONCURRENT_STREAMS 0), so due requests could not be sent.
    NoStream,
    /// Scenarios: a complete answer without a header that the step requires.
    WrongHeader,
    /// Scenarios: a complete and right answer without a value that later steps need.
    NothingCaptured,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 18] = [
        Self::ConnectRefused,
        Self::ConnectReset,
        Self::ConnectTimeout,
        Self::ConnectLocal,
        Self::Tls,
        Self::Upgrade,
        Self::CloseBeforeAnswer,
        Self::CloseInBody,
        Self::Malformed,
        Self::WrongStatus,
        Self::WrongBody,
        Self::TooEarly,
        Self::Timeout,
        Self::TooLarge,
        Self::StreamReset,
        Self::NoStream,
        Self::WrongHeader,
        Self::NothingCaptured,
    ];

    /// Whether it happens before a request is sent, so that the request stays unsent.
    #[must_use]
    pub const fn is_before_sending(self) -> bool {
        matches!(
            self,
            Self::ConnectRefused
                | Self::ConnectReset
                | Self::ConnectTimeout
                | Self::ConnectLocal
                | Self::Tls
                | Self::Upgrade
                | Self::NoStream
        )
    }

    /// The name in JSON and tables: `connect_refused`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConnectRefused => "connect_refused",
            Self::ConnectReset => "connect_reset",
            Self::ConnectTimeout => "connect_timeout",
            Self::ConnectLocal => "connect_local",
            Self::Tls => "tls",
            Self::Upgrade => "upgrade",
            Self::CloseBeforeAnswer => "close_before_answer",
            Self::CloseInBody => "close_in_body",
            Self::Malformed => "malformed",
            Self::WrongStatus => "wrong_status",
            Self::WrongBody => "wrong_body",
            Self::TooEarly => "too_early",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::StreamReset => "stream_reset",
            Self::NoStream => "no_stream",
            Self::WrongHeader => "wrong_header",
            Self::NothingCaptured => "nothing_captured",
        }
    }
}

/// Connections of one measured stretch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionCounts {
    /// How many the load asked for.
    pub asked: u64,
    /// The highest number open at one time.
    pub peak: u64,
    /// How many were opened, including the first ones.
    pub opened: u64,
    /// How many replaced a connection that the server closed, that failed or that was used up.
    pub reconnects: u64,
    /// How many the server closed after a complete answer. This is not an error.
    pub closed_by_server: u64,
    /// The lowest and highest number of requests that a connection had served when the server
    /// closed it after a complete answer. They are equal if the server has a keep-alive limit.
    /// `None` if it closed none.
    pub requests_before_close: Option<(u64, u64)>,
    /// The shortest and longest time, in nanoseconds, for which such a connection had been without
    /// a request when the server closed it. They are long and alike if the server has an idle
    /// timeout.
    #[serde(default)]
    pub idle_before_close_ns: Option<(u64, u64)>,
    /// For how many the kernel reported the round trip of the handshake, which is then the span
    /// `connect`. For the others it is the time from `connect()` until the socket was writable.
    #[serde(default)]
    pub timed_by_kernel: u64,
    /// The number of repeated SYNs.
    #[serde(default)]
    pub repeated_syns: u64,
}

impl ConnectionCounts {
    /// Adds the opened and closed connections of another set. `asked` and `peak` stay, because
    /// their sum depends on whether the two ran at the same time.
    pub fn merge_closes(&mut self, other: &Self) {
        self.opened += other.opened;
        self.reconnects += other.reconnects;
        self.closed_by_server += other.closed_by_server;
        self.timed_by_kernel += other.timed_by_kernel;
        self.repeated_syns += other.repeated_syns;
        let both = |one: Option<(u64, u64)>, other| match (one, other) {
            (Some((least, most)), Some((l, m))) => Some((least.min(l), most.max(m))),
            (one, other) => one.or(other),
        };
        self.requests_before_close = both(self.requests_before_close, other.requests_before_close);
        self.idle_before_close_ns = both(self.idle_before_close_ns, other.idle_before_close_ns);
    }
}

/// Bytes of one measured stretch, as the sockets counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteCounts {
    /// Received: heads, bodies and framing.
    #[serde(rename = "in")]
    pub received: u64,
    /// Sent.
    #[serde(rename = "out")]
    pub sent: u64,
    /// Bodies alone, without heads and chunk framing.
    pub body: u64,
}

impl ByteCounts {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.received += other.received;
        self.sent += other.sent;
        self.body += other.body;
    }
}

/// Which clock timed the arrivals of answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampCounts {
    /// Answers whose arrival the kernel stamped.
    pub kernel: u64,
    /// Answers without a stamp. Their arrival is the instant at which the generator read them, and
    /// their pick-up lag is 0.
    pub user_space: u64,
    /// Answers with a stamp that were read together with a later answer on the same connection, and
    /// got its stamp: their times may be too long.
    #[serde(default)]
    pub shared: u64,
}

impl StampCounts {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.kernel += other.kernel;
        self.user_space += other.user_space;
        self.shared += other.shared;
    }

    /// `"kernel"`, `"user space"` or `"kernel and user space"`; `None` if nothing was answered, or
    /// the record is older than the stamps.
    #[must_use]
    pub const fn name(&self) -> Option<&'static str> {
        match (self.kernel, self.user_space) {
            (0, 0) => None,
            (_, 0) => Some("kernel"),
            (0, _) => Some("user space"),
            _ => Some("kernel and user space"),
        }
    }
}

/// The time spans of requests and connections (docs/methodology.md). An answer has arrived when the
/// kernel has received its last segment; see [`StampCounts`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spans {
    /// From SYN to SYN-ACK, as the kernel measured it. Otherwise from the call of `connect()` until
    /// the socket was writable. See [`ConnectionCounts::timed_by_kernel`].
    pub connect: Histogram,
    /// The TLS handshake.
    pub tls: Histogram,
    /// WebSocket: from the first byte of the opening handshake to the arrival of the server's
    /// answer.
    #[serde(default, skip_serializing_if = "Histogram::is_empty")]
    pub upgrade: Histogram,
    /// From handing the first byte of the request to the kernel to the arrival of the end of the
    /// head.
    pub headers: Histogram,
    /// From there to the arrival of the end of the body; 0 if both arrived together.
    pub body: Histogram,
    /// `done_at - sent_at`. A request that times out is recorded at its timeout.
    pub service_time: Histogram,
    /// `done_at - intended_at`. For users who wait for their answers (closed loops, devices),
    /// without the own lag.
    pub response_time: Histogram,
    /// `sent_at - intended_at`: the generator's own lateness plus the wait for a free connection.
    pub send_lag: Histogram,
    /// The part of the send lag that only the generator causes. It begins when the request is due
    /// *and* a connection is free, and ends when the request is sent. A connection is free as soon
    /// as its last answer has arrived, even if it was not read yet.
    pub own_lag: Histogram,
    /// From the arrival of an answer to the instant at which the generator read it.
    #[serde(default)]
    pub pick_up_lag: Histogram,
}

impl Spans {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        let Self {
            connect,
            tls,
            upgrade,
            headers,
            body,
            service_time,
            response_time,
            send_lag,
            own_lag,
            pick_up_lag,
        } = other;
        self.connect.merge(connect);
        self.tls.merge(tls);
        self.upgrade.merge(upgrade);
        self.headers.merge(headers);
        self.body.merge(body);
        self.service_time.merge(service_time);
        self.response_time.merge(response_time);
        self.send_lag.merge(send_lag);
        self.own_lag.merge(own_lag);
        self.pick_up_lag.merge(pick_up_lag);
    }
}

/// One second of a load (the last one may be shorter).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Start, as an offset from the start of the measured part; negative in the warm-up.
    pub from_ns: i64,
    /// Length in nanoseconds.
    pub duration_ns: u64,
    /// Requests sent in it.
    pub sent: u64,
    /// Complete answers in it.
    pub completed: u64,
    /// Complete and right answers in it.
    pub good: u64,
    /// Errors in it.
    pub errors: u64,
    /// Connections open at its end.
    pub live_connections: u64,
    /// Received bytes.
    pub bytes_in: u64,
    /// Sent bytes.
    pub bytes_out: u64,
    /// Response times of the requests that ended in it.
    pub response_p50_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_p90_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_p99_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_max_ns: Option<u64>,
    /// Mean response time.
    pub response_mean_ns: Option<f64>,
    /// The distribution of these response times; empty in records of older versions.
    #[serde(default, skip_serializing_if = "ResponseBins::is_empty")]
    pub response_bins: ResponseBins,
    /// Send lag of the requests that were sent in it.
    pub send_lag_p99_ns: Option<u64>,
    /// The histograms behind these figures, if the caller asked for them. With them, windows of
    /// peers can be merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histograms: Option<WindowHistograms>,
}

/// The histograms of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowHistograms {
    /// Response times of the requests that ended in it.
    pub response: EncodedHistogram,
    /// Send lag of the requests that were sent in it.
    pub send_lag: EncodedHistogram,
}

impl Window {
    /// Sets the figures that come from histograms.
    pub fn read(&mut self, response: &Histogram, send_lag: &Histogram) {
        self.response_p50_ns = response.quantile_ns(0.5);
        self.response_p90_ns = response.quantile_ns(0.9);
        self.response_p99_ns = response.quantile_ns(0.99);
        self.response_max_ns = response.max_ns();
        self.response_mean_ns = response.mean_ns();
        self.response_bins = ResponseBins::of(response);
        self.send_lag_p99_ns = send_lag.quantile_ns(0.99);
    }

    /// Adds the same window of a peer. Counters add up. Time figures are those of both together;
    /// they become `None` if one of the two has no histograms.
    ///
    /// # Errors
    /// If a histogram cannot be read.
    pub fn merge(&mut self, peer: &Self) -> Result<(), HistogramError> {
        self.duration_ns = self.duration_ns.max(peer.duration_ns);
        self.sent += peer.sent;
        self.completed += peer.completed;
        self.good += peer.good;
        self.errors += peer.errors;
        self.live_connections += peer.live_connections;
        self.bytes_in += peer.bytes_in;
        self.bytes_out += peer.bytes_out;
        let (mut response, mut send_lag) = (Histogram::new(), Histogram::new());
        let both = self.histograms.take().zip(peer.histograms.as_ref());
        if let Some((own, others)) = &both {
            for histograms in [own, others] {
                response.merge(&histograms.response.decode()?);
                send_lag.merge(&histograms.send_lag.decode()?);
            }
        }
        self.histograms = both
            .is_some()
            .then(|| WindowHistograms { response: response.encode(), send_lag: send_lag.encode() });
        self.read(&response, &send_lag);
        Ok(())
    }
}

/// The generator's cost of the load, over the measured part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorUse {
    /// CPU time of the worker threads, user and system (CLOCK_THREAD_CPUTIME_ID), nanoseconds.
    pub cpu_ns: u64,
    /// The same for each thread.
    pub cpu_ns_by_thread: Vec<u64>,
    /// CPU time spent polling for a deadline in the open loop. It is part of `cpu_ns`, but it is
    /// waiting and not work.
    pub spin_ns: u64,
    /// Peak resident memory of the whole process in bytes (getrusage(2), ru_maxrss).
    pub max_rss_bytes: Option<u64>,
    /// The number of system calls of the event loops.
    pub syscalls: Option<u64>,
    /// How often the time of day was set during the load. For answers that were unread at that
    /// moment, the arrival is not known ([`StampCounts::user_space`]).
    #[serde(default)]
    pub clock_steps: u64,
}

impl GeneratorUse {
    /// The busiest thread's share of one core over `duration_ns`, without its polling; `None`
    /// without threads.
    #[must_use]
    pub fn busiest_share(&self, duration_ns: u64) -> Option<f64> {
        let busiest = *self.cpu_ns_by_thread.iter().max()?;
        let spin = self.spin_ns / self.cpu_ns_by_thread.len() as u64;
        (duration_ns > 0).then(|| busiest.saturating_sub(spin) as f64 / duration_ns as f64)
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

    fn window(spans: &[u64], with_histograms: bool) -> Window {
        let mut response = Histogram::new();
        spans.iter().for_each(|ns| response.record(*ns));
        let completed = spans.len() as u64;
        let mut window = Window { duration_ns: 5, completed, ..Window::default() };
        window.read(&response, &Histogram::new());
        window.histograms = with_histograms
            .then(|| WindowHistograms { response: response.encode(), ..Default::default() });
        window
    }

    #[test]
    fn merged_windows_are_the_window_of_all_requests() {
        let (fast, slow) = (vec![1_000; 60], vec![1_000_000; 40]);
        let mut merged = window(&fast, true);
        merged.merge(&window(&slow, true)).unwrap();
        let all = window(&[fast, slow].concat(), true);
        assert_eq!(
            (merged.response_p50_ns, merged.response_p90_ns, merged.response_p99_ns),
            (all.response_p50_ns, all.response_p90_ns, all.response_p99_ns)
        );
        assert_eq!((merged.completed, merged.duration_ns), (100, 5));
        assert_eq!(
            merged.histograms.as_ref().map(|all| all.response.decode()),
            all.histograms.as_ref().map(|all| all.response.decode())
        );
    }

    #[test]
    fn quantiles_cannot_be_merged_without_histograms() {
        let mut merged = window(&[1_000], true);
        merged.merge(&window(&[2_000], false)).unwrap();
        assert_eq!((merged.completed, merged.response_p50_ns, merged.histograms), (2, None, None));
    }
}
