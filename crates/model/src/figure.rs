//! The register of figures: every figure of a load with its name, unit, meaning, which way is
//! better, and how it is read from a result. Gates, comparisons, files and docs/formats.md take
//! them from here.
//!
//! | part | where a new one is added |
//! |---|---|
//! | derived figures (goodput, CPU time) | the list `derived!` below |
//! | time spans | `result/spans.rs` |
//! | counters | `result/counts.rs` |
//! | kinds of errors | `result/error_kind.rs` |
pub mod cost;
mod point;
mod ranking;
mod tier;

pub use crate::result::{Counter, Span};
pub use point::Point;
pub use ranking::RankedBy;
pub use tier::TierName;

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::host::usage::{Role, RoleUse};
use crate::result::{
    ByteCounts, ConnectionCounts, ErrorKind, EventCounts, LoadResult, Measured, RequestCounts,
};
use crate::text::units::{format_bytes, format_count, format_ns};
use crate::trial::TrialRecord;

/// Whether a higher or a lower figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    More,
    /// Less is better.
    Less,
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Per second.
    PerSecond,
    /// How often something happened. It can be given as a share of the requests.
    Count,
    /// Processors kept busy on average.
    Cores,
    /// Joules per million requests.
    Joules,
}

impl Unit {
    /// In words, for tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Bytes => "bytes",
            Self::PerSecond => "per second",
            Self::Count => "count",
            Self::Cores => "cores",
            Self::Joules => "J per million requests",
        }
    }

    /// A value in this unit, for people.
    #[must_use]
    pub fn format(self, value: f64) -> String {
        match self {
            Self::Time => format_ns(value as u64),
            Self::Bytes => format_bytes(value as u64),
            Self::PerSecond => format!("{}/s", format_count(value)),
            Self::Count if value.fract() == 0.0 && value < 1_000.0 => format!("{value}"),
            Self::Count => format_count(value),
            Self::Cores => format!("{value:.2}"),
            Self::Joules => format!("{} J per million", format_count(value)),
        }
    }
}

/// Status codes from the first to the last one: one code, or a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codes {
    /// The first code.
    pub first: u16,
    /// The last code.
    pub last: u16,
}

/// What the register holds of a derived figure.
struct Derived {
    figure: Figure,
    name: &'static str,
    unit: Unit,
    better: Option<Better>,
    help: &'static str,
    read: fn(&TrialRecord, &LoadResult) -> Option<f64>,
}

