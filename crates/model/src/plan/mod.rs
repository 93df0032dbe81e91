//! `plans/*.toml`: one experiment.
//!
//! | module | what it does |
//! |---|---|
//! | [`profile`] | how load is applied |
//! | [`objective`] | the bounds of a capacity search |
//! | [`cpus`] | sets of processors, and which role runs on which |
//! | [`goal`] | when a run has measured enough |
//! | [`limits`] | what a target may use at the most |
//! | [`plan_options`] | what a plan may ask for beyond its load |
//! | [`published`] | published figures of other benchmarks |
//! | [`scan`] | a parameter whose values are compared |
pub mod cpus;
pub mod goal;
pub mod limits;
pub mod objective;
pub mod plan_options;
pub mod profile;
pub mod published;
pub mod scan;

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

use crate::plan::cpus::CpuSet;
use crate::plan::goal::{FEWEST_REPETITIONS, Goal};
use crate::plan::limits::{Limits, checked_cpus, parse_memory};
pub use crate::plan::plan_options::PlanOptions;
use crate::plan::profile::{OneOrMany, Profile, RawProfile};
use crate::plan::published::Published;
use crate::plan::scan::Scan;
use crate::target::TargetId;
use crate::text::bounded;
use crate::text::file::{FileError, Wrong, read_with_text};
use crate::text::units::{format_length, parse_duration_ns, parse_percent};
use crate::verdict::gate::{Gate, GateError, Undecided};

/// One experiment, checked and resolved: targets x workload x profile x repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The name; equals the file's.
    pub id: String,
    /// A title for people.
    pub title: String,
    /// What it shows, in a sentence or two.
    pub summary: Option<String>,
    /// The workload.
    pub workload: String,
    /// The targets.
    pub targets: Vec<TargetId>,
    /// The parameter whose values the targets are; `None` if they are no scan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<Scan>,
    /// Whether the plan means all targets that serve the workload. `targets` is then empty until a
    /// catalog fills it.
    #[serde(skip)]
    pub every_target: bool,
    /// How often each target is measured, restarted each time; with a goal, at least so often.
    pub repetitions: u32,
    /// When the run has measured enough; `None` makes a number of repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// Measuring ends early when the 95 % interval is narrower than this fraction; `None` makes all
    /// repetitions.
    pub precision: Option<f64>,
    /// The length of a slice in nanoseconds; `None` lets the run choose.
    #[serde(default)]
    pub slice_ns: Option<u64>,
    /// How much longer measuring may take to replace disturbed slices, as a fraction of the planned
    /// time.
    #[serde(default = "extra_time")]
    pub extra_time: f64,
    /// How load is applied.
    pub profile: Profile,
    /// `WORKERS` of every target; `None` is the number of its processors.
    pub workers: Option<u32>,
    /// What each target may use at the most.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// `DATABASE_POOL` of every target.
    pub database_pool: u32,
    /// The delay of the slow upstream, in nanoseconds.
    pub upstream_delay_ns: u64,
    /// The fraction of errors up to which a result is valid.
    pub errors_allowed: f64,
    /// The processors of each role; a `None` field uses the host's default.
    pub cpus: PlanCpus,
    /// Price of the target's machine, for money per million requests.
    pub price: Option<Price>,
    /// Published figures to show beside your own.
    pub published: Option<Published>,
    /// Conditions that every target must keep.
    pub gates: Vec<Gate>,
    /// What a gate does that could not be decided; `None` if the plan does not say.
    pub undecided: Option<Undecided>,
    /// Whether the life of each target is measured after all repetitions.
    #[serde(default)]
    pub life: bool,
    /// Whether the instructions of each target per request are counted, whatever its gates are on.
    #[serde(default)]
    pub instructions: bool,
    /// Whether this is the quick form. Never true for a plan whose quick form is the full one.
    pub quick: bool,
    /// What the command line changed, in words.
    #[serde(default)]
    pub changed: Vec<String>,
}

/// The processors that a plan asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCpus {
    /// The target's.
    pub target: Option<CpuSet>,
    /// The generator's.
    pub generator: Option<CpuSet>,
    /// The services'.
    pub services: Option<CpuSet>,
    /// All roles use all processors, as on the laptops of the published figures. This causes a
    /// caveat.
    pub share: bool,
}

/// The price of the target's machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of the whole machine per hour.
    pub per_hour: f64,
    /// How many cores it has.
    pub cores: u32,
    /// `"EUR"`, `"USD"`.
    pub currency: String,
}

