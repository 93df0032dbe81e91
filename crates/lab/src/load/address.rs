//! A URL that is to be loaded: its parts, its addresses, and whether that is allowed.
use pippin_engine::{EngineError, Place};
use pippin_probe::server;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use crate::error::LabError;

/// Hosts that may be loaded, separated by commas.
pub const CONSENT_VARIABLE: &str = "PIPPIN_ALLOW_HOST";

/// How long the attempt to connect before a load may take.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// The parts of an http or https URL (RFC 9110 section 4.2), or of one of a WebSocket (RFC 6455
/// section 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Whether its scheme is https or wss.
    pub is_https: bool,
    /// Whether its scheme is ws or wss.
    pub is_websocket: bool,
    /// Host and port as they were written.
    pub authority: String,
    /// A name or an address, without brackets.
    pub host: String,
    /// Its port, or the scheme's.
    pub port: u16,
    /// Path and query.
    pub target: String,
}

impl Url {
    /// Reads one of http or https; without a scheme it is http.
    ///
    /// # Errors
    /// If it is none; the message says how it is written.
    pub fn parse(text: &str) -> Result<Self, LabError> {
        match Self::of_any(text)? {
            url if url.is_websocket => Err(LabError::User(format!(
                "`{text}`: only http and https URLs can be loaded here; `pippin load` loads WebSockets"
            ))),
            url => Ok(url),
        }
    }

