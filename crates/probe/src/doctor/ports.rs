//! Local ports. Both addresses and both ports identify a connection, so a source address needs one
//! port for each connection to a server.
use super::demand::Demand;
use super::figures::grouped;
use super::finding::{Finding, Severity, concerned};
use super::host::Host;

const RANGE: &str = "net.ipv4.ip_local_port_range";
/// Nearly all ports, except those below 10240, on which servers under test may listen.
const WIDE: (u64, u64) = (10_240, 65_535);
/// Above this share of the range, the kernel searches long for a free port at each connect, because
/// it tries them one by one.
const CROWDED: f64 = 0.9;
/// A closed connection keeps its port in TIME_WAIT for this long (TCP_TIMEWAIT_LEN in the kernel's
/// `include/net/tcp.h`; no setting changes it).
const TIME_WAIT_S: f64 = 60.0;

/// Ports of the local range, and as text.
fn local_ports(host: &Host) -> Option<(u64, String)> {
    let numbers = host.sysctl_numbers(RANGE)?;
    let (low, high) = (*numbers.first()?, *numbers.get(1)?);
    Some(((high + 1).checked_sub(low)?, format!("{low}-{high}")))
}

/// Compares the range of local ports with the connections from one source address.
#[must_use]
pub fn range(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "local_ports";
    let need = demands.iter().map(Demand::connections_per_source).max()?;
    let Some((ports, range)) = local_ports(host) else {
        return Some(Finding::unseen(
            id,
            RANGE,
            "connections beyond it would fail with EADDRNOTAVAIL",
        ));
    };
    let what = format!(
        "local ports {range}: {} for each source address, at most {} needed",
        grouped(ports),
        grouped(need)
    );
    let crowded = (ports as f64 * CROWDED) as u64;
    let effect = concerned(demands, |demand| {
        let (here, plan) = (demand.connections_per_source(), &demand.plan);
        if here > ports {
            Some(format!(
                "{plan}: {} of {} connections from one address fail with EADDRNOTAVAIL",
                grouped(here - ports),
                grouped(here)
            ))
        } else {
            (here > crowded).then(|| {
                format!(
                    "{plan}: {} of {} ports are taken, which makes connecting slow",
                    grouped(here),
                    grouped(ports)
                )
            })
        }
    });
    let Some(effect) = effect else { return Some(Finding::fine(id, what)) };
    let severity = if need > ports { Severity::Problem } else { Severity::Warning };
    let mut finding = Finding::new(id, severity, what, effect);
    let wide = WIDE.1 - WIDE.0 + 1;
    if wide > ports {
        finding = finding.with_sysctl(host, RANGE, format!("{} {}", WIDE.0, WIDE.1));
    }
    let connections = demands.iter().map(|demand| demand.connections).max()?;
    let addresses = connections.div_ceil((wide.max(ports) as f64 * CROWDED) as u64);
    if addresses > demands.iter().map(|demand| demand.source_addresses).max()? {
        finding = finding.with_command(
            format!("pippin load --source-ips {addresses} ...   # loopback: any of 127.0.0.0/8"),
            None,
        );
    }
    Some(finding)
}

