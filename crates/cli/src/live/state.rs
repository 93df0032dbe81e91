//! What the live view shows. It gets events and the time since the view began. Nothing here draws,
//! reads a clock or waits.
use pippin_lab::run::observer::Event;
use pippin_model::figure::RankedBy;
use pippin_model::host::usage::{MemoryOverTime, Role, UsageSample};
use pippin_model::plan::profile::Profile;
use pippin_model::result::Window;
use pippin_model::result::bins::ResponseBins;
use pippin_model::run::RunHeader;
use pippin_model::run::live::{LiveFinished, LiveOverall};
use pippin_model::target::TargetId;
use pippin_model::trial::{Stage, TrialRecord, TrialSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::eta::{Length, Progress, progress};
use super::turns::{Turns, placed};

/// Shorter windows say little about a rate. The last window of a load can have any length.
const SHORTEST_WINDOW_NS: u64 = 100_000_000;

/// The subject of the measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The targets of a plan.
    Plan,
    /// One URL.
    Url(String),
}

/// Everything that the view shows.
#[derive(Debug)]
pub struct State {
    pub subject: Subject,
    /// The plan's title and the run's name, once the run has begun.
    pub title: Option<(String, String)>,
    pub repetitions: u32,
    /// Whether targets are ranked by a time and not by a rate.
    pub by_time: bool,
    pub current: Option<Current>,
    pub finished: Vec<LiveFinished>,
    /// How long each finished trial took, and whether it failed.
    took: Vec<(Duration, bool)>,
    /// Targets that the user skipped: their remaining trials are left out.
    pub skipped: BTreeSet<TargetId>,
    /// How often the user asked for a stop.
    pub stops: u32,
    pub help: bool,
    /// The newest remark.
    pub notice: Option<String>,
    planned: BTreeMap<TargetId, Planned>,
    /// Every start of a target, `(repetition, target)`, in the order of the run.
    order: Vec<(u32, TargetId)>,
    /// How many of `order` have begun.
    begun: usize,
    /// Targets that are measured in turn.
    pub(super) turns: Turns,
    /// When the first trial began.
    first_began: Option<Duration>,
}

/// A target's part in the plan.
#[derive(Debug, Clone, Copy)]
struct Planned {
    repetitions: u32,
    /// Trials of a repetition: 1, or the points of a sweep.
    steps: u32,
    started: u32,
    given_up: bool,
}

impl Planned {
    fn left_in_repetition(&self) -> u32 {
        self.started.next_multiple_of(self.steps) - self.started
    }

    /// The number of trials that have not started.
    fn left(&self, skipped: bool) -> u32 {
        match (self.given_up, skipped) {
            (true, _) => 0,
            (false, true) => self.left_in_repetition(),
            (false, false) => (self.repetitions * self.steps).saturating_sub(self.started),
        }
    }
}

/// The trial under way.
#[derive(Debug)]
pub struct Current {
    pub spec: TrialSpec,
    /// Counted from 1.
    pub number: usize,
    /// The maximum number of trials, as announced; `None` for a search, because nobody knows its
    /// end.
    pub announced: Option<usize>,
    pub stage: String,
    /// What its warm-up waits for.
    pub waits_for: Option<String>,
    pub windows: Vec<Window>,
    /// The usage in each of the windows.
    uses: Vec<LiveUse>,
    pub usage: LiveUse,
    pub over: bool,
    /// When the stage began, counted from the beginning of the view.
    pub stage_began: Duration,
    began: Duration,
    /// Whether it is measured in slices and these have begun.
    in_slices: bool,
    load_began: Option<Duration>,
    window_came: Duration,
    sample: Option<UsageSample>,
    memory: MemoryOverTime,
}

/// The present usage; `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveUse {
    /// Cores kept busy between the two newest samples, by role.
    pub cores: BTreeMap<Role, f64>,
    /// Memory of the target, bytes.
    pub target_memory_bytes: Option<u64>,
    /// Cores' worth of time stolen by the hypervisor.
    pub steal_cores: Option<f64>,
}

impl State {
    pub fn new(subject: Subject) -> Self {
        Self {
            subject,
            title: None,
            repetitions: 1,
            by_time: false,
            current: None,
            finished: Vec::new(),
            took: Vec::new(),
            skipped: BTreeSet::new(),
            stops: 0,
            help: false,
            notice: None,
            planned: BTreeMap::new(),
            order: Vec::new(),
            begun: 0,
            turns: Turns::default(),
            first_began: None,
        }
    }

