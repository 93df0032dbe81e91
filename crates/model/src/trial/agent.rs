//! One agent of a fleet in a trial: its share of the load, its clock, its own figures.
use serde::{Deserialize, Serialize};

use crate::host::fingerprint::Fingerprint;
use crate::load::Part;
use crate::verdict::Caveat;

/// An agent's part in a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentPart {
    /// Its name in the fleet.
    pub name: String,
    /// Its operator's tags.
    pub tags: Vec<String>,
    /// Its host.
    pub host: Fingerprint,
    /// Its part of the load.
    pub part: Part,
    /// Its clock compared with the coordinator's; `None` if it never answered.
    pub clock: Option<AgentClock>,
    /// How long after the agreed instant its schedule started, in nanoseconds, as exactly as the
    /// clock is known; `None` if it did not start.
    pub late_ns: Option<i64>,
    /// The longest time during the load in which nothing was heard of it, if that was longer than
    /// 1.5 s, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_ns: Option<u64>,
    /// Other coordinators that had the same target loaded meanwhile, with the place: `b:
    /// 10.1.2.3:80`. An agent knows only of those that use its NATS server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Its measurement in short, or what its seconds add up to; `None` if it delivered nothing.
    pub figures: Option<AgentFigures>,
    /// Doubts about its host and its generator, from its own records.
    pub caveats: Vec<Caveat>,
    /// Why its part is missing or incomplete.
    pub failure: Option<String>,
}

/// An agent's clock compared with the coordinator's (RFC 5905, four time stamps; the exchange with
/// the shortest round trip counts).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AgentClock {
    /// Time of day of the agent minus that of the coordinator, nanoseconds.
    pub offset_ns: i64,
    /// The error of the offset in nanoseconds: half of the shortest round trip. 0 if both share one
    /// clock.
    pub error_ns: u64,
    /// How much faster the agent's clock runs, in millionths; `None` if it was observed for too
    /// short a time.
    pub drift_ppm: Option<f64>,
    /// The error of the drift, in millionths.
    pub drift_error_ppm: Option<f64>,
}

/// An agent's own figures in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentFigures {
    /// Its threads.
    pub threads: u32,
    /// Length of its measured part, nanoseconds.
    pub duration_ns: u64,
    /// Requests that were due.
    pub scheduled: u64,
    /// Complete answers.
    pub completed: u64,
    /// Errors of any kind.
    pub errors: u64,
    /// Right answers per second.
    pub goodput_per_s: Option<f64>,
    /// Median response time, nanoseconds.
    pub response_p50_ns: Option<u64>,
    /// 99th percentile of the response time, nanoseconds.
    pub response_p99_ns: Option<u64>,
    /// The median round trip of its handshakes, as the kernel timed them: the network there and
    /// back, without the server's process. `None` if it is not known.
    pub network_ns: Option<u64>,
    /// CPU time of its generator, nanoseconds.
    pub cpu_ns: u64,
    /// The busiest thread's share of a core, without polling.
    pub busiest_share: Option<f64>,
    /// Its highest throughput by calibration, requests per second; `None` if it is not calibrated.
    pub ceiling_per_s: Option<f64>,
}
