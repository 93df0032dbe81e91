//! The cost of a request: CPU time by role, and money.
use pippin_model::plan::Price;

pub use pippin_model::figure::cost::{
    cores_of, cpu_seconds_per_million, cpu_seconds_per_million_of, generator_cores,
    generator_cpu_seconds_per_million, joules_per_million,
};

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
    use pippin_model::host::usage::{Role, RoleUse, Usage};

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
        // 180 J in 9 s, 20 W, for 10,000 answers per second.
        let told = Usage { energy_uj: Some(180_000_000), ..usage.clone() };
        assert!((joules_per_million(&load, &told).unwrap() - 2_000.0).abs() < 1e-9);
        load.windows.clear();
        assert!(
            (cpu_seconds_per_million(&load, &usage, Role::Target).unwrap() - 50.0).abs() < 1e-9
        );
        load.measured.answered.good = 0;
        assert_eq!(cpu_seconds_per_million(&load, &usage, Role::Target), None);
        let price = Price { per_hour: 0.36, cores: 4, currency: "EUR".into() };
        assert!(
            (money_per_million(cpu, &price).unwrap() - 50.0 * 0.36 / 3_600.0 / 4.0).abs() < 1e-12
        );
    }
}
