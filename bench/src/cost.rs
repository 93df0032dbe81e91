//! `make cost`: what options of `pippin load` cost the generator, as ratios of its processor time per
//! answer with and without the option, in the same round.
//!
//! The first variant has none of them. It is also run a second time in each round: how far its ratio to
//! itself is from 1 shows what the machine adds. With `--before`, this build is compared with an older
//! one instead, both without options, under more kinds of load.
use clap::Args;
use pippin_stats::interval::order_statistics::median_bounds;
use pippin_stats::series::quantile::median;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::figures::Figures;
use crate::measure::{Bench, Measurement, Outcome};
use crate::peer::{Peer, Request, Tool};
use crate::peers::Pippin;
use crate::process::Ended;
use crate::results::{self, Machine};
use crate::scenario::{self, CLOSED, Scenario, Serving, chosen};
use crate::sense;

/// `pippin-bench cost`
#[derive(Debug, Args)]
pub struct CostArguments {
    /// Rounds; each runs every variant once, in an order that turns round by round.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// One second for each load: to check that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Only these loads (comma-separated; a part of a name means all that have it).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The program that loads; by default `pippin` beside this one.
    #[arg(long, value_name = "FILE")]
    pippin: Option<PathBuf>,
    /// An older build of it: compares this one with it, without options. 40 rounds know a median well.
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// The server's core.
    #[arg(long, default_value_t = 0)]
    server_core: u32,
    /// The generator's core.
    #[arg(long, default_value_t = 1)]
    core: u32,
    /// Folder for the result as JSON.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    results: PathBuf,
}

/// On a server that asks for a digest where a request says so, and answers `Hello World!`.
const ASKING: Scenario = Scenario { server: Serving::Asking, ..CLOSED };

const LOADS: &[Scenario] = &[
    Scenario { name: "closed-1", about: "closed loop, 1 connection", connections: 1, ..ASKING },
    Scenario { name: "closed-64", about: "closed loop, 64 connections", ..ASKING },
    Scenario {
        name: "open-5000",
        about: "open loop at 5,000 requests/s, 64 connections",
        rate_per_s: Some(5_000),
        ..ASKING
    },
];

/// The loads under which two builds are compared, by the names in [`scenario::ALL`].
const COMPARED: [&str; 9] = [
    "closed-1",
    "closed-64",
    "closed-1000",
    "closed-10000",
    "connection-per-request",
    "pipeline-16",
    "h2c-10x32",
    "open-5000",
    "devices-10000",
];

/// `pippin load` with some options.
struct Variant {
    name: &'static str,
    writes_samples: bool,
    has_digest: bool,
}

const PLAIN: Variant = Variant { name: "plain", writes_samples: false, has_digest: false };
const VARIANTS: [&Variant; 4] = [
    &PLAIN,
    &Variant { name: "plain again", ..PLAIN },
    &Variant { name: "--samples", writes_samples: true, ..PLAIN },
    &Variant { name: "--digest", has_digest: true, ..PLAIN },
];
const BEFORE: &Variant = &Variant { name: "before", ..PLAIN };
const NOW: &Variant = &Variant { name: "now", ..PLAIN };

impl Peer for Variant {
    fn name(&self) -> &'static str {
        self.name
    }

    /// All requests are as long, but for the digest.
    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let command = Pippin.command(program, request)?;
        Some(command.map(|mut command| {
            if request.scenario.server == Serving::Asking {
                command.args(["-H", if self.has_digest { "X-Asks: yes" } else { "X-Asks: off" }]);
            }
            if self.has_digest {
                command.args(["-u", "name:password", "--digest"]);
            }
            if self.writes_samples {
                command.arg("--samples").arg(request.scratch.join("samples.csv"));
            }
            command
        }))
    }

    fn read(&self, ended: &Ended, request: &Request<'_>) -> Result<Figures, String> {
        Pippin.read(ended, request)
    }
}

/// What one variant costs in one load.
#[derive(Debug, Serialize)]
struct Row {
    variant: &'static str,
    /// Of the whole program (wait4), with its start, its report and the file of samples.
    program: Cost,
    /// Of the threads that load, while they measure and without polling for deadlines, by Pippin's own
    /// figures.
    threads: Cost,
    failures: Vec<String>,
}

/// Processor time per answer.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Cost {
    /// Median over the rounds, microseconds.
    per_answer_us: Option<f64>,
    /// Median of the rounds' ratios to the first variant, its 95 % interval, and the lowest and the
    /// highest of them.
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
    range: Option<(f64, f64)>,
    rounds: usize,
}

#[derive(Serialize)]
struct Load<'a> {
    scenario: &'a Scenario,
    rows: Vec<Row>,
    measurements: Vec<Measurement>,
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    unix_seconds: u64,
    quick: bool,
    rounds: u32,
    machine: Machine,
    loads: &'a [Load<'a>],
}

