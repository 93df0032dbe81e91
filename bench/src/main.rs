//! `make bench`: Pippin and its peers against the same server, side by side in one run.
//!
//! Each scenario runs all installed tools in turn, A B A B, with a fresh server on one core and the
//! tool on another. So other work on the machine disturbs all tools alike. No tool's own figures
//! are trusted: the server counts the requests, and the kernel accounts for the CPU time of the
//! tool's process (wait4), user and system. The kernel's work for loopback traffic is part of it.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a tool for developers
mod cost;
mod figures;
mod floor;
mod generator;
mod measure;
mod measured;
mod peer;
mod peers;
mod process;
mod results;
mod scenario;
mod search;
mod sense;
mod server;
mod soak;
mod summary;
mod table;
mod warm;
mod wire;

use clap::{Parser, Subcommand};
use pippin_lab::lifecycle::supervisor;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use scenario::Scenario;

/// Compares Pippin with its peers side by side in one run.
#[derive(Debug, Parser)]
#[command(name = "pippin-bench")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Short runs, two rounds: to check that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Only these scenarios (comma-separated; a part of a name means all that have it).
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Only these tools (comma-separated).
    #[arg(long, value_delimiter = ',', value_name = "TOOLS")]
    tools: Vec<String>,
    /// Rounds; each runs every tool once. The default is 3, with --quick 2.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// The server's core.
    #[arg(long, default_value_t = 0)]
    server_core: u32,
    /// The tools' core.
    #[arg(long, default_value_t = 1)]
    core: u32,
    /// Folder for the results as JSON.
    #[arg(long, default_value = "bench/results")]
    results: std::path::PathBuf,
    /// List scenarios and tools, and run nothing.
    #[arg(long)]
    list: bool,
}

/// The other functions of this program. It runs the hidden ones as separate processes, so that the
/// kernel accounts for them separately.
#[derive(Debug, Subcommand)]
enum Command {
    /// What options of a load cost the generator.
    Cost(cost::CostArguments),
    /// Whether Pippin tells apart targets that differ in a known way, and only these.
    Sense(sense::SenseArguments),
    /// Whether the capacity search finds servers of known capacity, from below and from above.
    Search(search::SearchArguments),
    /// Whether Pippin's memory and descriptors stay constant in a long run.
    Soak(soak::SoakArguments),
    /// Whether the first load of a fresh start measures a warm server, or says that it does not.
    Warm(warm::WarmArguments),
    /// The tools' own times compared with a packet capture of the same packets.
    Wire(wire::WireArguments),
    /// A server for one measurement.
    #[command(hide = true)]
    Serve(server::ServeArguments),
    /// The bare epoll client.
    #[command(hide = true)]
    Floor(floor::FloorArguments),
    /// Pippin's engine without the command line around it.
    #[command(hide = true)]
    Engine(generator::EngineArguments),
}

fn main() -> ExitCode {
    // The lab starts this program as the supervisor of other processes.
    let given: Vec<String> = std::env::args().collect();
    if given.get(1).is_some_and(|command| command == supervisor::COMMAND) {
        return ExitCode::from(supervisor::run(&given[2..]) as u8);
    }
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Some(Command::Cost(cost)) => cost::run(cost),
        Some(Command::Sense(sense)) => sense::run(sense),
        Some(Command::Search(search)) => search::run(search),
        Some(Command::Soak(soak)) => soak::run(soak),
        Some(Command::Warm(warm)) => warm::run(warm),
        Some(Command::Wire(wire)) => wire::run(wire),
        Some(Command::Serve(child)) => server::serve(child),
        Some(Command::Floor(child)) => floor::run(child),
        Some(Command::Engine(child)) => generator::run(child),
        None => compare(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("pippin-bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(arguments: &Arguments) -> Result<(), String> {
    let scenarios = scenario::chosen(scenario::ALL, &arguments.only)?;
    let (tools, missing) = peer::installed(&arguments.tools)?;
    if arguments.list {
        table::print_lists(&scenarios, &tools, &missing);
        return Ok(());
    }
    if !missing.is_empty() {
        eprintln!("not installed: {}", missing.join(", "));
    }
    let rounds = arguments.rounds.unwrap_or(if arguments.quick { 2 } else { 3 });
    let bench = measure::Bench::new(arguments.server_core, arguments.core)?;
    let mut all = Vec::new();
    for scenario in &scenarios {
        let measurements = run_scenario(&bench, scenario, &tools, rounds, arguments.quick);
        let summaries = summary::summarise(scenario, &measurements);
        table::print_scenario(scenario, &summaries);
        all.push(results::ScenarioResult { scenario: scenario.clone(), summaries, measurements });
    }
    let path = results::keep(&arguments.results, arguments.quick, rounds, &tools, &missing, &all)?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

fn run_scenario(
    bench: &measure::Bench,
    scenario: &Scenario,
    tools: &[peer::Tool],
    rounds: u32,
    quick: bool,
) -> Vec<measure::Measurement> {
    let mut measurements = Vec::new();
    for round in 1..=rounds {
        for tool in tools {
            show_progress(&format!("{} {round}/{rounds} {}", scenario.name, tool.peer.name()));
            if let Some(measurement) = bench.measure(scenario, tool, round, quick) {
                measurements.push(measurement);
            }
        }
    }
    show_progress("");
    measurements
}

/// Replaces the line on a terminal; elsewhere the tables show enough progress.
fn show_progress(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}
