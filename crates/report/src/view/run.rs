//! What was done, when and how.
use pippin_model::figure::RankedBy;
use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::plan::Plan;
use pippin_model::plan::cpus::CpuSplit;
use pippin_model::plan::profile::{Arrivals, Connections, Profile, Schedule, Stage, Steps, WarmUp};
use pippin_model::run::labels::Labels;
use pippin_model::run::{RunRecord, RunState};
use pippin_model::schedule::overload::{MOST, MULTIPLES, Search};
use pippin_model::schedule::stages;
use pippin_model::target::TargetId;
use pippin_model::text::units::{counted, format_count, format_length};
use pippin_stats::capacity::overload::multiple_in_words;
use pippin_stats::rounds::calm::SliceCounts;
use serde::{Deserialize, Serialize};

/// What was done, when and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The run's name.
    pub id: String,
    /// The plan's title.
    pub title: String,
    /// The plan's summary.
    pub summary: Option<String>,
    /// How load was applied: `closed`, `open`, `devices`, `sweep`, `capacity`.
    pub profile: String,
    /// The load in words.
    pub load: String,
    /// What the targets are ranked by; goodput in reports that do not say it.
    #[serde(default)]
    pub ranked_by: RankedBy,
    /// The target with which the others are compared; `None` without a ranking.
    #[serde(default)]
    pub reference: Option<TargetId>,
    /// The slices of all trials; `None` if they were measured in one stretch.
    #[serde(default)]
    pub slices: Option<SliceCounts>,
    /// Whether it was the quick form.
    pub quick: bool,
    /// How it ended.
    pub state: RunState,
    /// Nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// `None` while it runs, and if Pippin was killed.
    pub ended_unix_ns: Option<u64>,
    /// The number of repetitions in the plan; where a goal decides on it, those that were made.
    pub repetitions: u32,
    /// The number of trials that were made.
    pub trials: u64,
    /// The seed of order and loads.
    pub seed: u64,
    /// Pippin's version.
    pub pippin_version: String,
    /// Which processors each role had in the first trial, in words; `None` without a trial.
    pub cpus: Option<String>,
    /// The event loop and the number of threads of the generator in the first trial.
    pub generator: Option<String>,
    /// What the user calls the run.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

impl RunFacts {
    /// The facts of a run.
    #[must_use]
    pub fn from_record(record: &RunRecord) -> Self {
        let header = &record.header;
        let plan = &header.plan;
        let first = record.trials.first();
        let load = record.trials.iter().find_map(|trial| trial.load.as_ref());
        Self {
            id: header.id.clone(),
            title: plan.title.clone(),
            summary: plan.summary.clone(),
            profile: plan.profile.kind().into(),
            load: with_changes(with_limits(plan), &plan.changed),
            ranked_by: RankedBy::from_profile(&plan.profile),
            reference: None,
            slices: SliceCounts::from_trials(&record.trials),
            quick: plan.quick,
            state: record.state,
            started_unix_ns: header.started_unix_ns,
            ended_unix_ns: record.ended_unix_ns,
            repetitions: repetitions(record),
            trials: record.trials.len() as u64,
            seed: header.seed,
            pippin_version: header.pippin_version.clone(),
            cpus: first.and_then(|trial| match &header.probe {
                Some(probe) => Some(beside_probe(&trial.spec.cpus, probe)),
                None => who_ran_where(&trial.spec.cpus),
            }),
            generator: load.map(|load| {
                let loops = format!("{}, {}", load.io, counted(u64::from(load.threads), "thread"));
                [vec![loops], super::spoken::protocols(record)].concat().join(", ")
            }),
            labels: header.labels.clone(),
        }
    }
}

fn repetitions(record: &RunRecord) -> u32 {
    let plan = &record.header.plan;
    let made = record.trials.iter().map(|trial| trial.spec.repetition + 1).max();
    plan.goal.as_ref().and(made).map_or(plan.repetitions, |made| made.max(plan.repetitions))
}

/// The processors of a target whose load comes from the hosts of agents.
fn beside_probe(split: &CpuSplit, probe: &str) -> String {
    let services = if split.services.is_empty() {
        String::new()
    } else {
        format!(", services on {}", split.services)
    };
    format!(
        "target on CPU {}{services}, beside the probe {probe}; generators on the hosts of the agents",
        split.target
    )
}

/// The processors of each role; `None` if none is bound to any.
fn who_ran_where(split: &CpuSplit) -> Option<String> {
    let roles = [
        ("target on CPU", &split.target),
        ("generator on", &split.generator),
        ("services on", &split.services),
    ];
    let bound = roles.into_iter().filter(|(_, cpus)| !cpus.is_empty());
    let places: Vec<String> = bound.map(|(role, cpus)| format!("{role} {cpus}")).collect();
    let shared = if split.is_shared() { " (shared)" } else { "" };
    (!places.is_empty()).then(|| format!("{}{shared}", places.join(", ")))
}

/// How load is applied, and what each target may use meanwhile, unless the command line says so.
fn with_limits(plan: &Plan) -> String {
    let load = in_words(&plan.profile);
    let words = plan.limits.words();
    if words.is_empty() || plan.changed.iter().any(|changed| changed.contains(&words)) {
        return load;
    }
    format!("{load}, each target with {words}")
}

/// Adds a note if the command line changed the plan, because then it is no longer the published
/// experiment.
fn with_changes(load: String, changed: &[String]) -> String {
    if changed.is_empty() {
        load
    } else {
        format!("{load}; changed from the plan: {}", changed.join(", "))
    }
}

