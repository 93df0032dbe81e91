//! Records for tests: a clean trial of one target, changed in one respect at a time.
use pippin_model::caveat::{Caveat, Verdict};
use pippin_model::cpus::{CpuSet, CpuSplit};
use pippin_model::fingerprint::Fingerprint;
use pippin_model::histogram::Histogram;
use pippin_model::load_result::{
    Answered, ByteCounts, ConnectionCounts, ErrorKind, GeneratorUse, LoadResult, Measured,
    RequestCounts, Spans, StatusCounts, WarmUpResult, Window,
};
use pippin_model::objective::Objective;
use pippin_model::plan::{Plan, PlanCpus};
use pippin_model::profile::{Arrivals, Profile, StopRule, WarmUp};
use pippin_model::run::{Calibration, RunHeader};
use pippin_model::trial::{Step, TrialRecord, TrialSpec};
use pippin_model::units::Spread;
use pippin_model::usage::{HostSample, Role, RoleSample, RoleUse, Usage, UsageSample};
use pippin_model::workload::{Answer, Request, Workload};
use std::collections::BTreeMap;

use crate::judge::{Context, Evidence, TrialJudge};

const SECOND: u64 = 1_000_000_000;
/// CLOCK_MONOTONIC at the start of the measured part.
const FROM_NS: u64 = 100 * SECOND;

pub(crate) fn judged(judge: TrialJudge, record: &TrialRecord) -> Option<Caveat> {
    judged_in(judge, record, &Context::default())
}

pub(crate) fn judged_in(
    judge: TrialJudge,
    record: &TrialRecord,
    context: &Context,
) -> Option<Caveat> {
    judge(&Evidence { record, context })
}

/// A calibration of the builder's generator with this ceiling.
pub(crate) fn calibration(ceiling_per_s: f64) -> Calibration {
    Calibration {
        at_unix_ns: 1,
        pippin_version: "0.1.0".into(),
        io: "epoll".into(),
        threads: 1,
        ceiling_per_s: [(10, ceiling_per_s)].into(),
        ceiling_connect_per_s: Some(ceiling_per_s / 10.0),
        min_round_trip_ns: Some(20_000),
        send_lag_p99_ns: Some(50_000),
        cpu_per_request_ns: BTreeMap::new(),
    }
}

/// The header of a run of the builder's first target.
pub(crate) fn header() -> RunHeader {
    let record = TestRecord::hello().build();
    RunHeader {
        id: "20261121-203539-hello".into(),
        started_unix_ns: 1,
        pippin_version: "0.1.0".into(),
        plan: Plan {
            id: "hello".into(),
            title: "Hello".into(),
            summary: None,
            workload: "hello".into(),
            targets: vec![record.spec.target],
            repetitions: 3,
            precision: None,
            profile: record.spec.profile,
            workers: None,
            database_pool: 20,
            upstream_delay_ns: 500_000_000,
            errors_allowed: 0.001,
            cpus: PlanCpus::default(),
            price: None,
            published: None,
            quick: false,
            changed: Vec::new(),
        },
        workload: Workload {
            schema: 1,
            id: "hello".into(),
            title: "Hello".into(),
            summary: String::new(),
            services: vec![],
            request: Request { method: "GET".into(), path: "/".into(), vary: BTreeMap::new() },
            answer: Answer {
                status: 200,
                content_type: None,
                body: None,
                body_bytes: None,
                contains: vec![],
                as_proved: false,
            },
            proofs: vec![],
        },
        url: None,
        seed: 1,
        host: Fingerprint { cpus: 2, kernel: Some("6.1".into()), ..Fingerprint::default() },
        targets: BTreeMap::new(),
        calibration: None,
    }
}

/// Builds a [`TrialRecord`] whose figures agree with each other.
pub(crate) struct TestRecord {
    target: String,
    profile: Profile,
    step: Option<Step>,
    seconds: u64,
    connections: u64,
    /// `None`: what Little's law asks for.
    response_ms: Option<f64>,
    completed: Option<u64>,
    unsent: u64,
    censored: u64,
    errors: BTreeMap<ErrorKind, u64>,
    own_lag_ms: f64,
    send_lag_ms: f64,
    generator_busy: f64,
    target_cores: f64,
    target_given: u32,
    rate: Option<Box<dyn Fn(u32) -> f64>>,
    memory: Option<Box<dyn Fn(f64) -> f64>>,
}