/// A plan as it is written, in its own file or in a project file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPlan {
    title: Option<String>,
    summary: Option<String>,
    workload: String,
    #[serde(deserialize_with = "targets")]
    pub(crate) targets: Vec<String>,
    repetitions: Option<u32>,
    precision: Option<String>,
    /// How well each figure is to be known.
    within: Option<String>,
    /// The time after which no further repetition is begun.
    #[serde(rename = "for")]
    longest: Option<String>,
    slice: Option<String>,
    extra_time: Option<String>,
    workers: Option<u32>,
    /// How many processors' time each target may use.
    cpu: Option<f64>,
    /// How much memory each target may use.
    memory: Option<String>,
    database_pool: Option<u32>,
    upstream_delay: Option<String>,
    errors_allowed: Option<String>,
    /// Conditions that must hold.
    #[serde(default)]
    require: Vec<String>,
    /// Conditions that must not hold.
    #[serde(default)]
    fail_if: Vec<String>,
    undecided: Option<Undecided>,
    /// Whether the life of each target is measured; the quick form does it only if asked to.
    #[serde(default)]
    life: bool,
    /// Whether instructions per request are counted.
    #[serde(default)]
    instructions: bool,
    profile: Option<RawProfile>,
    /// A short form of a profile: with a rate an open loop, otherwise a closed loop.
    rate: Option<Rate>,
    connections: Option<u32>,
    duration: Option<String>,
    warm_up: Option<String>,
    quick: Option<RawQuick>,
    cpus: Option<RawCpus>,
    price: Option<Price>,
    published: Option<RawPublished>,
}

/// The word that means all targets that serve the workload.
const EVERY: &str = "all";

/// A list of names, or `"all"`.
fn targets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list like [\"go/net-http\"], or \"all\"")]
    enum Targets {
        Every(Every),
        List(Vec<String>),
    }
    #[derive(Deserialize)]
    enum Every {
        #[serde(rename = "all")]
        All,
    }
    Ok(match Targets::deserialize(deserializer)? {
        Targets::Every(Every::All) => vec![EVERY.into()],
        Targets::List(names) => names,
    })
}

/// `500` or `"500/s"`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected requests per second, as 500 or \"500/s\"")]
enum Rate {
    Number(f64),
    Text(String),
}

