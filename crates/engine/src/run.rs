//! One load from validation to result.
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use pippin_model::load_result::{GeneratorUse, LoadResult, Measured};
use pippin_model::load_spec::{IoChoice, LoadSpec, Schedule, WarmUp};

use crate::coordinator::{Coordinator, Course};
use crate::io::Io;
use crate::io::epoll::Epoll;
use crate::io::socket::Endpoints;
use crate::recorder::{MEASURED, Message, Recorder, WARM_UP};
use crate::tally::Tally;
use crate::timeline::{Progress, Timeline};
use crate::validate::{users, validate};
use crate::wire::Wire;
use crate::worker::{Assignment, Outcome, Worker};
use crate::{Control, EngineError, clock, cpu};

pub(crate) fn run(spec: &LoadSpec, control: &Control<'_>) -> Result<LoadResult, EngineError> {
    validate(spec)?;
    match spec.schedule {
        Schedule::Closed { .. } => {}
        Schedule::Open { .. } => return Err(EngineError::ScheduleUnsupported("open loops")),
        Schedule::Devices { .. } => return Err(EngineError::ScheduleUnsupported("devices")),
    }
    if spec.io == IoChoice::IoUring {
        return Err(EngineError::IoUringUnavailable("this build has no such event loop".into()));
    }
    run_on::<Epoll>(spec, control)
}

/// The share of `total` that falls to thread `nth` of `threads`; the shares differ by one at the most and add up.
fn share(total: u64, threads: u32, nth: u32) -> u64 {
    let (threads, nth) = (u64::from(threads), u64::from(nth));
    total / threads + u64::from(nth < total % threads)
}

fn run_on<I: Io>(spec: &LoadSpec, control: &Control<'_>) -> Result<LoadResult, EngineError> {
    let wire = Arc::new(Wire::new(&spec.requests, spec.connections.pipeline));
    let endpoints = Arc::new(Endpoints::new(&spec.addresses, &spec.source_addresses, spec.connections.pipeline > 1));
    let timeline = Timeline::new();
    let progress: Vec<Progress> = (0..spec.threads).map(|_| Progress::default()).collect();
    let (outbox, inbox) = channel();
    let started_unix_ns = clock::unix_ns();
    let mut first_slot = 0;
    let assignments: Vec<Assignment<'_>> = progress
        .iter()
        .zip(0..)
        .map(|(progress, thread)| {
            let slots = share(u64::from(users(spec)), spec.threads, thread) as u32;
            let quota = spec.stop.requests.map_or(u64::MAX, |requests| share(requests, spec.threads, thread));
            let (wire, endpoints) = (Arc::clone(&wire), Arc::clone(&endpoints));
            let assignment = Assignment { spec, thread, slots, first_slot, quota, wire, endpoints, timeline: &timeline, progress };
            first_slot += slots;
            assignment
        })
        .collect();
    let (course, outcomes) = std::thread::scope(|scope| {
        let threads: Vec<_> = assignments
            .iter()
            .map(|assignment| {
                let outbox = outbox.clone();
                scope.spawn(move || work::<I>(assignment, outbox))
            })
            .collect();
        drop(outbox);
        let course = Coordinator::new(spec, control, &timeline, &progress, inbox).run();
        let outcomes = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| Err(EngineError::WorkerDied(message(&*panic)))));
        (course, outcomes.collect::<Vec<_>>())
    });
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(assemble(spec, I::NAME, started_unix_ns, course, outcomes))
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").into()
}

fn work<I: Io>(assignment: &Assignment<'_>, outbox: Sender<Message>) -> Result<Outcome, EngineError> {
    let spec = assignment.spec;
    if !spec.cores.is_empty() {
        let core = spec.cores[assignment.thread as usize % spec.cores.len()];
        cpu::bind(core).map_err(|error| EngineError::Core { core, error })?;
    }
    let has_warm_up = !matches!(spec.warm_up, WarmUp::None);
    let recorder = Recorder::new(1 + usize::from(has_warm_up), has_warm_up, outbox);
    let worker = Worker::<I>::new(assignment, recorder).map_err(|error| EngineError::System { what: "setting up the event loop", error })?;
    worker.run().map_err(|error| EngineError::System { what: "waiting for events", error })
}

/// Merges what the threads have counted.
fn assemble(spec: &LoadSpec, io: &str, started_unix_ns: u64, mut course: Course, outcomes: Vec<Outcome>) -> LoadResult {
    let asked = u64::from(users(spec));
    let headline = if matches!(spec.warm_up, WarmUp::None) { 0 } else { MEASURED };
    let count = outcomes.first().map_or(0, |outcome| outcome.stretches.len());
    let mut merged: Vec<Tally> = (0..count).map(|_| Tally::default()).collect();
    for outcome in &outcomes {
        for (all, one) in merged.iter_mut().zip(&outcome.stretches) {
            all.merge(one);
        }
    }
    let generator = generator(&outcomes, headline);
    if headline == MEASURED {
        course.warm_up.completed = merged[WARM_UP].requests.completed;
    }
    let duration_ns = course.measured_to_ns - course.measured_from_ns;
    let measured: Measured = if headline < merged.len() { merged.swap_remove(headline).into_measured(duration_ns, asked) } else { Measured::default() };
    LoadResult {
        io: io.into(),
        threads: spec.threads,
        started_unix_ns,
        started_ns: course.started_ns,
        measured_from_ns: course.measured_from_ns,
        measured_to_ns: course.measured_to_ns,
        warm_up: course.warm_up,
        measured,
        phases: vec![],
        windows: course.windows,
        generator,
        interrupted: course.interrupted,
    }
}

fn generator(outcomes: &[Outcome], headline: usize) -> GeneratorUse {
    let cpu_ns_by_thread: Vec<u64> = outcomes
        .iter()
        .map(|outcome| match (outcome.cpu_marks.get(headline), outcome.cpu_marks.get(headline + 1)) {
            (Some(from), Some(to)) => to - from,
            // Interrupted before measuring began.
            _ => 0,
        })
        .collect();
    GeneratorUse {
        cpu_ns: cpu_ns_by_thread.iter().sum(),
        cpu_ns_by_thread,
        spin_ns: outcomes.iter().map(|outcome| outcome.spin_ns).sum(),
        max_rss_bytes: cpu::max_rss_bytes(),
        syscalls: Some(outcomes.iter().map(|outcome| outcome.syscalls).sum()),
    }
}
