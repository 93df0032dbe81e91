//! Where connections go: to the URL's host, or elsewhere.
use pippin_engine::{EngineError, Place};
use pippin_lab::load::address::{PATIENCE, Url};
use pippin_lab::load::proxy::ProxyUrl;
use pippin_model::load::{Protocol, Proxy};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::arguments::LoadArguments;
use crate::commands::nats::settings;
use crate::exit::CliError;
use crate::output::say;

/// Where connections go.
#[derive(Default)]
pub struct Reach {
    /// Empty with a unix socket.
    pub addresses: Vec<SocketAddr>,
    /// The host and port that agents on other machines look up and reach themselves.
    pub host: Option<(String, u16)>,
    pub unix_socket: Option<PathBuf>,
    pub proxy: Option<Proxy>,
}

/// Finds it, and tries one connection, which may take up to `timeout`.
pub fn find(
    arguments: &LoadArguments,
    url: &Url,
    protocol: Protocol,
    timeout: Duration,
) -> Result<Reach, CliError> {
    if let Some(proxy) = &arguments.reach.proxy {
        return through(arguments, proxy, (url, protocol), timeout);
    }
    if let Some(path) = &arguments.reach.unix_socket {
        // A load may begin in another folder, so use the absolute path.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Place::from(path.as_path())
            .reach(timeout.min(PATIENCE))
            .map_err(|error| CliError::User(format!("--unix-socket: {}", why(&error))))?;
        return Ok(Reach { unix_socket: Some(path), ..Reach::default() });
    }
    let source = arguments.source_ips.first().copied();
    let url = elsewhere(arguments, url)?;
    let allowed = &arguments.hosts.allow_host;
    let has_agents_elsewhere =
        arguments.fleet.agents.is_some() && settings(&arguments.fleet.nats)?.is_some();
    if has_agents_elsewhere && !url.is_this_machine() {
        // This machine need not reach it, and may know it by another address.
        url.consented(allowed)?;
        let host = Some((url.host.clone(), url.port));
        return Ok(Reach { host, ..Reach::default() });
    }
    let addresses = if protocol == Protocol::Http3 {
        chosen(&url, url.resolve_udp(allowed, source, timeout)?)
    } else {
        resolved(&url, allowed, source, timeout)?
    };
    Ok(Reach { addresses, ..Reach::default() })
}

/// Through a proxy: connections go to it, and it finds the host of the URL. Both are loaded, so both
/// need consent.
fn through(
    arguments: &LoadArguments,
    proxy: &str,
    (url, protocol): (&Url, Protocol),
    timeout: Duration,
) -> Result<Reach, CliError> {
    let of_proxy = |error: &dyn std::fmt::Display| CliError::User(format!("--proxy: {error}"));
    let proxy = ProxyUrl::parse(proxy).map_err(|error| of_proxy(&error))?;
    let allowed = &arguments.hosts.allow_host;
    if !url.is_this_machine() {
        url.consented(allowed)?;
    }
    let source = arguments.source_ips.first().copied();
    let addresses =
        resolved(&proxy.url, allowed, source, timeout).map_err(|error| of_proxy(&error))?;
    let who = if proxy.url.is_this_machine() {
        ": its processes are measured, unless --target-pid names others"
    } else {
        ", whose processes are not measured unless they are on this machine"
    };
    say(format_args!("requests go through the proxy at {}{who}", proxy.url.authority));
    let proxy = Some(proxy.to(url, protocol));
    Ok(Reach { addresses, proxy, ..Reach::default() })
}

/// The addresses of a URL, of which the first answers ([`Url::resolve`]). Says which one is loaded
/// where it could be another.
pub fn resolved(
    url: &Url,
    allowed: &[String],
    source: Option<IpAddr>,
    timeout: Duration,
) -> Result<Vec<SocketAddr>, CliError> {
    Ok(chosen(url, url.resolve(allowed, source, timeout)?))
}

/// Says which address is loaded where it could be another.
fn chosen(url: &Url, addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    if let Some(choice) = addresses.first().and_then(|chosen| url.choice(*chosen)) {
        say(choice);
    }
    addresses
}

/// Why a unix socket cannot be loaded.
fn why(error: &EngineError) -> String {
    match error {
        EngineError::Unreachable { address, error } => {
            // Where the queue is full, it is.
            let is_full = error.kind() == ErrorKind::WouldBlock;
            let hint = if is_full { "" } else { "; is the server running?" };
            format!("nobody answers at {address}: {error}{hint}")
        }
        other => other.to_string(),
    }
}

/// The URL with the host and port of `--connect-to`.
fn elsewhere(arguments: &LoadArguments, url: &Url) -> Result<Url, CliError> {
    let Some(other) = &arguments.reach.connect_to else { return Ok(url.clone()) };
    let is_host = other.host.as_ref().is_none_or(|host| host.eq_ignore_ascii_case(&url.host));
    if !is_host || other.port.is_some_and(|port| port != url.port) {
        return Err(CliError::User(format!(
            "--connect-to has no effect, because the URL goes to {}:{}; name that host and port, or leave them out as in ::127.0.0.1:8080",
            url.host, url.port
        )));
    }
    Ok(Url {
        host: other.to_host.clone().unwrap_or_else(|| url.host.clone()),
        port: other.to_port.unwrap_or(url.port),
        ..url.clone()
    })
}
