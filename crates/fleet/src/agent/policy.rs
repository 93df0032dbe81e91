//! Which hosts an agent may load. Only its own operator decides that, never a coordinator.
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::error::FleetError;

/// How long looking up a name may take.
const LOOK_UP: Duration = Duration::from_secs(5);

/// Loopback and the hosts that the operator allowed.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Rule>,
}

/// A host, at any port or at one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    /// All addresses that share this many first bits with this one.
    Network(IpAddr, u8),
}

/// A host that agents look up themselves, and its port.
pub type HostPort = (String, u16);

impl Policy {
    /// Allows these hosts besides loopback: names, addresses or networks (`10.1.0.0/16`), each with
    /// a port or without.
    ///
    /// # Errors
    /// The first text that is none of these.
    pub fn allowing(hosts: &[String]) -> Result<Self, FleetError> {
        let rules = hosts.iter().map(|text| {
            rule(text).ok_or_else(|| {
                FleetError::User(format!(
                    "--allow-host `{text}`: write a name, an address or a network, as shop.example, 10.1.2.3:80, [fd00::1]:443 or 10.1.0.0/16"
                ))
            })
        });
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }

    /// The addresses of a host as this machine knows it, if they may be loaded. A host that the
    /// operator named may have any address: its name is looked up here, not by the coordinator.
    /// This may take [`LOOK_UP`].
    ///
    /// # Errors
    /// If the name is not known here, or an address is not allowed.
    pub fn addresses(&self, (host, port): &HostPort) -> Result<Vec<SocketAddr>, String> {
        let found = look_up(host)?;
        let addresses: Vec<SocketAddr> = found.iter().map(|ip| (*ip, *port).into()).collect();
        let is_named = |rule: &Rule| match &rule.host {
            Host::Name(name) => name.eq_ignore_ascii_case(host) && rule.is_at(*port),
            Host::Network(..) => false,
        };
        if !self.rules.iter().any(is_named) {
            self.allows(&addresses)?;
        }
        Ok(addresses)
    }

    /// Whether all of these may be loaded. Names are looked up now and on this machine, not by the
    /// coordinator. This may take [`LOOK_UP`] for each.
    ///
    /// # Errors
    /// Which one is not allowed, and how the operator can allow it.
    pub fn allows(&self, addresses: &[SocketAddr]) -> Result<(), String> {
        let unmatched: Vec<&SocketAddr> = addresses
            .iter()
            .filter(|address| !address.ip().is_loopback() && !self.is_in_networks(address))
            .collect();
        if unmatched.is_empty() {
            return Ok(());
        }
        let named: Vec<(IpAddr, Option<u16>)> = self
            .rules
            .iter()
            .filter_map(|rule| match &rule.host {
                Host::Name(name) => Some((look_up(name).unwrap_or_default(), rule.port)),
                Host::Network(..) => None,
            })
            .flat_map(|(found, port)| found.into_iter().map(move |ip| (ip, port)))
            .collect();
        let is_named = |address: &SocketAddr| {
            let is_it = |(ip, port): &(IpAddr, Option<u16>)| {
                *ip == address.ip() && port.is_none_or(|port| port == address.port())
            };
            named.iter().any(is_it)
        };
        match unmatched.into_iter().find(|address| !is_named(address)) {
            Some(address) => Err(self.refusal(address)),
            None => Ok(()),
        }
    }

    fn is_in_networks(&self, address: &SocketAddr) -> bool {
        self.rules.iter().any(|rule| match rule.host {
            Host::Network(network, bits) => {
                rule.is_at(address.port()) && is_within(address.ip(), network, bits)
            }
            Host::Name(_) => false,
        })
    }

    fn refusal(&self, address: &SocketAddr) -> String {
        let ip = address.ip();
        let at_other_ports = Self {
            rules: self.rules.iter().map(|rule| Rule { port: None, ..rule.clone() }).collect(),
        };
        if at_other_ports.is_in_networks(address) {
            return format!(
                "its operator has allowed {ip} at other ports only; start it with --allow-host {address} if it may load that one"
            );
        }
        format!(
            "its operator has not allowed {ip}; start it with --allow-host {ip} if it may load that host"
        )
    }
}

