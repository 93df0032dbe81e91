//! A clean trial of one target, changed in one respect at a time.
use std::collections::BTreeMap;

use super::{SECOND, STARTED_UNIX_NS};
use crate::host::kernel_network::KernelNetwork;
use crate::host::usage::{HostSample, Role, RoleSample, RoleUse, Usage, UsageSample};
use crate::plan::cpus::{CpuSet, CpuSplit};
use crate::plan::objective::Objective;
use crate::plan::profile::{Arrivals, Profile, StopRule, WarmUp};
use crate::result::histogram::Histogram;
use crate::result::{
    Answered, ByConnection, ByteCounts, ConnectionCounts, ErrorKind, GeneratorUse, LoadResult,
    Measured, Phase, RequestCounts, Spans, StampCounts, StatusCounts, WarmUpResult, Window,
};
use crate::text::units::Spread;
use crate::trial::{ProofOutcome, ProofTime, Step, TrialRecord, TrialSpec};
use crate::verdict::{Caveat, Verdict};

/// CLOCK_MONOTONIC at the start of the measured part.
const FROM_NS: u64 = 100 * SECOND;
const WARM_UP_NS: u64 = 2 * SECOND;

/// Builds a [`TrialRecord`] with consistent figures.
pub struct ExampleTrial {
    target: String,
    profile: Profile,
    step: Option<Step>,
    seconds: u64,
    connections: u64,
    /// `None`: the value that Little's law requires.
    response_ms: Option<f64>,
    /// The scatter of response times; `None`: evenly between 80 and 120 %.
    spread: Option<f64>,
    repetition: u32,
    repetitions: u32,
    caveats: Vec<Caveat>,
    completed: Option<u64>,
    unsent: u64,
    censored: u64,
    /// Whether the censored ones were due over the whole load, and not at its end.
    hung: bool,
    errors: BTreeMap<ErrorKind, u64>,
    own_lag_ms: f64,
    send_lag_ms: f64,
    /// Answers without an arrival stamp; `None`: a record from before the stamps.
    unstamped: Option<u64>,
    doubtful_stamps: StampCounts,
    generator_busy: f64,
    target_cores: f64,
    target_given: u32,
    rate: Option<Box<dyn Fn(u32) -> f64>>,
    rss_bytes: u64,
    memory: Option<Box<dyn Fn(f64) -> f64>>,
}

impl ExampleTrial {
    /// 10 connections, 30 s, 10,000 answers per second of 1 ms each; half of one processor busy.
    pub fn hello() -> Self {
        let profile = Profile::closed(10, StopRule::after(30 * SECOND));
        Self {
            target: "go/net-http".into(),
            profile,
            step: None,
            seconds: 30,
            connections: 10,
            response_ms: None,
            spread: None,
            repetition: 0,
            repetitions: 1,
            caveats: Vec::new(),
            completed: None,
            unsent: 0,
            censored: 0,
            hung: false,
            errors: BTreeMap::new(),
            own_lag_ms: 0.01,
            send_lag_ms: 0.01,
            unstamped: None,
            doubtful_stamps: StampCounts::default(),
            generator_busy: 0.4,
            target_cores: 0.5,
            target_given: 1,
            rate: None,
            rss_bytes: 50 << 20,
            memory: None,
        }
    }

    /// An open loop of 30 s at this rate.
    pub fn open(rate_per_s: f64) -> Self {
        let profile = Profile::open(rate_per_s, Arrivals::Constant, 10, 0, 30 * SECOND);
        Self { profile, response_ms: Some(1.0), ..Self::hello() }
    }

    /// A step of a capacity search at this rate.
    pub fn search_step(rate_per_s: f64) -> Self {
        let objective = Objective::parse("p99 < 50ms").unwrap();
        let profile = Profile::capacity(objective, 100.0, 10, 30 * SECOND, 0.02);
        Self { profile, step: Some(Step::Rate { per_s: rate_per_s }), ..Self::open(rate_per_s) }
    }

