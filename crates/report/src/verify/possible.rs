//! Counts, times and distributions of a trial that contradict each other or the run.
use pippin_model::result::{LoadResult, Measured, Window};
use pippin_model::run::{RunRecord, RunState};
use pippin_model::trial::TrialRecord;

use super::{Findings, trials};

/// Finds them in the run and in each trial.
pub(super) fn check(record: &RunRecord, found: &mut Findings) {
    run(record, found);
    for (place, trial) in trials(record) {
        within_the_run(&place, trial, record, found);
        let Some(load) = &trial.load else { continue };
        let place = format!("{place}.load");
        clocks(&place, load, found);
        windows(&place, load, found);
        measured(&format!("{place}.measured"), &load.measured, load.websocket.is_some(), found);
        for phase in &load.phases {
            let place = format!("{place}.phases.{}", phase.name);
            measured(&place, &phase.measured, load.websocket.is_some(), found);
        }
        // Of devices the headline is one phase; windows of agents do not begin together.
        if load.phases.is_empty() && trial.agents.is_empty() {
            whole(&place, load, found);
        }
    }
    used_time(record, found);
}

/// The run by itself.
fn run(record: &RunRecord, found: &mut Findings) {
    let started = record.header.started_unix_ns;
    match record.ended_unix_ns {
        None => found.holds(
            record.state != RunState::Finished,
            "ended_unix_ns",
            "none",
            "a run that is finished has an end",
        ),
        Some(ended) => found.holds(
            ended >= started,
            "ended_unix_ns",
            ended,
            format!("not before {started}, when the run began"),
        ),
    }
    let header = &record.header;
    for (number, (place, trial)) in trials(record).enumerate() {
        let target = &trial.spec.target;
        let is_planned =
            header.plan.targets.contains(target) || header.targets.contains_key(target);
        found.holds(is_planned, &place, target, "a target of the run");
        found.equal(format!("{place}.spec.workload"), &trial.spec.workload, &header.workload.id);
        let key = |trial: &TrialRecord| {
            let load = trial.load.as_ref()?;
            Some((trial.spec.target.clone(), load.started_unix_ns, load.started_ns))
        };
        let before = record.trials[..number].iter();
        let is_twice = key(trial).is_some() && before.clone().any(|other| key(other) == key(trial));
        found.holds(!is_twice, &place, "the load of an earlier trial", "a load of its own");
    }
}

/// A trial begins and ends within its run.
fn within_the_run(place: &str, trial: &TrialRecord, record: &RunRecord, found: &mut Findings) {
    if record.header.probe.is_some() || !trial.agents.is_empty() {
        return;
    }
    let (from, to) = (record.header.started_unix_ns, record.ended_unix_ns.unwrap_or(u64::MAX));
    let mut inside = |name: &str, at: u64| {
        found.holds(
            (from..=to).contains(&at),
            format!("{place}.{name}"),
            at,
            "a time within the run",
        );
    };
    inside("started_unix_ns", trial.started_unix_ns);
    if let Some(load) = &trial.load {
        inside("load.started_unix_ns", load.started_unix_ns);
        inside(
            "load, its end",
            load.started_unix_ns + load.measured_to_ns.saturating_sub(load.started_ns),
        );
    }
}

/// The instants of a load, and of the samples beside it, rise.
fn clocks(place: &str, load: &LoadResult, found: &mut Findings) {
    let rises =
        load.started_ns <= load.measured_from_ns && load.measured_from_ns <= load.measured_to_ns;
    let stands = format!("{}, {}, {}", load.started_ns, load.measured_from_ns, load.measured_to_ns);
    let place = format!("{place}.started_ns, measured_from_ns, measured_to_ns");
    found.holds(rises, place, stands, "times that rise");
}

/// Windows follow each other, and their counts and quantiles are possible.
fn windows(place: &str, load: &LoadResult, found: &mut Findings) {
    for (number, window) in load.windows.iter().enumerate() {
        let place = format!("{place}.windows[{number}]");
        let Window { completed, good, .. } = window;
        found.holds(good <= completed, format!("{place}.good"), good, "at most `completed`");
        let known: Vec<u64> = [
            window.response_p50_ns,
            window.response_p90_ns,
            window.response_p99_ns,
            window.response_max_ns,
        ]
        .into_iter()
        .flatten()
        .collect();
        let words = known.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        found.holds(known.is_sorted(), &place, words, "p50, p90, p99 and max that rise");
    }
    for (number, pair) in load.windows.windows(2).enumerate() {
        let end = pair[0].from_ns.saturating_add_unsigned(pair[0].duration_ns);
        let place = format!("{place}.windows[{}].from_ns", number + 1);
        let from = pair[1].from_ns;
        found.holds(
            end <= from,
            place,
            from,
            format!("not before {end}, the end of the one before"),
        );
    }
}

