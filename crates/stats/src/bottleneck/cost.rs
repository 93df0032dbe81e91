//! The cost of a request: CPU time by role, and money.
use pippin_model::host::usage::{Role, Usage};
use pippin_model::plan::Price;
use pippin_model::result::LoadResult;

use crate::series::steady::arriving_per_s;

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

fn answers_per_s(load: &LoadResult) -> Option<f64> {
    arriving_per_s(load).or_else(|| load.measured.throughput_per_s()).filter(|x| *x > 0.0)
}

/// Cores that a role kept busy on average.
#[must_use]
pub fn cores_of(usage: &Usage, role: Role) -> Option<f64> {
    let used = usage.roles.get(&role)?;
    used.cores.or_else(|| {
        used.cpu_ns.filter(|_| usage.duration_ns > 0).map(|ns| ns as f64 / usage.duration_ns as f64)
    })
}

/// Money per million requests, if they cost `cpu_seconds_per_million` on the target's machine: the
/// price of that much time on one of its cores, as if the rest of the machine were used for
/// something else.
#[must_use]
pub fn money_per_million(cpu_seconds_per_million: f64, price: &Price) -> Option<f64> {
    (price.cores > 0)
        .then(|| cpu_seconds_per_million / 3_600.0 * price.per_hour / f64::from(price.cores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::RoleUse;

    #[test]
    fn half_a_core_at_ten_thousand_a_second_is_fifty_seconds_a_million() {
        let mut load =
            ExampleTrial::hello().completed(300_000).windows(|_| 10_000.0).build().load.unwrap();
        let target = RoleUse { cpu_ns: Some(4_500_000_000), ..RoleUse::default() };
        let usage = Usage {
            duration_ns: 9_000_000_000,
            roles: [(Role::Target, target)].into(),
            ..Usage::default()
        };
        let cpu = cpu_seconds_per_million(&load, &usage, Role::Target).unwrap();
        assert!((cpu - 50.0).abs() < 1e-9);
        assert_eq!(cpu_seconds_per_million(&load, &usage, Role::Services), None);
        assert_eq!(joules_per_million(&load, &usage), None);
        // 180 J in 9 s, 20 W, for 10,000 answers a second.
        let told = Usage { energy_uj: Some(180_000_000), ..usage.clone() };
        assert!((joules_per_million(&load, &told).unwrap() - 2_000.0).abs() < 1e-9);
        load.windows.clear();
        assert!(
            (cpu_seconds_per_million(&load, &usage, Role::Target).unwrap() - 50.0).abs() < 1e-9
        );
        load.measured.answered.completed = 0;
        assert_eq!(cpu_seconds_per_million(&load, &usage, Role::Target), None);
        let price = Price { per_hour: 0.36, cores: 4, currency: "EUR".into() };
        assert!(
            (money_per_million(cpu, &price).unwrap() - 50.0 * 0.36 / 3_600.0 / 4.0).abs() < 1e-12
        );
    }
}
