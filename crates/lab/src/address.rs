//! A URL that is to be loaded: its parts, its addresses, and whether that is allowed.
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::error::LabError;

/// Hosts that may be loaded, separated by commas.
pub const CONSENT_VARIABLE: &str = "PIPPIN_ALLOW_HOST";

/// How long the attempt to connect before a load may take.
const PATIENCE: Duration = Duration::from_secs(3);

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
        let (is_https, is_websocket, rest) = match text.split_once("://") {
            Some(("http", rest)) => (false, false, rest),
            Some(("https", rest)) => (true, false, rest),
            Some(("ws", rest)) => (false, true, rest),
            Some(("wss", rest)) => (true, true, rest),
            Some(_) => return Err(error("only http, https, ws and wss URLs can be loaded")),
            // As browsers and curl take it.
            None => (false, false, text),
        };
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
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (
                host,
                port.parse()
                    .ok()
                    .filter(|port| *port > 0)
                    .ok_or_else(|| error("its port is not a number from 1 to 65535"))?,
            ),
            _ => (authority, if is_https { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(error("it has no host"));
        }
        let target = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        if !target.is_ascii() || target.bytes().any(|byte| byte <= b' ' || byte == 127) {
            return Err(error("its path must be percent-encoded ASCII"));
        }
        let (authority, host) = (authority.into(), host.into());
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

    /// Resolves the host and tries one connection, for at most `limit`. The loopback is always
    /// allowed; any other host must be allowed by name.
    ///
    /// # Errors
    /// If there is no consent, no such host, or nobody answers.
    pub fn resolve(
        &self,
        allowed: &[String],
        timeout: Duration,
    ) -> Result<Vec<SocketAddr>, LabError> {
        let addresses: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| {
                LabError::User(format!("cannot find the host `{}`: {error}", self.host))
            })?
            .collect();
        if addresses.is_empty() {
            return Err(LabError::User(format!("the host `{}` has no address", self.host)));
        }
        if addresses.iter().any(|address| !address.ip().is_loopback())
            && !allowed.contains(&self.host)
        {
            return Err(LabError::User(format!(
                "`{}` is not this machine; if you may load it, say so: --allow-host {}, or PIPPIN_ALLOW_HOST={} in the environment",
                self.host, self.host, self.host
            )));
        }
        // `localhost` often has an IPv4 and an IPv6 address, and the server listens on only one of
        // them.
        let timeout = timeout.min(PATIENCE);
        let mut last = None;
        for address in &addresses {
            match TcpStream::connect_timeout(address, timeout) {
                Ok(_) => return Ok(vec![*address]),
                // The server is there. What happens to its connections is for the load to count.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return Ok(vec![*address]);
                }
                Err(error) => last = Some(error),
            }
        }
        let why = last.map_or_else(String::new, |error| match error.kind() {
            ErrorKind::ConnectionRefused => "the connection was refused".into(),
            ErrorKind::TimedOut => {
                format!("no connection was open after {} s", timeout.as_secs_f64())
            }
            _ => error.to_string(),
        });
        Err(LabError::User(format!(
            "nobody answers at {}:{}: {why}; is the server running?",
            self.host, self.port
        )))
    }
}