/// Makes [`Figure`] and the register of derived figures from one list: what it means, variant,
/// name, unit, which way is better, and how it is read.
macro_rules! derived {
    ($($(#[doc = $help:literal])+ $figure:ident, $name:literal, $unit:ident, $better:ident, $read:expr;)+) => {
        /// A figure of a load, by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum Figure {
            $($(#[doc = $help])+ $figure,)+
            /// A point of a time span.
            Span(Span, Point),
            /// Errors of one kind.
            ErrorsOf(ErrorKind),
            /// Answers with these status codes.
            Status(Codes),
            /// A counter.
            Counter(Counter),
            /// CPU time per right answer of one tier of the target.
            TierCpu(TierName),
        }

        const DERIVED: &[Derived] = &[$(Derived {
            figure: Figure::$figure,
            name: $name,
            unit: Unit::$unit,
            better: Some(Better::$better),
            help: concat!($($help),+).trim_ascii(),
            read: $read,
        },)+];
    };
}

derived! {
    /// Complete and right answers per second.
    Goodput, "goodput", PerSecond, More, |_, load| load.measured.goodput_per_s();
    /// Complete answers per second, right or wrong.
    Throughput, "throughput", PerSecond, More, |_, load| load.measured.throughput_per_s();
    /// Server-sent events per second that came, where answers are streams of them.
    EventRate, "events_per_s", PerSecond, More, |_, load| load.measured.events_per_s();
    /// Everything that went wrong: failed requests, wrong answers, connections that could not be
    /// opened.
    Errors, "errors", Count, Less, |_, load| Some(load.measured.errors_total() as f64);
    /// CPU time of the target per right answer.
    Cpu, "cpu", Time, Less, |trial, load| cpu_ns(trial, load, Role::Target);
    /// CPU time of the services per right answer.
    ServicesCpu, "services.cpu", Time, Less, |trial, load| cpu_ns(trial, load, Role::Services);
    /// CPU time of the generator per right answer: of all of Pippin's process, or of the agents.
    GeneratorCpu, "generator.cpu", Time, Less, |trial, _| {
        Some(cost::generator_cpu_seconds_per_million(trial)? * 1e3)
    };
    /// Processors that the target kept busy on average.
    Cores, "cores", Cores, Less, |trial, _| cost::cores_of(trial.usage.as_ref()?, Role::Target);
    /// The highest memory of the target's process tree: the proportional set, in which shared pages
    /// count once, with huge pages; the resident set where the proportional one cannot be read.
    Memory, "memory", Bytes, Less, |trial, _| bytes(role(trial, Role::Target)?.memory_max_bytes());
    /// The highest resident memory of the target's process tree: shared pages count once for each
    /// process.
    MemoryRss, "memory.rss", Bytes, Less, |trial, _| bytes(role(trial, Role::Target)?.rss_max_bytes);
    /// Instructions of the target in user space per right answer, of one user: what callgrind, or the
    /// processor's counter, counted in a load of its own. Other programs do not change it.
    Instructions, "instructions", Count, Less, |trial, _| trial.instructions.as_ref()?.per_request;
    /// Bytes of the answers as they came for each byte unpacked, of those whose content coding was undone to
    /// compare them.
    Packed, "packed", Count, Less, |trial, _| trial.proofs.iter().find_map(|it| it.packed)?.ratio();
    /// Energy of all processors of the machine per million requests, whoever used it.
    Energy, "energy", Joules, Less, |trial, load| cost::joules_per_million(load, trial.usage.as_ref()?);
    /// From the start of the target to its first answer.
    StartUp, "start_up", Time, Less, |trial, _| trial.start_up_ns.map(|ns| ns as f64);
}

fn cpu_ns(trial: &TrialRecord, load: &LoadResult, role: Role) -> Option<f64> {
    // A CPU-second per million requests is a microsecond per request.
    Some(cost::cpu_seconds_per_million(load, trial.usage.as_ref()?, role)? * 1e3)
}

fn role(trial: &TrialRecord, role: Role) -> Option<&RoleUse> {
    trial.usage.as_ref()?.roles.get(&role)
}

fn bytes(count: Option<u64>) -> Option<f64> {
    count.map(|count| count as f64)
}

/// The counters that count requests.
const OF_REQUESTS: [&str; 6] = ["sent", "unsent", "completed", "good", "failed", "censored"];

/// All counters of the register.
pub fn counters() -> impl Iterator<Item = &'static Counter> {
    [
        RequestCounts::COUNTERS,
        ConnectionCounts::COUNTERS,
        ByteCounts::COUNTERS,
        EventCounts::COUNTERS,
    ]
    .into_iter()
    .flatten()
}

impl Figure {
    /// The median of the response time.
    pub const P50: Self = Self::Span(Span::ResponseTime, Point::Quantile(0.5));
    /// The 99th percentile of the response time.
    pub const P99: Self = Self::Span(Span::ResponseTime, Point::Quantile(0.99));
    /// The figures of every comparison, in the order of its tables.
    pub const COMPARED: [Self; 5] = [Self::Goodput, Self::P50, Self::P99, Self::Cpu, Self::Memory];

    /// Every figure that has a name of its own: the derived ones, each kind of errors, the classes
    /// of status codes, and the counters. Time spans are in [`Span::ALL`].
    pub fn all() -> impl Iterator<Item = Self> {
        let derived = DERIVED.iter().map(|derived| derived.figure);
        let errors = ErrorKind::ALL.into_iter().map(Self::ErrorsOf);
        let classes = (2..=5).map(|class| Self::Status(Codes::class(class)));
        derived.chain(errors).chain(classes).chain(counters().copied().map(Self::Counter))
    }

    /// The figure of this name.
    ///
    /// # Errors
    /// The problem with the name, and the valid names.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some(point) = Point::named(name)? {
            return Ok(Self::Span(Span::ResponseTime, point));
        }
        if let Some(derived) = DERIVED.iter().find(|derived| derived.name == name) {
            return Ok(derived.figure);
        }
        match name.split_once('.') {
            Some(("errors", kind)) => error_kind(kind).map(Self::ErrorsOf),
            Some(("status", codes)) => Codes::named(codes).map(Self::Status),
            Some(("cpu", tier)) => TierName::new(tier).map(Self::TierCpu).ok_or_else(|| {
                format!("`{tier}` is no name of a tier; write one like `cpu.postgres`, as the table of tiers names it")
            }),
            Some((span, point)) => span_point(span, point),
            None => {
                let counter = counters().find(|counter| counter.name == name);
                counter.copied().map(Self::Counter).ok_or_else(|| unknown(name))
            }
        }
    }

    fn derived(self) -> Option<&'static Derived> {
        DERIVED.iter().find(|derived| derived.figure == self)
    }

    /// Its unit.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::Span(..) | Self::TierCpu(_) => Unit::Time,
            Self::ErrorsOf(_) | Self::Status(_) | Self::Counter(_) => Unit::Count,
            _ => self.derived().map_or(Unit::Count, |derived| derived.unit),
        }
    }

    /// Whether more or less of it is better; `None` if neither is.
    #[must_use]
    pub fn better(self) -> Option<Better> {
        match self {
            Self::Span(..) | Self::ErrorsOf(_) | Self::TierCpu(_) => Some(Better::Less),
            Self::Status(_) => None,
            Self::Counter(counter) => counter.better,
            _ => self.derived().and_then(|derived| derived.better),
        }
    }

    /// What it is, in one or two sentences.
    #[must_use]
    pub fn help(self) -> String {
        match self {
            Self::Span(span, _) => span.help().into(),
            Self::ErrorsOf(kind) => kind.help().into(),
            Self::Status(codes) => format!("Complete answers with the status {codes}."),
            Self::Counter(counter) => counter.help.into(),
            Self::TierCpu(tier) => {
                format!("CPU time of the target's tier {tier} per right answer.")
            }
            _ => self.derived().map_or("", |derived| derived.help).into(),
        }
    }

    /// Whether it counts requests or what came of them, so that it has a share of the requests.
    #[must_use]
    pub fn can_be_share(self) -> bool {
        match self {
            Self::Errors | Self::ErrorsOf(_) | Self::Status(_) => true,
            Self::Counter(counter) => OF_REQUESTS.contains(&counter.name),
            _ => false,
        }
    }

    /// Reads it from a trial, in its unit; `None` if it is not known.
    #[must_use]
    pub fn read(self, trial: &TrialRecord) -> Option<f64> {
        let load = trial.load.as_ref()?;
        match (self, self.of_measured(&load.measured)) {
            (_, Some(value)) => value,
            (Self::TierCpu(tier), None) => {
                let usage = trial.usage.as_ref()?;
                Some(cost::cpu_seconds_per_million_of(load, usage, tier.as_str())? * 1e3)
            }
            (_, None) => (self.derived()?.read)(trial, load),
        }
    }

    /// Reads what a measured stretch says by itself; the outer `None` if it takes more.
    fn of_measured(self, measured: &Measured) -> Option<Option<f64>> {
        Some(match self {
            Self::Span(span, point) => point.read(span.histogram(&measured.spans)),
            Self::ErrorsOf(kind) => Some(measured.errors.get(&kind).copied().unwrap_or(0) as f64),
            Self::Status(codes) => Some(measured.status.within(codes.first, codes.last) as f64),
            Self::Counter(counter) => Some((counter.read)(&measured.counter_sets()) as f64),
            _ => return None,
        })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(Span::ResponseTime, point) => write!(f, "{point}"),
            Self::Span(span, point) => write!(f, "{}.{point}", span.name()),
            Self::ErrorsOf(kind) => write!(f, "errors.{}", kind.name()),
            Self::Status(codes) => write!(f, "status.{codes}"),
            Self::Counter(counter) => f.write_str(counter.name),
            Self::TierCpu(tier) => write!(f, "cpu.{tier}"),
            _ => f.write_str(self.derived().map_or("", |derived| derived.name)),
        }
    }
}

