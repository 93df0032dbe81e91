//! Connection tracking: if a firewall has loaded it, every connection, also on loopback, takes an
//! entry in a table of fixed size.
use super::demand::Demand;
use super::figures::grouped;
use super::finding::{Finding, Severity, concerned};
use super::host::Host;

const MAX: &str = "net.netfilter.nf_conntrack_max";
/// A closed connection keeps its entry for this long (nf_conntrack_tcp_timeout_time_wait's
/// default).
const TIME_WAIT_S: f64 = 120.0;

/// Compares the free entries with the connections that are open or were closed a moment ago. `None`
/// if connection tracking is not loaded.
#[must_use]
pub fn entries(host: &Host, demands: &[Demand]) -> Option<Finding> {
    let id = "conntrack";
    let max = host.sysctl_number(MAX)?;
    let used = host.sysctl_number("net.netfilter.nf_conntrack_count");
    let free = max.saturating_sub(used.unwrap_or(0));
    let entries = |demand: &Demand| {
        let seconds =
            demand.duration_ns.map_or(TIME_WAIT_S, |ns| (ns as f64 / 1e9).min(TIME_WAIT_S));
        demand.connections
            + demand.new_connections_per_s().map_or(0, |rate| (rate * seconds) as u64)
    };
    let need = demands.iter().map(entries).max()?;
    let what = format!(
        "tracked connections: {} of {}, {} more needed",
        used.map_or_else(|| "unknown".into(), grouped),
        grouped(max),
        grouped(need)
    );
    let effect = concerned(demands, |demand| {
        let need = entries(demand);
        (need > free).then(|| {
            format!(
                "{}: {} entries needed, {} free; packets of new connections are dropped",
                demand.plan,
                grouped(need),
                grouped(free)
            )
        })
    });
    let Some(effect) = effect else { return Some(Finding::fine(id, what)) };
    Some(Finding::new(id, Severity::Problem, what, effect).with_sysctl(
        host,
        MAX,
        ((need + used.unwrap_or(0)) * 2).to_string(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_is_a_problem_and_one_that_just_holds_is_none() {
        let host = |max: &str| {
            Host::well_tuned()
                .with_sysctl(MAX, max)
                .with_sysctl("net.netfilter.nf_conntrack_count", "100")
        };
        let demands = [Demand::new("devices-10k", 10_000)];
        let finding = entries(&host("10099"), &demands).unwrap();
        assert_eq!(
            (finding.severity, finding.commands[0].as_str()),
            (Severity::Problem, "sudo sysctl -w net.netfilter.nf_conntrack_max=\"20200\"")
        );
        assert_eq!(entries(&host("10100"), &demands).unwrap().severity, Severity::Ok);
        assert_eq!(entries(&Host::well_tuned(), &demands), None, "not loaded");
    }

    #[test]
    fn connections_of_the_last_two_minutes_count_too() {
        let host = Host::well_tuned()
            .with_sysctl(MAX, "65536")
            .with_sysctl("net.netfilter.nf_conntrack_count", "0");
        let mut demand = Demand {
            requests_per_connection: Some(1),
            rate_per_s: Some(1000.0),
            ..Demand::new("open", 100)
        };
        assert_eq!(entries(&host, &[demand.clone()]).unwrap().severity, Severity::Problem);
        demand.duration_ns = Some(60_000_000_000);
        assert_eq!(entries(&host, &[demand]).unwrap().severity, Severity::Ok);
    }
}
