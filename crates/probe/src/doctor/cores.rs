//! Processors: whether generator and target disturb each other.
use pippin_model::plan::cpus::CpuSet;

use super::demand::{Demand, DemandCpus};
use super::finding::{Finding, Severity, concerned};
use super::host::Host;

/// Generator and target need a core each.
#[must_use]
pub fn count(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "cores";
    demands.first()?;
    let Some(cpus) = &host.cpus else {
        return Some(Finding::unseen(
            id,
            "the set of allowed processors",
            "any load: generator and target may run on the same ones",
        ));
    };
    let cores =
        host.fingerprint.cores.map_or_else(String::new, |cores| format!(" on {cores} cores"));
    let what = format!("{} processors{cores} for generator, target and services", cpus.len());
    if cpus.len() > 1 {
        return Some(Finding::fine(id, what));
    }
    let effect = "any load: the generator takes CPU time from the target, and both look slow; trials become SUSPECT";
    Some(Finding::new(id, Severity::Warning, what, effect).with_command(
        "taskset -cp $$   # shows what is allowed; use a machine with 2 cores or more",
        None,
    ))
}

/// Target and generator on two threads of one core.
#[must_use]
pub fn siblings(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "smt";
    demands.first()?;
    let Some(smt) = host.topology.smt.or(host.fingerprint.smt) else {
        return Some(Finding::unseen(
            id,
            "simultaneous multithreading",
            "any load: two processors may share one core",
        ));
    };
    if !smt {
        return Some(Finding::fine(id, "no two processors share a core: 1 thread per core"));
    }
    let pairs = |demand: &Demand| {
        let (target, generator) =
            demand.cpus.target.as_ref().zip(demand.cpus.generator.as_ref())?;
        Some(host.topology.siblings(target, generator)).filter(|pairs| !pairs.is_empty())
    };
    let effect = concerned(demands, |demand| {
        let pairs: Vec<String> = pairs(demand)?
            .into_iter()
            .map(|(target, generator)| format!("{target} and {generator}"))
            .collect();
        Some(format!(
            "{}: target and generator share a core (processors {}) and slow each other down",
            demand.plan,
            pairs.join(", ")
        ))
    });
    let what = format!(
        "two threads per core: {} processors on {} cores",
        host.fingerprint.cpus,
        host.fingerprint.cores.map_or("unknown".into(), |n| n.to_string())
    );
    let Some(effect) = effect else {
        return Some(Finding::new(
            id,
            Severity::Ok,
            what,
            "target and generator have their own cores",
        ));
    };
    let control = "/sys/devices/system/cpu/smt/control";
    let finding = Finding::new(id, Severity::Warning, what, effect);
    let finding = finding.with_command("lscpu -e=CPU,CORE,SOCKET   # then give each role whole cores in the plan: [cpus] target = ..., generator = ...", None);
    Some(finding.with_command(
        format!("echo off | sudo tee {control}   # or one thread per core"),
        Some(format!("echo on | sudo tee {control}")),
    ))
}

/// Target and generator on the same processors, or on the same last-level cache. `None` if no plan
/// says where they run.
#[must_use]
pub fn shared(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "shared_processors";
    let allowed = host.cpus.clone().unwrap_or_default();
    let sets = |demand: &Demand| {
        let of = |set: &Option<CpuSet>| set.clone().unwrap_or_else(|| allowed.clone());
        (of(&demand.cpus.target), of(&demand.cpus.generator))
    };
    let placed: Vec<&Demand> =
        demands.iter().filter(|demand| demand.cpus != DemandCpus::default()).collect();
    placed.first()?;
    let effect = concerned(placed.iter().copied(), |demand: &Demand| {
        let (target, generator) = sets(demand);
        target.overlaps(&generator).then(|| format!("{}: the generator ({generator}) takes CPU time from the target ({target}); trials get a caveat", demand.plan))
    });
    if let Some(effect) = effect {
        let what = format!("target and generator share processors ({} allowed)", allowed.len());
        let finding = Finding::new(id, Severity::Warning, what, effect);
        return Some(finding.with_command("set [cpus] target and generator in the plan to sets without overlap, or remove `share = true`", None));
    }
    let one_cache = |demand: &&&Demand| {
        let (target, generator) = sets(demand);
        host.topology.share_cache(&target, &generator) == Some(true)
    };
    let cache = placed.iter().find(one_cache);
    Some(match cache {
        Some(demand) => {
            let what = format!(
                "target and generator have their own processors and share one last-level cache ({})",
                demand.plan
            );
            Finding::new(
                id,
                Severity::Ok,
                what,
                "normal on one socket: a busy generator costs the target some cache, the same for all targets",
            )
        }
        None => Finding::fine(
            id,
            format!("no processor of {} is shared between target and generator", allowed.len()),
        ),
    })
}

