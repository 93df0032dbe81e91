//! What coordinator and agents tell each other: JSON in an envelope that every version can read.
use pippin_model::caveat::Caveat;
use pippin_model::fingerprint::Fingerprint;
use pippin_model::load_result::{LoadResult, Window};
use pippin_model::load_spec::LoadSpec;
use pippin_model::target::TargetId;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::pieces::Piece;
use crate::probe::Errand;

/// The version of the messages; it rises with every change of what they hold.
pub const SCHEMA: u32 = 2;
/// This program's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Who sends: a name, and a number that is drawn at each start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Tells two of the same name apart.
    pub instance: u64,
}

/// What every message has around it. Its shape never changes, so that a peer of another version can
/// be named.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope<B> {
    schema: u32,
    version: String,
    from: Peer,
    body: B,
}

/// A message that was read.
#[derive(Debug)]
pub enum Opened<B> {
    /// One of this version.
    Same(Peer, B),
    /// One of another version.
    Other {
        /// Who sent it.
        from: Peer,
        /// Its version of the program.
        version: String,
        /// Its version of the messages.
        schema: u32,
    },
}

/// A message as it is sent.
#[must_use]
pub fn seal<B: Serialize>(from: &Peer, body: &B) -> Vec<u8> {
    let envelope = Envelope { schema: SCHEMA, version: VERSION.into(), from: from.clone(), body };
    // Only maps with keys that are no text, and writers that fail, make this fail: there are none.
    serde_json::to_vec(&envelope).unwrap_or_default()
}

/// Reads a message; `None` if it is none.
#[must_use]
pub fn open<B: DeserializeOwned>(bytes: &[u8]) -> Option<Opened<B>> {
    let Envelope { schema, version, from, .. } =
        serde_json::from_slice::<Envelope<IgnoredAny>>(bytes).ok()?;
    if (schema, version.as_str()) != (SCHEMA, VERSION) {
        return Some(Opened::Other { from, version, schema });
    }
    Some(Opened::Same(from, serde_json::from_slice::<Envelope<B>>(bytes).ok()?.body))
}

/// From a coordinator to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// To all agents: who is there?
    Call,
    /// The coordinator lives. The agent echoes it; the first one claims the agent.
    Beat {
        /// When it was sent, nanoseconds of the coordinator's clock.
        sent_ns: u64,
    },
    /// Open the connections of a slice and wait.
    Prepare(Box<Prepare>),
    /// Start the schedule.
    Start {
        /// Of this trial.
        trial: u64,
        /// The instant, nanoseconds of the agent's clock.
        at_ns: u64,
    },
    /// End the load or the run now, and report.
    Stop {
        /// Of this trial or run.
        trial: u64,
    },
    /// A piece has arrived.
    Got {
        /// Of this trial or run.
        trial: u64,
        /// Its `text_nth`.
        text_nth: u32,
        /// Its `nth`.
        nth: u32,
    },
    /// To a probe: make a run.
    Measure(Box<Errand>),
    /// To a probe: make no more trials of this target.
    Skip {
        /// Of this run.
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
    /// Threads that the user asked for on each agent.
    pub threads: Option<u32>,
    /// Whether the agent watches its host. The coordinator does so for agents on its own.
    pub watches_host: bool,
    /// So many pieces of the result may be under way at once.
    pub pieces_at_once: u32,
}

/// From an agent to a coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum Report {
    /// Answers a call.
    Hello(Box<Hello>),
    /// Answers an order of a coordinator that has not claimed it.
    Busy {
        /// Who has claimed it.
        with: String,
    },
    /// Answers a beat.
    Echo {
        /// `sent_ns` of the beat.
        sent_ns: u64,
        /// When the beat arrived, nanoseconds of the agent's clock.
        received_ns: u64,
        /// When this was sent, on the same clock.
        answered_ns: u64,
        /// Time of day at that instant, nanoseconds since 1970.
        unix_ns: u64,
    },
    /// The connections are open.
    Ready {
        /// Of this trial.
        trial: u64,
    },
    /// A second of load.
    Second {
        /// Of this trial.
        trial: u64,
        /// With its histograms.
        window: Box<Window>,
    },
    /// A piece of the [`SliceResult`] as JSON; of a probe, of an [`Entry`](crate::probe::Entry).
    Piece {
        /// Of this trial or run.
        trial: u64,
        /// The piece.
        piece: Piece,
    },
    /// The agent's operator ends it.
    Leaving,
}

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// What its operator said of it.
    pub tags: Vec<String>,
    /// Its host.
    pub host: Fingerprint,
    /// Names the running kernel (`/proc/sys/kernel/random/boot_id`): equal where two share a
    /// machine, and with it the clock.
    pub boot: Option<String>,
    /// Processors of its generator.
    pub processors: u32,
    /// Its highest throughput by calibration, requests per second; `None` if it is not calibrated.
    pub ceiling_per_s: Option<f64>,
    /// The coordinator that has claimed it.
    pub claimed_by: Option<String>,
    /// It is a probe, which makes runs and applies no loads itself.
    pub is_probe: bool,
}

/// What came of a slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceResult {
    /// What was measured; its instants are on the agent's clock.
    pub load: Option<LoadResult>,
    /// When the schedule started, on the same clock.
    pub start_ns: Option<u64>,
    /// Why the load was not applied to its end.
    pub failure: Option<String>,
    /// Doubts about the agent's host and generator.
    pub caveats: Vec<Caveat>,
}

/// Subjects. An agent publishes to `pippin.report.>` and subscribes to `pippin.call` and
/// `pippin.order.NAME`; a coordinator does the reverse.
pub mod subject {
    /// Where coordinators call all agents.
    pub const CALL: &str = "pippin.call";

    /// Where an agent gets its orders.
    #[must_use]
    pub fn order(agent: &str) -> String {
        format!("pippin.order.{agent}")
    }

    /// Where a coordinator gets its reports.
    #[must_use]
    pub fn report(coordinator: &super::Peer) -> String {
        format!("pippin.report.{:016x}", coordinator.instance)
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
        let orders = [Order::Call, Order::Beat { sent_ns: 5 }, Order::Start { trial: 1, at_ns: 9 }];
        for order in orders {
            match open::<Order>(&seal(&peer(), &order)) {
                Some(Opened::Same(from, read)) => assert_eq!((from, read), (peer(), order)),
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
