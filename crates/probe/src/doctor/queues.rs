//! Queues between connecting and accepting (listen(2), tcp(7)), and the packet queues of loopback.
use super::demand::Demand;
use super::figures::grouped;
use super::finding::{Finding, Severity, concerned};
use super::host::Host;

const SOMAXCONN: &str = "net.core.somaxconn";
const SYN_BACKLOG: &str = "net.ipv4.tcp_max_syn_backlog";
const INPUT: &str = "net.core.netdev_max_backlog";

/// The smallest power of two that is at least this.
fn room_for(connections: u64) -> u64 {
    connections.next_power_of_two().clamp(1024, 65_535)
}

/// Compares the longest listen queue that a server can have with the connections that are opened at
/// once.
#[must_use]
pub fn listen(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "listen_queue";
    let need = demands.iter().map(|demand| demand.opened_at_once).max()?;
    let Some(longest) = host.sysctl_number(SOMAXCONN) else {
        return Some(Finding::unseen(
            id,
            SOMAXCONN,
            "connections that find the queue full wait a second or more",
        ));
    };
    let what = format!(
        "longest listen queue: {}, at most {} connections at once",
        grouped(longest),
        grouped(need)
    );
    let effect = concerned(demands, |demand| {
        let over = demand.opened_at_once.checked_sub(longest).filter(|over| *over > 0)?;
        let slow = "may find the queue full and wait 1 s, 3 s, 7 s (the SYN is sent again); the server's own backlog may be shorter still";
        Some(format!(
            "{}: {} of {} connections {slow}",
            demand.plan,
            grouped(over),
            grouped(demand.opened_at_once)
        ))
    });
    let Some(effect) = effect else { return Some(Finding::fine(id, what)) };
    Some(Finding::new(id, Severity::Warning, what, effect).with_sysctl(
        host,
        SOMAXCONN,
        room_for(need).to_string(),
    ))
}

/// The queue of half-open connections. With SYN cookies (the default), a full queue loses only TCP
/// options.
#[must_use]
pub fn syn(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "syn_queue";
    let need = demands.iter().map(|demand| demand.opened_at_once).max()?;
    let Some(longest) = host.sysctl_number(SYN_BACKLOG) else {
        return Some(Finding::unseen(
            id,
            SYN_BACKLOG,
            "connections beyond it are dropped or get SYN cookies",
        ));
    };
    let cookies = host.sysctl_number("net.ipv4.tcp_syncookies");
    let told = cookies.map_or("unknown", |cookies| if cookies == 0 { "off" } else { "on" });
    let what = format!(
        "half-open connections: {}, SYN cookies {told}, at most {} connections at once",
        grouped(longest),
        grouped(need)
    );
    let dropped = if cookies == Some(0) {
        "are dropped and tried again after 1 s"
    } else {
        "get SYN cookies, which cost options such as window scaling"
    };
    let effect = concerned(demands, |demand| {
        let over = demand.opened_at_once.checked_sub(longest).filter(|over| *over > 0)?;
        Some(format!(
            "{}: if the server is slow to answer them, up to {} connections {dropped}",
            demand.plan,
            grouped(over)
        ))
    });
    let Some(effect) = effect else { return Some(Finding::fine(id, what)) };
    let severity = if cookies == Some(0) { Severity::Warning } else { Severity::Note };
    Some(Finding::new(id, severity, what, effect).with_sysctl(
        host,
        SYN_BACKLOG,
        room_for(need).to_string(),
    ))
}

/// The input queue of each processor, through which loopback traffic passes: whether it has
/// overflowed since boot.
#[must_use]
pub fn input(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "input_queue";
    demands.first()?;
    let Some((drops, longest)) = host.backlog_drops.zip(host.sysctl_number(INPUT)) else {
        return Some(Finding::unseen(
            id,
            "the input queue of packets",
            "packets dropped there are sent again after 200 ms or more",
        ));
    };
    let what = format!(
        "input queue of each processor: {} packets, {} dropped since boot",
        grouped(longest),
        grouped(drops)
    );
    if drops == 0 {
        return Some(Finding::fine(id, what));
    }
    let effect = "any load: loopback traffic has overflowed this queue before; a dropped packet is sent again after 200 ms or more, which shows in the slowest answers";
    let finding = Finding::new(id, Severity::Note, what, effect);
    Some(if longest < 10_000 { finding.with_sysctl(host, INPUT, "10000") } else { finding })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listen_queue_shorter_than_the_rush_is_told() {
        let demands = [Demand::new("sweep", 512), Demand::new("closed-5k", 5_000)];
        let finding = listen(&Host::well_tuned().with_sysctl(SOMAXCONN, "4999"), &demands).unwrap();
        assert_eq!(finding.severity, Severity::Warning);
        assert!(
            finding.effect.starts_with("closed-5k: 1 of 5,000 connections may"),
            "{}",
            finding.effect
        );
        assert_eq!(finding.commands, ["sudo sysctl -w net.core.somaxconn=\"8192\""]);
        assert_eq!(
            listen(&Host::well_tuned().with_sysctl(SOMAXCONN, "5000"), &demands).unwrap().severity,
            Severity::Ok
        );
    }

    #[test]
    fn a_ramp_makes_no_rush() {
        let demand = Demand { opened_at_once: 100, ..Demand::new("devices-100k", 100_000) };
        assert_eq!(
            listen(&Host::well_tuned().with_sysctl(SOMAXCONN, "128"), &[demand]).unwrap().severity,
            Severity::Ok
        );
    }

    #[test]
    fn half_open_connections_are_lost_only_without_cookies() {
        let demands = [Demand::new("closed-5k", 5_000)];
        let host = |backlog: &str, cookies: &str| {
            Host::well_tuned()
                .with_sysctl(SYN_BACKLOG, backlog)
                .with_sysctl("net.ipv4.tcp_syncookies", cookies)
        };
        assert_eq!(syn(&host("4096", "0"), &demands).unwrap().severity, Severity::Warning);
        assert_eq!(syn(&host("4096", "1"), &demands).unwrap().severity, Severity::Note);
        assert_eq!(syn(&host("5000", "0"), &demands).unwrap().severity, Severity::Ok);
    }

    #[test]
    fn dropped_packets_are_told() {
        let host = |drops| Host {
            backlog_drops: Some(drops),
            ..Host::well_tuned().with_sysctl(INPUT, "1000")
        };
        let demands = [Demand::new("hello", 10)];
        let finding = input(&host(3), &demands).unwrap();
        assert_eq!((finding.severity, finding.commands.len()), (Severity::Note, 1));
        assert_eq!(input(&host(0), &demands).unwrap().severity, Severity::Ok);
        assert!(
            input(&Host { backlog_drops: Some(3), ..Host::well_tuned() }, &demands)
                .unwrap()
                .commands
                .is_empty(),
            "long already"
        );
    }

    #[test]
    fn unknown_is_said() {
        for check in [listen, syn, input] {
            assert_eq!(
                check(&Host::default(), &[Demand::new("hello", 10)]).unwrap().severity,
                Severity::Note
            );
        }
    }
}
