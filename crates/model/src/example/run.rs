//! Whole runs. Each function describes its run; reports of them are kept as files.
use std::collections::BTreeMap;
use std::path::Path;

use super::overload;
use super::slices::Rounds;
use super::{ExampleTrial, SECOND, STARTED_UNIX_NS, caveat, failed};
use crate::host::fingerprint::Fingerprint;
use crate::plan::cpus::CpuSet;
use crate::plan::limits::Limits;
use crate::plan::objective::Objective;
use crate::plan::profile::{Arrivals, Profile, StopRule, WarmUp};
use crate::plan::published::Published;
use crate::plan::scan::Values;
use crate::plan::{EXTRA_TIME, Plan, PlanCpus, Price};
use crate::run::labels::Labels;
use crate::run::life::{LifeMemory, StopUnderLoad, TargetLife};
use crate::run::{
    Calibration, RunHeader, RunRecord, RunState, ServerProcess, TargetInfo, UrlServer,
};
use crate::target::TargetId;
use crate::target::manifest::Manifest;
use crate::target::register::ServerKind;
use crate::text::units::Spread;
use crate::trial::{AtRest, Exit, Failure, Stage, Step, TrialRecord};
use crate::verdict::{Caveat, Severity, Verdict};
use crate::workload::Workload;

/// A target and its speed.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    pub target: &'static str,
    pub framework: &'static str,
    pub per_s: f64,
    pub median_ms: f64,
    /// See [`ExampleTrial::long_tailed`].
    pub spread: f64,
    pub cores: f64,
    pub rss: u64,
}

const fn server(
    (target, framework): (&'static str, &'static str),
    per_s: f64,
    median_ms: f64,
    spread: f64,
    cores: f64,
    rss_mib: u64,
) -> Server {
    Server { target, framework, per_s, median_ms, spread, cores, rss: rss_mib << 20 }
}

pub const SERVERS: [Server; 6] = [
    server(("rust/axum", "axum"), 61_250.0, 0.150, 0.28, 0.98, 9),
    server(("go/net-http", "net/http"), 44_120.0, 0.205, 0.35, 0.99, 19),
    server(("elixir/cowboy", "Cowboy"), 20_410.0, 0.430, 0.45, 1.0, 74),
    server(("javascript/node-http", "Node http"), 20_380.0, 0.450, 0.30, 1.0, 66),
    server(("javascript/express", "Express"), 9_870.0, 0.960, 0.40, 1.0, 81),
    server(("c/nginx", "nginx"), 88_400.0, 0.101, 0.22, 0.84, 6),
];

impl Server {
    /// A trial of it. Repetitions and steps differ by some tenths of a percent from the exact
    /// values.
    pub fn trial(&self, profile: &Profile, repetition: u32, step: Option<Step>) -> ExampleTrial {
        let place = match step {
            Some(Step::Connections { count }) => count.ilog2(),
            _ => 0,
        };
        let wobble = [0.0, 0.005, -0.004][(repetition + place) as usize % 3];
        let per_s = self.per_s * (1.0 + wobble);
        ExampleTrial::from_profile(profile, step)
            .target(self.target)
            .repetition(repetition)
            .answers_per_s(per_s)
            .long_tailed(self.median_ms, self.spread)
            .target_cores(self.cores, 1)
            .generator_busy(per_s * 6.5e-6)
            .own_lag_ms(0.0018)
            .rss_bytes(self.rss)
    }
}

/// A target's name.
pub fn id(text: &str) -> TargetId {
    text.parse().unwrap()
}

/// 10 connections for 10 s.
pub fn closed() -> Profile {
    Profile::closed(10, StopRule::after(10 * SECOND))
}

/// The host of all example runs.
pub fn host() -> Fingerprint {
    Fingerprint {
        hostname: Some("bench-1".into()),
        cpu_model: Some("AMD EPYC 7B13".into()),
        cpus: 2,
        cores: Some(1),
        smt: Some(true),
        governor: None,
        turbo: None,
        memory_bytes: Some(25_193_971_712),
        kernel: Some("6.1.0-18-cloud-amd64".into()),
        distribution: Some("Debian GNU/Linux 12 (bookworm)".into()),
        virtualisation: Some("kvm".into()),
        clock_source: Some("tsc".into()),
        cgroup_cpus: None,
        cgroup_memory_bytes: None,
        limits: [("nofile".to_string(), Some(20_000))].into(),
        sysctls: [("net.core.somaxconn".to_string(), "4096".to_string())].into(),
        load_average: Some([0.08, 0.12, 0.10]),
        busy_before: Some(0.012),
    }
}