/// `[quick]`: the same shape in seconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuick {
    repetitions: Option<u32>,
    #[serde(default)]
    profile: RawProfile,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCpus {
    target: Option<String>,
    generator: Option<String>,
    services: Option<String>,
    #[serde(default)]
    share: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPublished {
    /// The file of the table, beside the plan.
    file: String,
    /// The row to which ratios are taken.
    reference: Option<String>,
    #[serde(default)]
    differs: Vec<String>,
    /// Names in the published table, with their targets.
    #[serde(default)]
    targets: BTreeMap<String, String>,
}

/// The repetitions of a plan that does not say how many.
const REPETITIONS: u32 = 3;

/// At most the planned time again.
pub const EXTRA_TIME: f64 = 1.0;

const fn extra_time() -> f64 {
    EXTRA_TIME
}

impl Plan {
    /// Whether instructions per request are counted: because the plan says so, or a gate is on them.
    #[must_use]
    pub fn counts_instructions(&self) -> bool {
        self.instructions || self.gates.iter().any(Gate::is_on_instructions)
    }

    /// A key of the plan about slices that does not have its default value.
    #[must_use]
    pub fn key_about_slices(&self) -> Option<&'static str> {
        if self.slice_ns.is_some() {
            Some("slice")
        } else {
            // A float holds the default exactly.
            (self.extra_time != EXTRA_TIME).then_some("extra_time")
        }
    }

    /// Reads, checks and resolves a plan file.
    ///
    /// # Errors
    /// If the file cannot be used or an option does not fit it. The message names the place and the
    /// fix.
    pub fn read(path: &Path, options: &PlanOptions) -> Result<Self, FileError> {
        let (raw, text): (RawPlan, String) = read_with_text(path)?;
        let published =
            raw.published.as_ref().map(|published| read_published(path, published)).transpose()?;
        let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_string();
        Self::resolve(id, raw, published, options)
            .map_err(|message| at_its_key("", message).in_file(path, &text))
    }

    /// Checks and resolves a plan that is part of another file. Messages begin with the key that
    /// they are about.
    pub(crate) fn resolve(
        id: String,
        raw: RawPlan,
        published: Option<Published>,
        options: &PlanOptions,
    ) -> Result<Self, String> {
        let mut profile = raw.profile()?;
        let mut repetitions = raw.repetitions.unwrap_or(REPETITIONS);
        let goal = raw.goal(&profile, options)?;
        let full = (profile.clone(), repetitions);
        if options.quick {
            let form = raw.quick.unwrap_or_default();
            profile = profile.overlaid(&form.profile);
            repetitions = form.repetitions.unwrap_or(repetitions);
        }
        let quick = options.quick && (raw.life || full != (profile.clone(), repetitions));
        let repetitions = options.repetitions.unwrap_or(repetitions);
        if repetitions == 0 {
            return Err("repetitions must be at least 1".into());
        }
        // A goal chooses the number.
        let repetitions = if goal.is_some() { FEWEST_REPETITIONS } else { repetitions };
        let (targets, every_target) = targets_of(&raw.targets, options)?;
        let mut changed: Vec<String> = options.goal.iter().map(Goal::words).collect();
        let profile = options.apply(profile.checked()?, &mut changed)?;
        if let Some(workers) = options.workers {
            changed.push(format!("{workers} workers (--workers)"));
        }
        if !options.limits.is_empty() {
            let limits = options.limits;
            changed.push(format!("each target gets {} ({})", limits.words(), limits.options()));
        }
        let limits = options.limits.or(written_limits(raw.cpu, raw.memory.as_deref())?);
        Ok(Self {
            title: raw.title.unwrap_or_else(|| id.clone()),
            id,
            summary: raw.summary,
            workload: raw.workload,
            targets,
            scan: None,
            every_target,
            repetitions,
            slice_ns: slice(&profile, raw.slice.as_deref())?,
            extra_time: extra(&profile, raw.extra_time.as_deref())?,
            precision: percent("precision", raw.precision.as_deref())?
                .map(precision)
                .transpose()?
                .filter(|_| goal.is_none()),
            goal,
            profile,
            workers: options.workers.or(raw
                .workers
                .map(|count| at_least_one("workers", count, "remove it for one per processor"))
                .transpose()?),
            limits,
            database_pool: at_least_one(
                "database_pool",
                raw.database_pool.unwrap_or(20),
                "remove it for 20",
            )?,
            upstream_delay_ns: raw.upstream_delay.as_deref().map_or(Ok(500_000_000), |text| {
                parse_duration_ns(text).map_err(|error| format!("upstream_delay: {error}"))
            })?,
            errors_allowed: percent("errors_allowed", raw.errors_allowed.as_deref())?
                .map_or(Ok(0.001), errors_allowed)?,
            cpus: raw.cpus.map_or_else(|| Ok(PlanCpus::default()), RawCpus::checked)?,
            price: raw.price.map(Price::checked).transpose()?,
            published,
            gates: gates(&raw.require, &raw.fail_if)?,
            undecided: raw.undecided,
            life: options.life.unwrap_or(raw.life && !options.quick),
            instructions: options.instructions || raw.instructions,
            quick,
            changed,
        })
    }
}

/// The limits of the file.
fn written_limits(cpu: Option<f64>, memory: Option<&str>) -> Result<Limits, String> {
    Ok(Limits {
        cpus: cpu.map(checked_cpus).transpose().map_err(|error| format!("cpu: {error}"))?,
        memory_bytes: memory
            .map(parse_memory)
            .transpose()
            .map_err(|error| format!("memory: {error}"))?,
    })
}

fn gates(require: &[String], fail_if: &[String]) -> Result<Vec<Gate>, String> {
    let read = |key: &'static str, read: fn(&str) -> Result<Gate, GateError>| {
        move |text: &String| read(text).map_err(|error| format!("{key}: {error}"))
    };
    let required = require.iter().map(read("require", Gate::require));
    required.chain(fail_if.iter().map(read("fail_if", Gate::fail_if))).collect()
}

/// The targets, and whether they are all that there are.
fn targets_of(names: &[String], options: &PlanOptions) -> Result<(Vec<TargetId>, bool), String> {
    let every_target = options.targets.is_none() && names == [EVERY];
    let parse = |name: &String| name.parse().map_err(|error| format!("targets: {error}"));
    let targets = match &options.targets {
        Some(targets) => targets.clone(),
        None if every_target => Vec::new(),
        None => names.iter().map(parse).collect::<Result<_, _>>()?,
    };
    check_targets(&targets, every_target)?;
    Ok((targets, every_target))
}

fn check_targets(targets: &[TargetId], every_target: bool) -> Result<(), String> {
    if targets.is_empty() && !every_target {
        return Err("targets is empty; name at least one, as `go/net-http`".into());
    }
    match targets.iter().enumerate().find(|(i, target)| targets[..*i].contains(target)) {
        Some((_, twice)) => Err(format!("targets names `{twice}` twice")),
        None => Ok(()),
    }
}