/// Ports that closed connections still hold, for plans that open one connection after the other.
#[must_use]
pub fn time_wait(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "time_wait";
    let concerned_demands: Vec<&Demand> =
        demands.iter().filter(|demand| demand.requests_per_connection.is_some()).collect();
    if concerned_demands.is_empty() {
        return None;
    }
    let Some(((ports, range), reuse)) =
        local_ports(host).zip(host.sysctl_number("net.ipv4.tcp_tw_reuse"))
    else {
        return Some(Finding::unseen(
            id,
            "net.ipv4.tcp_tw_reuse",
            "without it, a port is blocked for a minute after its connection was closed",
        ));
    };
    let what = format!(
        "tcp_tw_reuse {reuse}, {} local ports ({range}), {} sockets in TIME_WAIT now",
        grouped(ports),
        host.tcp.time_wait.map_or_else(|| "unknown".into(), grouped)
    );
    // 1 is for all connections, 2 (the default since Linux 4.19) for loopback; both let a port be
    // used again after a second.
    if reuse != 0 {
        return Some(Finding::fine(id, what));
    }
    let effect = concerned(concerned_demands, |demand| {
        let ports = ports as f64 * demand.source_addresses.max(1) as f64;
        let ceiling = (ports / TIME_WAIT_S) as u64;
        match demand.new_connections_per_s() {
            Some(rate) => {
                // A short trial may end before the ports do.
                let seconds =
                    demand.duration_ns.map_or(TIME_WAIT_S, |ns| (ns as f64 / 1e9).min(TIME_WAIT_S));
                let what = format!(
                    "{}: {rate:.0} new connections per second use up all ports after {:.0} s",
                    demand.plan,
                    ports / rate
                );
                (rate * seconds > ports).then_some(what)
            }
            None => Some(format!(
                "{}: more than {} new connections per second use up all ports, if the generator closes first",
                demand.plan,
                grouped(ceiling)
            )),
        }
    });
    let Some(effect) = effect else { return Some(Finding::fine(id, what)) };
    Some(Finding::new(id, Severity::Warning, what, effect).with_sysctl(
        host,
        "net.ipv4.tcp_tw_reuse",
        "2",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(range: &str) -> Host {
        Host::well_tuned().with_sysctl(RANGE, range)
    }

    #[test]
    fn more_connections_than_ports_is_a_problem() {
        let finding =
            super::range(&host("32768 60999"), &[Demand::new("devices-50k", 50_000)]).unwrap();
        assert_eq!(finding.severity, Severity::Problem);
        assert_eq!(
            finding.effect,
            "devices-50k: 21,768 of 50,000 connections from one address fail with EADDRNOTAVAIL"
        );
        assert_eq!(
            finding.commands[0],
            "sudo sysctl -w net.ipv4.ip_local_port_range=\"10240 65535\""
        );
        assert_eq!(finding.undo[0], "sudo sysctl -w net.ipv4.ip_local_port_range=\"32768 60999\"");
        assert_eq!(finding.commands.len(), 2, "50,000 of 55,296 is crowded still: {finding:?}");
    }

    #[test]
    fn a_crowded_range_is_slow_and_one_with_room_is_fine() {
        let with = |connections| {
            super::range(&host("32768 60999"), &[Demand::new("devices", connections)]).unwrap()
        };
        assert_eq!(with(28_232).severity, Severity::Warning);
        assert_eq!(with(25_409).severity, Severity::Warning);
        assert_eq!(with(25_408).severity, Severity::Ok);
    }

    #[test]
    fn several_source_addresses_share_the_connections() {
        let mut demand = Demand::new("devices-100k", 100_000);
        let finding = super::range(&host("32768 60999"), &[demand.clone()]).unwrap();
        assert!(
            finding
                .commands
                .iter()
                .any(|command| command.starts_with("pippin load --source-ips 3 ")),
            "{finding:?}"
        );
        demand.source_addresses = 4;
        assert_eq!(super::range(&host("32768 60999"), &[demand]).unwrap().severity, Severity::Ok);
    }

    #[test]
    fn ports_rest_a_minute_only_if_they_may_not_be_used_again() {
        let mut demand = Demand::new("hello-close", 10);
        assert_eq!(
            time_wait(
                &host("32768 60999").with_sysctl("net.ipv4.tcp_tw_reuse", "0"),
                std::slice::from_ref(&demand)
            ),
            None,
            "kept connections"
        );
        demand.requests_per_connection = Some(1);
        let reuse = |value: &str, demand: &Demand| {
            time_wait(
                &host("32768 60999").with_sysctl("net.ipv4.tcp_tw_reuse", value),
                std::slice::from_ref(demand),
            )
            .unwrap()
        };
        let finding = reuse("0", &demand);
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(
            finding.effect,
            "hello-close: more than 470 new connections per second use up all ports, if the generator closes first"
        );
        assert_eq!(finding.commands, ["sudo sysctl -w net.ipv4.tcp_tw_reuse=\"2\""]);
        assert_eq!(reuse("2", &demand).severity, Severity::Ok);
        assert_eq!(reuse("1", &demand).severity, Severity::Ok);
    }

    #[test]
    fn a_known_rate_or_a_short_trial_may_get_by() {
        let mut demand = Demand {
            requests_per_connection: Some(1),
            rate_per_s: Some(471.0),
            ..Demand::new("open", 10)
        };
        let host = host("32768 60999").with_sysctl("net.ipv4.tcp_tw_reuse", "0");
        assert_eq!(time_wait(&host, &[demand.clone()]).unwrap().severity, Severity::Warning);
        demand.duration_ns = Some(30_000_000_000);
        assert_eq!(time_wait(&host, &[demand.clone()]).unwrap().severity, Severity::Ok);
        demand.duration_ns = None;
        demand.rate_per_s = Some(470.0);
        assert_eq!(time_wait(&host, &[demand]).unwrap().severity, Severity::Ok);
    }

    #[test]
    fn an_unknown_range_is_said() {
        assert_eq!(
            super::range(&Host::default(), &[Demand::new("hello", 10)]).unwrap().severity,
            Severity::Note
        );
    }
}
