//! File descriptors: each connection takes one in the generator and one in the server.
use super::demand::Demand;
use super::figures::grouped;
use super::finding::{Finding, Severity, concerned};
use super::host::Host;
use crate::limits::Limit;

/// Descriptors that a process needs besides its connections: libraries, logs, listeners, epoll and
/// io_uring instances, a database pool.
const RESERVE: u64 = 256;
const UNLIMITED: &str = "unlimited";

/// Compares the generator's limit with the connections of one of its descriptor tables.
#[must_use]
pub fn generator(host: &Host, demands: &[Demand]) -> Option<Finding> {
    limit(host, demands, "descriptors_generator", "the generator", |demand| demand.generator_tables)
}

/// Compares the limit that the target inherits with the connections of one of its processes.
#[must_use]
pub fn server(host: &Host, demands: &[Demand]) -> Option<Finding> {
    limit(host, demands, "descriptors_server", "the target (which inherits it)", |demand| {
        demand.server_tables
    })
}

fn limit(
    host: &Host,
    demands: &[Demand],
    id: &str,
    whose: &str,
    tables: fn(&Demand) -> u64,
) -> Option<Finding> {
    let each = |demand: &Demand| demand.connections.div_ceil(tables(demand).max(1)) + RESERVE;
    let need = demands.iter().map(each).max()?;
    let Some(limit) = host.open_files else {
        return Some(Finding::unseen(
            id,
            "the limit of open files",
            "connections beyond it would fail with EMFILE",
        ));
    };
    let (soft, hard) = (limit.soft.unwrap_or(u64::MAX), limit.hard.unwrap_or(u64::MAX));
    let told = |value: Option<u64>| value.map_or_else(|| UNLIMITED.into(), grouped);
    let what = format!(
        "open files per process of {whose}: {} (hard limit {}), at most {} needed",
        told(limit.soft),
        told(limit.hard),
        grouped(need)
    );
    if need <= soft {
        return Some(Finding::fine(id, what));
    }
    let effect = concerned(demands, |demand| {
        let process_has = each(demand);
        (process_has > soft).then(|| {
            let open = soft.saturating_sub(RESERVE).saturating_mul(tables(demand).max(1));
            format!(
                "{}: of {} connections about {} can open, the rest fail with EMFILE",
                demand.plan,
                grouped(demand.connections),
                grouped(open)
            )
        })
    })?;
    if need <= hard {
        let finding = Finding::new(
            id,
            Severity::Warning,
            what,
            format!("{effect}; the hard limit allows enough"),
        );
        return Some(
            finding.with_command(format!("ulimit -n {need}"), Some(format!("ulimit -S -n {soft}"))),
        );
    }
    Some(with_raised_limit(Finding::new(id, Severity::Problem, what, effect), host, limit, need))
}

/// Adds the commands that raise the hard limit to `need`.
fn with_raised_limit(mut finding: Finding, host: &Host, limit: Limit, need: u64) -> Finding {
    if let Some(highest) = host.sysctl_number("fs.nr_open").filter(|highest| *highest < need) {
        finding = finding.with_command(
            format!("sudo sysctl -w fs.nr_open={need}"),
            Some(format!("sudo sysctl -w fs.nr_open={highest}")),
        );
    }
    let old = |value: Option<u64>| value.map_or_else(|| UNLIMITED.into(), |it| it.to_string());
    let undo = format!("sudo prlimit --pid $$ --nofile={}:{}", old(limit.soft), old(limit.hard));
    let finding = finding.with_command(
        format!(
            "sudo prlimit --pid $$ --nofile={need}:{need}   # for this shell and what it starts"
        ),
        Some(undo),
    );
    let lasting = format!(
        "echo '* - nofile {need}' | sudo tee /etc/security/limits.d/90-pippin.conf   # permanent, from the next login on"
    );
    finding.with_command(lasting, Some("sudo rm /etc/security/limits.d/90-pippin.conf".into()))
}

