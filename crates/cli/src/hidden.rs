//! Hidden commands with which Pippin starts itself. They are not for people; only Pippin writes
//! their arguments.
use pippin_lab::lifecycle::supervisor;
use pippin_lab::services::upstream::{KEY, SECRET};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use crate::output;
use crate::signals;

/// Runs the hidden command in the arguments, if there is one, and returns its exit code.
pub fn run(arguments: &[String]) -> Option<i32> {
    match arguments.get(1).map(String::as_str) {
        Some(supervisor::COMMAND) => Some(supervisor::run(&arguments[2..])),
        Some("__upstream") => Some(serve(&arguments[2..], upstream)),
        Some("__null") => Some(serve(&arguments[2..], null)),
        Some("__agents") => Some(agents(&arguments[2..])),
        Some("__device") => Some(serve(&arguments[2..], device)),
        _ => None,
    }
}

fn value<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).map(String::as_str)
}

/// Serves on the loopback port of `--port` until SIGTERM.
fn serve(
    arguments: &[String],
    server: fn(TcpListener, &[String]) -> Result<(), pippin_reference::Error>,
) -> i32 {
    let Some(port) = number(arguments, "--port").and_then(|port| u16::try_from(port).ok()) else {
        return 2;
    };
    signals::catch();
    // A shared port, because each thread of the device server listens on the same address.
    let outcome =
        pippin_reference::socket::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), true)
            .and_then(|listener| server(listener, arguments));
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            output::say(format_args!("port {port}: {error}"));
            4
        }
    }
}

/// Starts many agents that load nothing (docs/fleet.md): `--nats URL --number N`.
fn agents(arguments: &[String]) -> i32 {
    let (Some(url), Some(agents)) = (value(arguments, "--nats"), number(arguments, "--number"))
    else {
        return 2;
    };
    crate::descriptors::raise_limit();
    let token = std::env::var(pippin_fleet::accounts::variable::TOKEN).ok();
    let nats = pippin_fleet::nats::Nats { url: url.into(), token, ..Default::default() };
    match pippin_fleet::simulate::simulate(&nats, agents as usize, signals::catch()) {
        Ok(()) => 0,
        Err(error) => {
            output::say(error);
            4
        }
    }
}

fn number(arguments: &[String], name: &str) -> Option<u64> {
    value(arguments, name).and_then(|text| text.parse().ok())
}

fn upstream(listener: TcpListener, arguments: &[String]) -> Result<(), pippin_reference::Error> {
    let delay =
        number(arguments, "--delay-ns").map_or(Duration::from_millis(500), Duration::from_nanos);
    let defaults = pippin_reference::upstream::Config::default();
    let key = std::env::var(KEY).ok().and_then(|key| u128::from_str_radix(&key, 16).ok());
    let config = pippin_reference::upstream::Config {
        delay,
        key: key.unwrap_or(defaults.key),
        secret: std::env::var(SECRET).unwrap_or(defaults.secret.clone()),
        ..defaults
    };
    pippin_reference::upstream::serve(listener, &config, signals::catch()).map(drop)
}

fn null(listener: TcpListener, _arguments: &[String]) -> Result<(), pippin_reference::Error> {
    pippin_reference::null::serve(listener, Default::default(), signals::catch()).map(drop)
}

fn device(listener: TcpListener, arguments: &[String]) -> Result<(), pippin_reference::Error> {
    let threads = number(arguments, "--threads").unwrap_or(1) as usize;
    let config = pippin_reference::device::Config { threads, ..Default::default() };
    pippin_reference::device::serve(listener, &config, signals::catch()).map(drop)
}
