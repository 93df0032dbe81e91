//! The figure of a gate in one trial.
use pippin_model::host::usage::Role;
use pippin_model::result::{LoadResult, StatusCounts};
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::gate::{COUNTERS, Figure};

use crate::bottleneck::cost::cpu_seconds_per_million;
use crate::rank::due;

/// The figure in its own unit; `None` if it is unknown. A quantile that so many requests never
/// reached is infinite.
pub(super) fn value(figure: Figure, trial: &TrialRecord) -> Option<f64> {
    let load = trial.load.as_ref()?;
    let measured = &load.measured;
    match figure {
        Figure::Goodput => measured.goodput_per_s(),
        Figure::Throughput => measured.throughput_per_s(),
        Figure::Span(span, point) => due::point(measured, span, point),
        Figure::Errors => Some(measured.errors_total() as f64),
        Figure::ErrorsOf(kind) => Some(measured.errors.get(&kind).copied().unwrap_or(0) as f64),
        Figure::Status(class) => Some(status(&measured.status, class) as f64),
        Figure::Counter(place) => COUNTERS.get(place).map(|(_, read)| read(measured) as f64),
        Figure::Cpu => cpu_ns(load, trial, Role::Target),
        Figure::GeneratorCpu => cpu_ns(load, trial, Role::Generator),
        Figure::Memory => {
            let used = trial.usage.as_ref()?.roles.get(&Role::Target)?;
            used.rss_max_bytes.map(|bytes| bytes as f64)
        }
    }
}

/// A figure that counts, and what it is a share of; `None` if that is unknown or nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) count: f64,
    pub(super) of: f64,
}

impl Counted {
    pub(super) fn of(figure: Figure, trial: &TrialRecord) -> Option<Self> {
        let measured = &trial.load.as_ref()?.measured;
        let count = value(figure, trial)?;
        let of = match figure {
            // Connections that cannot be opened are errors besides the requests.
            Figure::Errors => match measured.error_fraction()? {
                share if share > 0.0 => count / share,
                _ => measured.requests.scheduled as f64,
            },
            _ => measured.requests.scheduled as f64,
        };
        (of > 0.0).then_some(Self { count, of })
    }

    /// All of them together.
    pub(super) fn all(of: &[Self]) -> Self {
        of.iter().fold(Self::default(), |all, one| Self {
            count: all.count + one.count,
            of: all.of + one.of,
        })
    }

    pub(super) fn share(self) -> f64 {
        self.count / self.of
    }
}

/// A CPU-second per million requests is a microsecond per request.
fn cpu_ns(load: &LoadResult, trial: &TrialRecord, role: Role) -> Option<f64> {
    Some(cpu_seconds_per_million(load, trial.usage.as_ref()?, role)? * 1e3)
}

const fn status(status: &StatusCounts, class: u8) -> u64 {
    match class {
        2 => status.s2xx,
        3 => status.s3xx,
        4 => status.s4xx,
        5 => status.s5xx,
        _ => 0,
    }
}
