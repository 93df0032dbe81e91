//! The messages between coordinator and agents: JSON in an envelope that every version can read.
use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::load::LoadSpec;
use pippin_model::result::{LoadResult, Window};
use pippin_model::target::TargetId;
use pippin_model::verdict::Caveat;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::pieces::Piece;
use crate::probe::RunOrder;

/// The version of the messages. It rises with every change of their content.
pub const SCHEMA: u32 = 6;
/// This program's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A sender: a name, and a number that is random at each start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Tells two peers of the same name apart.
    pub instance: u64,
}

/// The secret of a coordinator for one of its members. Its orders to the member carry it, and so
/// must the member's reports: others cannot read these orders, so they cannot report for it.
pub type Key = u64;

/// The key of messages that all may read: calls, and answers to them.
pub const NO_KEY: Key = 0;

/// The frame of every message. Its form never changes, so that peers of other versions can be
/// named.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope<B> {
    schema: u32,
    version: String,
    from: Peer,
    #[serde(default)]
    key: Key,
    body: B,
}

/// A message after reading.
#[derive(Debug)]
pub enum Opened<B> {
    /// A message of this version.
    Same(Peer, Key, B),
    /// A message of another version.
    Other {
        /// Who sent it.
        from: Peer,
        /// Its version of the program.
        version: String,
        /// Its version of the messages.
        schema: u32,
    },
}

/// The bytes of a message.
#[must_use]
pub fn seal<B: Serialize>(from: &Peer, key: Key, body: &B) -> Vec<u8> {
    let (version, from) = (VERSION.into(), from.clone());
    let envelope = Envelope { schema: SCHEMA, version, from, key, body };
    // This only fails for maps whose keys are not text and for writers that fail. There are none.
    serde_json::to_vec(&envelope).unwrap_or_default()
}

/// Reads a message; `None` if the bytes are not one.
#[must_use]
pub fn open<B: DeserializeOwned>(bytes: &[u8]) -> Option<Opened<B>> {
    let Envelope { schema, version, from, .. } =
        serde_json::from_slice::<Envelope<IgnoredAny>>(bytes).ok()?;
    if (schema, version.as_str()) != (SCHEMA, VERSION) {
        return Some(Opened::Other { from, version, schema });
    }
    let Envelope { key, body, .. } = serde_json::from_slice::<Envelope<B>>(bytes).ok()?;
    Some(Opened::Same(from, key, body))
}

/// From a coordinator to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// To all agents: who is available?
    Call,
    /// To all agents, while a load is applied: its coordinator loads these places. Agents that load
    /// one of them for another coordinator report that.
    Loads {
        /// Hosts or addresses with their ports, as they were given.
        places: Vec<String>,
    },
    /// The coordinator is alive. The agent echoes it; the first beat claims the agent.
    Beat {
        /// When it was sent, in nanoseconds of the coordinator's clock.
        sent_ns: u64,
        /// How long the agent may hear nothing before it ends its work, nanoseconds.
        patience_ns: u64,
    },
    /// Open the connections of a slice and wait.
    Prepare(Box<Prepare>),
    /// Start the schedule.
    Start {
        /// The trial.
        trial: u64,
        /// The instant, in nanoseconds of the agent's clock.
        at_ns: u64,
    },
    /// End the load or the run now, and report.
    Stop {
        /// The trial or run.
        trial: u64,
    },
    /// A piece has arrived.
    Got {
        /// The trial or run.
        trial: u64,
        /// Its `text_nth`.
        text_nth: u32,
        /// Its `nth`.
        nth: u32,
    },
    /// To a probe: make a run.
    Measure(Box<RunOrder>),
    /// To a probe: make no more trials of this target.
    Skip {
        /// The run.
        trial: u64,
        /// The target.
        target: TargetId,
    },
    /// The agent is free again.
    Release,
}

/// A slice of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prepare {
    /// The trial's number.
    pub trial: u64,
    /// The load, with the agent's part of it. Threads, processors and source addresses are the
    /// agent's own.
    pub load: LoadSpec,
    /// The host and port that the agent looks up itself; `None` if the load has its addresses.
    pub host: Option<(String, u16)>,
    /// The number of threads on each agent, if the user asked for one.
    pub threads: Option<u32>,
    /// Whether the agent observes its host. The coordinator does so for agents on its own machine.
    pub watches_host: bool,
    /// How many pieces of the result may be in transit at once.
    pub pieces_at_once: u32,
    /// What the agent needs to judge answers in the place of the coordinator's referee
    /// ([`pippin_lab::verify::live::deputy`]), if the load has one.
    pub briefing: Option<String>,
}

