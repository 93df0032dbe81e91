//! One measured window of one target in a run: what was to be done, and all that is known of it.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::agent::AgentPart;
use crate::caveat::{Caveat, Verdict};
use crate::conformance::Conformance;
use crate::cpus::CpuSplit;
use crate::load_result::LoadResult;
use crate::load_spec::LoadSpec;
use crate::outside::Outside;
use crate::profile::Profile;
use crate::slice::Slice;
use crate::target::TargetId;
use crate::units::{counted, format_count};
use crate::usage::{Usage, UsageSample};

/// What is to be done; resolved from the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The target.
    pub target: TargetId,
    /// The workload.
    pub workload: String,
    /// How load is applied.
    pub profile: Profile,
    /// Counted from 0.
    pub repetition: u32,
    /// The point of a sweep or of a capacity search; `None` for the other kinds.
    pub step: Option<Step>,
    /// Who runs where.
    pub cpus: CpuSplit,
    /// `WORKERS` of the target.
    pub workers: u32,
    /// Seeds the load.
    pub seed: u64,
}

/// A point of a sweep or of a capacity search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Step {
    /// A number of connections.
    Connections {
        /// How many.
        count: u32,
    },
    /// An offered rate.
    Rate {
        /// Requests per second.
        per_s: f64,
    },
}

impl Step {
    /// `64 connections`, `5,000 requests/s`.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Connections { count } => counted(count.into(), "connection"),
            Self::Rate { per_s } => format!("{} requests/s", format_count(per_s)),
        }
    }
}

/// Everything known of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// What was to be done.
    pub spec: TrialSpec,
    /// Nanoseconds since 1970 when the target was started.
    pub started_unix_ns: u64,
    /// What the generator was asked, with everything resolved: requests, timeouts, threads. `None`
    /// if the trial failed before, or was stored before this was kept.
    #[serde(default)]
    pub load_spec: Option<LoadSpec>,
    /// What the generator measured; `None` if the trial failed before.
    pub load: Option<LoadResult>,
    /// The slices of which the trial is made, in the order of their rounds; empty if it was measured
    /// in one stretch. `load` and `usage` sum up those that are used.
    #[serde(default)]
    pub slices: Vec<Slice>,
    /// What requests one at a time took before the load; `None` where none were made: loads of a
    /// URL, whose server gets no request that nobody asked for, and records from before this.
    #[serde(default)]
    pub single: Option<Single>,
    /// Beside whom it was measured; `None` if it was measured in one stretch.
    #[serde(default)]
    pub company: Option<Company>,
    /// The agents that applied the load together; empty if this process did.
    #[serde(default)]
    pub agents: Vec<AgentPart>,
    /// What the kernel told over the measured part.
    pub usage: Option<Usage>,
    /// The samples behind `usage`, about one a second.
    pub samples: Vec<UsageSample>,
    /// Time from start to the first answer, nanoseconds.
    pub start_up_ns: Option<u64>,
    /// The proofs, before, during and after the load.
    pub proofs: Vec<ProofOutcome>,
    /// How the target answered at the edges of HTTP/1.1; asked once in a run, after the load, and
    /// empty where it was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conformance: Vec<Conformance>,
    /// Processes that are no part of the target and had a part in its work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// Why there is no result.
    pub failure: Option<Failure>,
    /// What the services said of the whole load, warm-up and ramps included: `"upstream_calls"`,
    /// `"upstream_peak_waiting"`. A name is absent where the workload has no such service, or where
    /// it did not tell.
    pub services: BTreeMap<String, f64>,
    /// Judged when the trial ended.
    pub caveats: Vec<Caveat>,
    /// What follows from the caveats.
    pub verdict: Verdict,
}

impl TrialRecord {
    /// A trial of which nothing is known yet: it has no result.
    #[must_use]
    pub const fn begun(spec: TrialSpec, started_unix_ns: u64) -> Self {
        Self {
            spec,
            started_unix_ns,
            load_spec: None,
            load: None,
            slices: Vec::new(),
            single: None,
            company: None,
            agents: Vec::new(),
            usage: None,
            samples: Vec::new(),
            start_up_ns: None,
            proofs: Vec::new(),
            conformance: Vec::new(),
            outside: Vec::new(),
            failure: None,
            services: BTreeMap::new(),
            caveats: Vec::new(),
            verdict: Verdict::Invalid,
        }
    }
}

/// Requests that were sent one at a time to a target that had nothing else to do: what a request
/// takes when it does not queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Single {
    /// How many there were.
    pub requests: u64,
    /// The median of their service times, nanoseconds.
    pub median_ns: u64,
}

/// Which other targets were up while a target was measured in slices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Company {
    /// The targets that were up at the same time, itself included.
    pub targets: u32,
    /// Rounds that were planned.
    pub rounds: u32,
    /// Processors that it kept busy while others were measured: 0.005 is half a percent of one.
    /// `None` if nobody else was, or it is unknown.
    pub idle_cores: Option<f64>,
    /// Why it was not measured in turn with the others, in words; `None` if it was.
    pub apart: Option<String>,
}

/// How one proof came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofOutcome {
    /// The workload.
    pub workload: String,
    /// The proof: `"not-found"`.
    pub proof: String,
    /// Before, during or after the load.
    pub when: ProofTime,
    /// `None` if it holds, else what was expected and what came.
    pub failure: Option<String>,
    /// What was seen that is allowed and worth knowing.
    #[serde(default)]
    pub remark: Option<String>,
}

/// Before, during or after the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofTime {
    /// Before the load.
    Before,
    /// While it ran: judged by its own answers.
    During,
    /// After it.
    After,
}

impl ProofTime {
    /// In words, behind the name of a proof.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Before => "before the load",
            Self::During => "under the load",
            Self::After => "after the load",
        }
    }
}

/// Why a target has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The stage at which it failed.
    pub stage: Stage,
    /// What happened, and the fix where one is known.
    pub message: String,
    /// The last lines of the target's log or of the step that failed.
    pub log_tail: Vec<String>,
}

/// A stage in the life of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It cannot be installed here: it is unavailable.
    Install,
    /// A limit of this machine stops it before it is started.
    Limits,
    /// A service it needs did not start.
    Services,
    /// It did not start, or exited.
    Start,
    /// It did not answer in time.
    Ready,
    /// An answer was wrong.
    Proof,
    /// The load could not be applied.
    Load,
    /// It did not stop, or left something behind.
    Stop,
}

impl Stage {
    /// The name in JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Limits => "limits",
            Self::Services => "services",
            Self::Start => "start",
            Self::Ready => "ready",
            Self::Proof => "proof",
            Self::Load => "load",
            Self::Stop => "stop",
        }
    }
}
