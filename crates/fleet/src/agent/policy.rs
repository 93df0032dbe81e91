//! Which hosts an agent may load. Only its own operator decides that, never a coordinator.
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// Loopback and the hosts that the operator allowed.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    hosts: Vec<String>,
}

impl Policy {
    /// Allows these hosts besides loopback: names or addresses.
    #[must_use]
    pub const fn allowing(hosts: Vec<String>) -> Self {
        Self { hosts }
    }

    /// Whether all of these may be loaded. Names are looked up now and on this machine, not by the
    /// coordinator.
    ///
    /// # Errors
    /// Which one is not allowed, and how the operator can allow it.
    pub fn allows(&self, addresses: &[SocketAddr]) -> Result<(), String> {
        let foreign: Vec<IpAddr> =
            addresses.iter().map(SocketAddr::ip).filter(|ip| !ip.is_loopback()).collect();
        if foreign.is_empty() {
            return Ok(());
        }
        let allowed: Vec<IpAddr> = self.hosts.iter().flat_map(|host| addresses_of(host)).collect();
        match foreign.iter().find(|ip| !allowed.contains(ip)) {
            Some(ip) => Err(format!(
                "its operator has not allowed {ip}; start it with --allow-host {ip} if it may load that host"
            )),
            None => Ok(()),
        }
    }
}

fn addresses_of(host: &str) -> Vec<IpAddr> {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    (literal, 0)
        .to_socket_addrs()
        .map_or(Vec::new(), |addresses| addresses.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_allowed_and_others_by_name() {
        let addresses = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let nobody = Policy::default();
        assert!(nobody.allows(&addresses(&["127.0.0.1:80", "[::1]:80", "127.9.9.9:1"])).is_ok());
        let why = nobody.allows(&addresses(&["127.0.0.1:80", "10.1.2.3:80"])).unwrap_err();
        assert!(why.contains("--allow-host 10.1.2.3"), "{why}");
        let one = Policy::allowing(vec!["10.1.2.3".into(), "[fd00::1]".into()]);
        assert!(one.allows(&addresses(&["10.1.2.3:80", "[fd00::1]:443"])).is_ok());
        assert!(one.allows(&addresses(&["10.1.2.4:80"])).is_err());
        assert!(one.allows(&addresses(&["0.0.0.0:80"])).is_err());
    }
}
