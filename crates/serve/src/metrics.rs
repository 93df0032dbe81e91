//! `/metrics`: the runs under way in Prometheus' text format. Unknown figures are left out.
use pippin_model::host::usage::Role;
use pippin_model::run::live::{LiveOverall, LiveRun, LiveSecond, LiveTrial};
use pippin_report::exposition::{GAUGE, Sample, write};

/// A metric of each run.
struct OfRun(&'static str, &'static str, fn(&LiveRun) -> Option<f64>);

const OF_RUNS: [OfRun; 3] = [
    OfRun(
        "pippin_live_progress_ratio",
        "Progress of all trials of the run, from 0 to 1.",
        |live| live.overall.as_ref().and_then(|LiveOverall { fraction, .. }| *fraction),
    ),
    OfRun("pippin_live_finished_trials", "Finished trials.", |live| {
        Some(live.finished.len() as f64)
    }),
    OfRun(
        "pippin_live_updated_timestamp_seconds",
        "When the run wrote this, in seconds since 1970.",
        |live| Some(live.updated_unix_ns as f64 / 1e9),
    ),
];

/// A metric from the newest second of each trial.
struct OfSecond(&'static str, &'static str, fn(&LiveSecond) -> Option<f64>);

const OF_SECONDS: [OfSecond; 5] = [
    OfSecond(
        "pippin_live_offered_requests_per_second",
        "Requests that the schedule asked for in the newest second.",
        |second| second.offered_per_s,
    ),
    OfSecond(
        "pippin_live_requests_per_second",
        "Complete answers in the newest second.",
        |second| second.requests_per_s,
    ),
    OfSecond("pippin_live_errors_per_second", "Errors in the newest second.", |second| {
        Some(second.errors as f64)
    }),
    OfSecond(
        "pippin_live_response_time_p50_seconds",
        "Median response time of the newest second.",
        |second| seconds(second.p50_ns),
    ),
    OfSecond(
        "pippin_live_response_time_p99_seconds",
        "99th percentile of the response time of the newest second.",
        |second| seconds(second.p99_ns),
    ),
];

/// A metric of each trial under way.
struct OfTrial(&'static str, &'static str, fn(&LiveTrial) -> Option<f64>);

const OF_TRIALS: [OfTrial; 4] = [
    OfTrial(
        "pippin_live_trial_errors",
        "Errors of the trial so far, with those of its warm-up.",
        |trial| Some(trial.errors as f64),
    ),
    OfTrial("pippin_live_open_connections", "Connections, or devices, that are open.", |trial| {
        trial.live_connections.map(|count| count as f64)
    }),
    OfTrial(
        "pippin_live_target_memory_bytes",
        "Memory of the target's process tree: the proportional set, or else the resident set.",
        |trial| trial.target_memory_bytes.map(|bytes| bytes as f64),
    ),
    OfTrial("pippin_live_left_seconds", "Remaining time of the load.", |trial| {
        seconds(trial.left_ns)
    }),
];

fn seconds(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e9)
}

/// The metrics of all runs under way.
#[must_use]
pub fn render(runs: &[LiveRun]) -> String {
    let mut out = String::new();
    let alone = Sample { suffix: "", labels: Vec::new(), value: runs.len() as f64 };
    write(&mut out, "pippin_live_runs", GAUGE, "Runs under way.", &[alone]);
    for OfRun(name, help, value) in OF_RUNS {
        let samples: Vec<Sample> = runs
            .iter()
            .filter_map(|live| Some(sample(vec![("run", live.run.clone())], value(live)?)))
            .collect();
        write(&mut out, name, GAUGE, help, &samples);
    }
    let trials: Vec<(&LiveRun, &LiveTrial)> =
        runs.iter().filter_map(|live| Some((live, live.trial.as_ref()?))).collect();
    let stages: Vec<Sample> = trials.iter().map(|(live, trial)| stage(live, trial)).collect();
    write(
        &mut out,
        "pippin_live_stage_info",
        GAUGE,
        "The stage of the current trial; always 1.",
        &stages,
    );
    for OfSecond(name, help, value) in OF_SECONDS {
        let newest = |trial: &LiveTrial| trial.seconds.last().and_then(value);
        write(&mut out, name, GAUGE, help, &of_trials(&trials, newest));
    }
    for OfTrial(name, help, value) in OF_TRIALS {
        write(&mut out, name, GAUGE, help, &of_trials(&trials, value));
    }
    let cores: Vec<Sample> = trials.iter().flat_map(|(live, trial)| cores(live, trial)).collect();
    write(&mut out, "pippin_live_cpu_cores", GAUGE, "Cores kept busy, by role.", &cores);
    out
}

type Labels = Vec<(&'static str, String)>;

fn labels(live: &LiveRun, trial: &LiveTrial) -> Labels {
    vec![("run", live.run.clone()), ("target", trial.target.to_string())]
}

const fn sample(labels: Labels, value: f64) -> Sample {
    Sample { suffix: "", labels, value }
}

fn of_trials(
    trials: &[(&LiveRun, &LiveTrial)],
    value: impl Fn(&LiveTrial) -> Option<f64>,
) -> Vec<Sample> {
    trials
        .iter()
        .filter_map(|(live, trial)| Some(sample(labels(live, trial), value(trial)?)))
        .collect()
}

fn stage(live: &LiveRun, trial: &LiveTrial) -> Sample {
    let more = [
        ("repetition", (trial.repetition + 1).to_string()),
        ("load", trial.load.clone()),
        ("stage", trial.stage.clone()),
    ];
    sample(labels(live, trial).into_iter().chain(more).collect(), 1.0)
}

fn cores(live: &LiveRun, trial: &LiveTrial) -> Vec<Sample> {
    let name = |role: Role| match role {
        Role::Target => "target",
        Role::Generator => "generator",
        Role::Services => "services",
    };
    let of = |role: Role, cores: f64| {
        let role = [("role", name(role).to_string())];
        sample(labels(live, trial).into_iter().chain(role).collect(), cores)
    };
    trial.uses.iter().filter_map(|used| Some(of(used.role, used.cores?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::tests::live;

    #[test]
    fn each_run_and_its_trial_are_told_and_what_is_unknown_is_left_out() {
        let text = render(&[live()]);
        for line in [
            "pippin_live_runs 1",
            "pippin_live_finished_trials{run=\"20261121-203539-hello\"} ",
            "# TYPE pippin_live_requests_per_second gauge",
            "pippin_live_requests_per_second{run=\"20261121-203539-hello\",target=\"go/net-http\"} 2000",
            "pippin_live_response_time_p99_seconds{run=\"20261121-203539-hello\",target=\"go/net-http\"} 0.004",
            "pippin_live_cpu_cores{run=\"20261121-203539-hello\",target=\"go/net-http\",role=\"target\"} 0.98",
            "repetition=\"2\",load=\"10 connections\",stage=\"measuring\"} 1",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        for unknown in ["pippin_live_offered", "pippin_live_open_connections", "role=\"generator\""]
        {
            assert!(!text.contains(unknown), "{unknown}: {text}");
        }
        assert_eq!(
            render(&[]),
            "# HELP pippin_live_runs Runs under way.\n# TYPE pippin_live_runs gauge\npippin_live_runs 0\n"
        );
    }
}