    /// Applies an event of the lab.
    pub fn apply(&mut self, event: &Event<'_>, now: Duration) {
        match event {
            Event::Note(text) => self.notice = text.lines().next().map(str::to_string),
            Event::NotStored(why) => self.notice = Some(format!("this is not stored: {why}")),
            Event::Unavailable(target, failure) => {
                self.notice = Some(format!("{target} is unavailable: {}", failure.message))
            }
            Event::RunStarted(header) => self.run_started(header),
            Event::TrialStarted(spec, number, total) => {
                self.trial_started(spec, *number, *total, now)
            }
            Event::Slice(spec, round, of) => self.slice(spec, *round, *of, now),
            Event::Stage(stage) => self.stage(stage, now),
            Event::WarmingUp(words) => {
                if let Some(current) = &mut self.current {
                    current.waits_for = Some((*words).to_string());
                }
            }
            Event::Window(window, sample) => self.window(window, *sample, now),
            Event::TrialFinished(record) => self.trial_finished(record, now),
        }
    }

    /// The installation is done and the run begins.
    pub fn run_started(&mut self, header: &RunHeader) {
        let plan = &header.plan;
        self.title = Some((plan.title.clone(), header.id.clone()));
        self.repetitions = plan.repetitions;
        self.by_time = RankedBy::from_profile(&plan.profile) == RankedBy::ResponseP99;
        let steps = plan.profile.steps.known().len().max(1) as u32;
        let unavailable =
            |id: &TargetId| header.targets.get(id).is_some_and(|info| info.unavailable.is_some());
        self.planned = plan
            .targets
            .iter()
            .map(|id| {
                (
                    id.clone(),
                    Planned {
                        repetitions: plan.repetitions,
                        steps,
                        started: 0,
                        given_up: unavailable(id),
                    },
                )
            })
            .collect();
        self.order = pippin_lab::run::order(header);
    }

    /// A trial begins.
    pub fn trial_started(&mut self, spec: &TrialSpec, number: usize, total: usize, now: Duration) {
        if let Some(planned) = self.planned.get_mut(&spec.target) {
            // Not every repetition made all of its steps.
            planned.started = planned.started.max(spec.repetition * planned.steps) + 1;
        }
        if let Some(place) = self.order.iter().position(|(repetition, target)| {
            *repetition == spec.repetition && *target == spec.target
        }) {
            self.begun = place + 1;
        }
        let is_search = spec.profile.is_search();
        self.first_began.get_or_insert(now);
        if let Some(before) = self.current.take() {
            self.turns.park(before);
        }
        self.turns.forget(&spec.target);
        self.current = Some(Current {
            spec: spec.clone(),
            number,
            announced: (!is_search).then_some(total),
            stage: "starting".into(),
            waits_for: None,
            windows: Vec::new(),
            uses: Vec::new(),
            usage: LiveUse::default(),
            over: false,
            began: now,
            in_slices: false,
            stage_began: now,
            load_began: None,
            window_came: now,
            sample: None,
            memory: MemoryOverTime::default(),
        });
    }

    /// The current trial enters another stage.
    pub fn stage(&mut self, stage: &str, now: Duration) {
        if let Some(current) = &mut self.current {
            current.load_began = (stage == "measuring").then_some(now);
            current.waits_for = None;
            current.stage = stage.into();
            current.stage_began = now;
        }
    }

    /// Adds another second of load.
    pub fn window(&mut self, window: &Window, sample: Option<&UsageSample>, now: Duration) {
        let Some(current) = &mut self.current else { return };
        current.window_came = now;
        if let Some(sample) = sample {
            current.usage = current
                .sample
                .as_ref()
                .map_or_else(LiveUse::default, |earlier| use_between(earlier, sample));
            current.usage.target_memory_bytes = current.memory.at(sample, Role::Target);
            current.sample = Some(sample.clone());
        }
        let window =
            if current.in_slices { placed(&current.windows, window) } else { Some(window.clone()) };
        if let Some(window) = window {
            current.windows.push(window);
            let usage = if sample.is_some() { current.usage.clone() } else { LiveUse::default() };
            current.uses.push(usage);
        }
    }

