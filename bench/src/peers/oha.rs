//! oha: closed loop, and a rate with its latency correction switched on.
use std::path::Path;
use std::process::Command;

use crate::figures::{Figures, from_seconds, sum_of_counts};
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct Oha;

impl Peer for Oha {
    fn name(&self) -> &'static str {
        "oha"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        if scenario.pipeline > 1 {
            return None;
        }
        let mut command = Command::new(program);
        command.args([
            "--no-tui",
            "--output-format",
            "json",
            "-c",
            &scenario.connections.to_string(),
            "-z",
            &format!("{}s", request.seconds),
        ]);
        if let Some(rate) = scenario.rate_per_s {
            command.args(["-q", &rate.to_string()]);
            if request.from_due {
                command.arg("--latency-correction");
            }
        }
        if !scenario.keep_alive {
            command.arg("--disable-keepalive");
        }
        command.arg(request.url());
        Some(Ok(command))
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        read(successful(ended)?)
    }
}

fn read(text: &str) -> Result<Figures, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("oha's JSON: {error}"))?;
    let seconds =
        |path: &str| json.pointer(path).and_then(serde_json::Value::as_f64).map(from_seconds);
    Ok(Figures {
        completed: sum_of_counts(&json, "/statusCodeDistribution"),
        errors: sum_of_counts(&json, "/errorDistribution"),
        p50_ns: seconds("/latencyPercentiles/p50"),
        p90_ns: seconds("/latencyPercentiles/p90"),
        p95_ns: seconds("/latencyPercentiles/p95"),
        p99_ns: seconds("/latencyPercentiles/p99"),
        max_ns: seconds("/summary/slowest"),
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_oha_prints() {
        let text = r#"{"summary":{"slowest":0.0081},"latencyPercentiles":{"p50":0.000663,"p99":0.00108},"statusCodeDistribution":{"200":100,"503":2},"errorDistribution":{"aborted due to deadline":64}}"#;
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.errors, figures.p50_ns, figures.max_ns),
            (Some(102), Some(64), Some(663_000), Some(8_100_000))
        );
    }
}
