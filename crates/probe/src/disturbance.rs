//! How the host disturbed the processors of a measurement.
use pippin_model::host::kernel_network::KernelNetwork;
use pippin_model::host::usage::Usage;
use pippin_model::trial::slice::SliceHost;
use std::collections::BTreeSet;

/// How the host disturbed these processors (all, if the set is empty), as shares of their time.
///
/// *Steal* is the mean of their lines of `/proc/stat`. *Others* is their busy time beyond all
/// roles and interrupts, but at most the CPU time that processes outside of the roles used anywhere
/// on the host, because entering and leaving idleness belongs to no process. `company_cores` is
/// what the other targets of the run, which are up but not asked, use by themselves: it meets all
/// targets alike and is no disturbance, so time of other programs is what is beyond it. Idle time and steal
/// are counted in ticks of 10 ms for each processor.
///
/// *Kernel network* is what the kernel's own threads did on these processors for the load
/// ([`KernelNetwork::of_load`]). It is not others.
///
/// *Waiting* stays unknown. The kernel adds up how long each thread was ready without a processor
/// (`/proc/PID/schedstat`), but does not tell who had the processor. A thread also waits for its
/// siblings on the same processor. It can wait for others only while those run there, which is
/// time of other programs, or while the hypervisor has the processor, which is steal
/// (docs/decisions/slices.md).
#[must_use]
pub fn from_usage(usage: &Usage, processors: &BTreeSet<u32>, company_cores: f64) -> SliceHost {
    let is_ours = |cpu: &u32| processors.is_empty() || processors.contains(cpu);
    let count = if processors.is_empty() { usage.busy_by_cpu.len() } else { processors.len() };
    let share = |cores: f64| cores / count.max(1) as f64;
    let of_ours = |shares: &std::collections::BTreeMap<u32, f64>| {
        let ours: Vec<f64> =
            shares.iter().filter(|(cpu, _)| is_ours(cpu)).map(|(_, share)| *share).collect();
        (ours.len() == count && count > 0).then(|| ours.iter().sum::<f64>())
    };
    let roles: Option<f64> = usage.roles.values().map(|role| role.cores).sum();
    let network = usage.kernel_network.as_ref();
    // What the threads of these processors used, as far as the load surely caused it.
    let of_load = network.map(|network| {
        let here: f64 =
            network.by_cpu.iter().filter(|(cpu, _)| is_ours(cpu)).map(|(_, share)| share).sum();
        here * network.of_load() / network.cores().max(f64::MIN_POSITIVE)
    });
    let nobody_s = usage.interrupt_cores.or(of_load).unwrap_or(0.0);
    let beyond =
        of_ours(&usage.busy_by_cpu).zip(roles).map(|(busy, roles)| busy - roles - nobody_s);
    SliceHost {
        steal: of_ours(&usage.stolen_by_cpu).map(share),
        others: beyond.zip(usage.other_cores).map(|(beyond, anywhere)| {
            let elsewhere = without_company(anywhere, network, company_cores);
            share((beyond - company_cores).min(elsewhere).max(0.0))
        }),
        kernel_network: of_load.map(share),
        waiting: None,
    }
}

/// OtherPrograms cores without those of the company, which caused no network work of the kernel either.
fn without_company(other_cores: f64, network: Option<&KernelNetwork>, company_cores: f64) -> f64 {
    let known = network.map_or(f64::INFINITY, |network| {
        let others = (network.other_programs - company_cores).max(0.0);
        others + network.of_others(others)
    });
    (other_cores - company_cores).min(known)
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
            other_cores: Some(1.5),
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
        let ours = from_usage(&used(), &BTreeSet::from([0, 1]), 0.0);
        assert!(close(ours.steal, 0.05) && close(ours.others, 0.1), "{ours:?}");
        assert_eq!((ours.kernel_network, ours.waiting), (None, None));
        let all = from_usage(&used(), &BTreeSet::new(), 0.0);
        assert!(close(all.steal, 0.225) && close(all.others, 0.375), "{all:?}");
    }

    #[test]
    fn what_other_targets_use_by_themselves_is_not_of_other_programs() {
        let ours = |company| from_usage(&used(), &BTreeSet::from([0, 1]), company).others;
        assert!(close(ours(0.15), 0.025), "{:?}", ours(0.15));
        assert!(close(ours(1.0), 0.0));
    }

    /// As it was seen under `pippin run static` on a quiet machine with two processors: in 8 s `ksoftirqd/1`
    /// used 48 ticks of 10 ms and other programs 13.
    #[test]
    fn network_work_of_the_kernel_is_the_load_s_on_a_quiet_machine_only() {
        let network = |other_programs, from_elsewhere| KernelNetwork {
            by_cpu: [(0, 0.0), (1, 0.06)].into(),
            from_elsewhere,
            other_programs,
        };
        let host = |other_cores, kernel_network| {
            let role = |cores| RoleUse { cores: Some(cores), ..RoleUse::default() };
            let usage = Usage {
                duration_ns: 8_000_000_000,
                roles: [(Role::Target, role(0.95)), (Role::Generator, role(0.8))].into(),
                other_cores: Some(other_cores),
                busy_by_cpu: [(0, 1.0), (1, 0.95)].into(),
                kernel_network,
                ..Usage::default()
            };
            from_usage(&usage, &BTreeSet::new(), 0.0)
        };
        let known = |other_programs, from_elsewhere| {
            let network = network(other_programs, from_elsewhere);
            let others = other_programs + network.cores() - network.of_load();
            host(others, Some(network))
        };
        let unknown = host(0.076, None);
        assert!(close(unknown.others, 0.038) && unknown.kernel_network.is_none(), "as before");
        let quiet = known(0.016, 0.0);
        assert!(close(quiet.others, 0.012) && close(quiet.kernel_network, 0.026), "{quiet:?}");
        let beside_a_load = known(0.4, 0.0);
        assert!(close(beside_a_load.others, 0.1), "all that was busy: {beside_a_load:?}");
        assert!(close(beside_a_load.kernel_network, 0.0));
        let beside_a_router = known(0.016, 0.9);
        assert!(beside_a_router.others.unwrap() > 0.03, "packets of others: {beside_a_router:?}");
    }

    #[test]
    fn what_the_company_uses_is_no_cause_of_network_work() {
        let network =
            KernelNetwork { by_cpu: [(1, 0.1)].into(), from_elsewhere: 0.0, other_programs: 0.06 };
        let usage = Usage { other_cores: Some(0.09), kernel_network: Some(network), ..used() };
        let ours = |company| from_usage(&usage, &BTreeSet::from([0, 1]), company).others;
        assert!(close(ours(0.0), 0.045), "{:?}", ours(0.0));
        assert!(close(ours(0.04), 0.015), "0.02 and half of it: {:?}", ours(0.04));
    }

    #[test]
    fn idleness_is_nobodys_and_the_unknown_stays_so() {
        let quiet = Usage { other_cores: Some(0.01), ..used() };
        assert!(close(from_usage(&quiet, &BTreeSet::from([0, 1]), 0.0).others, 0.005));
        let unknown = Usage { other_cores: None, stolen_by_cpu: BTreeMap::new(), ..used() };
        assert_eq!(from_usage(&unknown, &BTreeSet::from([0, 1]), 0.0), SliceHost::default());
        assert_eq!(
            from_usage(&used(), &BTreeSet::from([0, 7]), 0.0),
            SliceHost::default(),
            "no such processor"
        );
    }
}