impl From<Figure> for String {
    fn from(figure: Figure) -> Self {
        figure.to_string()
    }
}

impl TryFrom<String> for Figure {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name)
    }
}

impl Codes {
    /// All codes of a class: 4 for 400 to 499.
    #[must_use]
    pub const fn class(class: u16) -> Self {
        Self { first: class * 100, last: class * 100 + 99 }
    }

    fn named(name: &str) -> Result<Self, String> {
        let class = name.strip_suffix("xx").and_then(|digit| digit.parse().ok());
        if let Some(class) = class.filter(|class| (2..=5).contains(class)) {
            return Ok(Self::class(class));
        }
        let code = name.parse().ok().filter(|code| (200..=999).contains(code));
        code.map(|code| Self { first: code, last: code }).ok_or_else(|| {
            format!(
                "`status.{name}` is neither a status code (`status.429`) nor a class (`status.2xx` to `status.5xx`)"
            )
        })
    }
}

impl fmt::Display for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}xx", self.first / 100)
        }
    }
}

fn unknown(name: &str) -> String {
    let derived: Vec<&str> = DERIVED.iter().map(|derived| derived.name).collect();
    let counters: Vec<&str> = counters().map(|counter| counter.name).collect();
    format!(
        "there is no figure `{name}`; there are {}, cpu.TIER, errors.KIND, status.429, status.5xx, {}, and min, mean, max, p50, p99 (any p0 to p100) of the response time or, with its name before a point, of {}",
        derived.join(", "),
        counters.join(", "),
        span_names()
    )
}

