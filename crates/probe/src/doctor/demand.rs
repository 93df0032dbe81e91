//! What a plan needs from a host.
use pippin_model::plan::cpus::CpuSet;
use serde::{Deserialize, Serialize};

/// The most that a plan needs from a host, computed from a resolved plan. Target and generator are
/// on this host and use loopback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The plan.
    pub plan: String,
    /// Connections that are open at the same time.
    pub connections: u64,
    /// How many of them are opened at the same instant: all in a closed loop, fewer in a ramp.
    pub opened_at_once: u64,
    /// Source addresses over which the generator spreads its connections.
    pub source_addresses: u64,
    /// Processes (or threads with a descriptor table of their own) over which the generator spreads
    /// its connections.
    pub generator_tables: u64,
    /// Processes over which the target spreads them: its workers.
    pub server_tables: u64,
    /// Requests after which a connection is closed and another opened; `None` if connections are
    /// kept.
    pub requests_per_connection: Option<u64>,
    /// Requests per second, if the plan sets them.
    pub rate_per_s: Option<f64>,
    /// Length of the measured part in nanoseconds, if the plan sets it.
    pub duration_ns: Option<u64>,
    /// Which processors each role has.
    pub cpus: DemandCpus,
}

/// Which processors each role has; `None` means all allowed ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemandCpus {
    /// The target's.
    pub target: Option<CpuSet>,
    /// The generator's.
    pub generator: Option<CpuSet>,
}

impl Demand {
    /// A plan with this many keep-alive connections, all opened at once from one address by one
    /// process to one process.
    #[must_use]
    pub fn new(plan: impl Into<String>, connections: u64) -> Self {
        Self {
            plan: plan.into(),
            connections,
            opened_at_once: connections,
            source_addresses: 1,
            generator_tables: 1,
            server_tables: 1,
            requests_per_connection: None,
            rate_per_s: None,
            duration_ns: None,
            cpus: DemandCpus::default(),
        }
    }

    /// Connections from one source address.
    #[must_use]
    pub fn connections_per_source(&self) -> u64 {
        self.connections.div_ceil(self.source_addresses.max(1))
    }

    /// New connections per second, if the plan sets the rate of requests; 0 if connections are
    /// kept.
    #[must_use]
    pub fn new_connections_per_s(&self) -> Option<f64> {
        match self.requests_per_connection {
            None => Some(0.0),
            Some(requests) => self.rate_per_s.map(|rate| rate / requests.max(1) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_spread_over_addresses_and_rates_over_requests() {
        let mut demand = Demand::new("devices-100k", 100_001);
        demand.source_addresses = 4;
        assert_eq!(demand.connections_per_source(), 25_001);
        assert_eq!(demand.new_connections_per_s(), Some(0.0));
        demand.requests_per_connection = Some(100);
        assert_eq!(demand.new_connections_per_s(), None);
        demand.rate_per_s = Some(5000.0);
        assert_eq!(demand.new_connections_per_s(), Some(50.0));
    }
}
