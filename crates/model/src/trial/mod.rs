//! One trial: a measured window of one target in a run, with its specification and everything known
//! about it.
//!
//! | module | what it does |
//! |---|---|
//! | [`agent`] | what one agent of a fleet did in a trial |
//! | `exit` | how a process ended |
//! | [`explained`] | what a profiler saw of a target |
//! | [`outside`] | help that a target had beyond its own processes and processors |
//! | [`slice`] | a short stretch of a trial |
//! | [`sequence`] | stretches that followed each other, as one |
pub mod agent;
mod exit;
pub mod explained;
pub mod instructions;
pub mod outside;
pub mod sequence;
pub mod slice;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::host::usage::{Usage, UsageSample};
use crate::load::LoadSpec;
use crate::plan::cpus::CpuSplit;
use crate::plan::profile::Profile;
use crate::result::LoadResult;
use crate::target::TargetId;
use crate::target::conformance::Conformance;
use crate::text::units::{counted, format_count};
pub use crate::trial::exit::Exit;

use crate::trial::agent::AgentPart;
use crate::trial::instructions::Instructions;
use crate::trial::outside::Outside;
use crate::trial::slice::Slice;
use crate::verdict::{Caveat, Verdict};

/// The specification of a trial, resolved from the plan.
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
    /// How many repetitions there are to be; where measuring may end early, at least so many.
    pub repetitions: u32,
    /// The point of a sweep, of several rates or of a capacity search; `None` for the other kinds.
    pub step: Option<Step>,
    /// The processors of each role.
    pub cpus: CpuSplit,
    /// `WORKERS` of the target.
    pub workers: u32,
    /// The seed of the load.
    pub seed: u64,
}

/// A point of a sweep, of several rates or of a capacity search.
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
        /// Requests per second, or walks through a scenario.
        per_s: f64,
    },
    /// A number of devices that a search tries.
    Devices {
        /// How many.
        count: u32,
    },
}

impl Step {
    /// `64 connections`, `5,000 requests/s`.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Connections { count } => counted(count.into(), "connection"),
            Self::Rate { per_s } => format!("{} requests/s", format_count(per_s)),
            Self::Devices { count } => counted(count.into(), "device"),
        }
    }

    /// The number of connections or devices, or the rate.
    #[must_use]
    pub fn size(self) -> f64 {
        match self {
            Self::Connections { count } | Self::Devices { count } => count.into(),
            Self::Rate { per_s } => per_s,
        }
    }

    /// What a search tried at this step: a rate per second, or a number of devices; `None` for a
    /// point of a sweep.
    #[must_use]
    pub fn tried(self) -> Option<f64> {
        (!matches!(self, Self::Connections { .. })).then(|| self.size())
    }
}

/// A first process of a server that ended while it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedProcess {
    /// Its pid.
    pub pid: i32,
    /// Its name in the kernel.
    pub name: String,
    /// From the begin of the load until its end was seen, nanoseconds; `None` if no load is known that
    /// had begun.
    pub after_ns: Option<u64>,
}

/// What is known about the end of a server after which nobody listened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEnd {
    /// How its first process ended; `None` where Pippin is not its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// How many processes the kernel killed meanwhile for lack of memory, anywhere on this machine
    /// (`oom_kill` in /proc/vmstat); `None` if it does not tell.
    pub killed_for_memory: Option<u64>,
    /// The last lines of its log, if that is a file.
    pub log_tail: Vec<String>,
}

/// Everything known about one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// The specification.
    pub spec: TrialSpec,
    /// Nanoseconds since 1970 when the target was started.
    pub started_unix_ns: u64,
    /// The generator's task, with everything resolved: requests, timeouts, threads. `None` if the
    /// trial failed before.
    pub load_spec: Option<LoadSpec>,
    /// The generator's measurement; `None` if the trial failed before.
    pub load: Option<LoadResult>,
    /// The slices of the trial, in the order of their rounds; empty if it was measured in one
    /// stretch. `load` and `usage` sum up the used ones.
    pub slices: Vec<Slice>,
    /// The time of single requests before the load. `None` if none were made: in loads of a URL,
    /// whose server must get no unrequested requests.
    pub single: Option<Single>,
    /// What the target used while nobody asked it; `None` if that was not measured. It is measured
    /// once, before the first of several rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<AtRest>,
    /// Its instructions per request; `None` if they were not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// The targets beside it; `None` if it was measured in one stretch.
    pub company: Option<Company>,
    /// The agents that applied the load together; empty if this process did.
    pub agents: Vec<AgentPart>,
    /// The kernel's figures over the measured part.
    pub usage: Option<Usage>,
    /// The samples behind `usage`, about one a second.
    pub samples: Vec<UsageSample>,
    /// Time from start to the first answer, nanoseconds.
    pub start_up_ns: Option<u64>,
    /// A file of the user's checkout that a target from a revision of git runs in place of its own;
    /// `None` if there is none.
    pub elsewhere: Option<String>,
    /// The proofs, before, during and after the load.
    pub proofs: Vec<ProofOutcome>,
    /// The answers at the edges of HTTP/1.1. Each target is asked once in a run, after the load;
    /// otherwise this is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conformance: Vec<Conformance>,
    /// Processes outside of the target that took part in its work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// Other loads of the same target on this machine meanwhile, each with its place: `process 12:
    /// 127.0.0.1:80`. What agents saw is in `agents`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// First processes of a running server that ended while it was loaded, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<EndedProcess>,
    /// What is known about the end of the whole server; `None` if it still listened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_end: Option<ServerEnd>,
    /// Why earlier attempts at this trial were not kept: each lost a part of the generator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_again: Vec<String>,
    /// Why there is no result.
    pub failure: Option<Failure>,
    /// Figures of the services over the whole load, including warm-up and ramps:
    /// `"upstream_calls"`, `"upstream_peak_waiting"`; and `"upstream_numbers"`: how many answers
    /// had one of the upstream's numbers. A name is absent if the workload has no such service, or
    /// if the service did not report it.
    pub services: BTreeMap<String, f64>,
    /// The caveats found at the end of the trial.
    pub caveats: Vec<Caveat>,
    /// The verdict that follows from the caveats.
    pub verdict: Verdict,
}