fn span_names() -> String {
    Span::ALL.iter().map(|span| span.name()).collect::<Vec<_>>().join(", ")
}

fn span_point(span: &str, point: &str) -> Result<Figure, String> {
    let found = Span::ALL.iter().find(|known| known.name() == span);
    let found = found
        .ok_or_else(|| format!("there is no time span `{span}`; there are {}", span_names()))?;
    let point = Point::named(point)?.ok_or_else(|| {
        format!("`{point}` is not a point of a time span; there are min, mean, max and p0 to p100")
    })?;
    Ok(Figure::Span(*found, point))
}

fn error_kind(name: &str) -> Result<ErrorKind, String> {
    let found = ErrorKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let near = ErrorKind::ALL
            .into_iter()
            .map(ErrorKind::name)
            .max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
        let all = ErrorKind::ALL.map(ErrorKind::name).join(", ");
        format!(
            "there is no kind of error `{name}`; did you mean `{}`? There are {all}",
            near.unwrap_or_default()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::usage::Tier;
    use crate::trial::Packed;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_has_a_name_of_its_own_that_finds_it_and_a_meaning() {
        let points = ["min", "mean", "max", "p50", "p99.9"];
        let spans = Span::ALL.iter().flat_map(|span| {
            points.map(|point| Figure::Span(*span, Point::named(point).unwrap().unwrap()))
        });
        let one_code = Figure::Status(Codes { first: 429, last: 429 });
        let mut names = BTreeSet::new();
        let tier = Figure::named("cpu.php-fpm8.2").unwrap();
        for figure in Figure::all().chain(spans).chain([one_code, tier]) {
            let name = figure.to_string();
            assert_eq!(Figure::named(&name), Ok(figure), "{name}");
            assert!(figure.help().ends_with('.') && !figure.help().contains('['), "{name}");
            assert!(names.insert(name.clone()), "two figures are called {name}");
            let json = serde_json::to_value(figure).unwrap();
            assert_eq!(serde_json::from_value::<Figure>(json).unwrap(), figure);
        }
        assert!(names.contains("status.429") && names.contains("connect.p99.9"));
    }

    #[test]
    fn how_far_answers_were_packed_is_known_of_those_that_were_unpacked() {
        let mut trial = crate::example::ExampleTrial::hello().build();
        assert_eq!(Figure::Packed.read(&trial), None);
        for (unpacked_bytes, share) in [(1_000, Some(0.25)), (0, None)] {
            trial.proofs[0].packed = Some(Packed { packed_bytes: 250, unpacked_bytes });
            assert_eq!(Figure::Packed.read(&trial), share);
        }
    }

    #[test]
    fn a_tier_has_its_own_part_of_the_cpu_time_and_an_unknown_one_has_none() {
        let mut trial = crate::example::ExampleTrial::hello().build();
        let usage = trial.usage.as_mut().unwrap();
        let all = usage.roles[&Role::Target].clone();
        let tier = |name: &str, cores: f64| Tier {
            name: name.into(),
            used: RoleUse { cores: Some(cores), ..RoleUse::default() },
        };
        let cores = all.cores.unwrap();
        usage.tiers = vec![tier("nginx", cores / 4.0), tier("postgres", cores * 3.0 / 4.0)];
        let read = |name: &str| Figure::named(name).unwrap().read(&trial);
        let (whole, part) = (read("cpu").unwrap(), read("cpu.postgres").unwrap());
        assert!((part / whole - 0.75).abs() < 1e-9, "{part} of {whole}");
        assert_eq!(read("cpu.mysqld"), None, "unknown, which passes no gate");
        assert!(Figure::named("cpu.").unwrap_err().contains("cpu.postgres"));
    }

    #[test]
    fn a_status_is_one_code_or_a_class() {
        assert!(Figure::named("status.429").is_ok() && Figure::named("status.4xx").is_ok());
        for wrong in ["status.42", "status.6xx", "status.1000", "status.abc", "status.100"] {
            let problem = Figure::named(wrong).unwrap_err();
            assert!(problem.contains("status.429") && problem.contains(wrong), "{problem}");
        }
    }
}