/// A calibration of the generator of [`ExampleTrial::hello`] with this ceiling.
pub fn calibration(ceiling_per_s: f64) -> Calibration {
    Calibration {
        at_unix_ns: 1,
        pippin_version: "0.1.0".into(),
        io: "io_uring".into(),
        threads: 1,
        ceiling_per_s: [(10, ceiling_per_s)].into(),
        ceiling_connect_per_s: Some(ceiling_per_s / 10.0),
        min_round_trip_ns: Some(20_000),
        send_lag_p99_ns: Some(50_000),
        cpu_per_request_ns: BTreeMap::new(),
    }
}

/// The header of a run of these targets.
pub fn header(plan: &str, title: &str, profile: Profile, targets: &[&str]) -> RunHeader {
    let workload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/hello.toml");
    let info = |target: &str| TargetInfo {
        route: Some("default".into()),
        versions: SERVERS
            .iter()
            .filter(|server| server.target == target)
            .map(|server| (server.framework.to_lowercase(), "1.2.3".to_string()))
            .collect(),
        digest: Some("9f2c3a1be77d0c44".into()),
        ..TargetInfo::default()
    };
    RunHeader {
        id: format!("20261121-203539-{plan}"),
        started_unix_ns: STARTED_UNIX_NS,
        pippin_version: "0.1.0".into(),
        plan: Plan {
            id: plan.into(),
            title: title.into(),
            summary: Some("GET / answered with `Hello World!`, 10 keep-alive connections.".into()),
            workload: "hello".into(),
            targets: targets.iter().map(|target| id(target)).collect(),
            scan: None,
            every_target: false,
            repetitions: 3,
            precision: Some(0.02),
            goal: None,
            slice_ns: None,
            extra_time: EXTRA_TIME,
            profile,
            workers: None,
            limits: Limits::default(),
            database_pool: 20,
            upstream_delay_ns: 500_000_000,
            errors_allowed: 0.001,
            cpus: PlanCpus::default(),
            price: Some(Price { per_hour: 0.08, cores: 2, currency: "EUR".into() }),
            published: None,
            gates: Vec::new(),
            undecided: None,
            life: false,
            instructions: false,
            quick: false,
            changed: Vec::new(),
        },
        workload: Workload::read(&workload).unwrap(),
        url: None,
        requests: None,
        server: None,
        seed: 42,
        probe: None,
        host: host(),
        targets: targets.iter().map(|target| (id(target), info(target))).collect(),
        calibration: None,
        labels: Labels::default(),
    }
}

/// A scan of a server: each value answers so many requests per second, measured in these rounds.
pub fn scanned(values: &Values, rounds: &Rounds, per_s: impl Fn(&str) -> f64) -> RunRecord {
    let scan = values.scan_of(&id("own/shop"));
    let names: Vec<String> = scan.points.iter().map(|point| point.target.to_string()).collect();
    let targets: Vec<&str> = names.iter().map(String::as_str).collect();
    let trials: Vec<TrialRecord> = scan
        .points
        .iter()
        .zip(&names)
        .flat_map(|(point, name)| rounds.trials(name, per_s(&point.value), 100.0))
        .collect();
    let profile = trials[0].spec.profile.clone();
    let mut header = header("compare", "A scan", profile, &targets);
    header.plan.scan = Some(scan);
    finished(header, trials)
}

/// A run that was finished.
pub fn finished(header: RunHeader, trials: Vec<TrialRecord>) -> RunRecord {
    let ended_unix_ns = Some(STARTED_UNIX_NS + 742 * SECOND);
    RunRecord { header, state: RunState::Finished, ended_unix_ns, trials, lives: Vec::new() }
}