impl Rule {
    fn is_at(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

/// `shop.example`, `10.1.2.3:80`, `[fd00::1]:443`, `fd00::1`, `10.1.0.0/16`, `10.1.0.0/16:80`.
fn rule(text: &str) -> Option<Rule> {
    let text = text.trim();
    if let Some(ip) = text.parse::<IpAddr>().ok().or_else(|| unbracketed(text)?.parse().ok()) {
        return Some(Rule { host: Host::Network(ip, bits_of(ip)), port: None });
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') || host.contains('/') => {
            (host, Some(port.parse().ok().filter(|port| *port > 0)?))
        }
        _ => (text, None),
    };
    let host = unbracketed(host).unwrap_or(host);
    if let Some((network, bits)) = host.split_once('/') {
        let network: IpAddr = unbracketed(network).unwrap_or(network).parse().ok()?;
        let bits = bits.parse().ok().filter(|bits| *bits <= bits_of(network))?;
        return Some(Rule { host: Host::Network(network, bits), port });
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Some(Rule { host: Host::Network(ip, bits_of(ip)), port });
    }
    let is_name = !host.is_empty()
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    is_name.then(|| Rule { host: Host::Name(host.into()), port })
}

fn unbracketed(text: &str) -> Option<&str> {
    text.strip_prefix('[')?.strip_suffix(']')
}

const fn bits_of(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

fn is_within(ip: IpAddr, network: IpAddr, bits: u8) -> bool {
    let first =
        |value: u128, size: u32| value.checked_shr(size - u32::from(bits).min(size)).unwrap_or(0);
    match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => {
            first(u32::from(ip).into(), 32) == first(u32::from(network).into(), 32)
        }
        (IpAddr::V6(ip), IpAddr::V6(network)) => {
            first(ip.into(), 128) == first(network.into(), 128)
        }
        _ => false,
    }
}

/// The addresses of a name or an address. The system's look-up has no time limit of its own, so it
/// has a thread of its own, and [`LOOK_UP`].
///
/// # Errors
/// If the name has no address here, or finding it takes too long.
pub fn look_up(host: &str) -> Result<Vec<IpAddr>, String> {
    let literal = unbracketed(host).unwrap_or(host);
    if let Ok(ip) = literal.parse() {
        return Ok(vec![ip]);
    }
    let (tell, told) = channel();
    let name = literal.to_string();
    let look = move || {
        let found = (name.as_str(), 0).to_socket_addrs();
        // If this took too long, nobody listens.
        drop(tell.send(found.map(|all| all.map(|one| one.ip()).collect::<Vec<_>>())));
    };
    std::thread::Builder::new()
        .name("look-up".into())
        .spawn(look)
        .map_err(|error| format!("it cannot start a thread: {error}"))?;
    match told.recv_timeout(LOOK_UP) {
        Ok(Ok(found)) if !found.is_empty() => Ok(found),
        Ok(Ok(_)) => Err(format!("it finds no address of {host}")),
        Ok(Err(error)) => Err(format!("it cannot look up {host}: {error}")),
        Err(_) => Err(format!("looking up {host} took it longer than {} s", LOOK_UP.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowing(hosts: &[&str]) -> Policy {
        Policy::allowing(&hosts.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn loopback_is_allowed_and_others_by_name() {
        let nobody = Policy::default();
        assert!(nobody.allows(&addresses(&["127.0.0.1:80", "[::1]:80", "127.9.9.9:1"])).is_ok());
        let why = nobody.allows(&addresses(&["127.0.0.1:80", "10.1.2.3:80"])).unwrap_err();
        assert!(why.contains("--allow-host 10.1.2.3"), "{why}");
        let one = allowing(&["10.1.2.3", "[fd00::1]"]);
        assert!(one.allows(&addresses(&["10.1.2.3:80", "[fd00::1]:443"])).is_ok());
        assert!(one.allows(&addresses(&["10.1.2.4:80"])).is_err());
        assert!(one.allows(&addresses(&["0.0.0.0:80"])).is_err());
    }

    #[test]
    fn networks_and_ports_are_held() {
        let policy = allowing(&["10.1.0.0/16:80", "fd00::/8", "192.168.7.9:443", "0.0.0.0/32"]);
        for (address, is_allowed) in [
            ("10.1.255.3:80", true),
            ("10.1.255.3:81", false),
            ("10.2.0.1:80", false),
            ("[fdab::7]:9", true),
            ("[fe80::7]:9", false),
            ("192.168.7.9:443", true),
            ("192.168.7.9:444", false),
        ] {
            assert_eq!(policy.allows(&addresses(&[address])).is_ok(), is_allowed, "{address}");
        }
        let why = policy.allows(&addresses(&["10.1.2.3:99"])).unwrap_err();
        assert!(why.contains("at other ports only"), "{why}");
        assert!(allowing(&["0.0.0.0/0"]).allows(&addresses(&["8.8.8.8:53"])).is_ok());
        for wrong in ["10.1.0.0/33", "a b", "", "x:0", "x:port", "10.1.0.0/x", "http://x"] {
            assert!(Policy::allowing(&[wrong.to_string()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_named_host_may_have_any_address_and_is_looked_up_here() {
        let at = |host: &str, port| (host.to_string(), port);
        let here = allowing(&["LOCALHOST:80"]).addresses(&at("localhost", 80)).unwrap();
        assert!(here.iter().all(|address| address.ip().is_loopback() && address.port() == 80));
        let why = Policy::default().addresses(&at("10.1.2.3", 80)).unwrap_err();
        assert!(why.contains("--allow-host 10.1.2.3"), "{why}");
        let why = Policy::default().addresses(&at("no-such-name.invalid", 80)).unwrap_err();
        assert!(why.contains("no-such-name.invalid"), "{why}");
    }
}