impl TestRecord {
    /// 10 connections, 30 s, 10,000 answers a second of 1 ms each; half of one processor busy.
    pub(crate) fn hello() -> Self {
        let profile = Profile::closed(10, StopRule::after(30 * SECOND));
        Self {
            target: "go/net-http".into(),
            profile,
            step: None,
            seconds: 30,
            connections: 10,
            response_ms: None,
            completed: None,
            unsent: 0,
            censored: 0,
            errors: BTreeMap::new(),
            own_lag_ms: 0.01,
            send_lag_ms: 0.01,
            generator_busy: 0.4,
            target_cores: 0.5,
            target_given: 1,
            rate: None,
            memory: None,
        }
    }

    /// An open loop of 30 s at this rate.
    pub(crate) fn open(rate_per_s: f64) -> Self {
        let profile = Profile::open(rate_per_s, Arrivals::Constant, 10, 0, 30 * SECOND);
        Self { profile, response_ms: Some(1.0), ..Self::hello() }
    }

    /// A step of a capacity search at this rate.
    pub(crate) fn search_step(rate_per_s: f64) -> Self {
        let objective = Objective::parse("p99 < 50ms").unwrap();
        let profile = Profile::capacity(objective, 100.0, 10, 30 * SECOND, 0.02);
        Self { profile, step: Some(Step::Rate { per_s: rate_per_s }), ..Self::open(rate_per_s) }
    }

    /// Devices that ask once a second, of which 100 ms are the answer's.
    pub(crate) fn devices(count: u32) -> Self {
        let think = Spread { mean_ns: 900_000_000, jitter: 0.05 };
        let profile = Profile::devices(count, 100, think, [5 * SECOND, 30 * SECOND, 5 * SECOND]);
        Self {
            profile,
            connections: count.into(),
            response_ms: Some(100.0),
            completed: Some(u64::from(count) * 30),
            ..Self::hello()
        }
    }

    pub(crate) fn target(mut self, name: &str) -> Self {
        self.target = name.into();
        self
    }

    pub(crate) fn connections(mut self, count: u64) -> Self {
        self.connections = count;
        self.profile.connections.count = count as u32;
        self
    }

    /// A point of a sweep.
    pub(crate) fn sweep_point(mut self, count: u32, of: &[u32]) -> Self {
        self.profile = Profile::sweep(of.to_vec(), 30 * SECOND);
        (self.step, self.connections) = (Some(Step::Connections { count }), count.into());
        self
    }

    pub(crate) fn seconds(mut self, seconds: u64) -> Self {
        self.seconds = seconds;
        self
    }

    /// Ends after a number of requests, at the same throughput.
    pub(crate) fn counted(mut self, requests: u64) -> Self {
        self.completed = Some(requests);
        (self.profile.stop, self.profile.warm_up) = (StopRule::requests(requests), WarmUp::None);
        self
    }

    pub(crate) fn requests_per_connection(mut self, count: u32) -> Self {
        self.profile.connections.requests_per_connection = Some(count);
        self
    }

    pub(crate) fn pipeline(mut self, count: u32) -> Self {
        self.profile.connections.pipeline = count;
        self
    }

    pub(crate) fn completed(mut self, count: u64) -> Self {
        self.completed = Some(count);
        self
    }

    pub(crate) fn response_ms(mut self, ms: f64) -> Self {
        self.response_ms = Some(ms);
        self
    }

    pub(crate) fn unsent(mut self, count: u64) -> Self {
        self.unsent = count;
        self
    }

    pub(crate) fn censored(mut self, count: u64) -> Self {
        self.censored = count;
        self
    }

    /// `count` of the requests end in this error.
    pub(crate) fn error(mut self, kind: ErrorKind, count: u64) -> Self {
        self.errors.insert(kind, count);
        self
    }

    pub(crate) fn own_lag_ms(mut self, ms: f64) -> Self {
        (self.own_lag_ms, self.send_lag_ms) = (ms, ms);
        self
    }

