//! The state of a run under way, so that another process can show it. It is not a result: results
//! are records.
use serde::{Deserialize, Serialize};

use crate::host::usage::Role;
use crate::target::TargetId;
use crate::trial::{Step, TrialRecord};
use crate::verdict::{Caveat, Verdict};

/// A run under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveRun {
    /// The run's name.
    pub run: String,
    /// The plan's title.
    pub title: String,
    /// The process that makes it.
    pub process: ProcessName,
    /// When this was written, nanoseconds since 1970.
    pub updated_unix_ns: u64,
    /// Whether the user asked for a stop.
    pub is_stopping: bool,
    /// Repetitions of each target.
    pub repetitions: u32,
    /// Whether targets are ranked by a time and not by a rate.
    #[serde(default)]
    pub by_time: bool,
    /// The trial under way; `None` before the first.
    pub trial: Option<LiveTrial>,
    /// The progress of all trials together.
    pub overall: Option<LiveOverall>,
    /// Trials that have ended, oldest first.
    pub finished: Vec<LiveFinished>,
    /// The trials after the current one, in order. A plan with a `precision` may end earlier.
    pub queued: Vec<LiveQueued>,
}

/// A unique name of a process, because a pid may later be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessName {
    /// Its pid.
    pub pid: i32,
    /// When it started, in clock ticks after boot (proc_pid_stat(5), field 22).
    pub start_ticks: u64,
}

/// The trial under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveTrial {
    /// The target.
    pub target: TargetId,
    /// Counted from 0.
    pub repetition: u32,
    /// The load in words: `64 connections`.
    pub load: String,
    /// Its stage: `starting`, `proving`, `warm-up`, `measuring`.
    pub stage: String,
    /// When the stage began, nanoseconds since 1970.
    pub stage_began_unix_ns: u64,
    /// The progress of the load, from 0 to 1; `None` outside of a load.
    pub fraction: Option<f64>,
    /// The remaining time of the load, nanoseconds.
    pub left_ns: Option<u64>,
    /// The newest seconds of load.
    pub seconds: Vec<LiveSecond>,
    /// Errors so far, including those of the warm-up.
    pub errors: u64,
    /// Open connections or devices.
    pub live_connections: Option<u64>,
    /// The connections or devices that the load asks for.
    pub asked: u32,
    /// The present usage, by role.
    pub uses: Vec<LiveUse>,
    /// Memory of the target, bytes: the proportional set, in which shared pages count once, or else the resident set.
    pub target_memory_bytes: Option<u64>,
}

/// One second of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveSecond {
    /// Its beginning, in nanoseconds after that of the measured part; negative in the warm-up.
    pub from_ns: i64,
    /// Complete answers per second.
    pub requests_per_s: Option<f64>,
    /// Requests per second that the schedule asks for; `None` if answers set the pace.
    pub offered_per_s: Option<f64>,
    /// Median response time, nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response time, nanoseconds.
    pub p99_ns: Option<u64>,
    /// Errors.
    pub errors: u64,
    /// Cores that the target kept busy.
    pub target_cores: Option<f64>,
    /// Cores that the generator kept busy.
    pub generator_cores: Option<f64>,
}

/// The usage of a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveUse {
    /// The role.
    pub role: Role,
    /// Cores kept busy.
    pub cores: Option<f64>,
    /// The number of cores that it was given; 0 if it is not bound to any.
    pub given: u32,
}

/// The progress of all trials together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveOverall {
    /// The number of the current trial, counted from 1.
    pub number: u64,
    /// The maximum number of trials; `None` for a search.
    pub at_most: Option<u64>,
    /// From 0 to 1.
    pub fraction: Option<f64>,
    /// The remaining time, nanoseconds.
    pub left_ns: Option<u64>,
}

/// A trial that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveFinished {
    /// The target.
    pub target: TargetId,
    /// Counted from 0.
    pub repetition: u32,
    /// The step of a sweep or of a search in words.
    pub step: Option<String>,
    /// Complete answers per second.
    pub requests_per_s: Option<f64>,
    /// Median response time, nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response time, nanoseconds.
    pub p99_ns: Option<u64>,
    /// Errors; `None` if nothing was measured.
    pub errors: Option<u64>,
    /// Whether it can be trusted.
    pub verdict: Verdict,
    /// The stage at which it failed; `None` if it did not.
    pub failed_at: Option<String>,
    /// The first line of the failure, or its most serious caveat with its evidence.
    pub remark: Option<String>,
    /// The number of further caveats.
    pub more_caveats: u64,
}

impl LiveFinished {
    /// The short form of a record.
    #[must_use]
    pub fn from_trial(record: &TrialRecord) -> Self {
        let measured = record.load.as_ref().map(|load| &load.measured);
        let quantile =
            |q: f64| measured.and_then(|measured| measured.spans.response_time.quantile_ns(q));
        let mut caveats: Vec<&Caveat> = record.caveats.iter().collect();
        caveats.sort_by_key(|caveat| std::cmp::Reverse(caveat.severity));
        let first_line = |text: &str| text.lines().next().unwrap_or_default().to_string();
        let failure = record.failure.as_ref();
        let caveat = || caveats.first().map(|one| format!("{}: {}", one.name(), one.evidence));
        Self {
            target: record.spec.target.clone(),
            repetition: record.spec.repetition,
            step: record.spec.step.map(Step::in_words),
            requests_per_s: measured.and_then(|measured| measured.throughput_per_s()),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            errors: measured.map(|measured| measured.errors_total()),
            verdict: record.verdict,
            failed_at: failure.map(|failure| failure.stage.name().to_string()),
            remark: failure.map(|failure| first_line(&failure.message)).or_else(caveat),
            more_caveats: if failure.is_some() {
                0
            } else {
                caveats.len().saturating_sub(1) as u64
            },
        }
    }
}

/// A trial to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveQueued {
    /// The target.
    pub target: TargetId,
    /// Counted from 0.
    pub repetition: u32,
}