/// Six targets measured three times; nginx is INVALID and express SUSPECT. Phoenix cannot be
/// installed, Plug exits.
pub fn hello() -> RunRecord {
    let profile = closed();
    let mut header = header("hello", "Hello World", profile.clone(), &SERVERS.map(|of| of.target));
    header.plan.targets.extend(["elixir/phoenix", "elixir/plug"].map(id));
    let phoenix = Failure {
        stage: Stage::Install,
        message: "mix deps.get could not reach hex.pm; set HEX_MIRROR, or leave the target out"
            .into(),
        log_tail: vec!["** (Mix) Failed to fetch record for plug_cowboy from registry".into()],
    };
    let unavailable = TargetInfo { unavailable: Some(phoenix), ..TargetInfo::default() };
    header.targets.insert(id("elixir/phoenix"), unavailable);
    header.plan.published = Some(published());

    let mut trials = Vec::new();
    for repetition in 0..3 {
        trials.extend(SERVERS.iter().map(|server| {
            let caveat = caveat_of(server.target, repetition);
            server.trial(&profile, repetition, None).caveats(vec![caveat]).build()
        }));
        trials.push(plug(&profile, repetition));
    }
    finished(header, trials)
}

/// Published figures for three of the targets.
fn published() -> Published {
    let csv = "# wrk -t 4 -c 10 -d 30, best of 3 runs\n# MacBook Pro 2010\ntarget,requests_per_s,target_cpu_percent\ngo,31964.88,330\nnode,14123.29,\nexpress,failed,\n";
    let mut published = Published::parse_csv(csv).unwrap();
    published.reference = Some("go".into());
    published.differs = vec![
        "published: one laptop of 2 cores shared by server and wrk".into(),
        "published: Go 1.5, Node 5".into(),
    ];
    for (row, target) in
        published.rows.iter_mut().zip(["go/net-http", "javascript/node-http", "javascript/express"])
    {
        row.target = Some(id(target));
    }
    published
}

fn caveat_of(target: &str, repetition: u32) -> Caveat {
    match (target, repetition) {
        ("c/nginx", _) => caveat(
            "generator_busy",
            Severity::Invalid,
            "generator core 97.4 % busy over 10.0 s (limit 95 %)",
            "give the generator more processors (cpus.generator), or fewer to the target",
        ),
        ("javascript/express", 1) => caveat(
            "noisy_neighbour",
            Severity::Suspect,
            "3.1 % of the processors went to others, 0.0 % were stolen",
            "stop what else runs on the machine, or take one of its own",
        ),
        _ => caveat("cpu_bound", Severity::Note, "the target kept 0.99 of its 1 core busy", ""),
    }
}

/// A target that does not start.
fn plug(profile: &Profile, repetition: u32) -> TrialRecord {
    let plug = Server { target: "elixir/plug", ..SERVERS[2] };
    let mut record = failed(
        plug.trial(profile, repetition, None).build(),
        Stage::Start,
        "exited with status 1 before it answered; see the log",
    );
    record.failure.as_mut().unwrap().log_tail = vec![
        "** (Mix) Could not start application hello:".into(),
        "    (EXIT) {:listen_error, :eaddrinuse}".into(),
    ];
    record.caveats = vec![caveat(
        "no_result",
        Severity::Invalid,
        "the target failed at the stage start",
        "see its log",
    )];
    record.verdict = Verdict::Invalid;
    record
}

/// One load of a URL on this machine, with a doubt and a note.
pub fn load() -> RunRecord {
    let profile = closed();
    let mut header =
        header("load", "http://127.0.0.1:8080/", profile.clone(), &["http://127.0.0.1:8080/"]);
    header.url = Some("http://127.0.0.1:8080/".into());
    header.server = Some(UrlServer::Processes {
        processes: vec![ServerProcess { pid: 4_242, name: "shop".into() }],
    });
    let doubts = vec![
        caveat("not_cpu_bound", Severity::Note, "not CPU-bound: 0.50 of 1 processor busy", ""),
        caveat(
            "no_steady_state",
            Severity::Suspect,
            "throughput changed by -9.1 % over 10 windows, from 46,200 to 42,000 requests/s (limit 5 %)",
            "measure longer (-d 60s), or warm up longer (--warm-up 30s)",
        ),
    ];
    let server = Server { target: "http://127.0.0.1:8080/", ..SERVERS[1] };
    let mut trial = server.trial(&profile, 0, None).caveats(doubts).build();
    trial.spec.cpus.target = CpuSet::default();
    finished(header, vec![trial])
}