    pub(crate) fn send_lag_ms(mut self, ms: f64) -> Self {
        self.send_lag_ms = ms;
        self
    }

    pub(crate) fn generator_busy(mut self, share: f64) -> Self {
        self.generator_busy = share;
        self
    }

    /// Cores that the target keeps busy, of how many it was given.
    pub(crate) fn target_cores(mut self, cores: f64, given: u32) -> Self {
        (self.target_cores, self.target_given) = (cores, given);
        self
    }

    /// Answers per second by window.
    pub(crate) fn windows(mut self, rate: impl Fn(u32) -> f64 + 'static) -> Self {
        self.rate = Some(Box::new(rate));
        self
    }

    /// The target's resident bytes by second.
    pub(crate) fn memory(mut self, bytes: impl Fn(f64) -> f64 + 'static) -> Self {
        self.memory = Some(Box::new(bytes));
        self
    }

    pub(crate) fn build(self) -> TrialRecord {
        let requests = self.requests();
        let counted = self.profile.stop.requests.is_some();
        let duration_ns =
            if counted { requests.completed * 100_000 } else { self.seconds * SECOND };
        let response_ms = self.response_ms.unwrap_or_else(|| {
            self.connections as f64 * duration_ns as f64
                / 1e6
                / (requests.completed + requests.failed).max(1) as f64
        });
        let load = self.load(requests, duration_ns, response_ms);
        TrialRecord {
            spec: TrialSpec {
                target: self.target.parse().unwrap(),
                workload: "hello".into(),
                profile: self.profile.clone(),
                repetition: 0,
                step: self.step,
                cpus: self.cpus(),
                workers: 1,
                seed: 1,
            },
            started_unix_ns: SECOND,
            load_spec: None,
            load: Some(load),
            usage: Some(self.usage(duration_ns)),
            samples: self.samples(duration_ns),
            start_up_ns: Some(SECOND),
            proofs: vec![],
            failure: None,
            services: BTreeMap::new(),
            caveats: vec![],
            verdict: Verdict::Valid,
        }
    }

    fn requests(&self) -> RequestCounts {
        let failed: u64 =
            self.errors.iter().filter(|(kind, _)| !kind.is_before_sending()).map(|(_, n)| n).sum();
        let wrong = |kind| self.errors.get(&kind).copied().unwrap_or(0);
        let wrong = wrong(ErrorKind::WrongBody) + wrong(ErrorKind::WrongStatus);
        let offered = match self.step {
            Some(Step::Rate { per_s }) => Some(per_s),
            _ => self.profile.schedule.rate_per_s(),
        };
        let failed = failed - wrong;
        let total = offered.map_or(10_000 * self.seconds, |rate| {
            (rate * self.seconds as f64) as u64 - self.unsent - self.censored
        });
        let completed = self.completed.unwrap_or(total - failed);
        let sent = completed + failed + self.censored;
        RequestCounts {
            scheduled: sent + self.unsent,
            sent,
            unsent: self.unsent,
            completed,
            good: completed.saturating_sub(wrong),
            failed,
            censored: self.censored,
        }
    }