impl TrialRecord {
    /// What is kept of it by default: everything but the first errors, the place of redirections and
    /// the log of a server that ended. These may hold what a server sends to one user alone.
    #[must_use]
    pub fn for_record(&self) -> Cow<'_, Self> {
        let has_log = self.server_end.as_ref().is_some_and(|end| !end.log_tail.is_empty());
        if !has_log && !self.load.as_ref().is_some_and(LoadResult::has_firsts) {
            return Cow::Borrowed(self);
        }
        let load = self.load.as_ref().map(LoadResult::without_firsts);
        let end = |end: &ServerEnd| ServerEnd { log_tail: Vec::new(), ..end.clone() };
        Cow::Owned(Self { load, server_end: self.server_end.as_ref().map(end), ..self.clone() })
    }

    /// A trial about which nothing is known yet. It has no result.
    #[must_use]
    pub const fn begun(spec: TrialSpec, started_unix_ns: u64) -> Self {
        Self {
            spec,
            started_unix_ns,
            load_spec: None,
            load: None,
            slices: Vec::new(),
            single: None,
            at_rest: None,
            instructions: None,
            company: None,
            agents: Vec::new(),
            usage: None,
            samples: Vec::new(),
            start_up_ns: None,
            elsewhere: None,
            proofs: Vec::new(),
            conformance: Vec::new(),
            outside: Vec::new(),
            beside: Vec::new(),
            ended: Vec::new(),
            server_end: None,
            made_again: Vec::new(),
            failure: None,
            services: BTreeMap::new(),
            caveats: Vec::new(),
            verdict: Verdict::Invalid,
        }
    }
}

/// Single requests to a target that had nothing else to do: how long a request takes without a
/// queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Single {
    /// The number of requests.
    pub requests: u64,
    /// The median of their service times, nanoseconds.
    pub median_ns: u64,
    /// The longest of them, nanoseconds.
    pub longest_ns: u64,
}

/// What a target used while nobody asked it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtRest {
    /// For how long it was watched, nanoseconds.
    pub length_ns: u64,
    /// CPU time of its whole process tree, nanoseconds; `None` if it is unknown.
    pub cpu_ns: Option<u64>,
    /// Its memory in bytes, the higher of both ends; shared pages count once. `None` if it is
    /// unknown.
    pub memory_bytes: Option<u64>,
}

impl AtRest {
    /// Processors that it kept busy; `None` if that is unknown.
    #[must_use]
    pub fn cores(self) -> Option<f64> {
        let cpu_ns = self.cpu_ns.filter(|_| self.length_ns > 0)?;
        Some(cpu_ns as f64 / self.length_ns as f64)
    }
}

/// The other targets that were up while a target was measured in slices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Company {
    /// The number of targets that were up at the same time, including itself.
    pub targets: u32,
    /// The number of planned rounds.
    pub rounds: u32,
    /// The processors that it kept busy while others were measured: 0.005 is half a percent of one.
    /// `None` if no other was measured, or if it is unknown.
    pub idle_cores: Option<f64>,
    /// Why it was not measured in turn with the others; `None` if it was.
    pub apart: Option<String>,
}

/// The outcome of one proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofOutcome {
    /// The workload.
    pub workload: String,
    /// The proof: `"not-found"`.
    pub proof: String,
    /// Before, during or after the load.
    pub when: ProofTime,
    /// `None` if it holds, otherwise the expected and the actual answer.
    pub failure: Option<String>,
    /// A remark about something that is allowed but worth knowing.
    pub remark: Option<String>,
    /// Why a proof that holds is not certain here; `None` if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Bytes of the answers that it unpacked; `None` if it unpacked none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<Packed>,
}

/// Bytes of answers with a content coding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed {
    /// As they came.
    pub packed_bytes: u64,
    /// Unpacked.
    pub unpacked_bytes: u64,
}

impl std::ops::AddAssign for Packed {
    fn add_assign(&mut self, other: Self) {
        self.packed_bytes += other.packed_bytes;
        self.unpacked_bytes += other.unpacked_bytes;
    }
}

impl Packed {
    /// Bytes as they came for each byte unpacked; `None` without one.
    #[must_use]
    pub fn ratio(self) -> Option<f64> {
        (self.unpacked_bytes > 0).then(|| self.packed_bytes as f64 / self.unpacked_bytes as f64)
    }
}

/// Before, during or after the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofTime {
    /// Before the load.
    Before,
    /// During the load, judged by its own answers.
    During,
    /// After it.
    After,
}

impl ProofTime {
    /// In words, for use after the name of a proof.
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
    /// What happened, and the fix if it is known.
    pub message: String,
    /// The last lines of the log of the target or of the failed step.
    pub log_tail: Vec<String>,
}

/// A stage in the life of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It cannot be installed here: it is unavailable.
    Install,
    /// A limit of this machine stops it before its start.
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
    /// Agents of the generator, or what connects them, were lost.
    Agents,
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
            Self::Agents => "agents",
            Self::Stop => "stop",
        }
    }
}