/// Moves a message to the key with which it begins, below these keys.
pub(crate) fn at_its_key(below: &str, message: String) -> Wrong {
    let first = message.split([' ', ':']).next().unwrap_or_default();
    let is_key = !first.is_empty()
        && first.bytes().all(|byte| byte.is_ascii_lowercase() || b"_.".contains(&byte));
    let keys = [below, if is_key { first } else { "" }];
    let keys: Vec<&str> = keys.into_iter().filter(|part| !part.is_empty()).collect();
    Wrong::at(keys.join("."), message)
}

impl RawPlan {
    /// When the run has measured enough, if that decides on its repetitions: as the command line
    /// says, or the file. A number that was asked for on the command line, or in the quick form, takes
    /// the place of what the file says.
    fn goal(&self, profile: &RawProfile, options: &PlanOptions) -> Result<Option<Goal>, String> {
        let written = Goal::of_keys(self.within.as_deref(), self.longest.as_deref())?;
        let (key, other) = (
            if self.within.is_some() { "within" } else { "for" },
            if self.repetitions.is_some() { "repetitions" } else { "precision" },
        );
        if written.is_some() && (self.repetitions.is_some() || self.precision.is_some()) {
            return Err(format!(
                "{other} says when a run ends, and so does {key}, which makes as many repetitions as it takes; take one of them out"
            ));
        }
        let quick = self.quick.as_ref().filter(|_| options.quick);
        let has_number =
            options.repetitions.is_some() || quick.is_some_and(|form| form.repetitions.is_some());
        let goal = match &options.goal {
            Some(asked) => Some(asked.clone().or(written)),
            None => written.filter(|_| !has_number),
        };
        let kind = profile.kind.as_deref().unwrap_or_default();
        if goal.is_some() && matches!(kind, "capacity" | "overload") {
            let name = if options.goal.is_some() { "--within and --for" } else { key };
            return Err(format!(
                "{name} cannot be kept with kind = \"{kind}\", whose figure is found by a search that has an end of its own; give a number of repetitions"
            ));
        }
        Ok(goal)
    }

    /// The profile, or the one that `rate`, `connections`, `duration` and `warm_up` describe.
    fn profile(&self) -> Result<RawProfile, String> {
        let short = [
            ("rate", self.rate.is_some()),
            ("connections", self.connections.is_some()),
            ("duration", self.duration.is_some()),
            ("warm_up", self.warm_up.is_some()),
        ];
        let given = short.iter().find(|(_, given)| *given);
        match (&self.profile, given) {
            (Some(profile), None) => return Ok(profile.clone()),
            (Some(_), Some((key, _))) => {
                return Err(format!(
                    "{key} and [profile] exclude each other; write profile.{key} instead"
                ));
            }
            (None, None) => {
                return Err("profile is missing; write for example: connections = 10".into());
            }
            (None, Some(_)) => {}
        }
        let rate = self.rate.as_ref().map(Rate::per_s).transpose()?;
        if rate.is_some() && self.warm_up.is_some() {
            return Err(
                "warm_up goes with a closed loop: an open loop climbs to its rate; leave it out, or write [profile] with kind = \"open\" and ramp = \"30s\"".into(),
            );
        }
        let usual = if rate.is_some() { 64 } else { 10 };
        Ok(RawProfile {
            kind: Some(if rate.is_some() { "open" } else { "closed" }.into()),
            connections: Some(OneOrMany::One(self.connections.unwrap_or(usual))),
            duration: Some(self.duration.clone().unwrap_or_else(|| "10s".into())),
            warm_up: self.warm_up.clone(),
            rate,
            ..RawProfile::default()
        })
    }
}

impl Rate {
    fn per_s(&self) -> Result<f64, String> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => {
                let number = text.trim().strip_suffix("/s").unwrap_or(text).trim();
                number.parse().map_err(|_| {
                    format!("rate: `{text}` is not a rate; write it like 500 or \"500/s\"")
                })
            }
        }
    }
}

impl RawCpus {
    fn checked(self) -> Result<PlanCpus, String> {
        let set = |key: &str, text: Option<String>| {
            text.map(|text| CpuSet::parse(&text).map_err(|error| format!("cpus.{key}: {error}")))
                .transpose()
        };
        let cpus = PlanCpus {
            target: set("target", self.target)?,
            generator: set("generator", self.generator)?,
            services: set("services", self.services)?,
            share: self.share,
        };
        if cpus.share
            && (cpus.target.is_some() || cpus.generator.is_some() || cpus.services.is_some())
        {
            return Err(
                "cpus.share lets all roles use all processors; take out the lists or share".into(),
            );
        }
        if let (Some(target), Some(generator)) = (&cpus.target, &cpus.generator)
            && target.overlaps(generator)
        {
            return Err("cpus.target and cpus.generator overlap; keep them apart, or set `share = true` (which causes a caveat)".into());
        }
        Ok(cpus)
    }
}

