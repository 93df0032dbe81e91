//! `pippin-bench many`: CPU time per request if all requests are different, compared in pairs with
//! a load that repeats one request.
use clap::Args;
use pippin_model::load::{IoChoice, LoadSpec, Request, Requests};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::generator::{closed, cpu_ns_per_answer};
use crate::results::{self, Machine};
use crate::scenario::CLOSED;
use crate::server::Server;

/// How many requests, and for how long.
#[derive(Debug, Args)]
pub struct ManyArguments {
    /// Different requests.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    requests: u32,
    /// Connections.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Pairs of loads on each event loop.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Milliseconds of one load.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(100..=60_000))]
    milliseconds: u64,
    /// The server's core.
    #[arg(long, default_value_t = 0)]
    server_core: u32,
    /// The generator's core.
    #[arg(long, default_value_t = 1)]
    core: u32,
    /// Folder for the result as JSON.
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
}

const LOOPS: [(&str, IoChoice); 2] = [("epoll", IoChoice::Epoll), ("io_uring", IoChoice::IoUring)];

/// Two consecutive loads: CPU time of the generator per request, in nanoseconds.
#[derive(Debug, Serialize)]
struct Pair {
    io: &'static str,
    round: u32,
    one_ns: f64,
    many_ns: f64,
}

impl Pair {
    fn ratio(&self) -> f64 {
        self.many_ns / self.one_ns
    }
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    unix_seconds: u64,
    requests: u32,
    connections: u32,
    milliseconds: u64,
    machine: Machine,
    pairs: &'a [Pair],
}

/// Runs all pairs, prints a line for each event loop and keeps the result.
pub fn run(arguments: &ManyArguments) -> Result<(), String> {
    let server = Server::start(&CLOSED, 0, arguments.server_core)?;
    let (one, many) = (requests(1, server.address), requests(arguments.requests, server.address));
    let mut pairs = Vec::new();
    for (io, choice) in LOOPS {
        for round in 1..=arguments.rounds {
            let load = |requests: &Requests| {
                let spec = LoadSpec {
                    requests: requests.clone(),
                    cores: vec![arguments.core],
                    io: choice,
                    ..closed(
                        server.address,
                        arguments.connections,
                        arguments.milliseconds * 1_000_000,
                    )
                };
                cpu_ns_per_answer(spec)
            };
            // Alternate which one goes first.
            let (one_ns, many_ns) = if round % 2 == 0 {
                let many_ns = load(&many)?;
                (load(&one)?, many_ns)
            } else {
                (load(&one)?, load(&many)?)
            };
            pairs.push(Pair { io, round, one_ns, many_ns });
        }
        print(io, arguments.requests, &pairs);
    }
    server.stop()?;
    let unix_seconds = results::unix_seconds();
    let kept = Results {
        schema: "pippin-bench-many/1",
        unix_seconds,
        requests: arguments.requests,
        connections: arguments.connections,
        milliseconds: arguments.milliseconds,
        machine: results::machine(),
        pairs: &pairs,
    };
    let path = results::write(&arguments.results, &format!("many-{unix_seconds}"), &kept)?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

/// This many requests of the same length, with different paths.
fn requests(count: u32, address: SocketAddr) -> Requests {
    let host = address.to_string();
    let request = |nth: u32| Request::get(&format!("/{nth:07}"), &host);
    (0..count).map(request).collect::<Vec<_>>().into()
}

fn print(io: &str, requests: u32, pairs: &[Pair]) {
    let of_loop = || pairs.iter().filter(|pair| pair.io == io);
    let sorted = |of: fn(&Pair) -> f64| {
        let mut values: Vec<f64> = of_loop().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let median = |of| pippin_stats::series::quantile::median(&sorted(of)).unwrap_or(f64::NAN);
    let ratios = sorted(Pair::ratio);
    println!(
        "{io:<9} one request {:.0} ns, {requests} requests {:.0} ns of CPU each: {:.3} (rounds {:.3} to {:.3})",
        median(|pair| pair.one_ns),
        median(|pair| pair.many_ns),
        median(Pair::ratio),
        ratios.first().unwrap_or(&f64::NAN),
        ratios.last().unwrap_or(&f64::NAN),
    );
}