/// Two targets at seven numbers of connections that follow the Universal Scalability Law.
pub fn sweep() -> RunRecord {
    let connections = vec![1, 2, 4, 8, 16, 64, 256];
    let profile = Profile {
        warm_up: WarmUp::Fixed { duration_ns: 2 * SECOND },
        ..Profile::sweep(connections.clone(), 10 * SECOND)
    };
    let servers = [SERVERS[1], SERVERS[4]];
    let mut trials = Vec::new();
    for (server, lambda, sigma, kappa) in
        [(servers[0], 9_000.0, 0.16, 0.000_15), (servers[1], 3_800.0, 0.33, 0.000_4)]
    {
        for count in &connections {
            let n = f64::from(*count);
            let per_s = lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0));
            let point = Server { per_s, median_ms: n / per_s * 1e3 * 0.94, ..server };
            let step = Some(Step::Connections { count: *count });
            trials.push(point.trial(&profile, 0, step).build());
        }
    }
    let title = "A page, from 1 to 256 connections";
    finished(header("page-sweep", title, profile, &servers.map(|of| of.target)), trials)
}

/// Two targets under devices with ramps.
pub fn devices() -> RunRecord {
    let think = Spread { mean_ns: 900_000_000, jitter: 0.05 };
    let profile = Profile::devices(2_000, 100, think, [10 * SECOND; 3]);
    let servers = [SERVERS[1], SERVERS[3]];
    let trials = servers.into_iter().zip([101.0, 104.0]).map(|(server, median_ms)| {
        let server = Server { per_s: 1_990.0, median_ms, spread: 0.03, cores: 0.3, ..server };
        server.trial(&profile, 0, None).build()
    });
    let trials = trials.collect();
    finished(header("devices", "2,000 devices", profile, &servers.map(|of| of.target)), trials)
}

/// One target under a capacity search.
pub fn capacity() -> RunRecord {
    let objective = Objective::parse("p99 < 2ms, errors < 0.1%").unwrap();
    let profile = Profile::capacity(objective, 1_000.0, 64, 10 * SECOND, 0.05);
    let steps = [
        (1_000.0, 0.40),
        (2_000.0, 0.42),
        (4_000.0, 0.50),
        (8_000.0, 1.9),
        (6_000.0, 0.66),
        (7_000.0, 0.95),
        (6_500.0, 0.84),
        (6_250.0, 0.78),
        (6_000.0, 0.66),
        (6_250.0, 0.78),
    ];
    let trials = steps.map(|(per_s, median_ms)| {
        let server = Server { per_s, median_ms, ..SERVERS[4] };
        server.trial(&profile, 0, Some(Step::Rate { per_s })).build()
    });
    let header = header("capacity", "What Express can bear", profile, &[SERVERS[4].target]);
    finished(header, trials.into())
}

/// Two targets at four rates, in two repetitions. Express leaves at the last one.
pub fn rates() -> RunRecord {
    let list = vec![1_000.0, 2_000.0, 5_000.0, 20_000.0];
    let profile = Profile {
        warm_up: WarmUp::Fixed { duration_ns: 2 * SECOND },
        ..Profile::rates(list.clone(), Arrivals::Constant, 64, 10 * SECOND)
    };
    // The processor time of a request, and how many requests per second it can serve.
    let servers = [(SERVERS[0], 16e-6, 60_000.0), (SERVERS[4], 100e-6, 9_870.0)];
    let mut trials = Vec::new();
    for (repetition, (server, cpu_s, most)) in
        (0..2).flat_map(|repetition| servers.map(|server| (repetition, server)))
    {
        for (place, per_s) in list.iter().enumerate() {
            let right = per_s.min(most);
            let of = Server { per_s: right, cores: right * cpu_s + 0.001, ..server };
            let mut trial = of.trial(&profile, repetition, Some(Step::Rate { per_s: *per_s }));
            let due = (per_s * 10.0) as u64;
            let answered = (right * 10.0) as u64;
            trial = trial.completed(answered).censored(due - answered);
            let mut record = trial.build();
            let (cpu_ns, memory_bytes) = (Some(SECOND / 100), Some(server.rss));
            let at_rest = AtRest { length_ns: 10 * SECOND, cpu_ns, memory_bytes };
            record.at_rest = (place == 0).then_some(at_rest);
            trials.push(record);
        }
    }
    let title = "What a request costs";
    finished(header("efficiency", title, profile, &servers.map(|(of, ..)| of.target)), trials)
}

