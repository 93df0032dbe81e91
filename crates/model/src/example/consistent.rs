//! Runs whose raw figures agree with each other as those of a real run do: trials one after the other,
//! windows and slices that add up to the load. The other makers give each figure by itself.
use super::{ExampleTrial, SECOND, STARTED_UNIX_NS};
use crate::host::usage::{Role, Usage};
use crate::result::histogram::Summary;
use crate::result::{LoadResult, Window};
use crate::run::RunRecord;
use crate::trial::slice::{SliceFigures, SliceQuantiles};
use crate::trial::{TrialRecord, sequence};

/// The time from the begin of one trial to that of the next.
const EACH_NS: u64 = 100 * SECOND;

/// The run with such figures. Its caveats are not judged anew.
pub fn consistent(mut record: RunRecord) -> RunRecord {
    let mut at = 0;
    for trial in &mut record.trials {
        at += EACH_NS;
        trial.started_unix_ns = STARTED_UNIX_NS + at;
        slice_anew(trial);
        move_to(trial, at);
    }
    record.ended_unix_ns = Some(STARTED_UNIX_NS + at + EACH_NS);
    record
}

/// Gives a trial of slices their sum as its load.
fn slice_anew(trial: &mut TrialRecord) {
    let (mut loads, mut usages) = (Vec::new(), Vec::new());
    let cores = trial.usage.as_ref().and_then(|usage| usage.roles[&Role::Target].cores);
    for (number, slice) in trial.slices.iter_mut().enumerate() {
        let made = ExampleTrial::hello()
            .seconds(1)
            .answers_per_s(slice.figures.goodput_per_s)
            .target_cores(cores.unwrap_or(0.5), 1)
            .build();
        let (Some(load), Some(usage)) = (made.load, made.usage) else { continue };
        slice.started_unix_ns = trial.started_unix_ns + (3 + 2 * number as u64) * SECOND;
        slice.measured_ns = load.measured.duration_ns;
        slice.figures = figures(&load, &usage);
        if slice.used {
            loads.push(with_windows(load));
            usages.push(usage);
        }
    }
    if let Some(load) = sequence::load_of(&[], &loads) {
        trial.usage = sequence::usage_of(&usages);
        trial.samples = sequence::samples_of(load.measured_from_ns, &usages);
        trial.load = Some(load);
    }
}

fn figures(load: &LoadResult, usage: &Usage) -> SliceFigures {
    let measured = &load.measured;
    let quantiles = |times: Summary| SliceQuantiles {
        p50_ns: times.p50_ns,
        p90_ns: times.p90_ns,
        p99_ns: times.p99_ns,
        max_ns: times.max_ns,
    };
    let cpu_ns = |role| usage.roles.get(&role)?.cpu_ns;
    SliceFigures {
        requests: measured.requests.scheduled,
        answered: measured.answered.completed,
        right: measured.answered.good,
        errors: measured.errors_total(),
        goodput_per_s: measured.goodput_per_s().unwrap(),
        response: quantiles(measured.spans.response_time.summary()),
        service: quantiles(measured.spans.service_time.summary()),
        target_cpu_ns: cpu_ns(Role::Target),
        generator_cpu_ns: cpu_ns(Role::Generator),
    }
}

/// Windows that add up to the load.
fn with_windows(mut load: LoadResult) -> LoadResult {
    let measured = &load.measured;
    let wanted = Window {
        duration_ns: measured.duration_ns,
        completed: measured.answered.completed,
        good: measured.answered.good,
        errors: measured.errors_total(),
        ..Window::default()
    };
    let sum = |of: fn(&Window) -> u64| load.windows.iter().map(of).sum::<u64>();
    let [duration_ns, completed, errors] =
        [sum(|it| it.duration_ns), sum(|it| it.completed), sum(|it| it.errors)];
    assert_eq!(duration_ns, wanted.duration_ns);
    let has = load.windows.len();
    // What rounding left out comes in the last window, and what there is too much goes from the
    // first ones.
    let mut surplus = completed.saturating_sub(wanted.completed);
    for window in &mut load.windows {
        let less = surplus.min(window.completed);
        window.completed -= less;
        surplus -= less;
        window.good = window.completed;
    }
    if let Some(last) = load.windows.get_mut(has.saturating_sub(1)) {
        last.completed += wanted.completed.saturating_sub(completed);
        last.errors += wanted.errors.saturating_sub(errors);
        last.good = last.completed;
    }
    // Some makers count errors in windows that they leave out of the sum.
    let mut too_many = errors.saturating_sub(wanted.errors);
    for window in &mut load.windows {
        let less = too_many.min(window.errors);
        window.errors -= less;
        too_many -= less;
    }
    let mut wrong = wanted.completed - wanted.good;
    for window in load.windows.iter_mut().rev() {
        let less = wrong.min(window.good);
        window.good -= less;
        wrong -= less;
    }
    load
}

/// Moves a trial in time, `at` nanoseconds after the begin of the run.
fn move_to(trial: &mut TrialRecord, at: u64) {
    let Some(load) = trial.load.take() else { return };
    let mut load = if load.phases.is_empty() { with_windows(load) } else { load };
    load.started_unix_ns = trial.started_unix_ns + SECOND;
    load.started_ns += at;
    load.measured_from_ns += at;
    load.measured_to_ns += at;
    for sample in &mut trial.samples {
        sample.at_ns += at;
    }
    trial.load = Some(load);
}
