//! fortio: closed loop, and a constant rate with catch-up switched on.
use std::path::Path;
use std::process::Command;

use crate::figures::{Figures, from_seconds};
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct Fortio;

impl Peer for Fortio {
    fn name(&self) -> &'static str {
        "fortio"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        if scenario.pipeline > 1 {
            return None;
        }
        let mut command = Command::new(program);
        command.env("GOMAXPROCS", "1").args([
            "load",
            "-quiet",
            "-a=false",
            "-json",
            "-",
            "-p",
            "50,90,95,99",
            "-r",
            "0.00001",
        ]);
        command.args([
            "-c",
            &scenario.connections.to_string(),
            "-t",
            &format!("{}s", request.seconds),
        ]);
        command.args(["-qps", &scenario.rate_per_s.unwrap_or(0).to_string()]);
        if !scenario.keep_alive {
            command.arg("-keepalive=false");
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
        serde_json::from_str(text).map_err(|error| format!("fortio's JSON: {error}"))?;
    let percentile = |wanted: f64| {
        let percentiles = json.pointer("/DurationHistogram/Percentiles")?.as_array()?;
        let entry =
            percentiles.iter().find(|entry| entry["Percentile"].as_f64() == Some(wanted))?;
        entry["Value"].as_f64().map(from_seconds)
    };
    let codes = json.pointer("/RetCodes").and_then(serde_json::Value::as_object);
    Ok(Figures {
        completed: codes.map(|codes| codes.values().filter_map(serde_json::Value::as_u64).sum()),
        p50_ns: percentile(50.0),
        p90_ns: percentile(90.0),
        p95_ns: percentile(95.0),
        p99_ns: percentile(99.0),
        max_ns: json
            .pointer("/DurationHistogram/Max")
            .and_then(serde_json::Value::as_f64)
            .map(from_seconds),
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_fortio_prints() {
        let text = r#"{"DurationHistogram":{"Max":0.0081,"Percentiles":[{"Percentile":50,"Value":0.000663},{"Percentile":99,"Value":0.00108}]},"RetCodes":{"200":100}}"#;
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.p50_ns, figures.p99_ns, figures.max_ns),
            (Some(100), Some(663_000), Some(1_080_000), Some(8_100_000))
        );
    }
}
