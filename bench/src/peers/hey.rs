//! hey: closed loop (its rate is a limit for each worker).
use std::path::Path;
use std::process::Command;

use crate::figures::{Figures, after, leading_number, nanoseconds};
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct Hey;

impl Peer for Hey {
    fn name(&self) -> &'static str {
        "hey"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        if scenario.pipeline > 1 {
            return None;
        }
        let mut command = Command::new(program);
        command.args([
            "-cpus",
            "1",
            "-c",
            &scenario.connections.to_string(),
            "-z",
            &format!("{}s", request.seconds),
        ]);
        if let Some(rate) = scenario.rate_per_s {
            command.args(["-q", &(f64::from(rate) / f64::from(scenario.connections)).to_string()]);
        }
        if !scenario.keep_alive {
            command.arg("-disable-keepalive");
        }
        command.arg(request.url());
        Some(Ok(command))
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        read(successful(ended)?)
    }
}

fn read(text: &str) -> Result<Figures, String> {
    // Lines such as `  [200]	91432 responses`.
    let answers = text.lines().filter_map(|line| {
        line.trim()
            .strip_suffix(" responses")?
            .split_once(']')
            .and_then(|(_, count)| leading_number(count))
    });
    // It keeps the times of at most a million requests, and cuts percentiles to 0.1 ms.
    let percentile = |label: &str| {
        text.lines().find_map(|line| {
            nanoseconds(
                line.trim()
                    .strip_prefix(label)?
                    .trim_start_matches('%')
                    .trim()
                    .strip_prefix("in ")?,
            )
        })
    };
    Ok(Figures {
        completed: Some(answers.sum()),
        p50_ns: percentile("50%"),
        p90_ns: percentile("90%"),
        p95_ns: percentile("95%"),
        p99_ns: percentile("99%"),
        max_ns: after(text, "Slowest:").and_then(nanoseconds),
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_hey_prints() {
        let text = "Summary:\n  Total:\t1.0011 secs\n  Slowest:\t0.0081 secs\n\nLatency distribution:\n  10%% in 0.0003 secs\n  50%% in 0.0007 secs\n  99%% in 0.0021 secs\n\n\
                    Status code distribution:\n  [200]\t42000 responses\n  [503]\t2 responses\n";
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.p50_ns, figures.p99_ns, figures.max_ns),
            (Some(42_002), Some(700_000), Some(2_100_000), Some(8_100_000))
        );
    }
}
