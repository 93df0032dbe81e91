//! From a profile and a workload to what the engine runs.
use pippin_engine::http1::request::Request;
use pippin_engine::{Control, EngineError};
use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{
    Arrivals, BodyCheck, Check, Connections, IoChoice, Limits, LoadSpec, Part, RequestTemplate,
    Schedule, Stage, StopRule, Timeouts, WarmUp,
};
use pippin_model::profile::{KeepAlive, Profile, Stop, WarmUpChoice};
use pippin_model::trial::Step;
use pippin_model::workload::{Sample, Workload};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;

use crate::descriptors;

/// The longest warm-up that "auto" makes.
pub const AUTO_WARM_UP_NS: u64 = 5_000_000_000;
/// Connections from one source address to one destination, where loopback gives as many addresses
/// as one likes. The kernel tries local ports one by one until it finds a free one
/// (`__inet_hash_connect`: of the usual 28,232 those of one parity first), so that a source with
/// most of its ports taken spends its time in connect(2).
pub const CONNECTIONS_PER_SOURCE: u32 = 4_000;

/// Where and on what a load runs.
#[derive(Debug, Clone)]
pub struct Connecting {
    /// The target.
    pub address: SocketAddr,
    /// The generator's processors; empty leaves them to the scheduler.
    pub cores: Vec<u32>,
    /// Threads.
    pub threads: u32,
    /// Seeds the load.
    pub seed: u64,
}

/// The requests of a workload, ready to send, each with its check. `as_proved` is the body check
/// where the workload itself fixes none.
#[must_use]
pub fn templates(
    workload: &Workload,
    samples: &[Sample],
    as_proved: &BodyCheck,
    keep_alive: bool,
    host: SocketAddr,
) -> Vec<RequestTemplate> {
    let headers: &[(&str, &str)] = if keep_alive { &[] } else { &[("Connection", "close")] };
    let host = host.to_string();
    samples
        .iter()
        .map(|sample| RequestTemplate {
            // A workload whose path is none gives no bytes, which the engine refuses by name.
            bytes: Request {
                method: &workload.request.method,
                target: &sample.path,
                host: &host,
                headers,
                body: b"",
            }
            .to_bytes()
            .unwrap_or_default(),
            head_only: workload.request.method == "HEAD",
            check: Check {
                status: vec![workload.answer.status],
                body: body_check(workload, sample, as_proved),
            },
        })
        .collect()
}

fn body_check(workload: &Workload, sample: &Sample, as_proved: &BodyCheck) -> BodyCheck {
    match (&sample.body, workload.answer.body_bytes) {
        (Some(body), _) => BodyCheck::Exact(body.clone().into_bytes()),
        (None, Some(range)) if !sample.contains.is_empty() => {
            BodyCheck::Contains { min: range.min, max: range.max, all: sample.contains.clone() }
        }
        (None, Some(range)) => BodyCheck::Length { min: range.min, max: range.max },
        (None, None) if workload.answer.as_proved => as_proved.clone(),
        (None, None) => BodyCheck::Any,
    }
}

/// Whether connections are kept by this profile.
#[must_use]
pub const fn keeps_alive(profile: &Profile) -> bool {
    match profile {
        Profile::Closed { keep_alive, .. }
        | Profile::Open { keep_alive, .. }
        | Profile::Sweep { keep_alive, .. } => !matches!(keep_alive, KeepAlive::Off),
        Profile::Devices { .. } | Profile::Capacity { .. } => true,
    }
}

/// The steps of a profile whose points are known beforehand; a capacity search finds its own.
#[must_use]
pub fn steps(profile: &Profile) -> Vec<Option<Step>> {
    match profile {
        Profile::Sweep { connections, .. } => {
            connections.iter().map(|&count| Some(Step::Connections { count })).collect()
        }
        _ => vec![None],
    }
}

/// What the engine runs for one profile, or for one step of it.
#[must_use]
pub fn spec(
    profile: &Profile,
    step: Option<Step>,
    connecting: &Connecting,
    requests: Vec<RequestTemplate>,
) -> LoadSpec {
    unfitted(profile, step, base(connecting, requests)).with_fitting_sources()
}

