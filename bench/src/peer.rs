//! Tools that make load.
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use pippin_lab::lifecycle::supervised::Exit;

use crate::figures::Figures;
use crate::peers;
use crate::process::Ended;
use crate::scenario::Scenario;

/// What a tool is asked to do.
pub struct Request<'a> {
    pub scenario: &'a Scenario,
    pub seconds: u32,
    pub address: SocketAddr,
    /// A folder for scripts and outputs.
    pub scratch: &'a Path,
    /// Whether a tool that can do so counts from the instant at which a request was due.
    pub from_due: bool,
}

impl Request<'_> {
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.scenario.server.path())
    }

    /// How many source addresses (each has some 28,000 ports) and threads (each has a descriptor
    /// table, often of 20,000) so many connections need.
    pub fn sources(&self) -> u32 {
        self.scenario.connections.div_ceil(18_000)
    }
}

/// A tool that makes load.
pub trait Peer {
    fn name(&self) -> &'static str;

    /// Where its program is; `None` if it is not installed.
    fn find(&self) -> Option<PathBuf> {
        on_path(self.name())
    }

    /// The command for a load; `None` if the tool can't make it.
    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>>;

    /// Whether it can make the load of simulated devices.
    fn knows_devices(&self) -> bool {
        false
    }

    /// Its own figures, out of what it printed or wrote.
    fn read(&self, ended: &Ended, request: &Request<'_>) -> Result<Figures, String>;
}

/// A tool that is installed.
pub struct Tool {
    pub peer: &'static dyn Peer,
    pub program: PathBuf,
}

/// The tools asked for (all if `only` is empty) that are installed, and the names of those that are
/// not.
pub fn installed(only: &[String]) -> Result<(Vec<Tool>, Vec<&'static str>), String> {
    let names: Vec<&str> = peers::ALL.iter().map(|peer| peer.name()).collect();
    if let Some(name) = only.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(format!("--tools {name}: not known; there are {}", names.join(", ")));
    }
    let is_asked = |peer: &dyn Peer| only.is_empty() || only.iter().any(|name| name == peer.name());
    let (mut tools, mut missing) = (Vec::new(), Vec::new());
    for peer in peers::ALL.iter().copied().filter(|peer| is_asked(*peer)) {
        match peer.find() {
            Some(program) => tools.push(Tool { peer, program }),
            None => missing.push(peer.name()),
        }
    }
    Ok((tools, missing))
}

/// The program of this name on PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// The figures or, if the tool failed, what it said.
pub fn successful(ended: &Ended) -> Result<&str, String> {
    if ended.exit == Exit::Code(0) {
        return Ok(&ended.stdout);
    }
    let said = if ended.stderr.trim().is_empty() { &ended.stdout } else { &ended.stderr };
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    Err(format!("{}; it said: {last}", ended.exit))
}