    fn load(&self, requests: RequestCounts, duration_ns: u64, response_ms: f64) -> LoadResult {
        let answered = requests.completed + requests.failed;
        let around = |ms: f64, count: u64| {
            let mut histogram = Histogram::new();
            // Uniform between 80 and 120 %.
            for step in 0..100u64 {
                let share = count / 100 + u64::from(step < count % 100);
                histogram
                    .record_n((ms * 1e6 * (0.8 + 0.4 * (step as f64 + 0.5) / 100.0)) as u64, share);
            }
            histogram
        };
        let exactly = |ms: f64, count: u64| {
            let mut histogram = Histogram::new();
            histogram.record_n((ms * 1e6) as u64, count);
            histogram
        };
        let spans = Spans {
            headers: around(response_ms * 0.9, answered),
            body: around(response_ms * 0.1, answered),
            service_time: around(response_ms, answered),
            response_time: around(response_ms, answered),
            send_lag: exactly(self.send_lag_ms, requests.sent),
            own_lag: exactly(self.own_lag_ms, requests.sent),
            ..Spans::default()
        };
        let busy_ns = (self.generator_busy * duration_ns as f64) as u64;
        LoadResult {
            io: "epoll".into(),
            threads: 1,
            started_unix_ns: 1_000 * SECOND,
            started_ns: FROM_NS - 5 * SECOND,
            measured_from_ns: FROM_NS,
            measured_to_ns: FROM_NS + duration_ns,
            warm_up: WarmUpResult {
                duration_ns: 5 * SECOND,
                steady: Some(true),
                completed: 50_000,
            },
            measured: Measured {
                duration_ns,
                requests,
                answered: Answered { completed: requests.completed, good: requests.good },
                status: StatusCounts { s2xx: requests.good, ..StatusCounts::default() },
                errors: self.errors.clone(),
                connections: ConnectionCounts {
                    asked: self.connections,
                    peak: self.connections,
                    opened: self.connections,
                    ..ConnectionCounts::default()
                },
                bytes: ByteCounts {
                    received: requests.completed * 150,
                    sent: requests.sent * 60,
                    body: requests.completed * 12,
                },
                spans,
            },
            phases: vec![],
            windows: self.build_windows(requests, duration_ns),
            generator: GeneratorUse {
                cpu_ns: busy_ns,
                cpu_ns_by_thread: vec![busy_ns],
                spin_ns: 0,
                max_rss_bytes: Some(20 << 20),
                syscalls: Some(requests.sent * 2),
            },
            tls: None,
            interrupted: false,
        }
    }

    fn build_windows(&self, requests: RequestCounts, duration_ns: u64) -> Vec<Window> {
        let mean = requests.completed as f64 * 1e9 / duration_ns.max(1) as f64;
        let window = |i: u64| {
            let length = SECOND.min(duration_ns - i * SECOND);
            // A ripple of 1 %, so that the windows are not all equal.
            let rate = self.rate.as_ref().map_or(
                mean * (1.0 + 0.01 * [0.0, 1.0, -1.0, 0.5, -0.5][i as usize % 5]),
                |rate| rate(i as u32),
            );
            let completed = (rate * length as f64 / 1e9) as u64;
            Window {
                from_ns: (i * SECOND) as i64,
                duration_ns: length,
                sent: completed,
                completed,
                good: completed,
                live_connections: self.connections,
                ..Window::default()
            }
        };
        (0..duration_ns.div_ceil(SECOND)).map(window).collect()
    }

    fn cpus(&self) -> CpuSplit {
        let next = CpuSet([self.target_given].into());
        CpuSplit {
            target: CpuSet((0..self.target_given).collect()),
            generator: next.clone(),
            services: next,
        }
    }

    fn usage(&self, duration_ns: u64) -> Usage {
        let role = |cores: f64| RoleUse {
            cpu_ns: Some((cores * duration_ns as f64) as u64),
            cores: Some(cores),
            rss_max_bytes: Some(50 << 20),
            ..RoleUse::default()
        };
        Usage {
            duration_ns,
            roles: [
                (Role::Target, role(self.target_cores)),
                (Role::Generator, role(self.generator_busy)),
            ]
            .into(),
            foreign_cores: Some(0.01),
            steal_cores: Some(0.0),
            busy_by_cpu: (0..=self.target_given).map(|cpu| (cpu, 0.5)).collect(),
            listen_overflows: Some(0),
            log_bytes: Some(0),
            listen_queue: Some((0.0, 0)),
            ..Usage::default()
        }
    }

    fn samples(&self, duration_ns: u64) -> Vec<UsageSample> {
        let sample = |i: u64| {
            let rss = self.memory.as_ref().map_or(50 << 20, |bytes| bytes(i as f64) as u64);
            let target = RoleSample { rss_bytes: Some(rss), ..RoleSample::default() };
            UsageSample {
                at_ns: FROM_NS + i * SECOND,
                roles: [(Role::Target, target)].into(),
                host: HostSample::default(),
                log_bytes: Some(0),
                listen_queue: Some(0),
            }
        };
        (0..=duration_ns / SECOND).map(sample).collect()
    }
}
