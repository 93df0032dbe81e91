//! Memory for connections, TCP's share of it, and swap.
use super::demand::Demand;
use super::figures::{bytes, grouped};
use super::finding::{Finding, Severity, concerned};
use super::host::Host;

/// What one open connection costs the kernel and two programs at both ends together: socket, file,
/// inode, epoll entry, twice, and two small buffers in user space. A round figure for planning, not
/// a measurement.
const BYTES_PER_CONNECTION: u64 = 32 << 10;
/// What target, services and generator need besides connections.
const BASE_BYTES: u64 = 512 << 20;
const TCP_MEMORY: &str = "net.ipv4.tcp_mem";

fn need_bytes(demand: &Demand) -> u64 {
    BASE_BYTES + demand.connections * BYTES_PER_CONNECTION
}

/// Compares the available memory, or what the control group allows, with what the connections will
/// take.
#[must_use]
pub fn available(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "memory";
    let need = demands.iter().map(need_bytes).max()?;
    let limit = host.fingerprint.cgroup_memory_bytes;
    let Some(available) = host.memory.available_bytes.into_iter().chain(limit).min() else {
        return Some(Finding::unseen(
            id,
            "available memory",
            "too little of it leads to swapping or a killed process",
        ));
    };
    let group =
        limit.map_or_else(String::new, |limit| format!(", control group's limit {}", bytes(limit)));
    let what =
        format!("memory available: {}{group}; about {} needed", bytes(available), bytes(need));
    let severity = match need {
        need if need > available => Severity::Problem,
        need if need * 2 > available => Severity::Warning,
        _ => return Some(Finding::fine(id, what)),
    };
    let effect = concerned(demands, |demand| {
        let need = need_bytes(demand);
        let part = if need > available { "will not fit" } else { "leaves little for the target" };
        (need * 2 > available).then(|| {
            format!(
                "{}: {} for {} connections {part}",
                demand.plan,
                bytes(need),
                grouped(demand.connections)
            )
        })
    })?;
    let finding = Finding::new(id, severity, what, effect);
    Some(finding.with_command("ps -eo rss,pid,comm --sort=-rss | head   # find what to end; or give the machine or container more memory", None))
}

/// The kernel's limit for the buffers of all TCP sockets (`tcp_mem`, in pages: no pressure below
/// the first, drops above the third) compared with the least that connections with data in transit
/// take: the smallest send buffer and the smallest receive buffer at each end.
#[must_use]
pub fn socket_buffers(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "socket_buffers";
    let most = demands.iter().map(|demand| demand.connections).max()?;
    let settings = host
        .sysctl_numbers(TCP_MEMORY)
        .zip(host.page_bytes)
        .zip(host.sysctl_number("net.ipv4.tcp_rmem").zip(host.sysctl_number("net.ipv4.tcp_wmem")));
    let Some(((pages, page_bytes), (receive, send))) = settings else {
        return Some(Finding::unseen(
            id,
            "the memory of TCP sockets (tcp_mem, tcp_rmem, tcp_wmem)",
            "under pressure the kernel shrinks windows and drops packets",
        ));
    };
    let &[low, pressure, high] = pages.as_slice() else { return None };
    let each = (receive + send) * 2;
    let (need, limit) = (most * each, pressure * page_bytes);
    let what = format!(
        "buffers of all TCP sockets: pressure from {} on; {} connections take at least {}",
        bytes(limit),
        grouped(most),
        bytes(need)
    );
    let effect = concerned(demands, |demand| {
        let need = demand.connections * each;
        (need > limit).then(|| {
            format!(
                "{}: {} of buffers put TCP under pressure: windows shrink, packets are dropped",
                demand.plan,
                bytes(need)
            )
        })
    });
    let Some(effect) = effect else { return Some(Finding::fine(id, what)) };
    let severity = if need > high * page_bytes { Severity::Problem } else { Severity::Warning };
    let pages = need.div_ceil(page_bytes);
    let wide = format!("{} {} {}", low.max(pages), pages * 3 / 2, pages * 2);
    Some(Finding::new(id, severity, what, effect).with_sysctl(host, TCP_MEMORY, wide))
}

