//! Finds what on this host would spoil which plan, and how to fix it.
//!
//! [`observe`] reads the state of the host, a [`Demand`] holds what a plan needs, and [`examine`]
//! compares the two with pure functions over plain data, one file for each subject. To add a check,
//! write one function and one line in [`CHECKS`]. [`fix::apply`] makes the changes that are safe
//! until the next boot and can be undone.
pub mod congestion;
pub mod conntrack;
pub mod control_group;
pub mod cores;
pub mod demand;
pub mod descriptors;
pub mod figures;
pub mod finding;
pub mod fix;
pub mod frequency;
pub mod host;
pub mod instructions;
pub mod io_uring;
pub mod memory;
pub mod other_load;
pub mod ports;
pub mod queues;
pub mod time_source;

pub use demand::{Demand, DemandCpus};
pub use finding::{Finding, Severity};
pub use host::{Host, observe};

/// A check: a pure function of the host and of what the plans need.
pub type Check = fn(&Host, &[Demand]) -> Option<Finding>;

/// All checks, in the order in which they are printed. A check that does not concern any of the
/// plans returns `None`.
pub const CHECKS: &[Check] = &[
    descriptors::generator,
    descriptors::server,
    descriptors::system,
    ports::range,
    ports::time_wait,
    queues::listen,
    queues::syn,
    queues::input,
    memory::socket_buffers,
    memory::available,
    memory::swap,
    congestion::control,
    conntrack::entries,
    frequency::governor,
    frequency::turbo,
    cores::count,
    cores::siblings,
    cores::shared,
    cores::cgroup,
    other_load::other_programs,
    other_load::steal,
    io_uring::allowed,
    instructions::counter,
    instructions::callgrind,
    control_group::allowed,
    time_source::cheap,
];

/// All findings, the worst first; equal ones in the order of [`CHECKS`].
#[must_use]
pub fn examine(host: &Host, demands: &[Demand]) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        CHECKS.iter().filter_map(|check| check(host, demands)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::plan::cpus::CpuSet;

    #[test]
    fn the_worst_comes_first_and_ids_are_unique() {
        let mut host = Host::well_tuned();
        host.load = Some(crate::host_load::HostLoad { busy: 0.2, steal: 0.0 });
        host.fingerprint
            .sysctls
            .insert("net.ipv4.ip_local_port_range".into(), "32768 60999".into());
        let findings = examine(&host, &[Demand::new("devices-100k", 100_000)]);
        assert!(findings.is_sorted_by_key(|finding| std::cmp::Reverse(finding.severity)));
        assert_eq!(findings[0].severity, Severity::Problem, "{findings:#?}");
        let mut ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), findings.len());
    }

    #[test]
    fn a_well_tuned_host_has_nothing_to_mend_for_a_small_plan() {
        let findings = examine(&Host::well_tuned(), &[Demand::new("hello", 10)]);
        assert!(findings.iter().all(|finding| finding.severity == Severity::Ok), "{findings:#?}");
        assert!(findings.len() > 12, "a check that is fine says so: {findings:#?}");
    }

    /// Where nobody asked for a plan, nothing speaks of one: not on a host of which nothing is known, on
    /// one that lacks everything, nor on this one.
    #[test]
    fn without_a_plan_only_the_machine_is_spoken_of() {
        let mut poor = Host::well_tuned()
            .with_sysctl("net.core.somaxconn", "16")
            .with_sysctl("net.ipv4.ip_local_port_range", "60000 60010");
        poor.open_files = Some(crate::limits::Limit { soft: Some(64), hard: Some(64) });
        poor.cpus = Some(CpuSet::parse("0").unwrap());
        let demands = [Demand::new("a load of 256 connections", 256)];
        for host in [Host::default(), Host::well_tuned(), poor, observe()] {
            let findings = examine(&host, &demands);
            assert!(findings.len() > 12);
            for finding in &findings {
                let texts =
                    [&[finding.what.clone(), finding.effect.clone()], &finding.commands[..]];
                let said = texts.concat().join(" ");
                let mut words = said.split(|c: char| !c.is_alphanumeric());
                assert!(!words.any(|word| ["plan", "plans"].contains(&word)), "{finding:?}");
            }
        }
    }

    #[test]
    fn every_finding_has_figures_and_every_bad_one_an_effect_and_a_way_out() {
        let findings = examine(&Host::default(), &[Demand::new("devices-100k", 100_000)]);
        for finding in findings {
            assert!(!finding.what.is_empty() && !finding.effect.is_empty(), "{finding:?}");
        }
        let mut host = Host::well_tuned();
        host.open_files = Some(crate::limits::Limit { soft: Some(1024), hard: Some(1024) });
        for finding in examine(&host, &[Demand::new("devices-100k", 100_000)]) {
            if finding.severity >= Severity::Warning {
                assert!(
                    !finding.commands.is_empty() && finding.what.contains(char::is_numeric),
                    "{finding:?}"
                );
            }
        }
    }

    #[test]
    fn this_host_can_be_examined() {
        let findings = examine(&observe(), &[Demand::new("hello", 10)]);
        assert!(findings.len() > 12, "{findings:#?}");
    }
}