    /// A trial has ended.
    pub fn trial_finished(&mut self, record: &TrialRecord, now: Duration) {
        self.took.push((self.time_of_this(now), record.failure.is_some()));
        self.finished.push(LiveFinished::from_trial(record));
        let is_current = |current: &&mut Current| current.spec.target == record.spec.target;
        if let Some(current) = self.current.as_mut().filter(is_current) {
            current.over = true;
            current.stage = "finished".into();
        }
        self.turns.forget(&record.spec.target);
        let Some(failure) = &record.failure else { return };
        if let Some(planned) = self.planned.get_mut(&record.spec.target) {
            // If a target fails, the rest of its sweep is not tried. If it does not start or gives
            // wrong answers, it is not tried again.
            planned.started += planned.left_in_repetition();
            planned.given_up |= matches!(failure.stage, Stage::Start | Stage::Ready | Stage::Proof);
        }
    }

    /// How long the trial that has just ended took. Targets that are up together share their time.
    fn time_of_this(&self, now: Duration) -> Duration {
        let Some(current) = &self.current else { return Duration::ZERO };
        if !current.in_slices {
            return now.saturating_sub(current.began);
        }
        let known: Duration = self.took.iter().map(|(took, _)| *took).sum();
        let began = self.first_began.unwrap_or(now) + known;
        now.saturating_sub(began) / (self.turns.waiting() as u32 + u32::from(!current.over)).max(1)
    }

    /// Skips the current target. Returns its name, unless there is nothing to skip.
    pub fn skip(&mut self) -> Option<TargetId> {
        let target = self.skippable()?.clone();
        self.skipped.insert(target.clone());
        Some(target)
    }

    /// The coming starts of targets, `(repetition, target)`, in their order.
    pub fn queued(&self) -> impl Iterator<Item = &(u32, TargetId)> {
        let is_wanted = |target: &TargetId| {
            !self.skipped.contains(target)
                && self.planned.get(target).is_some_and(|planned| !planned.given_up)
        };
        self.order
            .iter()
            .skip(self.begun)
            .filter(move |(_, target)| self.stops == 0 && is_wanted(target))
    }

    /// The target that the user can skip now.
    pub fn skippable(&self) -> Option<&TargetId> {
        let target = &self.current.as_ref()?.spec.target;
        (self.subject == Subject::Plan && !self.skipped.contains(target)).then_some(target)
    }

    /// The progress of the current load; `None` outside of a load.
    pub fn progress(&self, now: Duration) -> Option<Progress> {
        let current = self.current.as_ref()?;
        if current.in_slices && !current.over {
            return self.turns.progress(now);
        }
        let began = current.load_began?;
        let length = Length::from_profile(&current.spec.profile);
        Some(progress(
            &length,
            &current.windows,
            now.saturating_sub(began),
            now.saturating_sub(current.window_came),
        ))
    }

    /// The progress of all trials together; `None` before the first.
    pub fn overall(&self, now: Duration) -> Option<LiveOverall> {
        let current = self.current.as_ref()?;
        let number = current.number as u64;
        if current.announced.is_none() {
            return Some(LiveOverall { number, at_most: None, fraction: None, left_ns: None });
        }
        let after = self.trials_after(current);
        let progress = self.progress(now);
        let done = if current.over {
            1.0
        } else {
            progress
                .map_or(0.0, |progress| if progress.warming_up { 0.0 } else { progress.fraction })
        };
        let at_most = number + after as u64;
        let fraction = ((number - 1) as f64 + done) / at_most as f64;
        let each = self.time_of_a_trial(&current.spec.profile);
        let of_current = match (current.over, progress) {
            (true, _) => Some(Duration::ZERO),
            (false, Some(progress)) => progress.left,
            (false, None) => each,
        };
        let left = of_current
            .zip(if after == 0 {
                Some(Duration::ZERO)
            } else {
                each.map(|each| each * after as u32)
            })
            .map(|(a, b)| a + b);
        Some(LiveOverall {
            number,
            at_most: Some(at_most),
            fraction: Some(fraction.clamp(0.0, 1.0)),
            left_ns: left.map(|left| left.as_nanos() as u64),
        })
    }

