//! h2load (nghttp2): closed loop over HTTP/2; over HTTP/1.1 also pipelining, and a rate for each
//! connection.
use std::path::Path;
use std::process::Command;

use crate::figures::{Figures, after, leading_number, nanoseconds};
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

pub struct H2load;

impl Peer for H2load {
    fn name(&self) -> &'static str {
        "h2load"
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        // With `Connection: close` it does not stop at its time.
        if !scenario.keep_alive {
            return None;
        }
        let mut command = Command::new(program);
        if scenario.streams.is_none() {
            command.arg("--h1");
        }
        command.args([
            "-t",
            "1",
            "-D",
            &request.seconds.to_string(),
            "-c",
            &scenario.connections.to_string(),
            "-m",
            &scenario.streams.unwrap_or(scenario.pipeline).to_string(),
        ]);
        if let Some(rate) = scenario.rate_per_s {
            command
                .args(["--rps", &(f64::from(rate) / f64::from(scenario.connections)).to_string()]);
        }
        if let Some(body) = request.body {
            command.arg("--data").arg(body);
        }
        command.arg(request.url());
        Some(Ok(command))
    }

    fn knows_streams(&self) -> bool {
        true
    }

    fn knows_bodies(&self) -> bool {
        true
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        read(successful(ended)?)
    }
}

fn read(text: &str) -> Result<Figures, String> {
    let requests = after(text, "requests:").ok_or("h2load printed no number of requests")?;
    let count = |label: &str| {
        requests
            .split(',')
            .find_map(|part| part.trim().strip_suffix(label).and_then(leading_number))
    };
    // `time for request:  min  max  mean  sd  +/- sd`; it has no percentiles.
    let max = after(text, "time for request:")
        .and_then(|rest| nanoseconds(rest.split_whitespace().nth(1)?));
    Ok(Figures {
        completed: count("done"),
        errors: count("failed"),
        max_ns: max,
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_h2load_prints() {
        let text = "finished in 1.00s, 91432.00 req/s, 7.50MB/s\nrequests: 91432 total, 91496 started, 91432 done, 91431 succeeded, 1 failed, 0 errored, 0 timeout\n\
                    time for request:       61us      8.12ms       690us       100us    92.67%\n";
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.errors, figures.max_ns),
            (Some(91_432), Some(1), Some(8_120_000))
        );
    }
}