    /// Devices that send one request per second, with answers of 100 ms.
    pub fn devices(count: u32) -> Self {
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

    /// A trial under any profile, for 10 s.
    pub fn from_profile(profile: &Profile, step: Option<Step>) -> Self {
        let connections = match step {
            // Only a few of the connections that the profile allows.
            _ if profile.schedule.rate_per_s().is_some() => 10,
            Some(Step::Connections { count }) => count,
            _ => profile.connections.count,
        };
        Self {
            profile: profile.clone(),
            step,
            connections: connections.into(),
            seconds: 10,
            ..Self::hello()
        }
    }

    pub fn target(mut self, name: &str) -> Self {
        self.target = name.into();
        self
    }

    pub fn connections(mut self, count: u64) -> Self {
        self.connections = count;
        self.profile.connections.count = count as u32;
        self
    }

    /// A point of a sweep.
    pub fn sweep_point(mut self, count: u32, of: &[u32]) -> Self {
        self.profile = Profile::sweep(of.to_vec(), 30 * SECOND);
        (self.step, self.connections) = (Some(Step::Connections { count }), count.into());
        self
    }

    pub fn seconds(mut self, seconds: u64) -> Self {
        self.seconds = seconds;
        self
    }

    /// Ends after a number of requests, at the same throughput.
    pub fn counted(mut self, requests: u64) -> Self {
        self.completed = Some(requests);
        (self.profile.stop, self.profile.warm_up) = (StopRule::requests(requests), WarmUp::None);
        self
    }

    pub fn requests_per_connection(mut self, count: u32) -> Self {
        self.profile.connections.requests_per_connection = Some(count);
        self
    }

    pub fn pipeline(mut self, count: u32) -> Self {
        self.profile.connections.pipeline = count;
        self
    }

    pub fn completed(mut self, count: u64) -> Self {
        self.completed = Some(count);
        self
    }

    pub fn answers_per_s(self, rate: f64) -> Self {
        let count = rate * self.seconds as f64;
        self.completed(count as u64)
    }

    pub fn response_ms(mut self, ms: f64) -> Self {
        self.response_ms = Some(ms);
        self
    }

    pub fn unsent(mut self, count: u64) -> Self {
        self.unsent = count;
        self
    }

    pub fn censored(mut self, count: u64) -> Self {
        self.censored = count;
        self
    }

    /// So many requests are open at the end, due evenly over the whole measured part.
    pub fn hung(mut self, count: u64) -> Self {
        (self.censored, self.hung) = (count, true);
        self
    }

    pub fn repetition(mut self, repetition: u32) -> Self {
        self.repetition = repetition;
        self
    }

    /// How many repetitions are planned.
    pub fn repetitions(mut self, repetitions: u32) -> Self {
        self.repetitions = repetitions;
        self
    }

    pub fn caveats(mut self, caveats: Vec<Caveat>) -> Self {
        self.caveats = caveats;
        self
    }

    /// Response times with a long tail around this median; 0.3 is a usual spread.
    pub fn long_tailed(mut self, median_ms: f64, spread: f64) -> Self {
        (self.response_ms, self.spread) = (Some(median_ms), Some(spread));
        self
    }

    /// The target's resident memory at its highest.
    pub fn rss_bytes(mut self, bytes: u64) -> Self {
        self.rss_bytes = bytes;
        self
    }

    /// `count` of the requests end in this error.
    pub fn error(mut self, kind: ErrorKind, count: u64) -> Self {
        self.errors.insert(kind, count);
        self
    }

    pub fn own_lag_ms(mut self, ms: f64) -> Self {
        (self.own_lag_ms, self.send_lag_ms) = (ms, ms);
        self
    }

    /// The kernel stamped all arrivals.
    pub fn stamped(self) -> Self {
        self.unstamped(0)
    }

    /// The kernel stamped all arrivals but this many.
    pub fn unstamped(mut self, answers: u64) -> Self {
        self.unstamped = Some(answers);
        self
    }

    /// So many answers got the stamp of a later one.
    pub fn shared_stamps(mut self, answers: u64) -> Self {
        self.doubtful_stamps.shared = answers;
        self.stamped()
    }

    /// Behind this many answers, which have stamps, the server closed the connection.
    pub fn end_stamps(mut self, answers: u64) -> Self {
        self.doubtful_stamps.with_end = answers;
        self.stamped()
    }

    /// This many answers arrived before the estimated departure of their requests.
    pub fn early_stamps(mut self, answers: u64) -> Self {
        self.doubtful_stamps.early = answers;
        self.stamped()
    }

    /// The kernel was asked when so many requests left, and so many of them left more than 5 us from
    /// their estimate.
    pub fn sampled(mut self, requests: u64, off: u64) -> Self {
        (self.doubtful_stamps.sampled, self.doubtful_stamps.sampled_off) = (requests, off);
        self.stamped()
    }

    /// This many answers came sooner than any answer can.
    pub fn impossible_stamps(mut self, answers: u64) -> Self {
        self.doubtful_stamps.impossible = answers;
        self.early_stamps(answers)
    }

    pub fn send_lag_ms(mut self, ms: f64) -> Self {
        self.send_lag_ms = ms;
        self
    }

    pub fn generator_busy(mut self, share: f64) -> Self {
        self.generator_busy = share;
        self
    }

    /// How many cores the target keeps busy, and how many it was given.
    pub fn target_cores(mut self, cores: f64, given: u32) -> Self {
        (self.target_cores, self.target_given) = (cores, given);
        self
    }

    /// Answers per second by window.
    pub fn windows(mut self, rate: impl Fn(u32) -> f64 + 'static) -> Self {
        self.rate = Some(Box::new(rate));
        self
    }

    /// The target's resident bytes by second.
    pub fn memory(mut self, bytes: impl Fn(f64) -> f64 + 'static) -> Self {
        self.memory = Some(Box::new(bytes));
        self
    }

    pub fn build(self) -> TrialRecord {
        let requests = self.requests();
        let counted = self.profile.stop.requests.is_some();
        let duration_ns =
            if counted { requests.completed * 100_000 } else { self.seconds * SECOND };
        let response_ms = self.response_ms.unwrap_or_else(|| {
            self.connections as f64 * duration_ns as f64
                / 1e6
                / (requests.completed + requests.failed).max(1) as f64
        });
        let started_unix_ns = STARTED_UNIX_NS + u64::from(self.repetition) * 40 * SECOND;
        TrialRecord {
            load: Some(self.load(requests, duration_ns, response_ms)),
            usage: Some(self.usage(requests.completed, duration_ns)),
            samples: self.samples(duration_ns),
            start_up_ns: Some(38_000_000),
            elsewhere: None,
            proofs: vec![ProofOutcome {
                workload: "hello".into(),
                proof: "answer".into(),
                when: ProofTime::Before,
                failure: None,
                remark: None,
                doubt: None,
                packed: None,
            }],
            verdict: Verdict::of(&self.caveats),
            caveats: self.caveats.clone(),
            ..TrialRecord::begun(self.spec(), started_unix_ns)
        }
    }

    /// The specification of such a trial.
    pub fn spec(&self) -> TrialSpec {
        TrialSpec {
            target: self.target.parse().unwrap(),
            workload: "hello".into(),
            profile: self.profile.clone(),
            repetition: self.repetition,
            repetitions: self.repetitions,
            step: self.step,
            cpus: self.cpus(),
            workers: 1,
            seed: 1,
        }
    }

    fn requests(&self) -> RequestCounts {
        let failed: u64 =
            self.errors.iter().filter(|(kind, _)| !kind.is_before_sending()).map(|(_, n)| n).sum();
        let wrong = |kind| self.errors.get(&kind).copied().unwrap_or(0);
        let wrong = wrong(ErrorKind::WrongBody)
            + wrong(ErrorKind::WrongStatus)
            + wrong(ErrorKind::TooEarly);
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
            sent_again: 0,
        }
    }

