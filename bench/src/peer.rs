//! Tools that generate load.
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use pippin_model::trial::Exit;

use crate::figures::Figures;
use crate::peers;
use crate::process::Ended;
use crate::scenario::Scenario;

/// The load that a tool is asked to make.
pub struct Request<'a> {
    pub scenario: &'a Scenario,
    pub seconds: u32,
    pub address: SocketAddr,
    /// A folder for scripts and outputs.
    pub scratch: &'a Path,
    /// The file with the body of each request, for a scenario that uploads.
    pub body: Option<&'a Path>,
    /// Whether the tool should measure from the instant at which a request was due, if it can.
    pub from_due: bool,
}

impl Request<'_> {
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.scenario.server.path())
    }

    /// The number of source addresses (each has about 28,000 ports) and of threads (each has a
    /// descriptor table, often of 20,000) for this many connections.
    pub fn sources(&self) -> u32 {
        self.scenario.connections.div_ceil(18_000)
    }
}

/// A tool that generates load.
pub trait Peer {
    fn name(&self) -> &'static str;

    /// The path of its program; `None` if it is not installed.
    fn find(&self) -> Option<PathBuf> {
        on_path(self.name())
    }

    /// The command for a load; `None` if the tool cannot make it.
    fn command(&self, program: &Path, request: &Request<'_>) -> Option<Result<Command, String>>;

    /// Whether it can simulate devices.
    fn knows_devices(&self) -> bool {
        false
    }

    /// Whether it speaks HTTP/2 without TLS.
    fn knows_streams(&self) -> bool {
        false
    }

    /// Whether it can send a body.
    fn knows_bodies(&self) -> bool {
        false
    }

    /// Its own figures, from its output.
    fn read(&self, ended: &Ended, request: &Request<'_>) -> Result<Figures, String>;
}

/// A tool that is installed.
pub struct Tool {
    pub peer: &'static dyn Peer,
    pub program: PathBuf,
}

/// The requested tools (all if `only` is empty) that are installed, and the names of those that are
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

/// The tool's output or, if it failed, its error.
pub fn successful(ended: &Ended) -> Result<&str, String> {
    if ended.exit == Exit::Code(0) {
        return Ok(&ended.stdout);
    }
    let said = if ended.stderr.trim().is_empty() { &ended.stdout } else { &ended.stderr };
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    Err(format!("{}; it said: {last}", ended.exit))
}
