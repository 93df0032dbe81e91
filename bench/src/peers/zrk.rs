//! zrk: a constant rate and nothing else, corrected by itself.
use std::path::Path;
use std::process::Command;

use crate::figures::{Figures, sum_of_counts};
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct Zrk;

impl Peer for Zrk {
    fn name(&self) -> &'static str {
        "zrk"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        let rate = scenario.rate_per_s?;
        if scenario.pipeline > 1 || !scenario.keep_alive {
            return None;
        }
        let mut command = Command::new(program);
        command.args([
            "--threads",
            "1",
            "--connections",
            &scenario.connections.to_string(),
            "--rate",
            &rate.to_string(),
        ]);
        command.args([
            "--duration",
            &format!("{}s", request.seconds),
            "--timeout",
            "30s",
            "--format",
            "json",
        ]);
        command.arg(request.url());
        Some(Ok(command))
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        read(successful(ended)?)
    }
}

fn read(text: &str) -> Result<Figures, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("zrk's JSON: {error}"))?;
    let microseconds = |name: &str| {
        json.pointer(&format!("/latency_us/{name}"))
            .and_then(serde_json::Value::as_u64)
            .map(|us| us * 1_000)
    };
    Ok(Figures {
        completed: sum_of_counts(&json, "/status_codes"),
        errors: sum_of_counts(&json, "/errors"),
        p50_ns: microseconds("p50"),
        p90_ns: microseconds("p90"),
        p99_ns: microseconds("p99"),
        max_ns: microseconds("max"),
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_zrk_prints() {
        let text = r#"{"requests":14995,"latency_us":{"mean":142.3,"stdev":697.1,"max":5651,"p50":52,"p75":63,"p90":231,"p99":3851,"p99_9":5126},
            "status_codes":{"1xx":0,"2xx":14990,"5xx":5},"errors":{"connect":0,"timeout":2}}"#;
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.errors, figures.p50_ns, figures.max_ns),
            (Some(14_995), Some(2), Some(52_000), Some(5_651_000))
        );
    }
}