    fn load(&self, requests: RequestCounts, duration_ns: u64, response_ms: f64) -> LoadResult {
        let busy_ns = (self.generator_busy * duration_ns as f64) as u64;
        let measured = self.measured(requests, duration_ns, response_ms);
        LoadResult {
            io: "io_uring".into(),
            threads: 1,
            started_unix_ns: STARTED_UNIX_NS,
            started_ns: FROM_NS - WARM_UP_NS,
            measured_from_ns: FROM_NS,
            measured_to_ns: FROM_NS + duration_ns,
            warm_up: WarmUpResult {
                duration_ns: WARM_UP_NS,
                steady: Some(true),
                completed: 20_000,
                ..WarmUpResult::default()
            },
            phases: self.phases(&measured),
            measured,
            windows: self.build_windows(requests, duration_ns),
            generator: GeneratorUse {
                cpu_ns: busy_ns,
                cpu_ns_by_thread: vec![busy_ns],
                spin_ns: 0,
                max_rss_bytes: Some(20 << 20),
                syscalls: Some(requests.sent * 2),
                clock_steps: 0,
            },
            tls: None,
            proxy: None,
            websocket: None,
            quic: None,
            network: None,
            interrupted: false,
            request_sample: None,
        }
    }

    fn measured(&self, requests: RequestCounts, duration_ns: u64, response_ms: f64) -> Measured {
        let answered = requests.completed + requests.failed;
        let around = |ms: f64, count: u64| match self.spread {
            Some(spread) => long_tailed(ms, spread, count),
            None => even(ms, count),
        };
        let exactly = |ms: f64, count: u64| {
            let mut histogram = Histogram::new();
            histogram.record_n((ms * 1e6) as u64, count);
            histogram
        };
        // The last ones that were due, or every so many of all.
        let apart_ns = if self.hung {
            duration_ns / requests.censored.max(1)
        } else {
            duration_ns / requests.scheduled.max(1)
        };
        let mut open = Histogram::new();
        // The last one was due shortly before the end.
        (0..requests.censored).for_each(|nth| open.record(nth * apart_ns + apart_ns / 20));
        let spans = Spans {
            open_age: open,
            connect: around(0.042, self.connections),
            headers: around(response_ms * 0.9, answered),
            body: around(response_ms * 0.1, answered),
            service_time: around(response_ms, answered),
            response_time: around(response_ms, answered),
            send_lag: exactly(self.send_lag_ms, requests.sent),
            own_lag: exactly(self.own_lag_ms, requests.sent),
            ..Spans::default()
        };
        Measured {
            duration_ns,
            requests,
            answered: Answered { completed: requests.completed, good: requests.good },
            successes: None,
            status: StatusCounts { interim: 0, codes: [(200, requests.good)].into() },
            errors: self.errors.clone(),
            connections: ConnectionCounts {
                asked: self.connections,
                peak: self.connections,
                opened: self.connections,
                opened_before: self.connections,
                ..ConnectionCounts::default()
            },
            by_connection: self.by_connection(requests.completed, response_ms),
            bytes: ByteCounts {
                received: requests.completed * 141,
                sent: requests.sent * 58,
                body: requests.completed * 12,
            },
            stamps: self.unstamped.map_or(StampCounts::default(), |user_space| StampCounts {
                kernel: requests.completed - user_space,
                user_space,
                ..self.doubtful_stamps
            }),
            spans,
            ..Measured::default()
        }
    }

