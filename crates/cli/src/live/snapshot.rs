//! The state of the view as plain data for other processes.
use pippin_model::host::usage::Role;
use pippin_model::run::live::{LiveQueued, LiveRun, LiveSecond, LiveTrial, LiveUse, ProcessName};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::draw::load_of;
use super::state::{Current, State, rate_per_s};

/// How many seconds of a load are published: as many as a small chart shows.
const SECONDS: usize = 120;

/// Everything known at `now`, counted from the beginning of the view; `None` before the run has
/// begun.
pub fn take(state: &State, now: Duration, process: ProcessName) -> Option<LiveRun> {
    let (title, run) = state.title.clone()?;
    let unix_now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let unix_ns = |at: Duration| ns(unix_now.saturating_sub(now.saturating_sub(at)));
    Some(LiveRun {
        run,
        title,
        process,
        updated_unix_ns: ns(unix_now),
        is_stopping: state.stops > 0,
        repetitions: state.repetitions,
        by_time: state.by_time,
        trial: state
            .current
            .as_ref()
            .filter(|current| !current.over)
            .map(|current| trial(state, current, now, &unix_ns)),
        overall: state.overall(now),
        finished: state.finished.clone(),
        queued: state
            .queued()
            .map(|(repetition, target)| LiveQueued {
                target: target.clone(),
                repetition: *repetition,
            })
            .collect(),
    })
}

fn trial(
    state: &State,
    current: &Current,
    now: Duration,
    unix_ns: &impl Fn(Duration) -> u64,
) -> LiveTrial {
    let progress = state.progress(now);
    let profile = current.spec.profile.at(current.spec.step);
    let (target, generator) = (current.cores_of(Role::Target), current.cores_of(Role::Generator));
    let seconds: Vec<_> = current.seconds().zip(target).zip(generator).collect();
    let newest = &seconds[seconds.len().saturating_sub(SECONDS)..];
    let stage = match progress {
        Some(progress) if progress.warming_up => "warm-up",
        Some(_) => current.phase().unwrap_or("measuring"),
        None => &current.stage,
    };
    LiveTrial {
        target: current.spec.target.clone(),
        repetition: current.spec.repetition,
        load: load_of(current),
        stage: stage.into(),
        stage_began_unix_ns: unix_ns(
            progress.map_or(current.stage_began, |progress| now.saturating_sub(progress.spent)),
        ),
        fraction: progress.map(|progress| progress.fraction),
        left_ns: progress.and_then(|progress| progress.left).map(ns),
        seconds: newest
            .iter()
            .map(|((window, target), generator)| LiveSecond {
                from_ns: window.from_ns,
                requests_per_s: rate_per_s(window),
                offered_per_s: profile.offered_per_s(window.from_ns, window.duration_ns),
                p50_ns: window.response_p50_ns,
                p99_ns: window.response_p99_ns,
                errors: window.errors,
                target_cores: *target,
                generator_cores: *generator,
            })
            .collect(),
        errors: current.errors(),
        live_connections: current.windows.last().map(|window| window.live_connections),
        asked: current.asked(),
        uses: uses(current),
        target_memory_bytes: current.usage.target_memory_bytes,
    }
}

/// Target and generator always; services if there are any.
fn uses(current: &Current) -> Vec<LiveUse> {
    let cpus = &current.spec.cpus;
    let roles = [
        (Role::Target, &cpus.target),
        (Role::Generator, &cpus.generator),
        (Role::Services, &cpus.services),
    ];
    let cores = |role| current.usage.cores.get(&role).copied();
    let takes_part = |role| role != Role::Services || cores(role).is_some();
    roles
        .into_iter()
        .filter(|(role, _)| takes_part(*role))
        .map(|(role, given)| LiveUse { role, cores: cores(role), given: given.len() as u32 })
        .collect()
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{
        at, caveat, header, plan, record, sample, trial as spec_of, window,
    };
    use super::super::state::Subject;
    use super::*;
    use pippin_model::verdict::{Severity, Verdict};

    const ME: ProcessName = ProcessName { pid: 7, start_ticks: 8 };

    #[test]
    fn nothing_is_told_before_the_run_has_begun() {
        assert_eq!(take(&State::new(Subject::Plan), at(1.0), ME), None);
    }

    #[test]
    fn what_the_view_shows_is_told() {
        let plan = plan(2, "closed");
        let profile = plan.profile.clone();
        let header = header(plan);
        let order = pippin_lab::run::order(&header);
        let mut state = State::new(Subject::Plan);
        state.run_started(&header);
        let first = spec_of(&order[0].1.to_string(), order[0].0, &profile, None);
        state.trial_started(&first, 1, 4, at(0.0));
        state.trial_finished(
            &record(&first, 3_000, 30, vec![caveat("errors", Severity::Invalid, "30 of 3,000")]),
            at(30.0),
        );
        let second = spec_of(&order[1].1.to_string(), order[1].0, &profile, None);
        state.trial_started(&second, 2, 4, at(31.0));
        state.stage("measuring", at(32.0));
        state.window(&window(-1, 500, 0), Some(&sample(1, 98, 45)), at(33.0));
        state.window(&window(0, 1_000, 3), Some(&sample(2, 98, 45)), at(34.0));

        let live = take(&state, at(34.0), ME).unwrap();
        assert_eq!((live.run.as_str(), live.process), ("20261121-203539.123-hello", ME));
        let told = &live.finished[0];
        assert_eq!(
            (&told.target, told.verdict, told.remark.as_deref()),
            (&first.target, Verdict::Invalid, Some("errors: 30 of 3,000"))
        );
        let trial = live.trial.unwrap();
        assert_eq!(
            (trial.target, trial.stage.as_str(), trial.load.as_str(), trial.errors),
            (second.target.clone(), "measuring", "10 connections", 3)
        );
        assert_eq!((trial.fraction, trial.left_ns), (Some(1.0 / 30.0), Some(29_000_000_000)));
        assert_eq!(
            trial
                .seconds
                .iter()
                .map(|second| (second.from_ns, second.requests_per_s))
                .collect::<Vec<_>>(),
            [(-1_000_000_000, Some(500.0)), (0, Some(1_000.0))]
        );
        let uses: Vec<_> = trial.uses.iter().map(|of| (of.role, of.cores, of.given)).collect();
        assert_eq!(uses, [(Role::Target, Some(0.98), 1), (Role::Generator, Some(0.45), 1)]);
        let overall = live.overall.unwrap();
        assert_eq!((overall.number, overall.at_most), (2, Some(4)));
        let queued: Vec<_> =
            live.queued.into_iter().map(|next| (next.repetition, next.target)).collect();
        assert_eq!(queued, order[2..]);

        // A target that the user skips leaves the queue.
        state.skip().unwrap();
        assert!(
            take(&state, at(34.0), ME)
                .unwrap()
                .queued
                .iter()
                .all(|next| next.target != second.target)
        );
    }
}