    fn trials_after(&self, current: &Current) -> usize {
        if self.planned.is_empty() {
            return current.announced.unwrap_or_default().saturating_sub(current.number);
        }
        self.planned
            .iter()
            .map(|(id, planned)| planned.left(self.skipped.contains(id)) as usize)
            .sum()
    }

    /// The average time of a trial so far. Before the first one ends, the planned time of its load.
    fn time_of_a_trial(&self, profile: &Profile) -> Option<Duration> {
        let took: Vec<Duration> =
            self.took.iter().filter(|(_, failed)| !failed).map(|(took, _)| *took).collect();
        if took.is_empty() {
            Length::from_profile(profile).whole()
        } else {
            Some(took.iter().sum::<Duration>() / took.len() as u32)
        }
    }
}

impl Current {
    /// Its next slice begins. The windows of its warm-up are over.
    pub(super) fn begin_slice(&mut self, now: Duration) {
        if !self.in_slices {
            self.windows.clear();
            self.uses.clear();
        }
        self.in_slices = true;
        self.stage = "measuring".into();
        (self.stage_began, self.window_came) = (now, now);
        self.load_began = Some(now);
    }

    /// The connections, or devices, that the load asks for.
    pub fn asked(&self) -> u32 {
        self.spec.profile.at(self.spec.step).connections.count
    }

    /// Windows long enough to be drawn.
    pub fn seconds(&self) -> impl DoubleEndedIterator<Item = &Window> {
        self.windows.iter().filter(|window| window.duration_ns >= SHORTEST_WINDOW_NS)
    }

    /// Cores that a role kept busy in each of [`Self::seconds`]; `None` where it is unknown.
    pub fn cores_of(&self, role: Role) -> Vec<Option<f64>> {
        let long = |window: &Window| window.duration_ns >= SHORTEST_WINDOW_NS;
        let of = |(window, used): (&Window, &LiveUse)| {
            long(window).then(|| used.cores.get(&role).copied())
        };
        self.windows.iter().zip(&self.uses).filter_map(of).collect()
    }

    /// The distribution of the response times since the warm-up.
    pub fn spread(&self) -> ResponseBins {
        let mut all = ResponseBins::default();
        let measured = self.windows.iter().filter(|window| window.from_ns >= 0);
        measured.for_each(|window| all.merge(&window.response_bins));
        all
    }

    /// Errors so far, including those of the warm-up.
    pub fn errors(&self) -> u64 {
        self.windows.iter().map(|window| window.errors).sum()
    }

    /// The phase of a device load at the newest window.
    pub fn phase(&self) -> Option<&'static str> {
        let phases = self.spec.profile.schedule.phases()?;
        let from = self.windows.last()?.from_ns.max(0) as u64;
        let [(_, ramp_up_ns), (_, sustain_ns), _] = phases;
        Some(match from {
            from if from < ramp_up_ns => "ramp up",
            from if from < ramp_up_ns + sustain_ns => "sustain",
            _ => "ramp down",
        })
    }
}

/// Complete answers per second in a window; `None` if it has no length.
pub fn rate_per_s(window: &Window) -> Option<f64> {
    (window.duration_ns > 0).then(|| window.completed as f64 * 1e9 / window.duration_ns as f64)
}

/// Usage between two samples: the difference of their cumulative counters over the time between
/// them. A counter that ran backwards, because a process ended unseen, is ignored.
pub fn use_between(earlier: &UsageSample, later: &UsageSample) -> LiveUse {
    let elapsed_ns = later.at_ns.saturating_sub(earlier.at_ns);
    let cores = |from: u64, to: u64| {
        to.checked_sub(from)
            .filter(|_| elapsed_ns > 0)
            .map(|spent_ns| spent_ns as f64 / elapsed_ns as f64)
    };
    let of_role = |(role, sample): (&Role, &pippin_model::host::usage::RoleSample)| {
        let before = earlier.roles.get(role)?;
        cores(before.cpu_ns, sample.cpu_ns).map(|cores| (*role, cores))
    };
    LiveUse {
        cores: later.roles.iter().filter_map(of_role).collect(),
        target_memory_bytes: None,
        steal_cores: earlier
            .host
            .steal_ns
            .zip(later.host.steal_ns)
            .and_then(|(from, to)| cores(from, to)),
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
