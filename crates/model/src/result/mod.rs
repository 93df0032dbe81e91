//! The measurement of the engine.
//!
//! | module | what it holds |
//! |---|---|
//! | `measured` | everything of one stretch, and of one step of a scenario |
//! | `by_connection` | answers and service time of each connection, in groups |
//! | [`closes`] | when the server closed connections: by requests, by idle time |
//! | `counts` | counters of requests, answers, connections, bytes, stamps |
//! | `error_kind`, `first_error` | what went wrong; the first time of each kind |
//! | `exchange`, `slowest`, `request_sample` | one request by itself; the slowest of a stretch; all of them, or a random sample |
//! | `silence` | when nobody was answered |
//! | `spans` | histograms of time spans |
//! | `window` | one second of a load |
//! | [`histogram`] | the only histogram type, a crate of its own |
//! | [`bins`] | its coarse form, which every window keeps |
//! | [`time_series`] | a load second by second, for other programs |
pub mod bins;
mod by_connection;
pub mod closes;
mod counts;
mod error_kind;
mod exchange;
mod first_error;
mod measured;
mod quic;
mod request_sample;
mod silence;
mod slowest;
mod spans;
pub mod time_series;
mod warm_up;
mod window;

pub use pippin_histogram as histogram;
use serde::{Deserialize, Serialize};

use crate::load::network::NetworkUse;
use crate::load::proxy::ProxyUse;
use crate::load::tls::TlsUse;
use crate::load::websocket::WebSocketUse;

pub use by_connection::{ByConnection, ConnectionGroup};
pub use counts::{
    Answered, ByteCounts, ConnectionCounts, Counter, CounterSets, EventCounts, RequestCounts,
    StampCounts, StatusCounts, Successes,
};
pub use error_kind::ErrorKind;
pub use exchange::Exchange;
pub use first_error::FirstError;
pub use measured::{Measured, StepMeasured};
pub use quic::QuicUse;
pub use request_sample::RequestSample;
pub use silence::{Arrivals, SHORTEST_SILENCE_NS, Silence};
pub use slowest::Slowest;
pub use spans::{Span, SpanSummaries, Spans};
pub use warm_up::{CompilerWindow, WarmUpResult, WarmUpWindow};
pub use window::{Window, WindowHistograms, arriving_per_s, measured_windows};

/// The outcome of one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// The event loop: `"epoll"` or `"io_uring"`.
    pub io: String,
    /// The number of threads.
    pub threads: u32,
    /// CLOCK_REALTIME at the start of the load, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// CLOCK_MONOTONIC when the first connection was opened.
    pub started_ns: u64,
    /// CLOCK_MONOTONIC at the start and the end of the measured part. The probe's samples are cut
    /// at these instants.
    pub measured_from_ns: u64,
    /// See `measured_from_ns`.
    pub measured_to_ns: u64,
    /// How the warm-up ended.
    pub warm_up: WarmUpResult,
    /// The headline: the measured part of the load; for devices, the phase `sustain`.
    pub measured: Measured,
    /// Devices only: all phases, each separately, in order.
    pub phases: Vec<Phase>,
    /// One for each second, including the warm-up (negative offsets from `measured_from_ns`).
    pub windows: Vec<Window>,
    /// The generator's cost of the load.
    pub generator: GeneratorUse,
    /// The proxy that the load went through; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyUse>,
    /// The TLS parameters; `None` for plain HTTP.
    pub tls: Option<TlsUse>,
    /// What happened on WebSockets; `None` over other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSocketUse>,
    /// What the simulated network did; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkUse>,
    /// What QUIC did; `None` over other protocols than HTTP/3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic: Option<QuicUse>,
    /// Whether the load was stopped early.
    pub interrupted: bool,
    /// The requests of the measured part one by one, if the load asked for them. No record keeps them:
    /// there may be a million.
    #[serde(skip)]
    pub request_sample: Option<RequestSample>,
}

impl LoadResult {
    /// Whether it holds first errors, of the load or of a step, or the place of a redirection.
    #[must_use]
    pub fn has_firsts(&self) -> bool {
        let holds = |measured: &Measured| {
            !measured.firsts.is_empty()
                || measured.redirected_to.is_some()
                || measured.steps.iter().any(|step| step.example.is_some())
        };
        holds(&self.measured) || self.phases.iter().any(|phase| holds(&phase.measured))
    }

    /// The result without these.
    #[must_use]
    pub fn without_firsts(&self) -> Self {
        let mut kept = self.clone();
        let phases = kept.phases.iter_mut().map(|phase| &mut phase.measured);
        for measured in phases.chain([&mut kept.measured]) {
            measured.firsts.clear();
            measured.redirected_to = None;
            measured.steps.iter_mut().for_each(|step| step.example = None);
        }
        kept
    }
}

/// A phase of a device load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `"ramp_up"`, `"sustain"` or `"ramp_down"`.
    pub name: String,
    /// Start, as an offset from `started_ns`.
    pub from_ns: u64,
    /// The measurement of this phase. A request belongs to the phase in which it was due.
    pub measured: Measured,
}

/// The generator's cost of the load, over the measured part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorUse {
    /// CPU time of the worker threads, user and system (CLOCK_THREAD_CPUTIME_ID), nanoseconds.
    pub cpu_ns: u64,
    /// CPU time of each thread, in nanoseconds.
    pub cpu_ns_by_thread: Vec<u64>,
    /// CPU time spent polling for a deadline in the open loop. It is part of `cpu_ns`, but it is
    /// waiting and not work.
    pub spin_ns: u64,
    /// Peak resident memory of the whole process in bytes (getrusage(2), ru_maxrss).
    pub max_rss_bytes: Option<u64>,
    /// The number of system calls of the event loops.
    pub syscalls: Option<u64>,
    /// How often the time of day was set during the load. For answers that were unread at that
    /// moment, the arrival is not known ([`StampCounts::user_space`]).
    pub clock_steps: u64,
}

impl GeneratorUse {
    /// The busiest thread's share of one core over `duration_ns`, without its polling; `None`
    /// without threads.
    #[must_use]
    pub fn busiest_share(&self, duration_ns: u64) -> Option<f64> {
        let busiest = *self.cpu_ns_by_thread.iter().max()?;
        let spin = self.spin_ns / self.cpu_ns_by_thread.len() as u64;
        (duration_ns > 0).then(|| busiest.saturating_sub(spin) as f64 / duration_ns as f64)
    }
}