/// Counts of one stretch with each other.
fn measured(place: &str, measured: &Measured, is_websocket: bool, found: &mut Findings) {
    let Measured { requests, answered, status, spans, .. } = measured;
    let mut at_most = |name: &str, stands: u64, most: u64, of: &str| {
        let place = format!("{place}.{name}");
        found.holds(stands <= most, place, stands, format!("at most {most}, {of}"));
    };
    at_most("answered.good", answered.good, answered.completed, "the complete answers");
    let successes = measured.successes.as_ref().map_or(0, |successes| successes.completed);
    at_most("successes.completed", successes, answered.completed, "the complete answers");
    at_most("status", status.within(0, 999), requests.completed, "the completed requests");
    let ended = requests.completed + requests.failed;
    at_most("spans.response_time", spans.response_time.count(), ended, "the requests that ended");
    at_most("spans.service_time", spans.service_time.count(), ended, "the requests that ended");
    if !is_websocket {
        let wrong = requests.failed + requests.completed.saturating_sub(requests.good);
        let errors = measured.errors_total();
        let follows = format!("at least {wrong}, the requests without a right answer");
        found.holds(errors >= wrong, format!("{place}.errors"), errors, follows);
        let timed = spans.response_time.count();
        let follows = format!("at least {}, the completed requests", requests.completed);
        found.holds(
            timed >= requests.completed,
            format!("{place}.spans.response_time"),
            timed,
            follows,
        );
    }
}

/// A load in one stretch is the sum of its windows.
fn whole(place: &str, load: &LoadResult, found: &mut Findings) {
    let sum = |of: fn(&Window) -> u64| {
        load.windows.iter().filter(|window| window.from_ns >= 0).map(of).sum::<u64>()
    };
    let measured = &load.measured;
    for (name, stands, follows) in [
        ("duration_ns", measured.duration_ns, sum(|window| window.duration_ns)),
        ("answered.completed", measured.answered.completed, sum(|window| window.completed)),
        ("answered.good", measured.answered.good, sum(|window| window.good)),
        ("errors", measured.errors_total(), sum(|window| window.errors)),
    ] {
        found.equal(format!("{place}.measured.{name}, the sum of the windows"), stands, follows);
    }
    let length = load.measured_to_ns.saturating_sub(load.measured_from_ns);
    found.equal(
        format!("{place}.measured.duration_ns, between its ends"),
        measured.duration_ns,
        length,
    );
    let threads: u64 = load.generator.cpu_ns_by_thread.iter().sum();
    let place = format!("{place}.generator.cpu_ns, the sum of its threads");
    found.equal(place, load.generator.cpu_ns, threads);
}

/// Processor time is what cores were busy for, and no host has more than its processors give.
fn used_time(record: &RunRecord, found: &mut Findings) {
    for (place, trial) in trials(record) {
        let is_sorted = trial.samples.is_sorted_by_key(|sample| sample.at_ns);
        found.holds(
            is_sorted,
            format!("{place}.samples"),
            "not in order of time",
            "in order of time",
        );
        let Some(usage) = &trial.usage else { continue };
        for (role, used) in &usage.roles {
            let Some(cpu_ns) = used.cpu_ns else { continue };
            let cores = cpu_ns as f64 / usage.duration_ns.max(1) as f64;
            let place = format!("{place}.usage.roles.{role:?}.cores");
            let stands = used.cores.unwrap_or(cores);
            found.holds((stands - cores).abs() <= 1e-6 * cores.max(1.0), &place, stands, cores);
            let most = f64::from(record.header.host.cpus) * 1.1;
            let is_here = record.header.probe.is_none() && trial.agents.is_empty();
            found.holds(
                !is_here || cores <= most,
                &place,
                cores,
                "at most the processors of the host",
            );
        }
    }
}
