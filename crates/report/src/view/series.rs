//! Figures over time, one series per trial.
use pippin_model::host::usage::{MemoryOverTime, Role, RoleSample, UsageSample};
use pippin_model::plan::profile::{Profile, Steps};
use pippin_model::result::LoadResult;
use pippin_model::result::bins::ResponseBins;
use pippin_model::trial::{Step, TrialRecord};
use serde::{Deserialize, Serialize};

/// One trial over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The repetition, counted from 1.
    pub repetition: u32,
    /// The point of a sweep or of a capacity search.
    pub step: Option<Step>,
    /// What the generator saw, one point for each window.
    pub load: Vec<LoadPoint>,
    /// What the kernel counted, one point for each sample.
    pub usage: Vec<UsagePoint>,
}

/// One window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// The middle of the window in seconds after the start of the measured part; negative in the
    /// warm-up.
    pub at_s: f64,
    /// Complete answers per second.
    pub throughput_per_s: f64,
    /// Complete and right answers per second; `None` in reports of older versions.
    #[serde(default)]
    pub goodput_per_s: Option<f64>,
    /// Requests per second that the schedule asked for; `None` if answers set the pace.
    #[serde(default)]
    pub offered_per_s: Option<f64>,
    /// Median of the response time.
    pub response_p50_ns: Option<u64>,
    /// 99th percentile of the response time.
    pub response_p99_ns: Option<u64>,
    /// The distribution of the response times.
    #[serde(default, skip_serializing_if = "ResponseBins::is_empty")]
    pub response_bins: ResponseBins,
    /// Errors in the window.
    pub errors: u64,
    /// Connections open at its end.
    pub live_connections: u64,
}

/// The stretch between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UsagePoint {
    /// The middle of the stretch, in seconds after the start of the measured part.
    pub at_s: f64,
    /// Cores that the target's tree kept busy.
    pub target_cores: Option<f64>,
    /// Cores that the generator kept busy.
    pub generator_cores: Option<f64>,
    /// Cores that the services kept busy.
    pub services_cores: Option<f64>,
    /// Resident set of the target's tree, bytes.
    pub target_memory_bytes: Option<u64>,
    /// Cores that its compiler kept busy, where one can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cores: Option<f64>,
    /// The share of the time, 0 to 1, in pauses of its collectors, by the runtime's own account;
    /// more than 1 if several processes pause at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collecting: Option<f64>,
    /// Bytes in use on its heap at the end of the stretch, garbage included, by the same account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_bytes: Option<u64>,
}

impl Series {
    /// The series of a trial; `None` if it has no load.
    #[must_use]
    pub fn from_trial(record: &TrialRecord) -> Option<Self> {
        let load = record.load.as_ref()?;
        Some(Self {
            repetition: record.spec.repetition + 1,
            step: record.spec.step,
            load: load_points(load, &applied(record)),
            usage: record
                .samples
                .windows(2)
                .zip(MemoryOverTime::at_each(&record.samples, Role::Target).into_iter().skip(1))
                .filter_map(|(pair, memory)| usage_point(load, &pair[0], &pair[1], memory))
                .collect(),
        })
    }
}

/// The profile with the rates that were applied. In an overload they depend on the target.
fn applied(record: &TrialRecord) -> Profile {
    let profile = record.spec.profile.at(record.spec.step);
    match record.load_spec.as_ref().filter(|_| profile.is_overload()) {
        Some(spec) => Profile { schedule: spec.schedule.clone(), steps: Steps::One, ..profile },
        None => profile,
    }
}

