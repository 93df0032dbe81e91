//! What Pippin starts itself as. These are no commands for people, and their arguments are written by Pippin alone.
use pippin_lab::lifecycle::supervisor::{Orders, supervise};
use pippin_model::cpus::CpuSet;
use std::time::Duration;

/// Runs the hidden command that the arguments name, if they name one; its exit code.
pub fn run(arguments: &[String]) -> Option<i32> {
    match arguments.get(1).map(String::as_str) {
        Some("__supervise") => Some(orders(&arguments[2..]).map_or(2, |orders| supervise(&orders))),
        Some("__upstream") => Some(upstream(&arguments[2..])),
        _ => None,
    }
}

fn value<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let options = arguments.split(|argument| argument == "--").next()?;
    options.iter().position(|argument| argument == name).and_then(|index| options.get(index + 1)).map(String::as_str)
}

fn orders(arguments: &[String]) -> Option<Orders> {
    let separator = arguments.iter().position(|argument| argument == "--")?;
    let stop = match value(arguments, "--stop")? {
        "SIGINT" => libc::SIGINT,
        "SIGQUIT" => libc::SIGQUIT,
        "SIGHUP" => libc::SIGHUP,
        _ => libc::SIGTERM,
    };
    Some(Orders {
        command: arguments[separator + 1..].to_vec(),
        log: value(arguments, "--log")?.into(),
        folder: value(arguments, "--folder")?.into(),
        cpus: value(arguments, "--cpus").and_then(|text| CpuSet::parse(text).ok()).unwrap_or_default(),
        stop,
        grace: Duration::from_millis(value(arguments, "--grace-ms")?.parse().ok()?),
    })
}

fn upstream(arguments: &[String]) -> i32 {
    let number = |name: &str| value(arguments, name).and_then(|text| text.parse::<u64>().ok());
    let (Some(port), Some(delay_ns)) = (number("--port"), number("--delay-ns")) else { return 2 };
    let stop = crate::signals::catch();
    match std::net::TcpListener::bind(("127.0.0.1", port as u16)) {
        Ok(listener) => pippin_reference::upstream::serve(listener, &pippin_reference::upstream::Config { delay: Duration::from_nanos(delay_ns), ..Default::default() }, stop).map_or_else(
            |error| {
                eprintln!("upstream: {error}");
                4
            },
            |_| 0,
        ),
        Err(error) => {
            eprintln!("upstream: port {port}: {error}");
            4
        }
    }
}
