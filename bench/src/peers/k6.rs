//! k6: closed loop by virtual users, and a constant arrival rate.
use std::path::Path;
use std::process::Command;

use crate::figures::Figures;
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct K6;

impl Peer for K6 {
    fn name(&self) -> &'static str {
        "k6"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        // With 10,000 virtual users, it needs gigabytes and half a minute to start.
        if scenario.pipeline > 1 || scenario.connections > 1_000 {
            return None;
        }
        let path = request.scratch.join("k6.js");
        if let Err(error) = std::fs::write(&path, script(request)) {
            return Some(Err(format!("writing k6's script: {error}")));
        }
        let mut command = Command::new(program);
        command.env("GOMAXPROCS", "1").env("K6_NO_USAGE_REPORT", "true").args([
            "run",
            "--quiet",
            "--no-color",
            "--address",
            "",
        ]);
        command.arg("--summary-export").arg(request.scratch.join("k6.json")).arg(path);
        Some(Ok(command))
    }

    fn read(&self, ended: &Ended, request: &Request<'_>) -> Result<Figures, String> {
        successful(ended)?;
        let text = std::fs::read_to_string(request.scratch.join("k6.json"))
            .map_err(|error| format!("reading k6's summary: {error}"))?;
        read(&text)
    }
}

fn script(request: &Request<'_>) -> String {
    let scenario = request.scenario;
    let executor = match scenario.rate_per_s {
        Some(rate) => {
            // Enough users for a stall of a second. More would take longer to start than the load
            // lasts.
            let users = scenario.connections.max(rate.min(2_000));
            format!(
                "executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', preAllocatedVUs: {users}, maxVUs: {users}"
            )
        }
        None => format!("executor: 'constant-vus', vus: {}", scenario.connections),
    };
    format!(
        "import http from 'k6/http';\nexport const options = {{ discardResponseBodies: true, noConnectionReuse: {}, summaryTrendStats: ['med', 'p(90)', 'p(95)', 'p(99)', \
         'max'],\n  scenarios: {{ one: {{ {executor}, duration: '{}s', gracefulStop: '2s' }} }} }};\nexport default function () {{ http.get('{}'); }}\n",
        !scenario.keep_alive,
        request.seconds,
        request.url()
    )
}

fn read(text: &str) -> Result<Figures, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("k6's JSON: {error}"))?;
    let milliseconds = |name: &str| {
        json["metrics"]["http_req_duration"][name].as_f64().map(|ms| (ms * 1e6).round() as u64)
    };
    Ok(Figures {
        completed: json["metrics"]["http_reqs"]["count"].as_u64(),
        p50_ns: milliseconds("med"),
        p90_ns: milliseconds("p(90)"),
        p95_ns: milliseconds("p(95)"),
        p99_ns: milliseconds("p(99)"),
        max_ns: milliseconds("max"),
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_k6_writes() {
        let text = r#"{"metrics":{"http_reqs":{"count":12000,"rate":6000.1},"http_req_duration":{"med":0.663,"p(90)":0.9,"p(99)":1.08,"max":8.1}}}"#;
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.p50_ns, figures.p99_ns, figures.max_ns),
            (Some(12_000), Some(663_000), Some(1_080_000), Some(8_100_000))
        );
    }
}