/// Makes a run.
pub type Make = fn() -> RunRecord;

/// A run of every kind of load, with its name.
pub const OF_EVERY_KIND: [(&str, Make); 7] = [
    ("hello", hello),
    ("sweep", sweep),
    ("devices", devices),
    ("capacity", capacity),
    ("rates", rates),
    ("overload", overload),
    ("rounds", rounds),
];

/// Three targets beyond their capacity: one sheds, one queues, one collapses.
pub fn overload() -> RunRecord {
    let trials = vec![
        overload::trial(SERVERS[0].target, overload::sheds, 0),
        overload::trial(SERVERS[1].target, overload::queues, 4),
        overload::trial(SERVERS[4].target, overload::collapses, 30),
    ];
    let targets = [0, 1, 4].map(|place: usize| SERVERS[place].target);
    finished(header("overload", "Beyond the capacity", overload::profile(), &targets), trials)
}

/// Four targets measured in rounds. Two are equal; Go needs 1.4 times their CPU time per request;
/// Express is SUSPECT and far behind. One slice in four was disturbed.
pub fn rounds() -> RunRecord {
    let rounds = Rounds { start: 0.004, slice: 0.015, disturbed_one_in: 4, ..Rounds::default() };
    let servers = [
        ("rust/axum", 60_000.0, 16.0),
        ("c/nginx", 60_000.0, 16.0),
        ("go/net-http", 43_000.0, 22.4),
        ("javascript/express", 9_870.0, 101.0),
    ];
    let mut trials: Vec<TrialRecord> = servers
        .iter()
        .flat_map(|(target, per_s, cpu_us)| rounds.trials(target, *per_s, *cpu_us))
        .collect();
    for trial in trials.iter_mut().filter(|trial| trial.spec.target == id("javascript/express")) {
        let (seen, advice) = ("goodput fell by 7 % over the trial", "warm up longer");
        trial.caveats = vec![caveat("no_steady_state", Severity::Suspect, seen, advice)];
        trial.verdict = Verdict::Suspect;
    }
    trials.sort_by_key(|trial| trial.spec.repetition);
    let profile = trials[0].spec.profile.clone();
    let targets = servers.map(|(target, _, _)| target);
    let lives = vec![life(targets[0], 0), life(targets[3], 7)];
    RunRecord { lives, ..finished(header("hello", "Hello World", profile, &targets), trials) }
}

/// The life of a target that cuts off so many requests when it is stopped. One that does has to be
/// killed.
fn life(target: &str, cut: u64) -> TargetLife {
    let forced = cut > 0;
    TargetLife {
        start_ns: Some(12_000_000 * (cut + 1)),
        restart_ns: Some(11_000_000 * (cut + 1)),
        memory: LifeMemory {
            started_bytes: Some(4 << 20),
            idle_bytes: Some(4 << 20),
            loaded_bytes: Some(9 << 20),
            rested_bytes: Some(6 << 20),
            killed: None,
        },
        stop: Some(StopUnderLoad {
            users: 16,
            answered: 16 - cut,
            cut,
            wrong: 0,
            longest_ns: Some(400_000),
            refuses_after_ns: Some(1_200_000),
            gone_after_ns: Some(if forced { 10_000_000_000 } else { 8_000_000 }),
            forced,
            exit: Some(if forced { Exit::Signal(9) } else { Exit::Code(0) }),
        }),
        installed_bytes: (cut == 0).then_some(31 << 20),
        install_ns: (cut == 0).then_some(41_000_000_000),
        own_lines: Some(96),
        ..TargetLife::new(id(target))
    }
}

