//! How the host disturbed the processors of a measurement.
use pippin_model::host::usage::Usage;
use pippin_model::trial::slice::SliceHost;
use std::collections::BTreeSet;

/// How the host disturbed these processors (all, if the set is empty), as shares of their time.
///
/// *Steal* is the mean of their lines of `/proc/stat`. *Foreign* is their busy time beyond all
/// roles and interrupts, but at most the CPU time that processes outside of the roles used anywhere
/// on the host, because entering and leaving idleness belongs to no process. `company_cores` is
/// what the other targets of the run, which are up but not asked, use by themselves: it meets all
/// targets alike and is no disturbance, so foreign time is what is beyond it. Idle time and steal
/// are counted in ticks of 10 ms for each processor.
///
/// *Waiting* stays unknown. The kernel adds up how long each thread was ready without a processor
/// (`/proc/PID/schedstat`), but does not tell who had the processor. A thread also waits for its
/// siblings on the same processor. It can wait for others only while those run there, which is
/// foreign time, or while the hypervisor has the processor, which is steal
/// (docs/decisions/slices.md).
#[must_use]
pub fn of(usage: &Usage, processors: &BTreeSet<u32>, company_cores: f64) -> SliceHost {
    let is_ours = |cpu: &u32| processors.is_empty() || processors.contains(cpu);
    let count = if processors.is_empty() { usage.busy_by_cpu.len() } else { processors.len() };
    let share = |cores: f64| cores / count.max(1) as f64;
    let of_ours = |shares: &std::collections::BTreeMap<u32, f64>| {
        let ours: Vec<f64> =
            shares.iter().filter(|(cpu, _)| is_ours(cpu)).map(|(_, share)| *share).collect();
        (ours.len() == count && count > 0).then(|| ours.iter().sum::<f64>())
    };
    let roles: Option<f64> = usage.roles.values().map(|role| role.cores).sum();
    let beyond = of_ours(&usage.busy_by_cpu)
        .zip(roles)
        .map(|(busy, roles)| busy - roles - usage.interrupt_cores.unwrap_or(0.0));
    SliceHost {
        steal: of_ours(&usage.stolen_by_cpu).map(share),
        foreign: beyond
            .zip(usage.foreign_cores)
            .map(|(beyond, anywhere)| share((beyond.min(anywhere) - company_cores).max(0.0))),
        waiting: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::host::usage::{Role, RoleUse};
    use std::collections::BTreeMap;

    /// Four processors; the target has number 0 and the generator number 1.
    fn used() -> Usage {
        let role = |cores| RoleUse { cores: Some(cores), ..RoleUse::default() };
        Usage {
            duration_ns: 400_000_000,
            roles: BTreeMap::from([(Role::Target, role(0.9)), (Role::Generator, role(0.5))]),
            foreign_cores: Some(1.5),
            stolen_by_cpu: [(0, 0.0), (1, 0.1), (2, 0.8), (3, 0.0)].into(),
            busy_by_cpu: [(0, 1.0), (1, 0.6), (2, 0.9), (3, 0.9)].into(),
            ..Usage::default()
        }
    }

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-9)
    }

    #[test]
    fn only_the_processors_of_the_roles_count() {
        let ours = of(&used(), &BTreeSet::from([0, 1]), 0.0);
        assert!(close(ours.steal, 0.05) && close(ours.foreign, 0.1), "{ours:?}");
        assert_eq!(ours.waiting, None);
        let all = of(&used(), &BTreeSet::new(), 0.0);
        assert!(close(all.steal, 0.225) && close(all.foreign, 0.375), "{all:?}");
    }

    #[test]
    fn what_other_targets_use_by_themselves_is_not_foreign() {
        let ours = |company| of(&used(), &BTreeSet::from([0, 1]), company).foreign;
        assert!(close(ours(0.15), 0.025), "{:?}", ours(0.15));
        assert!(close(ours(1.0), 0.0));
    }

    #[test]
    fn idleness_is_nobodys_and_the_unknown_stays_so() {
        let quiet = Usage { foreign_cores: Some(0.01), ..used() };
        assert!(close(of(&quiet, &BTreeSet::from([0, 1]), 0.0).foreign, 0.005));
        let unknown = Usage { foreign_cores: None, stolen_by_cpu: BTreeMap::new(), ..used() };
        assert_eq!(of(&unknown, &BTreeSet::from([0, 1]), 0.0), SliceHost::default());
        assert_eq!(
            of(&used(), &BTreeSet::from([0, 7]), 0.0),
            SliceHost::default(),
            "no such processor"
        );
    }
}