fn unfitted(profile: &Profile, step: Option<Step>, base: LoadSpec) -> LoadSpec {
    match profile {
        Profile::Closed { connections, stop, think, keep_alive, warm_up } => LoadSpec {
            schedule: Schedule::Closed { think: *think },
            connections: uses(*connections, *keep_alive),
            stop: stop_rule(*stop),
            warm_up: warm_up_of(*warm_up),
            ..base
        },
        Profile::Sweep { connections, duration_ns, keep_alive, warm_up } => {
            let count = match step {
                Some(Step::Connections { count }) => count,
                _ => connections[0],
            };
            LoadSpec {
                schedule: Schedule::Closed { think: None },
                connections: uses(count, *keep_alive),
                stop: stop_rule(Stop::DurationNs(*duration_ns)),
                warm_up: warm_up_of(*warm_up),
                ..base
            }
        }
        Profile::Open { rate_per_s, arrivals, connections, ramp_ns, duration_ns, keep_alive } => {
            LoadSpec {
                schedule: open(*rate_per_s, *arrivals, *ramp_ns, *duration_ns),
                connections: uses(*connections, *keep_alive),
                stop: stop_rule(Stop::DurationNs(*duration_ns)),
                // The ramp is the warm-up: it is never averaged into the headline.
                warm_up: if *ramp_ns > 0 {
                    WarmUp::Fixed { duration_ns: *ramp_ns }
                } else {
                    WarmUp::None
                },
                ..base
            }
        }
        Profile::Devices {
            devices,
            requests_per_device,
            think,
            ramp_up_ns,
            sustain_ns,
            ramp_down_ns,
        } => LoadSpec {
            schedule: Schedule::Devices {
                devices: *devices,
                requests_per_device: *requests_per_device,
                think: *think,
                ramp_up_ns: *ramp_up_ns,
                sustain_ns: *sustain_ns,
                ramp_down_ns: *ramp_down_ns,
            },
            connections: uses(*devices, KeepAlive::Unlimited),
            ..base
        },
        Profile::Capacity { start_rate_per_s, connections, duration_ns, .. } => {
            let rate = match step {
                Some(Step::Rate { per_s }) => per_s,
                _ => *start_rate_per_s,
            };
            // A tenth of the step before it is counted, so that caches and just-in-time compilers
            // meet the new rate.
            let lead_ns = duration_ns / 10;
            LoadSpec {
                schedule: open(rate, Arrivals::Constant, 0, duration_ns + lead_ns),
                connections: uses(*connections, KeepAlive::Unlimited),
                stop: stop_rule(Stop::DurationNs(*duration_ns)),
                warm_up: WarmUp::Fixed { duration_ns: lead_ns },
                ..base
            }
        }
    }
}

fn base(connecting: &Connecting, requests: Vec<RequestTemplate>) -> LoadSpec {
    LoadSpec {
        addresses: vec![connecting.address],
        tls: None,
        source_addresses: Vec::new(),
        requests,
        schedule: Schedule::Closed { think: None },
        connections: uses(1, KeepAlive::Unlimited),
        stop: StopRule::default(),
        warm_up: WarmUp::None,
        timeouts: Timeouts::default(),
        limits: Limits::default(),
        threads: connecting.threads.max(1),
        cores: connecting.cores.clone(),
        io: IoChoice::Auto,
        spin_ns: None,
        seed: connecting.seed,
        slice: Part::WHOLE,
    }
}

/// Choices that follow from the finished spec.
pub trait Fitting {
    /// Enough loopback source addresses for the connections, where one has too few ports; enough
    /// threads, where one descriptor table (each thread can have its own) has too few entries; no
    /// more threads than connections.
    #[must_use]
    fn with_fitting_sources(self) -> Self;
}

impl Fitting for LoadSpec {
    fn with_fitting_sources(mut self) -> Self {
        let tables =
            descriptors::tables_for(u64::from(self.connections.count), descriptors::open_files())
                .min(1_024) as u32;
        self.threads = self.threads.max(tables).min(self.connections.count).max(1);
        let all_loopback =
            self.addresses.iter().all(|address| address.ip().is_loopback() && address.is_ipv4());
        let wanted = self.connections.count.div_ceil(CONNECTIONS_PER_SOURCE);
        if all_loopback && wanted > 1 && self.source_addresses.is_empty() {
            self.source_addresses =
                (0..wanted).map(|i| IpAddr::V4(Ipv4Addr::new(127, 0, 1, (i + 1) as u8))).collect();
        }
        self
    }
}

fn open(rate: f64, arrivals: Arrivals, ramp_ns: u64, duration_ns: u64) -> Schedule {
    let mut stages = Vec::new();
    if ramp_ns > 0 {
        stages.push(Stage { duration_ns: ramp_ns, from_per_s: 0.0, to_per_s: rate });
    }
    stages.push(Stage { duration_ns, from_per_s: rate, to_per_s: rate });
    Schedule::Open { arrivals, stages }
}

const fn uses(count: u32, keep_alive: KeepAlive) -> Connections {
    let requests_per_connection = match keep_alive {
        KeepAlive::Unlimited => None,
        KeepAlive::Requests(requests) => Some(requests),
        KeepAlive::Off => Some(1),
    };
    Connections { count, requests_per_connection, pipeline: 1 }
}

const fn stop_rule(stop: Stop) -> StopRule {
    match stop {
        Stop::DurationNs(ns) => StopRule { duration_ns: Some(ns), requests: None },
        Stop::Requests(count) => StopRule { duration_ns: None, requests: Some(count) },
    }
}

const fn warm_up_of(choice: WarmUpChoice) -> WarmUp {
    match choice {
        WarmUpChoice::Auto => WarmUp::Auto { at_most_ns: AUTO_WARM_UP_NS },
        WarmUpChoice::None => WarmUp::None,
        WarmUpChoice::DurationNs(duration_ns) => WarmUp::Fixed { duration_ns },
    }
}

/// Runs a short closed loop, for proofs.
///
/// # Errors
/// As the engine's.
pub fn run_closed(
    connecting: &Connecting,
    requests: Vec<RequestTemplate>,
    connections: u32,
    stop: StopRule,
) -> Result<LoadResult, EngineError> {
    let spec = LoadSpec {
        connections: uses(connections, KeepAlive::Unlimited),
        stop,
        ..base(connecting, requests)
    }
    .with_fitting_sources();
    let never = AtomicBool::new(false);
    pippin_engine::run(&spec, &Control::new(&never, pippin_stats::steady::has_settled))
}
