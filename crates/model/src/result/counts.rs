//! Counters of one measured stretch: requests, answers, connections, bytes, stamps. A new counter is
//! one entry here and the place in the engine that counts it.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::figure::Better;

/// A counter of a measured stretch, as the register of figures has it.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    /// The name in CSV, Prometheus and gates: `connections_opened`.
    pub name: &'static str,
    /// What it counts, in one or two sentences.
    pub help: &'static str,
    /// Whether more or less of it is better; `None` if neither is.
    pub better: Option<Better>,
    /// Reads it.
    pub read: fn(&CounterSets) -> u64,
}

/// The sets that the counters of the register are read from.
#[derive(Debug, Clone, Copy, Default)]
pub struct CounterSets {
    /// Requests by fate.
    pub requests: RequestCounts,
    /// Connections.
    pub connections: ConnectionCounts,
    /// Bytes.
    pub bytes: ByteCounts,
    /// Server-sent events.
    pub events: EventCounts,
}

impl PartialEq for Counter {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A set of counters that add up, all of which are in the register of figures. `of` names the field
/// of [`CounterSets`] that holds the set; behind `as` is a counter's name in the register, and then
/// whether more or less of it is better.
macro_rules! counters {
    (
        $(#[$about:meta])* $set:ident of $of:ident {
            $(
                $(#[doc = $help:literal])+
                $(#[serde($($serde:tt)*)])?
                $field:ident as $name:literal $($better:ident)?;
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $set {
            $($(#[doc = $help])+ $(#[serde($($serde)*)])? pub $field: u64,)+
        }

        impl $set {
            /// The counters that the register of figures has.
            pub const COUNTERS: &'static [Counter] = &[$(Counter {
                name: $name,
                help: concat!($($help),+).trim_ascii(),
                better: counters!(@ $($better)?),
                read: |sets| sets.$of.$field,
            },)+];

            /// Adds all counts of another set.
            pub fn merge(&mut self, other: &Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
    (@) => { None };
    (@ $better:ident) => { Some(Better::$better) };
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

counters! {
    /// Requests by fate. These always hold: `scheduled = sent + unsent`, `sent = completed + failed
    /// + censored`, and `good <= completed`.
    RequestCounts of requests {
        /// Requests that were due within the measured part.
        scheduled as "scheduled";
        /// Requests that were handed to the kernel.
        sent as "sent";
        /// Requests that were due but never sent: no connection was free, or none could be opened.
        unsent as "unsent" Less;
        /// Requests that were answered in full, whatever the status.
        completed as "completed" More;
        /// Requests that were answered in full, with the right status and body.
        good as "good" More;
        /// Requests that were sent and got no complete answer: closed, reset, malformed, timed out,
        /// too large.
        failed as "failed" Less;
        /// Requests that were still under way when the measured part ended.
        censored as "censored";
        /// How often a request was sent again because the server had not processed it; it counts as
        /// sent once.
        sent_again as "sent_again";
    }
}

impl RequestCounts {
    /// Whether every request is accounted for.
    #[must_use]
    pub fn are_conserved(&self) -> bool {
        self.scheduled == self.sent + self.unsent
            && self.sent == self.completed + self.failed + self.censored
            && self.good <= self.completed
    }
}

/// Complete answers by status code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCounts {
    /// Interim answers (100 Continue and the like). They do not count as answers.
    pub interim: u64,
    /// Complete answers by their exact status code; codes that did not occur are absent.
    #[serde(default, with = "codes_as_text")]
    pub codes: BTreeMap<u16, u64>,
}

/// Keys of JSON are texts, and serde does not turn them into numbers where structures are flattened.
mod codes_as_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use std::collections::BTreeMap;

    pub fn serialize<S: Serializer>(
        codes: &BTreeMap<u16, u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts = codes.iter().map(|(code, count)| (code.to_string(), *count));
        texts.collect::<BTreeMap<String, u64>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<u16, u64>, D::Error> {
        let texts = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let code = |(text, count): (String, u64)| {
            let code = text
                .parse()
                .map_err(|_| de::Error::custom(format!("`{text}` is no status code")))?;
            Ok((code, count))
        };
        texts.into_iter().map(code).collect()
    }
}

impl StatusCounts {
    /// Adds answers with this code.
    pub fn add(&mut self, code: u16, count: u64) {
        *self.codes.entry(code).or_default() += count;
    }

    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.interim += other.interim;
        for (code, count) in &other.codes {
            self.add(*code, *count);
        }
    }

    /// The answers with a code from the first to the last one.
    #[must_use]
    pub fn within(&self, first: u16, last: u16) -> u64 {
        self.codes.range(first..=last).map(|(_, count)| count).sum()
    }

    /// The answers of a class: 4 for 400 to 499.
    #[must_use]
    pub fn class(&self, class: u16) -> u64 {
        self.within(class * 100, class * 100 + 99)
    }
}

/// Connections of one measured stretch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionCounts {
    /// How many the load asked for.
    pub asked: u64,
    /// The highest number open at one time.
    pub peak: u64,
    /// How many were opened, including the first ones. So the server cannot have closed more.
    pub opened: u64,
    /// How many of these were opened before the stretch began: while the load was set up, or in its
    /// warm-up. They belong to no request of the stretch.
    pub opened_before: u64,
    /// How many replaced a connection that the server closed, that failed or that was used up.
    pub reconnects: u64,
    /// How many the server closed after a complete answer. This is not an error.
    pub closed_by_server: u64,
    /// For how many the kernel reported the round trip of the handshake, which is then the span
    /// `connect`. For the others it is the time from `connect()` until the socket was writable.
    pub timed_by_kernel: u64,
    /// The number of repeated SYNs.
    pub repeated_syns: u64,
}

impl ConnectionCounts {
    /// The counters that the register of figures has.
    pub const COUNTERS: &'static [Counter] = &[
        Counter {
            name: "connections_opened",
            help: "Connections that were opened, including the first ones.",
            better: None,
            read: |sets| sets.connections.opened,
        },
        Counter {
            name: "reconnects",
            help: "Connections that replaced one that the server closed, that failed or that was used up.",
            better: None,
            read: |sets| sets.connections.reconnects,
        },
        Counter {
            name: "closed_by_server",
            help: "Connections that the server closed after a complete answer. This is not an error.",
            better: None,
            read: |sets| sets.connections.closed_by_server,
        },
        Counter {
            name: "repeated_syns",
            help: "SYN segments that were sent again, because the server's kernel did not answer.",
            better: Some(Better::Less),
            read: |sets| sets.connections.repeated_syns,
        },
    ];

    /// Adds the opened and closed connections of another set. `asked` and `peak` stay, because
    /// their sum depends on whether the two ran at the same time.
    pub fn merge_closes(&mut self, other: &Self) {
        self.opened += other.opened;
        self.opened_before += other.opened_before;
        self.reconnects += other.reconnects;
        self.closed_by_server += other.closed_by_server;
        self.timed_by_kernel += other.timed_by_kernel;
        self.repeated_syns += other.repeated_syns;
    }
}

counters! {
    /// Bytes of one measured stretch, as the sockets counted them.
    ByteCounts of bytes {
        /// Bytes received: heads, bodies and framing.
        #[serde(rename = "in")]
        received as "bytes_in";
        /// Bytes sent.
        #[serde(rename = "out")]
        sent as "bytes_out";
        /// Bytes of bodies alone, without heads and chunk framing.
        body as "bytes_of_bodies";
    }
}

counters! {
    /// Server-sent events of one measured stretch. An event counts in the stretch in which it came, whenever
    /// its stream was asked for; one that is missing counts where that was found out.
    EventCounts of events {
        /// Server-sent events that came, right or wrong.
        received as "events" More;
        /// Server-sent events that did not come: numbers that were left out, and those that a stream lacked
        /// when it ended. Streams that the end of the load cuts off lack none.
        lost as "events_lost" Less;
        /// Server-sent events that came before they were due.
        early as "events_early" Less;
        /// Server-sent events that came longer after the one before than the workload allows.
        late as "events_late" Less;
        /// Server-sent events that came less than a quarter of the time between two after the one before.
        together as "events_together" Less;
        /// Server-sent events whose instant was too old, or lay in the future, when they came.
        stale as "events_stale" Less;
    }
}

impl EventCounts {
    /// Whether nothing was counted, as in loads without streams of events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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
    pub shared: u64,
    /// Answers with a stamp behind which the server closed the connection. The kernel joins the end
    /// of a connection to data that nobody has read yet, and keeps the later stamp. So these times
    /// are upper bounds.
    pub with_end: u64,
    /// Answers that arrived sooner after the instant at which their request was estimated to leave
    /// than any answer can (2 us). Their times begin with the call that sent it, so they are upper
    /// bounds too.
    pub early: u64,
    /// Those of them that arrived sooner than any answer can after that call began: they cannot be
    /// answers to what was sent, or a stamp is wrong.
    pub impossible: u64,
    /// Requests of which the kernel was asked when they left (`SOF_TIMESTAMPING_TX_SOFTWARE`).
    pub sampled: u64,
    /// Those of them that left more than 5 us from the estimate that their times begin with.
    pub sampled_off: u64,
    /// Those of them that seem to have left before the call that sent them began.
    pub sampled_outside: u64,
}

impl StampCounts {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        self.kernel += other.kernel;
        self.user_space += other.user_space;
        self.shared += other.shared;
        self.with_end += other.with_end;
        self.early += other.early;
        self.impossible += other.impossible;
        self.sampled += other.sampled;
        self.sampled_off += other.sampled_off;
        self.sampled_outside += other.sampled_outside;
    }

    /// `"kernel"`, `"user space"` or `"kernel and user space"`; `None` if nothing was
    /// answered.
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