/// Runs the rounds, prints a table for each load and keeps all of it.
pub fn run(arguments: &CostArguments) -> Result<(), String> {
    let program = sense::program(arguments.pippin.as_deref())?;
    let tool = |peer: &'static Variant| Tool { peer, program: program.clone() };
    let (tools, loads) = match &arguments.before {
        None => (Vec::from(VARIANTS.map(tool)), LOADS.to_vec()),
        Some(before) => {
            let before = Tool { peer: BEFORE, program: sense::program(Some(before))? };
            let compared = scenario::ALL.iter().filter(|load| COMPARED.contains(&load.name));
            (vec![before, tool(NOW)], compared.cloned().collect())
        }
    };
    let scenarios = chosen(&loads, &arguments.only)?;
    let bench = Bench::new(arguments.server_core, arguments.core)?;
    let mut loads = Vec::new();
    for scenario in &scenarios {
        let mut measurements = Vec::new();
        for round in 1..=arguments.rounds {
            let first = round as usize % tools.len();
            let in_turn = tools[first..].iter().chain(&tools[..first]);
            let measured = |tool| bench.measure(scenario, tool, round, arguments.quick);
            measurements.extend(in_turn.filter_map(measured));
        }
        let rows: Vec<Row> = tools
            .iter()
            .map(|tool| row(tool.peer.name(), tools[0].peer.name(), &measurements))
            .collect();
        println!("\n{}: {}", scenario.name, scenario.about);
        println!("{}", line(["variant", "program", "ratio", "95 %", "threads", "ratio", "95 %"]));
        rows.iter().for_each(|row| println!("{}", told(row)));
        loads.push(Load { scenario, rows, measurements });
    }
    let unix_seconds = results::unix_seconds();
    let kept = Results {
        schema: "pippin-cost/2",
        unix_seconds,
        quick: arguments.quick,
        rounds: arguments.rounds,
        machine: results::machine(),
        loads: &loads,
    };
    let path = results::write(&arguments.results, &format!("cost-{unix_seconds}"), &kept)?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

fn row(variant: &'static str, first: &str, all: &[Measurement]) -> Row {
    let failures = all.iter().filter(|one| one.tool == variant);
    Row {
        variant,
        program: cost(variant, first, all, Outcome::cpu_per_request_ns),
        threads: cost(variant, first, all, |outcome| outcome.said.threads_cpu_per_request_ns),
        failures: failures.filter_map(|one| one.outcome.as_ref().err().cloned()).collect(),
    }
}

/// A round in which one of the two failed has no ratio.
fn cost(
    variant: &str,
    first: &str,
    all: &[Measurement],
    ns: impl Fn(&Outcome) -> Option<f64>,
) -> Cost {
    let of = |tool: &str, round: u32| {
        let found = all.iter().find(|one| one.tool == tool && one.round == round)?;
        found.outcome.as_ref().ok().and_then(&ns)
    };
    let rounds = all.iter().map(|one| one.round).max().unwrap_or(0);
    let own: Vec<f64> = (1..=rounds).filter_map(|round| of(variant, round)).collect();
    let ratio = |round| Some(of(variant, round)? / of(first, round)?);
    let mut ratios: Vec<f64> = (1..=rounds).filter_map(ratio).collect();
    Cost {
        per_answer_us: median(&own).map(|ns| ns / 1e3),
        ratio: median(&ratios),
        interval: median_bounds(&mut ratios),
        range: ratios.iter().copied().reduce(f64::min).zip(ratios.iter().copied().reduce(f64::max)),
        rounds: ratios.len(),
    }
}

fn told(row: &Row) -> String {
    let of = |cost: &Cost| {
        let number = |value: Option<f64>, unit: &str| {
            value.map_or_else(|| "-".to_string(), |value| format!("{value:.3}{unit}"))
        };
        let ends =
            cost.interval.map_or_else(String::new, |(low, high)| format!("{low:.3} to {high:.3}"));
        [number(cost.per_answer_us, " us"), number(cost.ratio, ""), ends]
    };
    let ([program, ratio, ends], [threads, of_threads, ends_of_threads]) =
        (of(&row.program), of(&row.threads));
    let cells = [row.variant, &program, &ratio, &ends, &threads, &of_threads, &ends_of_threads];
    let failed = row.failures.iter().map(|why| format!("\n  failed: {why}"));
    line(cells) + &failed.collect::<String>()
}

fn line(cells: [&str; 7]) -> String {
    let [variant, program, ratio, ends, threads, of_threads, ends_of_threads] = cells;
    format!(
        "{variant:<12} {program:>11} {ratio:>7} {ends:>16}   {threads:>11} {of_threads:>7} {ends_of_threads:>16}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Account;

    #[test]
    fn what_is_compared_is_a_scenario() {
        let is_known = |name: &&str| scenario::ALL.iter().any(|one| one.name == *name);
        assert!(COMPARED.iter().all(is_known));
    }

    #[test]
    fn ratios_are_of_rounds() {
        let one = |tool, round, cpu_ns| {
            let outcome = Outcome {
                wall_ns: 1,
                cpu_ns,
                max_rss_bytes: 1,
                server_cpu_ns: 1,
                stolen: None,
                server: Account { answers: 1, ..Account::default() },
                said: Figures::default(),
            };
            Measurement { tool, round, outcome: Ok(outcome) }
        };
        // A machine of two speeds: the ratio is 1.1 in each round.
        let mut all = vec![one("plain", 1, 1_000), one("--samples", 1, 1_100)];
        all.extend([
            one("plain", 2, 2_000),
            one("--samples", 2, 2_200),
            one("--samples", 3, 9_000),
        ]);
        let right = Cost {
            per_answer_us: Some(2.2),
            ratio: Some(1.1),
            range: Some((1.1, 1.1)),
            rounds: 2,
            interval: None,
        };
        let row = row("--samples", "plain", &all);
        assert_eq!((row.program, row.threads), (right, Cost::default()));
    }
}