    /// Reads one of http, https, ws or wss; without a scheme it is http.
    ///
    /// # Errors
    /// If it is none; the message says how it is written.
    pub fn of_any(text: &str) -> Result<Self, LabError> {
        let error = |why: &str| {
            LabError::User(format!("`{text}`: {why}; write it like http://127.0.0.1:8080/path"))
        };
        // What looks like a scheme behind the host belongs to the path or the query.
        let with_scheme =
            text.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', '?', '#']));
        let scheme = with_scheme.map(|(scheme, _)| scheme.to_ascii_lowercase());
        let rest = with_scheme.map_or(text, |(_, rest)| rest);
        let (is_https, is_websocket) = match scheme.as_deref() {
            // Without one, as browsers and curl take it.
            Some("http") | None => (false, false),
            Some("https") => (true, false),
            Some("ws") => (false, true),
            Some("wss") => (true, true),
            Some(_) => return Err(error("only http, https, ws and wss URLs can be loaded")),
        };
        let here = if scheme.is_some() { None } else { on_this_machine(rest) };
        let rest = here.as_deref().unwrap_or(rest);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        if authority.is_empty() || authority.contains('@') {
            return Err(error(if authority.is_empty() {
                "it has no host"
            } else {
                "a user in the URL is not sent; use -H 'Authorization: ...'"
            }));
        }
        let usual = if is_https { 443 } else { 80 };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, _)) if host.contains(':') && !host.starts_with('[') => {
                return Err(error(
                    "an address of IPv6 stands in brackets, as in http://[::1]:8080/",
                ));
            }
            // An empty port is the scheme's (RFC 3986 section 3.2.3).
            Some((host, "")) => (host, usual),
            Some((host, port)) if !port.contains(']') => (
                host,
                port.parse()
                    .ok()
                    .filter(|port| *port > 0)
                    .ok_or_else(|| error("its port is not a number from 1 to 65535"))?,
            ),
            _ => (authority, usual),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(error("it has no host"));
        }
        let target = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        if !target.is_ascii() || target.bytes().any(|byte| byte <= b' ' || byte == 127) {
            return Err(error("its path must be percent-encoded ASCII"));
        }
        let (authority, host) = (authority.trim_end_matches(':').into(), host.into());
        Ok(Self { is_https, is_websocket, authority, host, port, target })
    }

    /// The whole URL, with its scheme.
    #[must_use]
    pub fn whole(&self) -> String {
        let scheme = match (self.is_websocket, self.is_https) {
            (false, false) => "http",
            (false, true) => "https",
            (true, false) => "ws",
            (true, true) => "wss",
        };
        format!("{scheme}://{}{}", self.authority, self.target)
    }

    /// Whether the host is this machine by its own words: `localhost`, a name below it, a loopback
    /// address, or the address for "all", which frameworks print (ip(7)).
    #[must_use]
    pub fn is_this_machine(&self) -> bool {
        let is_own =
            |ip: IpAddr| ip.to_canonical().is_loopback() || ip.to_canonical().is_unspecified();
        is_localhost(&self.host) || self.host.parse().is_ok_and(is_own)
    }

    /// The addresses of the host.
    fn look_up(&self) -> std::io::Result<Vec<SocketAddr>> {
        // Resolvers need not know names below `localhost` (RFC 6761 section 6.3).
        let host = if is_localhost(&self.host) { "localhost" } else { self.host.as_str() };
        Ok((host, self.port).to_socket_addrs()?.map(server::canonical).collect())
    }

    /// Which of several addresses of the host is loaded, and why. `None` if there is one, or if the
    /// same sockets listen at all of them.
    #[must_use]
    pub fn choice(&self, chosen: SocketAddr) -> Option<String> {
        let mut all = self.look_up().ok()?;
        all.sort_unstable();
        all.dedup();
        let sockets = |address: SocketAddr| server::listening_inodes(&[address]);
        let of_chosen = sockets(chosen);
        if all.len() < 2
            || all.iter().all(|other| sockets(*other) == of_chosen && !of_chosen.is_empty())
        {
            return None;
        }
        let named = |ip: IpAddr| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
        let named: Vec<String> = all.iter().map(|address| named(address.ip())).collect();
        Some(format!(
            "{} has {} addresses ({}): {chosen} answers and is loaded",
            self.host,
            all.len(),
            named.join(", ")
        ))
    }

    /// Whether this host, which is not this machine, may be loaded.
    ///
    /// # Errors
    /// If it is not among the allowed ones.
    pub fn consented(&self, allowed: &[String]) -> Result<(), LabError> {
        if allowed.contains(&self.host) {
            return Ok(());
        }
        Err(LabError::User(format!(
            "`{}` is not this machine; if you may load it, say so: --allow-host {}, or PIPPIN_ALLOW_HOST={} in the environment",
            self.host, self.host, self.host
        )))
    }

    /// Resolves the host and tries one connection, for at most `timeout`. It comes from `source`,
    /// if there is one, and then goes to an address of the same family. The loopback is always
    /// allowed; any other host must be allowed by name.
    ///
    /// # Errors
    /// If there is no consent, no such host, no address that can be reached from `source`, or
    /// nobody answers.
    pub fn resolve(
        &self,
        allowed: &[String],
        source: Option<IpAddr>,
        timeout: Duration,
    ) -> Result<Vec<SocketAddr>, LabError> {
        let timeout = timeout.min(PATIENCE);
        self.resolve_by(allowed, source, timeout, |place| place.reach(timeout))
    }

    /// As [`Url::resolve`], for a server that is reached over UDP (QUIC): its kernel says if nobody
    /// listens there.
    ///
    /// # Errors
    /// As [`Url::resolve`]'s.
    pub fn resolve_udp(
        &self,
        allowed: &[String],
        source: Option<IpAddr>,
        timeout: Duration,
    ) -> Result<Vec<SocketAddr>, LabError> {
        self.resolve_by(allowed, source, timeout.min(PATIENCE), |place| place.reach_by_udp())
    }

    fn resolve_by(
        &self,
        allowed: &[String],
        source: Option<IpAddr>,
        timeout: Duration,
        reach: impl Fn(Place<'_>) -> Result<(), EngineError>,
    ) -> Result<Vec<SocketAddr>, LabError> {
        let addresses = self.look_up().map_err(|error| {
            LabError::User(format!("cannot find the host `{}`: {error}", self.host))
        })?;
        if addresses.is_empty() {
            return Err(LabError::User(format!("the host `{}` has no address", self.host)));
        }
        if addresses.iter().any(|address| !address.ip().is_loopback()) {
            self.consented(allowed)?;
        }
        let candidates = from_source(addresses, source).map_err(in_words)?;
        first_reached(&candidates, source, reach).map_err(|error| match error {
            EngineError::Unreachable { error, .. } => LabError::User(format!(
                "nobody answers at {}:{}: {}; {}",
                self.host,
                self.port,
                why(&error, timeout),
                self.hint(&error)
            )),
            other => in_words(other),
        })
    }
}

