//! gcannon: closed loop over io_uring.
use std::path::Path;
use std::process::Command;

use crate::figures::Figures;
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct Gcannon;

impl Peer for Gcannon {
    fn name(&self) -> &'static str {
        "gcannon"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        if scenario.rate_per_s.is_some() {
            return None;
        }
        let mut command = Command::new(program);
        command.arg(request.url()).args([
            "--json",
            "-t",
            "1",
            "-c",
            &scenario.connections.to_string(),
            "-d",
            &request.seconds.to_string(),
        ]);
        command.args(["-p", &scenario.pipeline.to_string()]);
        if !scenario.keep_alive {
            command.args(["-r", "1"]);
        }
        Some(Ok(command))
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        read(successful(ended)?)
    }
}

fn read(text: &str) -> Result<Figures, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("gcannon's JSON: {error}"))?;
    let microseconds = |name: &str| json["latency_us"][name].as_u64().map(|us| us * 1_000);
    Ok(Figures {
        completed: json["responses"].as_u64(),
        p50_ns: microseconds("p50"),
        p90_ns: microseconds("p90"),
        p99_ns: microseconds("p99"),
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_gcannon_prints() {
        let text = r#"{"requests":105,"responses":100,"latency_us":{"avg":600,"p50":663,"p90":700,"p99":1080,"p999":2000,"samples":100},"status":{"2xx":100}}"#;
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.p50_ns, figures.p99_ns, figures.p95_ns),
            (Some(100), Some(663_000), Some(1_080_000), None)
        );
    }
}