    /// All connections have the same share of the answers.
    fn by_connection(&self, completed: u64, response_ms: f64) -> ByConnection {
        let mut all = ByConnection::default();
        let each = completed / self.connections.max(1);
        (0..self.connections)
            .for_each(|_| all.add(each, (each as f64 * response_ms * 1e6) as u64, each));
        all
    }

    /// The ramps of a device load, with half of the measured part's counts.
    fn phases(&self, measured: &Measured) -> Vec<Phase> {
        let Some([(_, ramp_up_ns), (_, sustain_ns), _]) = self.profile.schedule.phases() else {
            return Vec::new();
        };
        [("ramp_up", 0, 2), ("sustain", ramp_up_ns, 1), ("ramp_down", ramp_up_ns + sustain_ns, 2)]
            .map(|(name, from_ns, divisor)| {
                let mut measured = measured.clone();
                for count in [&mut measured.answered.completed, &mut measured.answered.good] {
                    *count /= divisor;
                }
                Phase { name: name.into(), from_ns, measured }
            })
            .into()
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
            let ns = |factor: f64| {
                self.spread?;
                Some((self.response_ms? * 1e6 * factor * mean / rate) as u64)
            };
            Window {
                from_ns: (i * SECOND) as i64,
                duration_ns: length,
                sent: completed,
                completed,
                good: completed,
                live_connections: self.connections,
                bytes_in: completed * 141,
                bytes_out: completed * 58,
                response_p50_ns: ns(1.0),
                response_p90_ns: ns(1.5),
                response_p99_ns: ns(2.3),
                response_max_ns: ns(4.4),
                response_mean_ns: ns(1.06).map(|ns| ns as f64),
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

    fn usage(&self, completed: u64, duration_ns: u64) -> Usage {
        let role = |cores: f64, rss: u64| RoleUse {
            cpu_ns: Some((cores * duration_ns as f64) as u64),
            cores: Some(cores),
            rss_max_bytes: Some(rss),
            rss_first_bytes: Some(rss - rss / 50),
            rss_last_bytes: Some(rss),
            pss_max_bytes: Some(rss - rss / 9),
            processes: Some(1),
            threads: Some(6),
            busiest_threads: Some(vec![
                0.96 / cores.round().max(1.0);
                cores.round().max(1.0) as usize
            ]),
            collects: None,
            voluntary_switches: Some(1_200),
            involuntary_switches: Some(340),
            ..RoleUse::default()
        };
        Usage {
            duration_ns,
            roles: [
                (Role::Target, role(self.target_cores, self.rss_bytes)),
                (Role::Generator, role(self.generator_busy, 14 << 20)),
            ]
            .into(),
            other_cores: Some(0.01),
            kernel_network: Some(KernelNetwork {
                by_cpu: [(0, 0.004)].into(),
                from_elsewhere: 0.0,
                other_programs: 0.004,
            }),
            steal_cores: Some(0.0),
            busy_by_cpu: (0..=self.target_given).map(|cpu| (cpu, 0.5)).collect(),
            listen_overflows: Some(0),
            retransmits: Some(0),
            loopback_bytes: Some(completed * 330),
            log_bytes: Some(0),
            listen_queue: Some((0.0, 0)),
            ..Usage::default()
        }
    }

    fn samples(&self, duration_ns: u64) -> Vec<UsageSample> {
        let sample = |i: u64| {
            let rss = self.memory.as_ref().map_or(self.rss_bytes, |bytes| bytes(i as f64) as u64);
            let role = |cores: f64, rss: u64| RoleSample {
                cpu_ns: (cores * (i * SECOND) as f64) as u64,
                rss_bytes: Some(rss),
                processes: 1,
                threads: 6,
                ..RoleSample::default()
            };
            UsageSample {
                at_ns: FROM_NS + i * SECOND,
                roles: [
                    (Role::Target, role(self.target_cores, rss)),
                    (Role::Generator, role(self.generator_busy, 14 << 20)),
                ]
                .into(),
                host: HostSample::default(),
                log_bytes: Some(0),
                listen_queue: Some(0),
                ..UsageSample::default()
            }
        };
        (0..=duration_ns / SECOND).map(sample).collect()
    }
}

/// Evenly between 80 and 120 %.
fn even(ms: f64, count: u64) -> Histogram {
    let mut histogram = Histogram::new();
    for step in 0..100u64 {
        let share = count / 100 + u64::from(step < count % 100);
        // The maximum must be a value that occurs.
        if share > 0 {
            let part = 0.8 + 0.4 * (step as f64 + 0.5) / 100.0;
            histogram.record_n((ms * 1e6 * part) as u64, share);
        }
    }
    histogram
}

/// The logarithm follows the logistic distribution. Its quantile is `ln(u / (1 - u))`; divided by
/// 1.702 it is close to a normal one.
fn long_tailed(median_ms: f64, spread: f64, count: u64) -> Histogram {
    let mut histogram = Histogram::new();
    let draws = 1_000.min(count);
    for i in 0..draws {
        let u = (i as f64 + 0.5) / draws as f64;
        let z = (u / (1.0 - u)).ln() / 1.702;
        let share = count / draws + u64::from(i < count % draws);
        histogram.record_n((median_ms * 1e6 * (spread * z).exp()) as u64, share);
    }
    histogram
}