impl Url {
    /// What may be done about it. Where nobody listens, somebody may listen on the same port of
    /// this machine, at another address.
    fn hint(&self, error: &std::io::Error) -> String {
        let is_refused = error.kind() == ErrorKind::ConnectionRefused && self.is_this_machine();
        let others = if is_refused { server::listening_on(self.port) } else { BTreeSet::default() };
        if others.is_empty() {
            return "is the server running?".into();
        }
        let others: Vec<String> = others.iter().map(ToString::to_string).collect();
        format!("something listens on {}", others.join(" and "))
    }
}

/// Those that can be reached from this source: `localhost` often has addresses of both families.
fn from_source(
    mut addresses: Vec<SocketAddr>,
    source: Option<IpAddr>,
) -> Result<Vec<SocketAddr>, EngineError> {
    let (Some(source), Some(first)) = (source, addresses.first().copied()) else {
        return Ok(addresses);
    };
    addresses.retain(|address| address.is_ipv4() == source.is_ipv4());
    if addresses.is_empty() {
        return Err(EngineError::SourceFamily { from_address: source, to: first });
    }
    Ok(addresses)
}

/// The first that answers: the server listens on only one of those that `localhost` has.
///
/// # Errors
/// The last one's, if none does; or that the source address cannot be used.
fn first_reached(
    addresses: &[SocketAddr],
    source: Option<IpAddr>,
    reach: impl Fn(Place<'_>) -> Result<(), EngineError>,
) -> Result<Vec<SocketAddr>, EngineError> {
    let mut last = EngineError::NoAddresses;
    for address in addresses {
        match reach(Place::from(*address).coming_from(source)) {
            Ok(()) => return Ok(vec![*address]),
            // The server is there. What happens to its connections is for the load to count.
            Err(EngineError::Unreachable { error, .. })
                if error.kind() == ErrorKind::ConnectionReset =>
            {
                return Ok(vec![*address]);
            }
            Err(error @ EngineError::Unreachable { .. }) => last = error,
            Err(other) => return Err(other),
        }
    }
    Err(last)
}

/// Why nobody answers.
fn why(error: &std::io::Error, timeout: Duration) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "the connection was refused".into(),
        ErrorKind::TimedOut => format!("no connection was open after {} s", timeout.as_secs_f64()),
        _ => error.to_string(),
    }
}

fn in_words(error: EngineError) -> LabError {
    LabError::User(error.to_string())
}