impl Price {
    fn checked(self) -> Result<Self, String> {
        if !(self.per_hour > 0.0 && self.per_hour.is_finite()) {
            return Err(format!(
                "price.per_hour = {} must be above 0; without a price, take [price] out",
                self.per_hour
            ));
        }
        at_least_one("price.cores", self.cores, "name all cores that the price is for")?;
        if self.currency.trim().is_empty() {
            return Err("price.currency is empty; write it like \"EUR\"".into());
        }
        Ok(self)
    }
}

fn at_least_one(key: &str, count: u32, fix: &str) -> Result<u32, String> {
    if count == 0 { Err(format!("{key} must be at least 1; {fix}")) } else { Ok(count) }
}

/// The length of a slice, if the loads of the plan are measured in slices.
fn slice(profile: &Profile, text: Option<&str>) -> Result<Option<u64>, String> {
    let Some(text) = text else { return Ok(None) };
    must_be_sliced("slice", profile)?;
    let ns = parse_duration_ns(text).map_err(|error| format!("slice: {error}"))?;
    let longest = profile.headline_ns().unwrap_or(u64::MAX);
    if ns < SHORTEST_SLICE_NS || ns > longest {
        return Err(format!(
            "slice = \"{text}\" must be at least {} and at most the duration, {}",
            format_length(SHORTEST_SLICE_NS),
            format_length(longest)
        ));
    }
    Ok(Some(ns))
}

/// The kernel's counters tick in hundredths of a second, so they say nothing about shorter slices.
const SHORTEST_SLICE_NS: u64 = 100_000_000;

fn extra(profile: &Profile, text: Option<&str>) -> Result<f64, String> {
    let Some(fraction) = percent("extra_time", text)? else { return Ok(EXTRA_TIME) };
    must_be_sliced("extra_time", profile)?;
    Ok(fraction)
}

fn must_be_sliced(key: &str, profile: &Profile) -> Result<(), String> {
    if profile.is_sliced() {
        return Ok(());
    }
    Err(format!(
        "{key} goes with loads that are measured in slices: closed loops with a duration and a warm-up, open loops, sweeps; take it out"
    ))
}

/// Every interval is wider than 0, and a limit above the figure itself would be useless.
fn precision(fraction: f64) -> Result<f64, String> {
    if fraction > 0.0 && fraction < 1.0 {
        Ok(fraction)
    } else {
        Err("precision must be above 0 % and below 100 %; take it out to make all repetitions"
            .into())
    }
}

fn errors_allowed(fraction: f64) -> Result<f64, String> {
    if fraction < 1.0 {
        Ok(fraction)
    } else {
        Err("errors_allowed must be below 100 %, otherwise nothing would ever be wrong".into())
    }
}

fn percent(key: &str, text: Option<&str>) -> Result<Option<f64>, String> {
    text.map(|text| parse_percent(text).map_err(|error| format!("{key}: {error}"))).transpose()
}

fn read_published(plan: &Path, raw: &RawPublished) -> Result<Published, FileError> {
    let path = plan.parent().unwrap_or(Path::new(".")).join(&raw.file);
    let text = bounded::text(&path, bounded::DATA)
        .map_err(|source| FileError::Read { path: path.clone(), source })?;
    let mut published =
        Published::parse_csv(&text).map_err(|message| FileError::content(&path, message))?;
    for (name, target) in &raw.targets {
        let target = target
            .parse()
            .map_err(|error| FileError::content(plan, format!("published.targets: {error}")))?;
        let row = published.rows.iter_mut().find(|row| &row.name == name);
        row.ok_or_else(|| {
            FileError::content(
                plan,
                format!("published.targets names `{name}`, which is not a row of {}", raw.file),
            )
        })?
        .target = Some(target);
    }
    if let Some(reference) = &raw.reference
        && !published.rows.iter().any(|row| &row.name == reference)
    {
        return Err(FileError::content(
            plan,
            format!("published.reference `{reference}` is not a row of {}", raw.file),
        ));
    }
    Ok(Published { differs: raw.differs.clone(), reference: raw.reference.clone(), ..published })
}

#[cfg(test)]
mod tests;
