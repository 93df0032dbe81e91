//! Plans, trials, windows and records for the tests of the view.
use pippin_model::example::{self, ExampleTrial};
use pippin_model::host::usage::{HostSample, Role, RoleSample, UsageSample};
use pippin_model::plan::cpus::{CpuSet, CpuSplit};
use pippin_model::plan::profile::Profile;
use pippin_model::plan::{Plan, PlanOptions};
use pippin_model::result::bins::ResponseBins;
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{Answered, ErrorKind, Measured, RequestCounts, Window};
use pippin_model::run::RunHeader;
use pippin_model::trial::{Stage, Step, TrialRecord, TrialSpec};
use pippin_model::verdict::{Caveat, Severity};
use std::collections::BTreeMap;
use std::time::Duration;

pub const fn at(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64)
}

const TARGETS: &str = "title = \"Hello World\"\nworkload = \"hello\"\ntargets = [\"go/net-http\", \"javascript/express:cluster\"]\n";
const CLOSED: &str =
    "[profile]\nkind = \"closed\"\nconnections = 10\nduration = \"30s\"\nwarm_up = \"auto\"\n";
const SWEEP: &str = "[profile]\nkind = \"sweep\"\nconnections = [1, 8, 64]\nduration = \"5s\"\nwarm_up = \"none\"\n";

pub fn plan(repetitions: u32, profile: &str) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hello.toml");
    let profile = if profile == "sweep" { SWEEP } else { CLOSED };
    std::fs::write(&path, format!("{TARGETS}repetitions = {repetitions}\n{profile}")).unwrap();
    Plan::read(&path, &PlanOptions::default()).unwrap()
}

pub fn header(plan: Plan) -> RunHeader {
    let targets: Vec<String> = plan.targets.iter().map(ToString::to_string).collect();
    let names: Vec<&str> = targets.iter().map(String::as_str).collect();
    let header = example::run::header(&plan.id, &plan.title, plan.profile.clone(), &names);
    RunHeader { id: "20261121-203539.123-hello".into(), plan, ..header }
}

pub fn trial(target: &str, repetition: u32, profile: &Profile, step: Option<Step>) -> TrialSpec {
    TrialSpec {
        target: target.parse().unwrap(),
        workload: "hello".into(),
        profile: profile.clone(),
        repetition,
        repetitions: 1,
        step,
        cpus: CpuSplit {
            target: CpuSet([0].into()),
            generator: CpuSet([1].into()),
            services: CpuSet([1].into()),
        },
        workers: 1,
        seed: 1,
    }
}

/// A second with `completed` requests, and response times that follow from that number.
pub fn window(from_s: i64, completed: u64, errors: u64) -> Window {
    let ms = |ms: u64| Some(ms * 1_000_000 * 30_000 / completed.max(1));
    let mut times = Histogram::new();
    // From 0.4 to 4 ms, most of them around 1 ms.
    for (place, count) in (4..=40).zip((1..=6).chain((0..31).rev())) {
        times.record_n(place * 100_000, count * 10);
    }
    Window {
        from_ns: from_s * 1_000_000_000,
        duration_ns: 1_000_000_000,
        sent: completed,
        completed,
        good: completed - errors.min(completed),
        errors,
        live_connections: 10,
        response_p50_ns: ms(1),
        response_p99_ns: ms(4),
        response_bins: ResponseBins::from_histogram(&times),
        ..Window::default()
    }
}

/// Counters at an instant, if both roles have kept this percentage of a core busy since second 0.
pub fn sample(second: u64, target_percent: u64, generator_percent: u64) -> UsageSample {
    let role = |percent: u64| RoleSample {
        cpu_ns: second * percent * 10_000_000,
        rss_bytes: Some(34 << 20),
        ..RoleSample::default()
    };
    UsageSample {
        at_ns: second * 1_000_000_000,
        roles: BTreeMap::from([
            (Role::Target, role(target_percent)),
            (Role::Generator, role(generator_percent)),
        ]),
        host: HostSample { steal_ns: Some(0), ..HostSample::default() },
        ..UsageSample::default()
    }
}

pub fn record(spec: &TrialSpec, completed: u64, errors: u64, caveats: Vec<Caveat>) -> TrialRecord {
    let mut measured = Measured { duration_ns: 30_000_000_000, ..Measured::default() };
    measured.requests = RequestCounts {
        scheduled: completed,
        sent: completed,
        completed,
        good: completed - errors,
        ..RequestCounts::default()
    };
    measured.answered = Answered { completed, good: completed - errors };
    if errors > 0 {
        measured.errors.insert(ErrorKind::WrongStatus, errors);
    }
    measured.spans.response_time.record_n(1_140_000, 98);
    measured.spans.response_time.record_n(8_200_000, 2);
    let mut record = ExampleTrial::from_profile(&spec.profile, spec.step).caveats(caveats).build();
    let load = record.load.as_mut().unwrap();
    (load.measured, load.measured_to_ns) = (measured, load.measured_from_ns + 30_000_000_000);
    TrialRecord { spec: spec.clone(), usage: None, samples: Vec::new(), ..record }
}

pub fn failed(spec: &TrialSpec, stage: Stage, message: &str) -> TrialRecord {
    example::failed(TrialRecord::begun(spec.clone(), 0), stage, message)
}

pub fn caveat(id: &str, severity: Severity, evidence: &str) -> Caveat {
    example::caveat(id, severity, evidence, "none")
}