/// `localhost`, or a name below it (RFC 6761 section 6.3).
fn is_localhost(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// A place that is a port alone, `:8080` or `8080/path`, is one of this machine.
fn on_this_machine(rest: &str) -> Option<String> {
    let text = rest.strip_prefix(':').unwrap_or(rest);
    let port = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port.then(|| format!("localhost:{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn resolved(url: &str, source: Option<&str>) -> Result<Vec<SocketAddr>, String> {
        let source = source.map(|ip| ip.parse().unwrap());
        let url = Url::parse(url).unwrap();
        url.resolve(&[], source, PATIENCE).map_err(|error| error.to_string())
    }

    /// On both families, as `localhost` has them.
    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for text in [":5100/a?b", "5100/a?b"] {
            let url = Url::parse(text).unwrap();
            assert_eq!(
                (url.host.as_str(), url.port, url.authority.as_str(), url.target.as_str()),
                ("localhost", 5100, "localhost:5100", "/a?b"),
                "{text}"
            );
        }
        assert_eq!(Url::parse("127.0.0.1").unwrap().host, "127.0.0.1");
        assert!(Url::parse(":99999").is_err());
    }

    #[test]
    fn schemes_have_no_case_an_empty_port_is_the_usual_one_and_queries_may_hold_urls() {
        let read = |text: &str| {
            let Url { is_https, host, port, authority, target, .. } = Url::of_any(text).unwrap();
            (is_https, host, port, authority, target)
        };
        let of = |https, host: &str, port, authority: &str, target: &str| {
            (https, host.to_string(), port, authority.to_string(), target.to_string())
        };
        assert_eq!(read("HTTP://a:1/x"), of(false, "a", 1, "a:1", "/x"));
        assert_eq!(read("Https://a/"), of(true, "a", 443, "a", "/"));
        assert_eq!(read("http://a:/x"), of(false, "a", 80, "a", "/x"));
        assert_eq!(read("a:1/x?u=http://b.c/"), of(false, "a", 1, "a:1", "/x?u=http://b.c/"));
        assert_eq!(read("[::1]:1/x"), of(false, "::1", 1, "[::1]:1", "/x"));
        assert_eq!(read("http://[::1]:/x"), of(false, "::1", 80, "[::1]", "/x"));
        for text in ["::1:8080/x", "http://::1/", "http://fe80::1:80/"] {
            let error = Url::of_any(text).unwrap_err().to_string();
            assert!(error.contains("stands in brackets"), "{text}: {error}");
        }
    }

    #[test]
    fn a_source_address_chooses_the_family() {
        let v6 = TcpListener::bind("[::1]:0").unwrap();
        let port = v6.local_addr().unwrap().port();
        let _v4 = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let all: Vec<SocketAddr> = [format!("[::1]:{port}"), format!("127.0.0.1:{port}")]
            .map(|it| it.parse().unwrap())
            .into();
        for (source, right) in [(None, 0), (Some("::1"), 0), (Some("127.0.0.2"), 1)] {
            let source: Option<IpAddr> = source.map(|ip| ip.parse().unwrap());
            let candidates = from_source(all.clone(), source).unwrap();
            let reached =
                first_reached(&candidates, source, |place| place.reach(PATIENCE)).unwrap();
            assert_eq!(reached, [all[right]], "{source:?}");
        }
    }

    #[test]
    fn names_below_localhost_and_the_address_for_all_are_this_machine() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in ["localhost", "LOCALHOST", "shop.localhost", "a.shop.localhost.", "0.0.0.0"] {
            let url = Url::parse(&format!("http://{host}:{port}/")).unwrap();
            assert!(url.is_this_machine(), "{host}");
            assert_eq!(url.resolve(&[], None, PATIENCE).unwrap(), [listener.local_addr().unwrap()]);
        }
        for host in ["localhost.example", "notlocalhost", "192.0.2.1"] {
            assert!(!Url::parse(&format!("http://{host}/")).unwrap().is_this_machine(), "{host}");
        }
    }

    #[test]
    fn the_address_that_is_loaded_is_said_where_it_could_be_another() {
        let url = |port: u16| Url::parse(&format!("http://localhost:{port}/")).unwrap();
        let v4 = TcpListener::bind("127.0.0.1:0").unwrap();
        let chosen = v4.local_addr().unwrap();
        let of_localhost = url(chosen.port()).look_up().unwrap();
        if of_localhost.len() < 2 {
            // This machine's `localhost` has one address: there is no choice.
            assert_eq!(url(chosen.port()).choice(chosen), None);
            return;
        }
        let said = url(chosen.port()).choice(chosen).unwrap();
        assert!(said.ends_with(&format!("{chosen} answers and is loaded")), "{said}");
        let both = TcpListener::bind("[::]:0").unwrap();
        let port = both.local_addr().unwrap().port();
        assert_eq!(url(port).choice(([127, 0, 0, 1], port).into()), None, "one socket for both");
    }

    #[test]
    fn who_listens_at_another_address_of_the_port_is_named() {
        let listener = TcpListener::bind("[::1]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let error = resolved(&format!("http://127.0.0.1:{port}/"), None).unwrap_err();
        let right = format!("the connection was refused; something listens on [::1]:{port}");
        assert!(error.ends_with(&right), "{error}");
    }

    #[test]
    fn a_connection_comes_from_the_source_address_or_is_not_made() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        resolved(&url, Some("127.0.0.2")).unwrap();
        let (_, from) = listener.accept().unwrap();
        assert_eq!(from.ip().to_string(), "127.0.0.2");
        let error = resolved(&url, Some("::1")).unwrap_err();
        assert!(error.contains("one is IPv4 and the other IPv6"), "{error}");
        // No machine has an address of TEST-NET-1 (RFC 5737).
        let error = resolved(&url, Some("192.0.2.1")).unwrap_err();
        assert!(error.contains("source address 192.0.2.1 cannot be used"), "{error}");
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn the_loopback_needs_no_consent_in_whatever_notation() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"] {
            let found = resolved(&format!("http://{host}:{port}/"), None).unwrap();
            assert_eq!(found, [listener.local_addr().unwrap()]);
        }
        let error = resolved("http://[::ffff:192.0.2.1]/", None).unwrap_err();
        assert!(error.contains("is not this machine"), "{error}");
    }
}
