//! wrk: closed loop; pipelining by its Lua hook.
use std::path::Path;
use std::process::Command;

use crate::figures::{Figures, after, leading_number, nanoseconds};
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct Wrk;

impl Peer for Wrk {
    fn name(&self) -> &'static str {
        "wrk"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        if scenario.rate_per_s.is_some() {
            return None;
        }
        let mut command = Command::new(program);
        command.args([
            "--latency",
            "--threads",
            "1",
            "--connections",
            &scenario.connections.to_string(),
        ]);
        command.args(["--duration", &format!("{}s", request.seconds), "--timeout", "30s"]);
        if !scenario.keep_alive {
            command.args(["--header", "Connection: close"]);
        }
        if let Some(script) = script(request) {
            let path = request.scratch.join("wrk.lua");
            if let Err(error) = std::fs::write(&path, script) {
                return Some(Err(format!("writing wrk's script: {error}")));
            }
            command.arg("--script").arg(path);
        }
        command.arg(request.url());
        Some(Ok(command))
    }

    fn knows_bodies(&self) -> bool {
        true
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        read(successful(ended)?)
    }
}

/// What its options cannot say.
fn script(request: &Request<'_>) -> Option<String> {
    if let Some(body) = request.body {
        return Some(format!(
            "wrk.method = \"POST\"\nwrk.body = io.open(\"{}\", \"rb\"):read(\"*a\")\n",
            body.display()
        ));
    }
    let depth = request.scenario.pipeline;
    (depth > 1).then(|| {
        format!(
            "init = function(args)\n  local one = wrk.format()\n  many = string.rep(one, {depth})\nend\nrequest = function() return many end\n"
        )
    })
}

fn read(text: &str) -> Result<Figures, String> {
    let completed = text.lines().find_map(|line| {
        line.split_once(" requests in ").and_then(|(number, _)| leading_number(number))
    });
    let errors = after(text, "Socket errors:").map(|list| {
        list.split(',')
            .filter_map(|part| {
                leading_number(part.trim_start_matches(|c: char| !c.is_ascii_digit()))
            })
            .sum()
    });
    let wrong = after(text, "Non-2xx or 3xx responses:").and_then(leading_number).unwrap_or(0);
    let percentile =
        |label: &str| text.lines().find_map(|line| nanoseconds(line.trim().strip_prefix(label)?));
    let max =
        after(text, "Latency   ").and_then(|rest| nanoseconds(rest.split_whitespace().nth(2)?));
    if completed.is_none() {
        return Err("wrk printed no number of requests".into());
    }
    Ok(Figures {
        completed,
        errors: Some(errors.unwrap_or(0) + wrong),
        p50_ns: percentile("50%"),
        p90_ns: percentile("90%"),
        p99_ns: percentile("99%"),
        max_ns: max,
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_wrk_prints() {
        let text = "Running 2s test @ http://127.0.0.1:1/\n  1 threads and 64 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                    Latency   683.41us  153.36us   8.12ms   92.67%\n    Req/Sec    94.02k     5.32k  102.60k    80.00%\n  Latency Distribution\n     50%  663.00us\n     \
                    75%  709.00us\n     90%  786.00us\n     99%    1.08ms\n  187124 requests in 2.00s, 15.35MB read\n  Socket errors: connect 1, read 2, write 0, timeout 3\n\
                    Requests/sec:  93526.14\n";
        let figures = super::read(text).unwrap();
        assert_eq!((figures.completed, figures.errors), (Some(187_124), Some(6)));
        assert_eq!(
            (figures.p50_ns, figures.p99_ns, figures.max_ns),
            (Some(663_000), Some(1_080_000), Some(8_120_000))
        );
    }
}
