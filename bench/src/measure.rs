//! One measurement: a fresh server, one tool, and the figures of kernel and server.
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

use pippin_probe::host_load::Watch;
use pippin_probe::kernel_files::KernelFiles;

use crate::figures::Figures;
use crate::peer::{Request, Tool};
use crate::process;
use crate::scenario::{LARGE, Scenario, Serving};
use crate::server::{Account, Server};

/// The result of one run of one tool.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    pub tool: &'static str,
    pub round: u32,
    pub outcome: Result<Outcome, String>,
}

/// A run that ended well.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    pub wall_ns: u64,
    /// The tool's, user and system.
    pub cpu_ns: u64,
    pub max_rss_bytes: u64,
    pub server_cpu_ns: u64,
    /// Share of the time of all processors that the hypervisor gave to other machines during the
    /// run.
    pub stolen: Option<f64>,
    pub server: Account,
    /// The tool's own figures.
    pub said: Figures,
}

impl Outcome {
    /// CPU time per answer of the server; `None` if there was none.
    pub fn cpu_per_request_ns(&self) -> Option<f64> {
        (self.server.answers > 0).then(|| self.cpu_ns as f64 / self.server.answers as f64)
    }
}

/// The settings that all measurements share.
pub struct Bench {
    server_core: u32,
    core: u32,
    scratch: tempfile::TempDir,
    /// The body of uploads, in the folder above.
    body: PathBuf,
}

impl Bench {
    pub fn new(server_core: u32, core: u32) -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if let Some(core) = [server_core, core].into_iter().find(|core| *core as usize >= cores) {
            return Err(format!(
                "core {core}: this machine has {cores}, counted from 0; name others with --core and --server-core"
            ));
        }
        if server_core == core {
            eprintln!(
                "server and tools share core {core}: rates mean little, but CPU time per request is still useful"
            );
        }
        let scratch =
            tempfile::tempdir().map_err(|error| format!("making a scratch folder: {error}"))?;
        let body = scratch.path().join("body");
        std::fs::write(&body, vec![b'p'; LARGE])
            .map_err(|error| format!("writing a body: {error}"))?;
        Ok(Self { server_core, core, scratch, body })
    }

    /// Runs the tool once; `None` if it cannot make this load.
    pub fn measure(
        &self,
        scenario: &Scenario,
        tool: &Tool,
        round: u32,
        quick: bool,
    ) -> Option<Measurement> {
        let seconds = scenario.seconds(quick);
        let server = match Server::start(scenario, seconds, self.server_core) {
            Ok(server) => server,
            Err(message) => {
                return Some(Measurement { tool: tool.peer.name(), round, outcome: Err(message) });
            }
        };
        let scratch: PathBuf = self.scratch.path().to_owned();
        let request = Request {
            scenario,
            seconds,
            address: server.address,
            scratch: &scratch,
            body: (scenario.server == Serving::Upload).then_some(&*self.body),
            from_due: true,
        };
        // Only Pippin can simulate devices, and only some tools speak HTTP/2 or were taught to upload.
        let lacks_devices = scenario.devices.is_some() && !tool.peer.knows_devices();
        let lacks_streams = scenario.streams.is_some() && !tool.peer.knows_streams();
        let lacks_bodies = request.body.is_some() && !tool.peer.knows_bodies();
        let command = if lacks_devices || lacks_streams || lacks_bodies {
            None
        } else {
            tool.peer.command(&tool.program, &request)
        };
        let Some(command) = command else {
            _ = server.stop();
            return None;
        };
        let files = KernelFiles::default();
        let watch = Watch::begin(&files);
        let ended = command.and_then(|command| {
            // Half a minute extra to connect, to end and to print.
            process::run(&command, self.core, Duration::from_secs(u64::from(seconds) + 30))
        });
        let stolen = watch.and_then(|watch| watch.end(&files)).map(|load| load.steal);
        let account = server.stop();
        let outcome = ended.and_then(|ended| {
            let (server, server_cpu_ns) = account?;
            let said = tool.peer.read(&ended, &request)?;
            let wall_ns = u64::try_from(ended.used.wall.as_nanos()).unwrap_or(u64::MAX);
            Ok(Outcome {
                wall_ns,
                cpu_ns: ended.used.cpu_ns,
                max_rss_bytes: ended.used.max_rss_bytes,
                server_cpu_ns,
                stolen,
                server,
                said,
            })
        });
        Some(Measurement { tool: tool.peer.name(), round, outcome })
    }
}
