//! ab (Apache's): closed loop over HTTP/1.0.
use std::path::Path;
use std::process::Command;

use crate::figures::{Figures, after, leading_number};
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct Ab;

impl Peer for Ab {
    fn name(&self) -> &'static str {
        "ab"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        if scenario.rate_per_s.is_some() || scenario.pipeline > 1 {
            return None;
        }
        let mut command = Command::new(program);
        // With only a time limit, ab stops at 50,000 requests; the number after it lifts that.
        command.args([
            "-q",
            "-s",
            "30",
            "-t",
            &request.seconds.to_string(),
            "-n",
            "4000000",
            "-c",
            &scenario.connections.to_string(),
        ]);
        if scenario.keep_alive {
            command.arg("-k");
        }
        command.arg("-e").arg(request.scratch.join("ab.csv"));
        command.arg(request.url());
        Some(Ok(command))
    }

    fn read(&self, ended: &Ended, request: &Request<'_>) -> Result<Figures, String> {
        let text = successful(ended)?;
        let percentiles = std::fs::read_to_string(request.scratch.join("ab.csv"))
            .map_err(|error| format!("reading ab's percentiles: {error}"))?;
        read(text, &percentiles)
    }
}

fn read(text: &str, percentiles: &str) -> Result<Figures, String> {
    let count = |label| after(text, label).and_then(leading_number);
    let completed = count("Complete requests:");
    if completed.is_none() {
        return Err("ab printed no number of requests".into());
    }
    // `50,0.663` in milliseconds.
    let percentile = |wanted: &str| {
        let line =
            percentiles.lines().find_map(|line| line.strip_prefix(wanted)?.strip_prefix(','))?;
        line.trim().parse::<f64>().ok().map(|ms| (ms * 1e6).round() as u64)
    };
    Ok(Figures {
        completed,
        errors: count("Failed requests:"),
        p50_ns: percentile("50"),
        p90_ns: percentile("90"),
        p95_ns: percentile("95"),
        p99_ns: percentile("99"),
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_ab_writes() {
        let text = "Complete requests:      50000\nFailed requests:        2\nKeep-Alive requests:    50000\n";
        let figures =
            super::read(text, "Percentage served,Time in ms\n0,0.061\n50,0.663\n99,1.080\n")
                .unwrap();
        assert_eq!(
            (figures.completed, figures.errors, figures.p50_ns, figures.p99_ns),
            (Some(50_000), Some(2), Some(663_000), Some(1_080_000))
        );
        assert_eq!(figures.p90_ns, None);
    }
}
