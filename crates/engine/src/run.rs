//! One load from validation to result.
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use pippin_model::load_result::{GeneratorUse, LoadResult, Phase};
use pippin_model::load_spec::{IoChoice, LoadSpec, Schedule, WarmUp};
use pippin_model::tls::{TlsSpec, TlsUse};

use crate::coordinator::{Coordinator, Course};
use crate::descriptors::Tables;
use crate::io::Io;
use crate::io::epoll::Epoll;
use crate::io::socket::Endpoints;
use crate::io::uring::{self, Uring};
use crate::recorder::{MEASURED, Message, Recorder, WARM_UP};
use crate::tally::Tally;
use crate::timeline::{Progress, Timeline};
use crate::tls::{Client, config};
use crate::validate::{users, validate};
use crate::wire::Wire;
use crate::worker::{Assignment, Mark, Outcome, Worker};
use crate::{Control, EngineError, clock, cpu, descriptors};

pub(crate) fn run(spec: &LoadSpec, control: &Control<'_>) -> Result<LoadResult, EngineError> {
    validate(spec)?;
    match (spec.io, uring::probe()) {
        (IoChoice::Auto, Ok(())) if has_deadlines(spec) => run_on::<Epoll>(spec, control),
        (IoChoice::Epoll, _) | (IoChoice::Auto, Err(_)) => run_on::<Epoll>(spec, control),
        (IoChoice::IoUring | IoChoice::Auto, Ok(())) => run_on::<Uring>(spec, control),
        (IoChoice::IoUring, Err(error)) => Err(EngineError::IoUringUnavailable(error.to_string())),
    }
}

/// Whether requests are to be sent at instants: epoll meets them better
/// (docs/decisions/engine-event-loops.md).
const fn has_deadlines(spec: &LoadSpec) -> bool {
    matches!(spec.schedule, Schedule::Open { .. })
}

/// The share of `total` that falls to thread `nth` of `threads`; the shares differ by one at the
/// most and add up.
fn share(total: u64, threads: u32, nth: u32) -> u64 {
    let (threads, nth) = (u64::from(threads), u64::from(nth));
    total / threads + u64::from(nth < total % threads)
}

fn run_on<I: Io>(spec: &LoadSpec, control: &Control<'_>) -> Result<LoadResult, EngineError> {
    let tables = descriptors::prepare(users(spec), spec.threads)?;
    let wire = Arc::new(Wire::new(&spec.requests, spec.connections.pipeline));
    let endpoints = Arc::new(Endpoints::new(
        &spec.addresses,
        &spec.source_addresses,
        spec.connections.pipeline > 1,
        spec.tls.is_some(),
    ));
    let tls = spec.tls.as_ref().map(Client::new).transpose()?;
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
            let quota = spec
                .stop
                .requests
                .map_or(u64::MAX, |requests| share(requests, spec.threads, thread));
            let (wire, endpoints) = (Arc::clone(&wire), Arc::clone(&endpoints));
            let tls = tls.clone();
            let assignment = Assignment {
                spec,
                thread,
                slots,
                first_slot,
                quota,
                wire,
                endpoints,
                tls,
                timeline: &timeline,
                progress,
            };
            first_slot += slots;
            assignment
        })
        .collect();
    let (course, outcomes) = std::thread::scope(|scope| {
        let threads: Vec<_> = assignments
            .iter()
            .map(|assignment| {
                let outbox = outbox.clone();
                scope.spawn(move || work::<I>(assignment, tables, outbox))
            })
            .collect();
        drop(outbox);
        let course = Coordinator::new(spec, control, &timeline, &progress, inbox).run();
        let outcomes = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|panic| Err(EngineError::WorkerDied(message(&*panic))))
        });
        (course, outcomes.collect::<Vec<_>>())
    });
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(assemble(spec, I::NAME, started_unix_ns, course, &outcomes))
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").into()
}

/// Tells the coordinator that a thread is gone, however it ends.
struct Farewell(Sender<Message>);

impl Drop for Farewell {
    fn drop(&mut self) {
        // Only a coordinator that has given up does not listen.
        let _ = self.0.send(Message::Gone);
    }
}

/// How many stretches the load has, whether the first is a warm-up, and which of them is the
/// headline.
const fn stretches(spec: &LoadSpec) -> (usize, bool, usize) {
    match (&spec.schedule, spec.warm_up) {
        (Schedule::Devices { .. }, _) => (PHASES.len(), false, SUSTAIN),
        (_, WarmUp::None) => (1, false, 0),
        (_, WarmUp::Fixed { .. } | WarmUp::Auto { .. }) => (2, true, MEASURED),
    }
}

/// The phases of devices.
const PHASES: [&str; 3] = ["ramp_up", "sustain", "ramp_down"];
const SUSTAIN: usize = 1;