/// Memory that was swapped out. It comes back slowly, in the middle of a trial.
#[must_use]
pub fn swap(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "swap";
    demands.first()?;
    let Some((total, free)) = host.memory.swap_total_bytes.zip(host.memory.swap_free_bytes) else {
        return Some(Finding::unseen(id, "swap", "pages that were swapped out come back slowly"));
    };
    let used = total.saturating_sub(free);
    let swappiness = host.sysctl_number("vm.swappiness");
    let what = format!(
        "swap used: {} of {}, swappiness {}",
        bytes(used),
        bytes(total),
        swappiness.map_or_else(|| "unknown".into(), |value| value.to_string())
    );
    // A few pages that nobody has used for days do no harm.
    let used_much = used > 64 << 20;
    if total == 0 || (!used_much && swappiness.is_none_or(|value| value <= 10)) {
        return Some(Finding::fine(id, what));
    }
    let (severity, effect) = if used_much {
        (
            Severity::Warning,
            "any load: memory is or was short; a page that comes back from swap takes milliseconds, which shows in the slowest answers",
        )
    } else {
        (
            Severity::Note,
            "any load: the kernel may swap out a waiting server to make room for cached files",
        )
    };
    let mut finding = Finding::new(id, severity, what, effect);
    if swappiness.is_none_or(|value| value > 10) {
        finding = finding.with_sysctl(host, "vm.swappiness", "1");
    }
    Some(if used_much {
        finding.with_command(
            "sudo swapoff -a   # brings everything back into memory, if there is room",
            Some("sudo swapon -a".into()),
        )
    } else {
        finding
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    const MIB: u64 = 1 << 20;

    fn host(available: u64, swap_total: u64, swap_free: u64) -> Host {
        let memory = Memory {
            total_bytes: Some(1 << 34),
            available_bytes: Some(available),
            swap_total_bytes: Some(swap_total),
            swap_free_bytes: Some(swap_free),
        };
        Host { memory, ..Host::well_tuned() }
    }

    #[test]
    fn connections_need_memory() {
        // 512 MiB + 16,384 x 32 KiB = 1 GiB.
        let demands = [Demand::new("devices-16k", 16_384)];
        assert_eq!(
            available(&host(1023 * MIB, 0, 0), &demands).unwrap().severity,
            Severity::Problem
        );
        assert_eq!(
            available(&host(2047 * MIB, 0, 0), &demands).unwrap().severity,
            Severity::Warning
        );
        assert_eq!(available(&host(2048 * MIB, 0, 0), &demands).unwrap().severity, Severity::Ok);
    }

    #[test]
    fn a_control_group_may_allow_less_than_there_is() {
        let mut host = host(1 << 34, 0, 0);
        host.fingerprint.cgroup_memory_bytes = Some(600 * MIB);
        let finding = available(&host, &[Demand::new("hello", 10)]).unwrap();
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.what.contains("control group's limit 600 MiB"), "{}", finding.what);
    }

    #[test]
    fn buffers_of_many_connections_press_a_small_machine() {
        let demands = [Demand::new("devices-100k", 100_000)];
        // 100,000 x 16 KiB = 400,000 pages.
        let with = |value: &str| {
            socket_buffers(&Host::well_tuned().with_sysctl(TCP_MEMORY, value), &demands).unwrap()
        };
        let finding = with("200000 399999 500000");
        assert_eq!(
            (finding.severity, finding.commands[0].as_str()),
            (Severity::Warning, "sudo sysctl -w net.ipv4.tcp_mem=\"400000 600000 800000\"")
        );
        assert_eq!(with("100000 200000 300000").severity, Severity::Problem);
        assert_eq!(with("200000 400000 500000").severity, Severity::Ok);
    }

    #[test]
    fn used_swap_is_a_warning_and_a_few_pages_are_not() {
        let demands = [Demand::new("hello", 10)];
        let used = swap(&host(1 << 34, 2048 * MIB, 1900 * MIB), &demands).unwrap();
        assert_eq!((used.severity, used.commands.len()), (Severity::Warning, 1), "{used:?}");
        assert_eq!(
            swap(&host(1 << 34, 2048 * MIB, 1990 * MIB), &demands).unwrap().severity,
            Severity::Ok
        );
        let eager = host(1 << 34, 2048 * MIB, 2048 * MIB).with_sysctl("vm.swappiness", "60");
        assert_eq!(swap(&eager, &demands).unwrap().severity, Severity::Note);
        assert_eq!(
            swap(&host(1 << 34, 0, 0).with_sysctl("vm.swappiness", "60"), &demands)
                .unwrap()
                .severity,
            Severity::Ok,
            "nothing to swap to"
        );
    }

    #[test]
    fn unknown_is_said() {
        for check in [available, socket_buffers, swap] {
            assert_eq!(
                check(&Host::default(), &[Demand::new("hello", 10)]).unwrap().severity,
                Severity::Note
            );
        }
    }
}
