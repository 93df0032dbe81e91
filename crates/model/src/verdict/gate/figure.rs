//! The figures that gates can use, by name.
use crate::result::histogram::Histogram;
use crate::result::{ErrorKind, Measured, Spans};

/// A figure of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// Right answers per second.
    Goodput,
    /// Complete answers per second.
    Throughput,
    /// A point of a time span.
    Span(Span, Point),
    /// All errors.
    Errors,
    /// Errors of one kind.
    ErrorsOf(ErrorKind),
    /// Answers of a status class: 5 for `status.5xx`.
    Status(u8),
    /// A counter, by its index in [`COUNTERS`].
    Counter(usize),
    /// The target's CPU time per request.
    Cpu,
    /// The target's highest resident set.
    Memory,
    /// The generator's CPU time per request.
    GeneratorCpu,
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
    /// A number.
    Count,
}

/// A time span (docs/terminology.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named like the fields of `Spans`
pub enum Span {
    Connect,
    Tls,
    Upgrade,
    Headers,
    Body,
    ServiceTime,
    ResponseTime,
    SendLag,
    OwnLag,
    PickUpLag,
}

/// All spans, with their names in JSON and in gates.
pub const SPANS: [(&str, Span); 10] = [
    ("connect", Span::Connect),
    ("tls", Span::Tls),
    ("upgrade", Span::Upgrade),
    ("headers", Span::Headers),
    ("body", Span::Body),
    ("service_time", Span::ServiceTime),
    ("response_time", Span::ResponseTime),
    ("send_lag", Span::SendLag),
    ("own_lag", Span::OwnLag),
    ("pick_up_lag", Span::PickUpLag),
];

impl Span {
    /// Its histogram.
    #[must_use]
    pub const fn of(self, spans: &Spans) -> &Histogram {
        match self {
            Self::Connect => &spans.connect,
            Self::Tls => &spans.tls,
            Self::Upgrade => &spans.upgrade,
            Self::Headers => &spans.headers,
            Self::Body => &spans.body,
            Self::ServiceTime => &spans.service_time,
            Self::ResponseTime => &spans.response_time,
            Self::SendLag => &spans.send_lag,
            Self::OwnLag => &spans.own_lag,
            Self::PickUpLag => &spans.pick_up_lag,
        }
    }
}

/// A point of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Point {
    /// The least value.
    Min,
    /// The arithmetic mean.
    Mean,
    /// The greatest value.
    Max,
    /// A quantile, from 0 to 1.
    Quantile(f64),
}

impl Point {
    fn named(name: &str) -> Result<Option<Self>, String> {
        Ok(Some(match name {
            "min" => Self::Min,
            "mean" => Self::Mean,
            "max" => Self::Max,
            _ => {
                let Some(percent) = name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok())
                else {
                    return Ok(None);
                };
                if !(0.0..=100.0).contains(&percent) {
                    return Err(format!("`{name}` is not a quantile: give one between 0 and 100"));
                }
                Self::Quantile(percent / 100.0)
            }
        }))
    }

    /// This point of a histogram, in nanoseconds; `None` if it is empty.
    #[must_use]
    pub fn of(self, histogram: &Histogram) -> Option<f64> {
        let summary = || histogram.summary();
        match self {
            Self::Min => summary().min_ns.map(|ns| ns as f64),
            Self::Mean => summary().mean_ns,
            Self::Max => summary().max_ns.map(|ns| ns as f64),
            Self::Quantile(q) => histogram.quantile_ns(q).map(|ns| ns as f64),
        }
    }
}

/// Reads a counter.
type Counter = fn(&Measured) -> u64;

/// Counters, named as in the JSON of a load.
pub const COUNTERS: [(&str, Counter); 12] = [
    ("scheduled", |measured| measured.requests.scheduled),
    ("sent", |measured| measured.requests.sent),
    ("unsent", |measured| measured.requests.unsent),
    ("completed", |measured| measured.requests.completed),
    ("good", |measured| measured.requests.good),
    ("failed", |measured| measured.requests.failed),
    ("censored", |measured| measured.requests.censored),
    ("connections_opened", |measured| measured.connections.opened),
    ("reconnects", |measured| measured.connections.reconnects),
    ("closed_by_server", |measured| measured.connections.closed_by_server),
    ("bytes_in", |measured| measured.bytes.received),
    ("bytes_out", |measured| measured.bytes.sent),
];

impl Figure {
    /// The figure of this name.
    ///
    /// # Errors
    /// The problem with the name, and the valid names.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some(point) = Point::named(name)? {
            return Ok(Self::Span(Span::ResponseTime, point));
        }
        match name.split_once('.') {
            Some(("errors", kind)) => return error_kind(kind).map(Self::ErrorsOf),
            Some(("status", class)) => return status(class),
            Some(("generator", "cpu")) => return Ok(Self::GeneratorCpu),
            Some((span, point)) => return span_point(span, point),
            None => {}
        }
        Ok(match name {
            "goodput" => Self::Goodput,
            "throughput" => Self::Throughput,
            "errors" => Self::Errors,
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            _ => {
                let place = COUNTERS.iter().position(|(counter, _)| *counter == name);
                Self::Counter(place.ok_or_else(|| unknown(name))?)
            }
        })
    }

    /// Its unit.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Goodput | Self::Throughput => Unit::PerSecond,
            Self::Span(..) | Self::Cpu | Self::GeneratorCpu => Unit::Time,
            Self::Memory => Unit::Bytes,
            Self::Errors | Self::ErrorsOf(_) | Self::Status(_) | Self::Counter(_) => Unit::Count,
        }
    }

    /// Whether it may be given as a share of the requests.
    #[must_use]
    pub const fn can_be_share(self) -> bool {
        matches!(self.unit(), Unit::Count)
    }
}

fn unknown(name: &str) -> String {
    let counters = COUNTERS.map(|(name, _)| name).join(", ");
    let spans = SPANS.map(|(name, _)| name).join(", ");
    format!(
        "there is no figure `{name}`; there are goodput, throughput, errors, errors.KIND, status.5xx, cpu, memory, generator.cpu, {counters}, and min, mean, max, p50, p99 (any p0 to p100) of the response time or, with its name before a point, of {spans}"
    )
}

fn span_point(span: &str, point: &str) -> Result<Figure, String> {
    let names = || SPANS.map(|(name, _)| name).join(", ");
    let (_, found) = SPANS
        .iter()
        .find(|(name, _)| *name == span)
        .ok_or_else(|| format!("there is no time span `{span}`; there are {}", names()))?;
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

fn status(class: &str) -> Result<Figure, String> {
    let digit = class.strip_suffix("xx").and_then(|digit| digit.parse().ok());
    digit.filter(|class| (2..=5).contains(class)).map(Figure::Status).ok_or_else(|| {
        format!("`status.{class}` is not a class; there are status.2xx to status.5xx")
    })
}