/// How load is applied, in words: `closed loop, 10 connections, keep-alive, 30 s`.
#[must_use]
pub fn in_words(profile: &Profile) -> String {
    let load = load_in_words(profile);
    match profile.network {
        Some(network) => format!("{load}, through {}", network.in_words()),
        None => load,
    }
}

fn load_in_words(profile: &Profile) -> String {
    let Profile {
        schedule,
        connections,
        stop,
        warm_up,
        steps,
        protocol: _,
        walk_steps: _,
        network: _,
    } = profile;
    let length = stop.duration_ns.map(format_length);
    let end = || match (&length, stop.requests) {
        (Some(time), _) => format!(", {}, {time}", keep(connections)),
        (None, Some(count)) => {
            format!(", {}, {}", keep(connections), counted(count, "request"))
        }
        (None, None) => String::new(),
    };
    match steps {
        Steps::One if profile.shape().is_some() => {
            format!("{}, {}", staged(profile), keep(connections))
        }
        Steps::One if schedule.user_stages().is_some() => {
            let words = schedule.in_words(connections.count, profile.arrivals());
            format!("{words}, {}", keep(connections))
        }
        Steps::One => {
            let words = schedule.in_words(connections.count, profile.arrivals());
            format!("{words}{}{}", end(), warm(*warm_up, schedule))
        }
        Steps::Connections(list) => {
            let points: Vec<String> = list.iter().map(ToString::to_string).collect();
            format!(
                "closed loop at {} connections in turn{} each{}",
                points.join(", "),
                end(),
                warm(*warm_up, schedule)
            )
        }
        Steps::Rates(list) => {
            let rates: Vec<String> = list.iter().map(|rate| format_count(*rate)).collect();
            let arrivals = schedule.arrivals().map_or("constant", Arrivals::name);
            let before = profile.before_rates().map_or_else(String::new, |closed| {
                format!(", after a closed loop{}", warm(*warm_up, &closed.schedule))
            });
            format!(
                "open loop at {} requests/s ({arrivals}) in turn over at most {}{} each{before}",
                rates.join(", "),
                at_most(connections),
                end()
            )
        }
        Steps::Overload { search, patience_ns } => {
            format!("{}, {}", overload(profile, search.as_ref(), *patience_ns), keep(connections))
        }
        Steps::Search { objective, precision } => format!(
            "search for the highest {} with {objective}, from {} over at most {}, steps of {}, to {}",
            profile.searched().noun(),
            profile.searched().amount(profile.search_begins_at()),
            at_most(connections),
            profile.headline_ns().map_or("-".into(), format_length),
            crate::words::percent(*precision)
        ),
    }
}

/// `open loop, from 0 to 1,000 requests/s within 30 s (constant) over at most 64 connections`.
fn staged(profile: &Profile) -> String {
    let arrivals = profile.schedule.arrivals().map_or("constant", Arrivals::name);
    format!(
        "open loop, {} ({arrivals}) over at most {}",
        stages::in_words(profile.shape().unwrap_or_default(), profile.arrivals()),
        at_most(&profile.connections)
    )
}

/// `0.5, 0.75, ... 3 times the capacity for 5 s each, then half of it for 15 s`.
fn overload(profile: &Profile, search: Option<&Search>, patience_ns: u64) -> String {
    let stages = profile.schedule.stages().unwrap_or_default();
    let length = |stage: Option<&Stage>| stage.map_or(0, |stage| stage.duration_ns);
    let multiples: Vec<String> = MULTIPLES.iter().map(|it| multiple_in_words(*it)).collect();
    let capacity = match search {
        Some(Search { objective }) => format!("found by a short search ({objective})"),
        None => {
            let top = profile.schedule.rate_per_s();
            format!("{} requests/s", crate::words::count(top.map(|top| top / MOST)))
        }
    };
    format!(
        "open loop at {} times the capacity, {} each, then half of it for {}; capacity: {capacity}; at most {}, users give up after {}",
        multiples.join(", "),
        format_length(length(stages.first())),
        format_length(length(stages.last())),
        at_most(&profile.connections),
        format_length(patience_ns)
    )
}

fn at_most(connections: &Connections) -> String {
    counted(connections.count.into(), "connection")
}

fn keep(connections: &Connections) -> String {
    match connections.requests_per_connection {
        None if connections.streams > 1 => {
            format!("{} streams per connection", connections.streams)
        }
        None => "keep-alive".into(),
        Some(1) => "a connection for each request".into(),
        Some(count) => format!("{} a connection", counted(count.into(), "request")),
    }
}

fn warm(warm_up: WarmUp, schedule: &Schedule) -> String {
    match warm_up {
        WarmUp::Auto { .. } => ", warm-up until steady".into(),
        WarmUp::Fixed { .. } if schedule.ramp_ns() > 0 => {
            format!(" after a ramp of {}", format_length(schedule.ramp_ns()))
        }
        WarmUp::Fixed { duration_ns } => format!(", warm-up {}", format_length(duration_ns)),
        WarmUp::None => String::new(),
    }
}

/// The host in one line.
#[must_use]
pub fn host_line(host: &Fingerprint) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(host.cpu_model.clone());
    let smt = if host.smt == Some(true) { " (SMT)" } else { "" };
    parts.push(format!("{} CPU{}{smt}", host.cpus, if host.cpus == 1 { "" } else { "s" }));
    parts.extend(host.memory_bytes.map(pippin_model::text::units::format_bytes));
    parts.extend(host.kernel.as_ref().map(|kernel| format!("Linux {kernel}")));
    parts.extend(host.distribution.clone());
    parts.extend(host.virtualisation.clone());
    parts.extend(host.governor.as_ref().map(|governor| format!("governor {governor}")));
    parts.join(", ")
}