fn work<I: Io>(
    assignment: &Assignment<'_>,
    tables: Tables,
    outbox: Sender<Message>,
) -> Result<Outcome, EngineError> {
    let _farewell = Farewell(outbox.clone());
    let spec = assignment.spec;
    if !spec.cores.is_empty() {
        let core = spec.cores[assignment.thread as usize % spec.cores.len()];
        cpu::bind(core).map_err(|error| EngineError::Core { core, error })?;
    }
    if tables == Tables::OneForEachThread {
        descriptors::unshare().map_err(|error| EngineError::System {
            what: "giving a thread its own descriptors (close_range)",
            error,
        })?;
    }
    cpu::sleep_precisely();
    let (count, has_warm_up, _) = stretches(spec);
    let recorder = Recorder::new(count, has_warm_up, outbox);
    let worker = Worker::<I>::new(assignment, recorder)
        .map_err(|error| EngineError::System { what: "setting up the event loop", error })?;
    worker.run().map_err(|error| EngineError::System { what: "waiting for events", error })
}

/// Merges what the threads have counted.
fn assemble(
    spec: &LoadSpec,
    io: &str,
    started_unix_ns: u64,
    mut course: Course,
    outcomes: &[Outcome],
) -> LoadResult {
    let asked = u64::from(users(spec));
    let (count, has_warm_up, headline) = stretches(spec);
    let mut merged: Vec<Tally> = (0..count).map(|_| Tally::default()).collect();
    for outcome in outcomes {
        for (all, one) in merged.iter_mut().zip(&outcome.stretches) {
            all.merge(one);
        }
    }
    let generator = generator(outcomes, headline);
    if has_warm_up {
        course.warm_up.completed = merged[WARM_UP].requests.completed;
    }
    let mut phases = phases(spec, &course, merged, asked);
    let measured = phases[headline].measured.clone();
    if !matches!(spec.schedule, Schedule::Devices { .. }) {
        phases.clear();
    }
    LoadResult {
        io: io.into(),
        threads: spec.threads,
        started_unix_ns,
        started_ns: course.started_ns,
        measured_from_ns: course.measured_from_ns,
        measured_to_ns: course.measured_to_ns,
        warm_up: course.warm_up,
        measured,
        phases,
        windows: course.windows,
        generator,
        tls: spec.tls.as_ref().map(|tls| tls_use(tls, outcomes)),
        interrupted: course.interrupted,
    }
}

/// Each stretch with its place in time; the names are those of devices.
fn phases(spec: &LoadSpec, course: &Course, merged: Vec<Tally>, asked: u64) -> Vec<Phase> {
    let bounds = match spec.schedule {
        Schedule::Devices { ramp_up_ns, sustain_ns, .. } => {
            let sustain = course.start_ns + ramp_up_ns;
            vec![course.start_ns, sustain, sustain + sustain_ns, course.end_ns]
        }
        _ if merged.len() == 1 => vec![course.measured_from_ns, course.measured_to_ns],
        _ => vec![course.start_ns, course.measured_from_ns, course.measured_to_ns],
    };
    let within = |instant: u64| instant.clamp(course.started_ns.min(course.end_ns), course.end_ns);
    merged
        .into_iter()
        .zip(PHASES)
        .zip(bounds.windows(2))
        .map(|((tally, name), bounds)| {
            let (from, to) = (within(bounds[0]), within(bounds[1]));
            Phase {
                name: name.into(),
                from_ns: from - course.started_ns.min(from),
                measured: tally.into_measured(to - from, asked),
            }
        })
        .collect()
}

/// What all threads have seen of TLS.
fn tls_use(spec: &TlsSpec, outcomes: &[Outcome]) -> TlsUse {
    let mut all = config::nothing_yet(spec);
    outcomes.iter().filter_map(|outcome| outcome.tls.as_ref()).for_each(|seen| all.merge(seen));
    all
}

fn generator(outcomes: &[Outcome], headline: usize) -> GeneratorUse {
    // Without marks the load was interrupted before measuring began.
    let spent = |of: fn(&Mark) -> u64| {
        outcomes.iter().map(move |outcome| {
            match (outcome.marks.get(headline), outcome.marks.get(headline + 1)) {
                (Some(from), Some(to)) => of(to) - of(from),
                _ => 0,
            }
        })
    };
    GeneratorUse {
        cpu_ns: spent(|mark| mark.cpu_ns).sum(),
        cpu_ns_by_thread: spent(|mark| mark.cpu_ns).collect(),
        spin_ns: spent(|mark| mark.spin_ns).sum(),
        max_rss_bytes: cpu::max_rss_bytes(),
        syscalls: Some(spent(|mark| mark.syscalls).sum()),
        // Each thread sees the same ones.
        clock_steps: spent(|mark| mark.clock_steps).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_differ_by_one_at_the_most() {
        for (total, threads) in [(10, 3), (1, 1), (7, 7), (100_001, 8)] {
            let shares: Vec<u64> = (0..threads).map(|nth| share(total, threads, nth)).collect();
            assert_eq!(shares.iter().sum::<u64>(), total);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}
