//! `--explain`: the load of the targets under the profiler, and when the profiler starts and ends.
use pippin_model::plan::profile::{Arrivals, Profile, Schedule, Steps, StopRule, WarmUp};
use pippin_model::trial::explained::Explained;
use pippin_probe::RoleRoot;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::error::LabError;
use crate::lifecycle::descendants::descendants;
use crate::run::observer::{Event, Observer};
use crate::run::perf::{Perf, Running};

/// The measured part of a load under the profiler, nanoseconds.
const LENGTH_NS: u64 = 5_000_000_000;
/// What is left out before it.
const WARM_UP_NS: u64 = 1_000_000_000;

/// The profiler, and what it found.
#[derive(Debug)]
pub struct Explaining {
    /// The profiler.
    pub perf: Perf,
    found: Mutex<Vec<Explained>>,
}

impl Explaining {
    /// With a profiler that may be used.
    #[must_use]
    pub fn new(perf: Perf) -> Self {
        Self { perf, found: Mutex::default() }
    }

    /// Keeps what was found of a target.
    pub fn keep(&self, one: Explained) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }

    /// What was found of all targets.
    #[must_use]
    pub fn into_found(self) -> Vec<Explained> {
        self.found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The load under the profiler: that of the plan, for some seconds.
///
/// # Errors
/// If the plan's load changes over time or in steps.
pub fn short(profile: &Profile) -> Result<Profile, LabError> {
    let schedule = &profile.schedule;
    let changes = profile.changes() || schedule.phases().is_some();
    if profile.steps != Steps::One || changes {
        return Err(LabError::User(format!(
            "--explain goes with a closed loop or one rate; the load of this plan is `{}`, which changes as it goes on",
            profile.kind()
        )));
    }
    let schedule = match schedule.rate_per_s() {
        Some(rate) => Schedule::open(rate, Arrivals::Constant, 0, WARM_UP_NS + LENGTH_NS),
        None => schedule.clone(),
    };
    Ok(Profile {
        schedule,
        stop: StopRule::after(LENGTH_NS),
        warm_up: WarmUp::Fixed { duration_ns: WARM_UP_NS },
        ..profile.clone()
    })
}

/// What the profiler does while a target is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Samples the stacks.
    Samples,
    /// Counts context switches and system calls.
    Counts,
}

/// Starts the profiler when the load begins and ends it with the load, so that proofs are not
/// profiled. Other observers are told nothing, because nothing of this is measured.
#[derive(Debug)]
pub struct Looking<'a> {
    perf: &'a Perf,
    look: Look,
    roots: &'a [RoleRoot],
    data: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Running>,
    processes: Vec<i32>,
    failure: Option<String>,
}

impl<'a> Looking<'a> {
    /// At the processes of a target, into a file.
    #[must_use]
    pub fn new(perf: &'a Perf, look: Look, roots: &'a [RoleRoot], data: PathBuf) -> Self {
        Self { perf, look, roots, data, state: Mutex::default() }
    }

    /// Ends what still runs. Returns the profiled processes.
    ///
    /// # Errors
    /// If the profiler failed, or had nothing to sample.
    pub fn finish(self) -> Result<Vec<i32>, String> {
        self.end();
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.failure {
            Some(failure) => Err(failure),
            None if state.processes.is_empty() => Err("the load did not begin".into()),
            None => Ok(state.processes),
        }
    }

    fn begin(&self) {
        let processes = processes(self.roots);
        let begun = match self.look {
            Look::Samples => self.perf.record(&processes, &self.data),
            Look::Counts => self.perf.count(&processes, &self.data),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.processes = processes;
        match begun {
            Ok(running) => state.running = Some(running),
            Err(error) => state.failure = Some(format!("perf cannot be started: {error}")),
        }
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Err(failure)) = state.running.take().map(Running::finish) {
            state.failure = Some(failure);
        }
    }
}

impl Observer for Looking<'_> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Stage("measuring") => self.begin(),
            Event::Stage("proving again") => self.end(),
            _ => {}
        }
    }
}

/// The processes of a target as they are now.
pub(super) fn processes(roots: &[RoleRoot]) -> Vec<i32> {
    roots
        .iter()
        .flat_map(|root| match *root {
            RoleRoot::Tree(pid) => [vec![pid], descendants(pid)].concat(),
            RoleRoot::Below(pid) => descendants(pid),
            RoleRoot::Process(pid) => vec![pid],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_stays_as_it_is_is_made_short_and_others_are_refused() {
        let closed = Profile::closed(64, StopRule::requests(5_000));
        let made = short(&closed).unwrap();
        assert_eq!((made.connections.count, made.stop), (64, StopRule::after(LENGTH_NS)));
        let open = Profile::open(500.0, Arrivals::Poisson, 8, 1_000, 2_000);
        assert_eq!(short(&open).unwrap().schedule.rate_per_s(), Some(500.0));
        let sweep = Profile::sweep(vec![1, 2], 5);
        assert!(
            short(&sweep).unwrap_err().to_string().contains("the load of this plan is `sweep`")
        );
    }
}