/// A control group's CPU limit: beyond it, all processes stop until the next period, usually 100
/// ms.
#[must_use]
pub fn cgroup(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "cgroup_cpu";
    demands.first()?;
    let cpus = host.cpus.as_ref().map_or(host.fingerprint.cpus as usize, CpuSet::len);
    let Some(limit) = host.fingerprint.cgroup_cpus else {
        return Some(Finding::fine(id, format!("no control group limits the {cpus} processors")));
    };
    let what = format!("control group's limit: {limit:.2} of {cpus} cores");
    if limit >= cpus as f64 {
        return Some(Finding::fine(id, what));
    }
    let effect = "any load: if target, services and generator together use more, all stop for tens of milliseconds at a time; this shows in the slowest answers";
    let finding = Finding::new(id, Severity::Warning, what, effect);
    Some(finding.with_command("give the container or service all its processors: docker update --cpus N NAME; systemctl set-property NAME CPUQuota=", None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Place;

    fn set(text: &str) -> Option<CpuSet> {
        Some(CpuSet::parse(text).unwrap())
    }

    /// Two cores with two threads each: 0 and 2, 1 and 3.
    fn hyperthreaded() -> Host {
        let mut host = Host::well_tuned();
        host.topology.smt = Some(true);
        host.topology.cpus = (0..4)
            .map(|cpu| {
                (cpu, Place { package: Some(0), core: Some(cpu % 2), last_level_cache: set("0-3") })
            })
            .collect();
        host.cpus = set("0-3");
        (host.fingerprint.cpus, host.fingerprint.cores) = (4, Some(2));
        host
    }

    fn on(target: &str, generator: &str) -> Demand {
        let mut demand = Demand::new("hello", 10);
        (demand.cpus.target, demand.cpus.generator) = (set(target), set(generator));
        demand
    }

    #[test]
    fn one_processor_is_too_few() {
        let demands = [Demand::new("hello", 10)];
        let one = Host { cpus: set("3"), ..Host::well_tuned() };
        assert_eq!(count(&one, &demands).unwrap().severity, Severity::Warning);
        let two = Host { cpus: set("2-3"), ..Host::well_tuned() };
        assert_eq!(count(&two, &demands).unwrap().severity, Severity::Ok);
    }

    #[test]
    fn threads_of_one_core_are_told_only_if_the_roles_meet_there() {
        let finding = siblings(&hyperthreaded(), &[on("0", "2")]).unwrap();
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.effect.contains("processors 0 and 2"), "{}", finding.effect);
        assert_eq!(siblings(&hyperthreaded(), &[on("0,2", "1,3")]).unwrap().severity, Severity::Ok);
        assert_eq!(siblings(&Host::well_tuned(), &[on("0", "2")]).unwrap().severity, Severity::Ok);
        assert_eq!(siblings(&Host::default(), &[on("0", "2")]).unwrap().severity, Severity::Note);
    }

    #[test]
    fn shared_processors_are_told_and_a_shared_cache_is_usual() {
        assert_eq!(
            shared(&Host::well_tuned(), &[on("0-3", "3-4")]).unwrap().severity,
            Severity::Warning
        );
        let apart = shared(&Host::well_tuned(), &[on("0-3", "4-5")]).unwrap();
        assert_eq!(apart.severity, Severity::Ok);
        assert!(apart.what.contains("one last-level cache"), "{}", apart.what);
        let mut half = on("0-3", "4-5");
        half.cpus.generator = None;
        assert_eq!(
            shared(&Host::well_tuned(), &[half]).unwrap().severity,
            Severity::Warning,
            "none given means all"
        );
        assert_eq!(shared(&Host::well_tuned(), &[Demand::new("hello", 10)]), None);
    }

    #[test]
    fn a_control_group_with_less_than_all_cores_is_told() {
        let demands = [Demand::new("hello", 10)];
        let limited = |cpus| {
            let mut host = Host::well_tuned();
            host.fingerprint.cgroup_cpus = Some(cpus);
            cgroup(&host, &demands).unwrap().severity
        };
        assert_eq!((limited(7.5), limited(8.0)), (Severity::Warning, Severity::Ok));
        assert_eq!(cgroup(&Host::well_tuned(), &demands).unwrap().severity, Severity::Ok);
    }
}
