//! Pippin: its engine alone, by event loop, and the program as users run it.
use std::path::{Path, PathBuf};
use std::process::Command;

use pippin_model::trial::Exit;

use crate::figures::Figures;
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;

/// The engine without the command line around it.
pub struct Engine {
    pub io: &'static str,
}

impl Peer for Engine {
    fn name(&self) -> &'static str {
        if self.io == "epoll" { "engine-epoll" } else { "engine-io_uring" }
    }

    fn find(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        let mut command = Command::new(program);
        command.args([
            "engine",
            "--io",
            self.io,
            "--address",
            &request.address.to_string(),
            "--connections",
            &scenario.connections.to_string(),
        ]);
        command.args([
            "--path",
            scenario.server.path(),
            "--seconds",
            &request.seconds.to_string(),
            "--pipeline",
            &scenario.pipeline.to_string(),
        ]);
        if let Some(streams) = scenario.streams {
            command.args(["--streams", &streams.to_string()]);
        }
        if let Some(rate) = scenario.rate_per_s {
            command.args(["--rate", &rate.to_string()]);
        }
        if !scenario.keep_alive {
            command.arg("--close");
        }
        if let Some(devices) = &scenario.devices {
            command.args([
                "--think-ms",
                &devices.think_ms.to_string(),
                "--sources",
                &request.sources().to_string(),
            ]);
        }
        Some(Ok(command))
    }

    fn knows_devices(&self) -> bool {
        true
    }

    fn knows_streams(&self) -> bool {
        true
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        serde_json::from_str(successful(ended)?)
            .map_err(|error| format!("the engine's figures: {error}"))
    }
}

/// `pippin load`.
pub struct Pippin;

impl Peer for Pippin {
    fn name(&self) -> &'static str {
        "pippin"
    }

    /// It is beside this program, because one build makes both.
    fn find(&self) -> Option<PathBuf> {
        std::env::current_exe()
            .ok()
            .map(|this| this.with_file_name("pippin"))
            .filter(|path| path.is_file())
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        let mut command = Command::new(program);
        // A stored load would add the database's work to the program's.
        command.args(["load", &request.url(), "--no-store"]);
        match &scenario.devices {
            None => {
                _ = command.args([
                    "-t",
                    "1",
                    "-c",
                    &scenario.connections.to_string(),
                    "-d",
                    &format!("{}s", request.seconds),
                ])
            }
            Some(devices) => {
                let third = format!("{}s", request.seconds / 3);
                let sources: Vec<String> =
                    (1..=request.sources()).map(|last| format!("127.0.0.{last}")).collect();
                command.args([
                    "--devices",
                    &scenario.connections.to_string(),
                    "--think",
                    &format!("{}ms +-5%", devices.think_ms),
                ]);
                command.args(["--ramp", &format!("{third},{third},{third}")]);
                command.args(["--source-ips", &sources.join(",")]);
                command.args(["-t", &request.sources().to_string()]);
            }
        }
        if let Some(streams) = scenario.streams {
            command.args(["--h2c", "--streams", &streams.to_string()]);
        }
        if let Some(rate) = scenario.rate_per_s {
            command.args(["-R", &rate.to_string()]);
        }
        if scenario.pipeline > 1 {
            command.args(["--pipeline", &scenario.pipeline.to_string()]);
        }
        if !scenario.keep_alive {
            command.arg("--no-keep-alive");
        }
        if let Some(body) = request.body {
            command.args(["-b", &format!("@{}", body.display())]);
        }
        command.arg("--json").arg(request.scratch.join("pippin.json"));
        Some(Ok(command))
    }

    fn knows_devices(&self) -> bool {
        true
    }

    fn knows_streams(&self) -> bool {
        true
    }

    fn knows_bodies(&self) -> bool {
        true
    }

    fn read(&self, ended: &Ended, request: &Request<'_>) -> Result<Figures, String> {
        // 3 means that the verdict is INVALID, because a closed loop uses all of its own core. The
        // figures are still printed.
        if ended.exit != Exit::Code(3) {
            successful(ended)?;
        }
        let text = std::fs::read_to_string(request.scratch.join("pippin.json"))
            .map_err(|error| format!("reading Pippin's JSON: {error}"))?;
        read(&text)
    }
}

fn read(text: &str) -> Result<Figures, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("Pippin's JSON: {error}"))?;
    let span = |name: &str, key: &str| json[name][key].as_u64();
    Ok(Figures {
        completed: json["requests"]["completed"].as_u64(),
        errors: json["errors"]
            .as_object()
            .map(|errors| errors.values().filter_map(serde_json::Value::as_u64).sum()),
        p50_ns: span("response_time", "p50_ns"),
        p90_ns: span("response_time", "p90_ns"),
        p95_ns: span("response_time", "p95_ns"),
        p99_ns: span("response_time", "p99_ns"),
        max_ns: span("response_time", "max_ns"),
        service: None,
        send_lag_p99_ns: span("send_lag", "p99_ns"),
        spin_ns: json["generator"]["spin_ns"].as_u64(),
        threads_cpu_per_request_ns: json["generator"]["threads_cpu_per_request_ns"].as_f64(),
        syscalls: json["generator"]["syscalls"].as_u64(),
        io: json["io"].as_str().map(str::to_owned),
        measured_per_s: json["throughput_per_s"].as_f64(),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_pippin_writes() {
        let text = r#"{"requests":{"completed":100},"errors":{"timeout":2,"wrong_body":1},"response_time":{"p50_ns":663000,"p99_ns":1080000},"send_lag":{"p99_ns":40000}}"#;
        let figures = super::read(text).unwrap();
        assert_eq!(
            (figures.completed, figures.errors, figures.p50_ns, figures.send_lag_p99_ns),
            (Some(100), Some(3), Some(663_000), Some(40_000))
        );
        assert_eq!(figures.spin_ns, None);
    }
}
