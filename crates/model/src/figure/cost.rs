//! What a request costs: CPU time by role, and energy.
use crate::host::usage::{Role, Usage};
use crate::result::{LoadResult, arriving_per_s};

/// CPU-seconds of a role per million complete answers; `None` if nothing was answered or the role's
/// use is unknown.
///
/// Both are rates (cores busy over answers per second), because the times covered by probe and load
/// differ by a sample. Answers count when they came, because that is when they used CPU time.
#[must_use]
pub fn cpu_seconds_per_million(load: &LoadResult, usage: &Usage, role: Role) -> Option<f64> {
    Some(cores_of(usage, role)? / answers_per_s(load)? * 1e6)
}

/// Joules of all packages of processors per million complete answers, with all that ran on them;
/// `None` if nothing was answered or the host does not show its energy.
#[must_use]
pub fn joules_per_million(load: &LoadResult, usage: &Usage) -> Option<f64> {
    let watts = (usage.duration_ns > 0)
        .then_some(usage.energy_uj? as f64 * 1e3 / usage.duration_ns as f64)?;
    Some(watts / answers_per_s(load)? * 1e6)
}

/// Cores that a role kept busy on average.
#[must_use]
pub fn cores_of(usage: &Usage, role: Role) -> Option<f64> {
    let used = usage.roles.get(&role)?;
    used.cores.or_else(|| {
        used.cpu_ns.filter(|_| usage.duration_ns > 0).map(|ns| ns as f64 / usage.duration_ns as f64)
    })
}

fn answers_per_s(load: &LoadResult) -> Option<f64> {
    arriving_per_s(load).or_else(|| load.measured.throughput_per_s()).filter(|x| *x > 0.0)
}