/// This many targets, each measured three times.
pub fn many(count: usize) -> RunRecord {
    let names: Vec<String> = (0..count).map(|i| format!("lang{}/server-{i}", i % 7)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let trials = (0..3).flat_map(|repetition| {
        names.iter().enumerate().map(move |(index, name)| {
            let factor = 1.0 / (1.0 + index as f64 * 0.15);
            let (per_s, median_ms) = (60_000.0 * factor, 0.15 / factor);
            let server = Server { per_s, median_ms, ..SERVERS[index % 5] };
            server.trial(&closed(), repetition, None).target(name).build()
        })
    });
    let trials = trials.collect();
    let mut header = header("hello", "Hello World", closed(), &names);
    let kinds = [Some(ServerKind::Raw), Some(ServerKind::Micro), Some(ServerKind::Full), None];
    for (info, kind) in header.targets.values_mut().zip(kinds.iter().cycle()) {
        info.registered.kind = *kind;
    }
    finished(header, trials)
}

/// Twenty targets as a real run leaves them: measured in rounds, with manifests and versions, notes
/// on all, doubts on some, one INVALID, and three that cannot be had for two causes.
pub fn twenty() -> RunRecord {
    let mut record = many(20);
    let rounds = Rounds { start: 0.004, slice: 0.015, disturbed_one_in: 4, ..Rounds::default() };
    for trial in &mut record.trials {
        rounds.slice_up(trial);
        let place = record.header.plan.targets.iter().position(|id| *id == trial.spec.target);
        trial.caveats = doubts_of(place.unwrap());
        trial.verdict = Verdict::of(&trial.caveats);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/go/net-http");
    let manifest = Manifest::read(&folder).unwrap();
    for info in record.header.targets.values_mut() {
        info.manifest = Some(manifest.clone());
        info.versions = [("go".into(), "bin/server: go1.22.1".into())].into();
    }
    let missing = [
        ("lang7/server-20", "`mix deps.get` ended with status 1: httpc request failed: nxdomain"),
        ("lang7/server-21", "`mix deps.get` ended with status 1: httpc request failed: nxdomain"),
        ("lang8/server-22", "missing: ruby >= 3 (not on PATH); apt-get install ruby"),
    ];
    for (target, cause) in missing {
        let failure =
            Failure { stage: Stage::Install, message: cause.into(), log_tail: Vec::new() };
        let info = TargetInfo { unavailable: Some(failure), ..TargetInfo::default() };
        record.header.targets.insert(id(target), info);
        record.header.plan.targets.push(id(target));
    }
    record
}

/// What is doubted of the target at this place of the plan.
fn doubts_of(place: usize) -> Vec<Caveat> {
    let busy = format!("CPU-bound: 0.9{} of 1 processor busy", place % 10);
    let goes =
        format!("headers (first byte sent to head complete) {}.4 %, body 9.1 %", 80 + place % 9);
    let mut found = vec![
        caveat("cpu_bound", Severity::Note, &busy, "nothing to do"),
        caveat("time_goes", Severity::Note, &goes, "nothing to do"),
    ];
    let (grave, seen, advice) = match place {
        3 => {
            (Severity::Invalid, "generator core 97.4 % busy over 10.0 s (limit 95 %)", BUSY_ADVICE)
        }
        place if place % 4 == 1 => {
            (Severity::Suspect, "throughput changed by -7.1 % over 10 windows", STEADY_ADVICE)
        }
        _ => return found,
    };
    let name = if grave == Severity::Invalid { "generator_busy" } else { "no_steady_state" };
    found.push(caveat(name, grave, seen, advice));
    found
}

const BUSY_ADVICE: &str = "give the generator more processors (cpus.generator in the plan): these figures depend on the generator as well as on the target";
const STEADY_ADVICE: &str = "measure longer, or warm up longer (warm_up = \"30s\"): a figure that still changes depends on when it is taken";
/// [`hello`], in which every target failed at its start, with a log.
#[must_use]
pub fn all_failed() -> RunRecord {
    let mut record = hello();
    for trial in &mut record.trials {
        let message = "nothing listens on port 8080 after 30 s";
        *trial = TrialRecord {
            verdict: Verdict::Invalid,
            ..failed(trial.clone(), Stage::Start, message)
        };
    }
    record
}
