//! One execution of a plan.
//!
//! | module | what it does |
//! |---|---|
//! | [`comparable`] | what must be equal for two runs to be compared |
//! | [`digest`] | a run in short, for lists |
//! | [`labels`] | what users call a run: a name, a note, tags |
//! | [`life`] | starts, memory and end of a target |
//! | [`live`] | the state of a run in progress |
pub mod comparable;
pub mod digest;
pub mod labels;
pub mod life;
pub mod live;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::host::fingerprint::Fingerprint;
use crate::plan::Plan;
use crate::request::requests::Whole;
use crate::run::labels::Labels;
use crate::run::life::TargetLife;
use crate::target::TargetId;
use crate::target::commit::Commit;
use crate::target::manifest::Manifest;
use crate::target::register::Registered;
use crate::trial::{Failure, TrialRecord};
use crate::workload::Workload;

/// The part of a run that is stored before its first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// A name that sorts by time: `20261121-203539-hello`.
    pub id: String,
    /// Nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Pippin's version.
    pub pippin_version: String,
    /// The resolved plan.
    pub plan: Plan,
    /// The workload.
    pub workload: Workload,
    /// The URL that was loaded; `None` if targets of a catalogue were measured.
    pub url: Option<String>,
    /// The requests of a load of a URL; `None` for plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Whole>,
    /// The server behind the URL; `None` if targets of a catalogue were
    /// measured.
    pub server: Option<UrlServer>,
    /// The seed of the order of trials and of every load.
    pub seed: u64,
    /// The host; with a probe, that of the targets.
    pub host: Fingerprint,
    /// The probe on the targets' machine that made the run for a coordinator elsewhere, so that
    /// generators and targets had their own machines. `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The facts about each target.
    pub targets: BTreeMap<TargetId, TargetInfo>,
    /// The generator's ceiling on this machine, if it was calibrated.
    pub calibration: Option<Calibration>,
    /// What the user calls the run.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// The server behind a URL: whether its use of this machine is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "measured", rename_all = "snake_case")]
pub enum UrlServer {
    /// The CPU time and memory of these processes, and of all processes below them, are measured.
    Processes {
        /// The first process of each tree.
        processes: Vec<ServerProcess>,
    },
    /// They are not measured.
    Not {
        /// The reason, in words that fit after "not measured: ".
        reason: String,
        /// Whether they run on this machine, as far as it is known. Their work then looks like that
        /// of other programs.
        is_here: bool,
    },
}

/// A server process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// Its pid.
    pub pid: i32,
    /// Its name in the kernel.
    pub name: String,
}

/// Facts about a target in a run; empty by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// The resolved manifest; `None` if it could not be read.
    pub manifest: Option<Manifest>,
    /// The way it was installed.
    pub route: Option<String>,
    /// Labels and the output of the version commands.
    pub versions: BTreeMap<String, String>,
    /// Digest of the folder's tracked files (FNV-1a 64 in hexadecimal), to detect changes of the
    /// target.
    pub digest: Option<String>,
    /// The commit that its files are of; `None` where they are in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// Its entries in the register: its kind, and how long it is supported.
    #[serde(default, skip_serializing_if = "Registered::is_empty")]
    pub registered: Registered,
    /// Why it does not take part.
    pub unavailable: Option<Failure>,
}

impl TargetInfo {
    /// Its versions in words: `go 1.22, gin 1.10`.
    #[must_use]
    pub fn versions_in_words(&self) -> String {
        let each: Vec<String> =
            self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        if each.is_empty() { "unknown".into() } else { each.join(", ") }
    }
}

/// A target's result in one trial, for its history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// The run.
    pub run: String,
    /// When the run began, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// The plan.
    pub plan: String,
    /// Whether it was the plan's quick form.
    pub quick: bool,
    /// The key of load and host, see [`crate::run::comparable::key`].
    pub comparable: String,
    /// The verdict.
    pub verdict: String,
    /// Right answers per second.
    pub goodput_per_s: Option<f64>,
    /// 99th percentile of the response time, nanoseconds.
    pub p99_ns: Option<u64>,
    /// The commit that the target's files were of.
    pub commit: Option<Commit>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Still running, as far as this machine knows.
    Running,
    /// All trials were made.
    Finished,
    /// Stopped by the user.
    Interrupted,
    /// The lab itself failed.
    Failed,
    /// Pippin or the machine stopped in the middle. This is never written: a store reports it for a
    /// running run whose process is gone.
    Killed,
}

impl RunState {
    /// The name in the store and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }
}

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The part that was known before the first trial.
    pub header: RunHeader,
    /// How it ended.
    pub state: RunState,
    /// Nanoseconds since 1970; `None` while it runs.
    pub ended_unix_ns: Option<u64>,
    /// Every finished trial, in the order in which they were made.
    pub trials: Vec<TrialRecord>,
    /// The life of each target, if it was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lives: Vec<TargetLife>,
}

impl RunRecord {
    /// What is kept of it by default: see [`TrialRecord::for_record`].
    #[must_use]
    pub fn for_record(&self) -> Self {
        let trials = self.trials.iter().map(|trial| trial.for_record().into_owned()).collect();
        Self { header: self.header.clone(), trials, lives: self.lives.clone(), ..*self }
    }
}

/// The generator's best performance on this machine, from `pippin calibrate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// Pippin's version.
    pub pippin_version: String,
    /// The event loop that was measured.
    pub io: String,
    /// Threads that were used.
    pub threads: u32,
    /// Highest closed-loop throughput against the null server by number of connections, requests
    /// per second.
    pub ceiling_per_s: BTreeMap<u32, f64>,
    /// Highest throughput with a connection per request, requests per second.
    pub ceiling_connect_per_s: Option<f64>,
    /// Shortest round trip seen, nanoseconds.
    pub min_round_trip_ns: Option<u64>,
    /// How late an open-loop request is sent on an idle machine, 99th percentile, nanoseconds.
    pub send_lag_p99_ns: Option<u64>,
    /// CPU time per request at the ceiling by number of connections, nanoseconds.
    pub cpu_per_request_ns: BTreeMap<u32, f64>,
}