/// From an agent to a coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum Report {
    /// Answers a call.
    Hello(Box<Hello>),
    /// Answers an order of a coordinator that has not claimed this agent.
    Busy {
        /// The coordinator that has claimed it.
        with: String,
    },
    /// Another coordinator has the same target loaded at the same time.
    Beside {
        /// The trial.
        trial: u64,
        /// The other coordinator.
        with: String,
        /// The place that both load.
        place: String,
    },
    /// Answers a beat.
    Echo {
        /// `sent_ns` of the beat.
        sent_ns: u64,
        /// When the beat arrived, in nanoseconds of the agent's clock.
        received_ns: u64,
        /// When this was sent, on the same clock.
        answered_ns: u64,
        /// Time of day at that instant, nanoseconds since 1970.
        unix_ns: u64,
    },
    /// The order to prepare has arrived.
    Taken {
        /// The trial.
        trial: u64,
    },
    /// The connections are open.
    Ready {
        /// The trial.
        trial: u64,
    },
    /// A second of load.
    Second {
        /// The trial.
        trial: u64,
        /// The second, with its histograms.
        window: Box<Window>,
    },
    /// A piece of the [`SliceResult`] as JSON; from a probe, a piece of an
    /// [`Entry`](crate::probe::Entry).
    Piece {
        /// The trial or run.
        trial: u64,
        /// The piece.
        piece: Piece,
    },
    /// The agent's operator ends it.
    Leaving,
}

/// An agent's description of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Its operator's tags.
    pub tags: Vec<String>,
    /// Its host.
    pub host: Fingerprint,
    /// An id of the running kernel (`/proc/sys/kernel/random/boot_id`). Two with the same id share
    /// a machine and its clock.
    pub boot: Option<String>,
    /// The number of processors of its generator.
    pub processors: u32,
    /// Its highest throughput by calibration, in requests per second; `None` if it is not
    /// calibrated.
    pub ceiling_per_s: Option<f64>,
    /// The coordinator that has claimed it, if any.
    pub claimed_by: Option<String>,
    /// Whether it is a probe, which makes runs and applies no loads itself.
    pub is_probe: bool,
}

/// The outcome of a slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceResult {
    /// The measurement, with instants on the agent's clock.
    pub load: Option<LoadResult>,
    /// When the schedule started, on the same clock.
    pub start_ns: Option<u64>,
    /// Why the load was not completed.
    pub failure: Option<String>,
    /// Doubts about the agent's host and generator.
    pub caveats: Vec<Caveat>,
    /// What the agent's deputy of the referee has found, if it had one.
    pub found: Option<String>,
}

impl Prepare {
    /// The places that the slice loads: its host, or its addresses.
    #[must_use]
    pub fn places(&self) -> Vec<String> {
        places(self.host.as_ref(), &self.load)
    }
}

/// The places that a load goes to: the host that agents look up, or its addresses. Not more than 64.
#[must_use]
pub fn places(host: Option<&(String, u16)>, load: &LoadSpec) -> Vec<String> {
    let host = host.map(|(host, port)| format!("{}:{port}", host.to_ascii_lowercase()));
    let addresses = load.addresses.iter().map(ToString::to_string);
    host.into_iter().chain(addresses).take(64).collect()
}

impl SliceResult {
    /// No load was applied, because of this.
    #[must_use]
    pub const fn failed(why: String) -> Self {
        Self { load: None, start_ns: None, failure: Some(why), caveats: Vec::new(), found: None }
    }
}

/// Subjects. An agent NAME publishes to `pippin.report.*.NAME` and subscribes to `pippin.call` and
/// `pippin.order.NAME`, and the server can hold it to that. A coordinator does the reverse.
pub mod subject {
    /// The subject on which coordinators call all agents.
    pub const CALL: &str = "pippin.call";

    /// The subject of an agent's orders.
    #[must_use]
    pub fn order(agent: &str) -> String {
        format!("pippin.order.{agent}")
    }

    /// The subject of an agent's reports to a coordinator.
    #[must_use]
    pub fn report(coordinator: &super::Peer, agent: &str) -> String {
        format!("pippin.report.{:016x}.{agent}", coordinator.instance)
    }

    /// The subjects of all reports to a coordinator.
    #[must_use]
    pub fn reports(coordinator: &super::Peer) -> String {
        report(coordinator, "*")
    }

    /// Whether this subject belongs to the member of this name. Others may not publish to it.
    #[must_use]
    pub fn is_of(subject: &str, member: &str) -> bool {
        subject.rsplit('.').next() == Some(member)
    }
}

/// Whether a name can be part of a subject.
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer() -> Peer {
        Peer { name: "a-1".into(), instance: 7 }
    }

    #[test]
    fn a_message_reads_as_it_was_written() {
        let beat = Order::Beat { sent_ns: 5, patience_ns: 7 };
        let orders = [Order::Call, beat, Order::Start { trial: 1, at_ns: 9 }];
        for order in orders {
            match open::<Order>(&seal(&peer(), 3, &order)) {
                Some(Opened::Same(from, 3, read)) => assert_eq!((from, read), (peer(), order)),
                other => panic!("{other:?}"),
            }
        }
        assert!(open::<Order>(b"{}").is_none() && open::<Order>(b"\xff").is_none());
    }

    #[test]
    fn another_version_is_named_whatever_it_says() {
        let bytes = br#"{"schema":9,"version":"3.2.1","from":{"name":"b","instance":1},"body":{"x":[1]},"new":0}"#;
        match open::<Report>(bytes) {
            Some(Opened::Other { from, version, schema }) => {
                assert_eq!((from.name.as_str(), version.as_str(), schema), ("b", "3.2.1", 9));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_are_one_word_of_a_subject() {
        for (name, good) in
            [("host-1_a", true), ("", false), ("a.b", false), ("*", false), ("é", false)]
        {
            assert_eq!(is_name(name), good, "{name}");
        }
    }
}
