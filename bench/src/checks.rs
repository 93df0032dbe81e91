//! The generator's cost of checking answers, and of drawing values for requests. The same load runs
//! with and without, in turn, on the same server. The figures are the engine's own CPU times of its
//! threads.
use clap::Args;
use pippin_model::load::{BodyCheck, Check, Connections, LoadSpec, Request, WarmUp};
use pippin_reference::echo;
use pippin_stats::series::quantile::median;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::generator::{closed, cpu_ns_per_answer};
use crate::results::{self, Machine};

/// `pippin-bench checks`
#[derive(Debug, Args)]
pub struct ChecksArguments {
    /// Rounds; each runs every load once.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Milliseconds of a load.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(50..=60_000))]
    ms: u32,
    /// Connections.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Requests in flight on each connection. Many share a system call, so that less of the noise
    /// of the kernel's time is in the difference.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pipeline: u32,
    /// The generator's core.
    #[arg(long, default_value_t = 1)]
    core: u32,
    /// Folder for the result as JSON.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    results: PathBuf,
}

/// How the answers to a pool of requests are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    NotAtAll,
    At,
    AtWithDrawnValues,
}

/// One comparison.
#[derive(Debug, Serialize)]
struct Row {
    what: &'static str,
    /// CPU time of the generator per request without it, median of the rounds.
    without_ns: f64,
    /// The additional CPU time per request, by rounds, ascending.
    adds_ns: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Kept<'a> {
    schema: u32,
    unix_seconds: u64,
    machine: Machine,
    rounds: u32,
    ms: u32,
    connections: u32,
    pipeline: u32,
    rows: &'a [Row],
}

/// Measures and prints a table.
pub fn run(arguments: &ChecksArguments) -> Result<(), String> {
    let mut rows = Vec::new();
    for (short, names) in [
        (true, ["exact body of 26 bytes", "drawn letters"]),
        (false, ["2 texts in 3 kB", "drawn digits"]),
    ] {
        rows.extend(compare(arguments, short, names)?);
    }
    println!("{:<24} {:>12} {:>24}", "", "without, ns", "adds, ns (quartiles)");
    for row in &rows {
        let at = |part: usize| row.adds_ns[(row.adds_ns.len() - 1) * part / 4];
        let (low, middle, high) = (at(1), at(2), at(3));
        println!("{:<24} {:>12.0} {middle:>8.0} ({low:.0} to {high:.0})", row.what, row.without_ns);
    }
    let kept = Kept {
        schema: 2,
        unix_seconds: results::unix_seconds(),
        machine: results::machine(),
        rounds: arguments.rounds,
        ms: arguments.ms,
        connections: arguments.connections,
        pipeline: arguments.pipeline,
        rows: &rows,
    };
    let path = results::write(&arguments.results, &format!("checks-{}", kept.unix_seconds), &kept)?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

/// Compares the three ways of checking, in rounds: the cost of checking, and the additional cost of
/// drawing.
fn compare(
    arguments: &ChecksArguments,
    short: bool,
    names: [&'static str; 2],
) -> Result<[Row; 2], String> {
    let behind = if short { "!".into() } else { "-1\"".to_string() + &"x".repeat(3_000) };
    let before = if short { "Hola " } else { "id=\"row-" };
    let config = echo::Config { before: before.into(), behind };
    let server = echo::spawn(config).map_err(|error| error.to_string())?;
    let ways = [Looked::NotAtAll, Looked::At, Looked::AtWithDrawnValues];
    let mut by_way = [const { Vec::new() }; 3];
    for round in 0..arguments.rounds {
        for nth in 0..ways.len() {
            // Rotate the order from round to round.
            let nth = (nth + round as usize) % ways.len();
            let spec = load_spec(arguments, server.address(), requests(short, ways[nth]), round);
            by_way[nth].push(cpu_ns_per_answer(spec)?);
        }
    }
    let row = |what, from: usize| {
        let pairs = by_way[from].iter().zip(&by_way[from + 1]);
        let mut adds_ns: Vec<f64> = pairs.map(|(without, with)| with - without).collect();
        adds_ns.sort_by(f64::total_cmp);
        Row { what, without_ns: median(&by_way[from]).unwrap_or(f64::NAN), adds_ns }
    };
    Ok([row(names[0], 0), row(names[1], 1)])
}

/// A thousand different requests, drawn as the lab does.
fn requests(short: bool, looked: Looked) -> Vec<Request> {
    let of = |nth: u32| {
        let letters: String = (0..8).map(|i| char::from(b'a' + (nth >> i & 7) as u8)).collect();
        let (name, drawn) = if short {
            (format!("J%C3%B6-{nth:04}-{letters}"), letters)
        } else {
            let n = format!("{}", 10_000_000 + nth * 7_919);
            (n.clone(), n)
        };
        let body = match (looked, short) {
            (Looked::NotAtAll, _) => BodyCheck::Any,
            (_, true) => BodyCheck::Exact(format!("Hola {name}!").into()),
            (_, false) => {
                let all = vec![format!("id=\"row-{name}"), format!("row-{name}-1\"")];
                BodyCheck::Contains { min: 2_650, max: 3_350, all }
            }
        };
        let draws = looked == Looked::AtWithDrawnValues;
        Request {
            check: Check { status: vec![200], body, ..Check::default() },
            drawn: draws.then_some(drawn),
            ..Request::get(&format!("/hola/{name}"), "127.0.0.1:8080")
        }
    };
    (0..1_000).map(of).collect()
}

fn load_spec(
    arguments: &ChecksArguments,
    address: SocketAddr,
    requests: Vec<Request>,
    round: u32,
) -> LoadSpec {
    let load = closed(address, arguments.connections, u64::from(arguments.ms) * 1_000_000);
    LoadSpec {
        requests: requests.into(),
        warm_up: WarmUp::Fixed { duration_ns: 50_000_000 },
        cores: vec![arguments.core],
        seed: u64::from(round),
        connections: Connections { pipeline: arguments.pipeline, ..load.connections },
        ..load
    }
}
