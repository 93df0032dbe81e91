//! `pippin-bench wire`: the tools' own times compared with a packet capture of the same packets.
//!
//! The capture is an independent observer with the kernel's time stamps of the packets. A tool's
//! quantiles of the time from a request to its answer are compared with those of the packets of the
//! same run.
use clap::Args;
use pippin_testing::wire::capture::Capture;
use pippin_testing::wire::exchanges::{self, Wire};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::figures::{Figures, Quantiles};
use crate::peer::{self, Request, Tool};
use crate::process;
use crate::results::{self, Machine};
use crate::scenario::{CLOSED, Scenario, chosen};
use crate::server::Server;

/// Which tools, and for how long.
#[derive(Debug, Args)]
pub struct WireArguments {
    /// Only these tools (comma-separated).
    #[arg(long, value_delimiter = ',', default_value = "engine-epoll,engine-io_uring,wrk,oha,k6")]
    tools: Vec<String>,
    /// Only these loads (comma-separated; a part of a name means all that have it).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Rounds; each runs every tool once.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Seconds of one load.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// The server's core.
    #[arg(long, default_value_t = 0)]
    server_core: u32,
    /// The tools' core.
    #[arg(long, default_value_t = 1)]
    core: u32,
    /// Folder for the result as JSON.
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
}

const LOADS: &[Scenario] = &[
    Scenario { name: "closed-1", about: "closed loop, 1 connection", connections: 1, ..CLOSED },
    Scenario { name: "closed-10", about: "closed loop, 10 connections", connections: 10, ..CLOSED },
    Scenario { name: "closed-64", about: "closed loop, 64 connections", ..CLOSED },
    Scenario {
        name: "connection-per-request",
        about: "closed loop, 1 user, a connection per request",
        connections: 1,
        keep_alive: false,
        ..CLOSED
    },
    Scenario {
        name: "open-300",
        about: "open loop at 300 requests/s",
        connections: 16,
        rate_per_s: Some(300),
        ..CLOSED
    },
    Scenario {
        name: "open-5000",
        about: "open loop at 5,000 requests/s",
        rate_per_s: Some(5_000),
        ..CLOSED
    },
];

/// One run of one tool.
#[derive(Debug, Serialize)]
struct Pair {
    load: &'static str,
    tool: &'static str,
    round: u32,
    /// The quantiles of the packets.
    wire: Quantiles,
    /// The quantiles of the tool.
    said: Quantiles,
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    unix_seconds: u64,
    rounds: u32,
    seconds: u32,
    machine: Machine,
    pairs: &'a [Pair],
}

/// Runs everything, prints a table and keeps the result.
pub fn run(arguments: &WireArguments) -> Result<(), String> {
    let (tools, missing) = peer::installed(&arguments.tools)?;
    if !missing.is_empty() {
        eprintln!("not installed: {}", missing.join(", "));
    }
    let scratch =
        tempfile::tempdir().map_err(|error| format!("making a scratch folder: {error}"))?;
    let mut pairs = Vec::new();
    for load in &chosen(LOADS, &arguments.only)? {
        for round in 1..=arguments.rounds {
            for tool in &tools {
                match measure(arguments, load, tool, scratch.path()) {
                    Ok(None) => {}
                    Ok(Some((wire, said))) => {
                        let (load, tool) = (load.name, tool.peer.name());
                        pairs.push(Pair { load, tool, round, wire, said });
                    }
                    Err(message) => {
                        eprintln!("{} {} {round}: {message}", load.name, tool.peer.name());
                    }
                }
            }
        }
        print(load, &tools, &pairs);
    }
    let path = keep(arguments, &pairs)?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

/// The quantiles of the packets and of the tool; `None` if the tool cannot make this load or prints
/// no times.
fn measure(
    arguments: &WireArguments,
    load: &Scenario,
    tool: &Tool,
    scratch: &Path,
) -> Result<Option<(Quantiles, Quantiles)>, String> {
    let server = Server::start(load, arguments.seconds, arguments.server_core)?;
    let (address, seconds) = (server.address, arguments.seconds);
    let request =
        Request { scenario: load, seconds, address, scratch, body: None, from_due: false };
    let outcome = beside_a_capture(tool, &request, arguments.core);
    server.stop()?;
    outcome
}

fn beside_a_capture(
    tool: &Tool,
    request: &Request<'_>,
    core: u32,
) -> Result<Option<(Quantiles, Quantiles)>, String> {
    let Some(command) = tool.peer.command(&tool.program, request).transpose()? else {
        return Ok(None);
    };
    let text = |error: pippin_reference::Error| error.to_string();
    let port = request.address.port();
    let capture = Capture::start(port).map_err(text)?;
    let limit = Duration::from_secs(u64::from(request.seconds) + 30);
    let ended = process::run(&command, core, limit)?;
    let segments = capture.stop().map_err(text)?;
    let wire =
        exchanges::follow(&segments, port, exchanges::get, exchanges::answer).map_err(text)?;
    let wire =
        Quantiles::from_fn(|q| Wire::quantile(&wire.service, q)).ok_or("no answers were seen")?;
    Ok(said(&tool.peer.read(&ended, request)?).map(|said| (wire, said)))
}

/// The time from a request to its answer, according to the tool.
fn said(figures: &Figures) -> Option<Quantiles> {
    figures.service.or(Some(Quantiles {
        p50: figures.p50_ns?,
        p90: figures.p90_ns?,
        p99: figures.p99_ns?,
    }))
}

/// A row for each tool: medians over the rounds, wire / tool.
fn print(load: &Scenario, tools: &[Tool], pairs: &[Pair]) {
    println!("\n{}: {} (wire / tool, us)", load.name, load.about);
    println!("| tool | p50 | p90 | p99 |\n|---|---|---|---|");
    for tool in tools {
        let of_tool: Vec<&Pair> = pairs
            .iter()
            .filter(|pair| pair.load == load.name && pair.tool == tool.peer.name())
            .collect();
        let cells: Option<Vec<String>> =
            [|q: &Quantiles| q.p50, |q: &Quantiles| q.p90, |q: &Quantiles| q.p99]
                .iter()
                .map(|quantile| cell(&of_tool, *quantile))
                .collect();
        if let Some(cells) = cells {
            println!("| {} | {} |", tool.peer.name(), cells.join(" | "));
        }
    }
}

fn cell(pairs: &[&Pair], quantile: impl Fn(&Quantiles) -> u64) -> Option<String> {
    let median = |side: &dyn Fn(&Pair) -> Quantiles| {
        let values: Vec<f64> =
            pairs.iter().map(|pair| quantile(&side(pair)) as f64 / 1e3).collect();
        pippin_stats::series::quantile::median(&values)
    };
    Some(format!("{:.1} / {:.1}", median(&|pair| pair.wire)?, median(&|pair| pair.said)?))
}

fn keep(arguments: &WireArguments, pairs: &[Pair]) -> Result<PathBuf, String> {
    let unix_seconds = results::unix_seconds();
    let results = Results {
        schema: "wire-1",
        unix_seconds,
        rounds: arguments.rounds,
        seconds: arguments.seconds,
        machine: results::machine(),
        pairs,
    };
    results::write(&arguments.results, &format!("wire-{unix_seconds}"), &results)
}