/// Compares the limit of the whole system (`fs.file-max`) with both ends of all connections.
#[must_use]
pub fn system(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "descriptors_system";
    let both_ends = |demand: &Demand| demand.connections * 2 + RESERVE * 4;
    let need = demands.iter().map(both_ends).max()?;
    let Some(limit) = host.sysctl_number("fs.file-max") else {
        return Some(Finding::unseen(
            id,
            "fs.file-max",
            "opening more files than that fails with ENFILE",
        ));
    };
    let what = format!(
        "open files of the whole system: {}, at most {} needed for both ends of the connections",
        grouped(limit),
        grouped(need)
    );
    let effect = concerned(demands, |demand| {
        (both_ends(demand) > limit).then(|| {
            format!(
                "{}: connections beyond about {} fail with ENFILE",
                demand.plan,
                grouped(limit / 2)
            )
        })
    });
    let Some(effect) = effect else { return Some(Finding::fine(id, what)) };
    Some(Finding::new(id, Severity::Problem, what, effect).with_sysctl(
        host,
        "fs.file-max",
        (need * 2).to_string(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;

    fn host(soft: u64, hard: u64) -> Host {
        Host {
            open_files: Some(Limit { soft: Some(soft), hard: Some(hard) }),
            ..Host::well_tuned()
        }
    }

    #[test]
    fn too_low_a_limit_is_a_problem_and_one_just_high_enough_is_none() {
        let demands = [Demand::new("hello", 10), Demand::new("devices-10k", 10_000)];
        let finding = generator(&host(10_255, 10_255), &demands).unwrap();
        assert_eq!(finding.severity, Severity::Problem);
        assert_eq!(
            finding.effect,
            "devices-10k: of 10,000 connections about 9,999 can open, the rest fail with EMFILE"
        );
        assert!(
            finding.commands[0].starts_with("sudo prlimit --pid $$ --nofile=10256:10256"),
            "{finding:?}"
        );
        assert_eq!(finding.undo[0], "sudo prlimit --pid $$ --nofile=10255:10255");
        assert_eq!(generator(&host(10_256, 10_256), &demands).unwrap().severity, Severity::Ok);
    }

    #[test]
    fn a_hard_limit_that_is_high_enough_needs_no_privileges() {
        let finding =
            server(&host(1024, 1_048_576), &[Demand::new("devices-10k", 10_000)]).unwrap();
        assert_eq!(
            (finding.severity, finding.commands[0].as_str()),
            (Severity::Warning, "ulimit -n 10256")
        );
    }

    #[test]
    fn several_processes_share_the_connections() {
        let mut demand = Demand::new("devices-100k", 100_000);
        demand.generator_tables = 8;
        let demands = [demand];
        assert_eq!(generator(&host(20_000, 20_000), &demands).unwrap().severity, Severity::Ok);
        assert_eq!(server(&host(20_000, 20_000), &demands).unwrap().severity, Severity::Problem);
    }

    #[test]
    fn more_than_the_kernel_ever_allows_needs_that_raised_first() {
        let host = Host {
            fingerprint: host(1024, 4096).with_sysctl("fs.nr_open", "65536").fingerprint,
            ..host(1024, 4096)
        };
        let finding = generator(&host, &[Demand::new("devices-100k", 100_000)]).unwrap();
        assert_eq!(finding.commands[0], "sudo sysctl -w fs.nr_open=100256");
        assert_eq!(finding.undo[0], "sudo sysctl -w fs.nr_open=65536");
    }

    #[test]
    fn the_system_counts_both_ends() {
        let demands = [Demand::new("devices-10k", 10_000)];
        let finding =
            system(&Host::well_tuned().with_sysctl("fs.file-max", "21023"), &demands).unwrap();
        assert_eq!(finding.severity, Severity::Problem);
        assert_eq!(finding.fixable.unwrap().settings[0].file, "proc/sys/fs/file-max");
        assert_eq!(
            system(&Host::well_tuned().with_sysctl("fs.file-max", "21024"), &demands)
                .unwrap()
                .severity,
            Severity::Ok
        );
    }

    #[test]
    fn unknown_is_said_and_no_plan_asks_nothing() {
        assert_eq!(
            generator(&Host::default(), &[Demand::new("hello", 10)]).unwrap().severity,
            Severity::Note
        );
        assert_eq!(generator(&Host::well_tuned(), &[]), None);
    }
}
