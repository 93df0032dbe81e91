//! A slice: a short measured stretch of one target, one of many that are interleaved with those of
//! other targets.
use serde::{Deserialize, Serialize};

/// One slice of a trial. A round is one slice of every target of a repetition, in random order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The round within the repetition, from 0. Slices of several targets with the same repetition
    /// and round are compared.
    pub round: u32,
    /// When it began, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Its measured length in nanoseconds.
    pub measured_ns: u64,
    /// The measured figures.
    pub figures: SliceFigures,
    /// The disturbances by the host. If a slice is short, they cover it and those before it, 0.4 s
    /// together.
    pub host: SliceHost,
    /// Whether the host disturbed nothing, judged only by `host` and never by the figures.
    pub calm: bool,
    /// Whether the figures of the trial use it.
    pub used: bool,
}

/// The figures of one slice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceFigures {
    /// Requests that were due in it.
    pub requests: u64,
    /// Complete answers within it.
    pub answered: u64,
    /// Complete and right answers within it.
    pub right: u64,
    /// Errors of any kind.
    pub errors: u64,
    /// Right answers per second.
    pub goodput_per_s: f64,
    /// Response time: from when a request was due to its answer.
    pub response: SliceQuantiles,
    /// Service time: from sending to the answer.
    pub service: SliceQuantiles,
    /// CPU time of the target's process tree in it, nanoseconds; `None` if it is unknown.
    pub target_cpu_ns: Option<u64>,
    /// CPU time of the generator in it, nanoseconds; `None` if it is unknown.
    pub generator_cpu_ns: Option<u64>,
}

/// Quantiles of a time span within a slice, in nanoseconds; `None` if nothing was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceQuantiles {
    /// The median.
    pub p50_ns: Option<u64>,
    /// The 90th percentile.
    pub p90_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The highest value.
    pub max_ns: Option<u64>,
}

/// The disturbances of the roles' processors by the host, each as a share of these processors'
/// time; `None` if it is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceHost {
    /// Time that the hypervisor gave to other machines (`steal` of `/proc/stat`).
    pub steal: Option<f64>,
    /// Time used by processes outside of the measurement. What other targets of the run use that
    /// are up, and not asked, is not in it, nor is `kernel_network`.
    pub others: Option<f64>,
    /// Time that the kernel's own threads used for network work of the load
    /// ([`crate::host::kernel_network`]). Where it is unknown, all time of these threads is in `others`.
    #[serde(default)]
    pub kernel_network: Option<f64>,
    /// Time in which threads of the roles were ready but other programs held the processor (the
    /// second field of `/proc/PID/schedstat`, without waits for siblings of the same role).
    pub waiting: Option<f64>,
}