fn load_points(load: &LoadResult, profile: &Profile) -> Vec<LoadPoint> {
    // A last window of a few milliseconds shows no rate, so it is left out. Windows of slices are
    // all that short, so they stay.
    let longest = load.windows.iter().map(|window| window.duration_ns).max().unwrap_or(0);
    let whole = load
        .windows
        .iter()
        .filter(|window| window.duration_ns >= 500_000_000.min(longest / 2).max(100_000_000));
    whole
        .map(|window| LoadPoint {
            at_s: (window.from_ns as f64 + window.duration_ns as f64 / 2.0) / 1e9,
            throughput_per_s: window.completed as f64 * 1e9 / window.duration_ns as f64,
            goodput_per_s: Some(window.good as f64 * 1e9 / window.duration_ns as f64),
            offered_per_s: profile.offered_per_s(window.from_ns, window.duration_ns),
            response_p50_ns: window.response_p50_ns,
            response_p99_ns: window.response_p99_ns,
            response_bins: window.response_bins.clone(),
            errors: window.errors,
            live_connections: window.live_connections,
        })
        .collect()
}

fn usage_point(
    load: &LoadResult,
    from: &UsageSample,
    to: &UsageSample,
    target_memory_bytes: Option<u64>,
) -> Option<UsagePoint> {
    let length_ns = to.at_ns.checked_sub(from.at_ns).filter(|ns| *ns >= 200_000_000)?;
    let cores = |role: Role| {
        let (a, b) = (from.roles.get(&role)?.cpu_ns, to.roles.get(&role)?.cpu_ns);
        Some(b.checked_sub(a)? as f64 / length_ns as f64)
    };
    let (a, b) = (from.roles.get(&Role::Target), to.roles.get(&Role::Target));
    let per_ns = |before: Option<u64>, after: Option<u64>| {
        Some(after?.checked_sub(before?)? as f64 / length_ns as f64)
    };
    let compiler = |role: Option<&RoleSample>| Some(role?.compiler?.cpu_ns);
    let collecting = |role: Option<&RoleSample>| role?.jvm.as_ref()?.collecting_ns;
    Some(UsagePoint {
        compiler_cores: per_ns(compiler(a), compiler(b)),
        collecting: per_ns(collecting(a), collecting(b)),
        heap_bytes: b.and_then(|role| role.jvm.as_ref()?.heap_bytes),
        at_s: (from.at_ns as f64 + length_ns as f64 / 2.0 - load.measured_from_ns as f64) / 1e9,
        target_cores: cores(Role::Target),
        generator_cores: cores(Role::Generator),
        services_cores: cores(Role::Services),
        target_memory_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::{Compiler, CompilerSample, JvmSample};

    const S: u64 = 1_000_000_000;

    #[test]
    fn what_a_runtime_tells_is_shown_and_what_it_does_not_is_unknown() {
        let load = ExampleTrial::hello().build().load.unwrap();
        let sample = |at_s: u64, tells: bool| {
            let compiler = CompilerSample {
                compiler: Compiler::Jvm,
                cpu_ns: at_s * S / 4,
                age_ns: (3 + at_s) * S,
            };
            let jvm = JvmSample {
                collecting_ns: Some(at_s * S / 50),
                heap_bytes: Some(at_s << 20),
                ..JvmSample::default()
            };
            let role = RoleSample {
                cpu_ns: at_s * S,
                compiler: tells.then_some(compiler),
                jvm: tells.then_some(jvm),
                ..RoleSample::default()
            };
            let at_ns = load.measured_from_ns + at_s * S;
            UsageSample { at_ns, roles: [(Role::Target, role)].into(), ..UsageSample::default() }
        };
        let point = |from: &UsageSample, to: &UsageSample| {
            let found = usage_point(&load, from, to, None).unwrap();
            (found.compiler_cores, found.collecting, found.heap_bytes)
        };
        let told = point(&sample(1, true), &sample(3, true));
        assert_eq!(told, (Some(0.25), Some(0.02), Some(3 << 20)));
        assert_eq!(point(&sample(1, false), &sample(3, false)), (None, None, None));
        // A runtime that was found between the two has no growth.
        assert_eq!(point(&sample(1, false), &sample(3, true)), (None, None, Some(3 << 20)));
    }
}
