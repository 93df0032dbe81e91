//! A load second by second, for other programs: the lines that `--timeseries` writes. Unknown is
//! null.
use serde::{Deserialize, Serialize};

use crate::result::Window;
use crate::target::TargetId;
use crate::trial::{Step, TrialSpec};

/// The version of a line. It rises when a key is removed or changes its meaning.
pub const SCHEMA: u32 = 1;

/// One window of a load: a second, or a slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The run's name.
    pub run: String,
    /// When the window ended, nanoseconds since 1970, or up to some milliseconds later.
    pub unix_ns: u64,
    /// The target.
    pub target: TargetId,
    /// Counted from 1.
    pub repetition: u32,
    /// The point of a sweep or of a capacity search; `None` for others.
    pub step: Option<Step>,
    /// The round of this slice, counted from 1; `None` if the load is not measured in slices.
    pub round: Option<u32>,
    /// Its beginning, in nanoseconds after that of the measured part (with rounds, that of the
    /// slice); negative in the warm-up.
    pub from_ns: i64,
    /// Its length, nanoseconds.
    pub duration_ns: u64,
    /// Requests per second that the schedule asked for; `None` if answers set the pace.
    pub offered_per_s: Option<f64>,
    /// Requests sent per second.
    pub sent_per_s: Option<f64>,
    /// Complete answers per second.
    pub throughput_per_s: Option<f64>,
    /// Complete and right answers per second.
    pub goodput_per_s: Option<f64>,
    /// Errors in it.
    pub errors: u64,
    /// Response times of the requests that ended in it.
    pub response_p50_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_p90_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_p99_ns: Option<u64>,
    /// See `response_p50_ns`.
    pub response_max_ns: Option<u64>,
    /// Send lag of the requests that were sent in it.
    pub send_lag_p99_ns: Option<u64>,
    /// Connections open at its end.
    pub live_connections: u64,
    /// Received bytes.
    pub bytes_in: u64,
    /// Sent bytes.
    pub bytes_out: u64,
    /// Cores that the target kept busy between the two newest samples.
    pub target_cores: Option<f64>,
    /// Cores that the generator kept busy between the two newest samples.
    pub generator_cores: Option<f64>,
    /// Memory of the target, bytes: the proportional set, in which shared pages count once, or else the resident set.
    pub target_memory_bytes: Option<u64>,
}

impl Moment {
    /// A window of a trial, without the kernel's figures about processes.
    #[must_use]
    pub fn from_window(run: &str, spec: &TrialSpec, window: &Window, unix_ns: u64) -> Self {
        let per_s = |count: u64| {
            (window.duration_ns > 0).then(|| count as f64 * 1e9 / window.duration_ns as f64)
        };
        let profile = spec.profile.at(spec.step);
        Self {
            schema: SCHEMA,
            run: run.into(),
            unix_ns,
            target: spec.target.clone(),
            repetition: spec.repetition + 1,
            step: spec.step,
            round: None,
            from_ns: window.from_ns,
            duration_ns: window.duration_ns,
            offered_per_s: profile.offered_per_s(window.from_ns, window.duration_ns),
            sent_per_s: per_s(window.sent),
            throughput_per_s: per_s(window.completed),
            goodput_per_s: per_s(window.good),
            errors: window.errors,
            response_p50_ns: window.response_p50_ns,
            response_p90_ns: window.response_p90_ns,
            response_p99_ns: window.response_p99_ns,
            response_max_ns: window.response_max_ns,
            send_lag_p99_ns: window.send_lag_p99_ns,
            live_connections: window.live_connections,
            bytes_in: window.bytes_in,
            bytes_out: window.bytes_out,
            target_cores: None,
            generator_cores: None,
            target_memory_bytes: None,
        }
    }
}
