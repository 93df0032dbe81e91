//! Counters of one measured stretch: requests, answers, connections, bytes, stamps.
use serde::{Deserialize, Serialize};

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

/// Answers with a status of 200 to 299 that ended within a stretch. The others have pages of their
/// own: among the requests of a load are some for unknown paths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successes {
    /// How many.
    pub completed: u64,
    /// The bytes of their bodies.
    pub body_bytes: u64,
}

impl Successes {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.body_bytes += other.body_bytes;
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
