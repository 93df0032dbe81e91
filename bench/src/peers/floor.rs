//! The bare epoll client of this program, as a separate process.
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::figures::Figures;
use crate::peer::{Peer, Request, successful};
use crate::process::Ended;
use crate::scenario::Serving;

/// The minimum cost of a closed loop with epoll. `timed` also takes the time of every request.
pub struct Floor {
    pub timed: bool,
}

impl Peer for Floor {
    fn name(&self) -> &'static str {
        if self.timed { "floor-timed" } else { "floor" }
    }

    fn find(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>> {
        let scenario = request.scenario;
        if scenario.rate_per_s.is_some() || scenario.server != Serving::Null {
            return None;
        }
        let mut command = Command::new(program);
        command.args([
            "floor",
            "--address",
            &request.address.to_string(),
            "--connections",
            &scenario.connections.to_string(),
        ]);
        command.args([
            "--seconds",
            &request.seconds.to_string(),
            "--pipeline",
            &scenario.pipeline.to_string(),
        ]);
        if self.timed {
            command.arg("--timed");
        }
        if !scenario.keep_alive {
            command.arg("--close");
        }
        Some(Ok(command))
    }

    fn read(&self, ended: &Ended, _: &Request<'_>) -> Result<Figures, String> {
        serde_json::from_str(successful(ended)?)
            .map_err(|error| format!("the floor client's figures: {error}"))
    }
}
