//! Child processes on one core, under the lab's supervisor, with the kernel's figures about their
//! usage.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pippin_lab::lifecycle::supervised::{Launch, Supervised, Used};
use pippin_model::plan::cpus::CpuSet;
use pippin_model::trial::Exit;

/// How a child ended, and its usage.
#[derive(Debug)]
pub struct Ended {
    pub exit: Exit,
    pub used: Used,
    pub stdout: String,
    pub stderr: String,
}

/// A child on one core. Dropping it ends it.
pub struct Process {
    supervised: Supervised,
    /// The folder of its output.
    folder: tempfile::TempDir,
}

impl Process {
    /// Starts a command on a core.
    pub fn start(command: &Command, core: u32) -> Result<Self, String> {
        let folder =
            tempfile::tempdir().map_err(|error| format!("a folder for output: {error}"))?;
        let supervised = Supervised::start(&launch(command, core, folder.path())?)
            .map_err(|error| error.to_string())?;
        Ok(Self { supervised, folder })
    }

    /// Its standard output so far.
    pub fn stdout(&self) -> String {
        read(&self.folder.path().join(STDOUT))
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.supervised.ended().is_none()
    }

    /// Waits for its end. If it still runs after `limit`, it is killed and this is an error.
    pub fn wait(mut self, limit: Duration) -> Result<Ended, String> {
        let exit = self.supervised.wait(limit, &|| false).map_err(|error| error.to_string())?;
        let exit = exit.ok_or_else(|| format!("did not end within {} s", limit.as_secs()))?;
        self.ended(exit)
    }

    /// Asks it to end (SIGTERM) and waits for that.
    pub fn stop(mut self) -> Result<Ended, String> {
        self.supervised.stop();
        let exit = self.supervised.ended().ok_or("its supervisor did not say how it ended")?;
        self.ended(exit)
    }

    fn ended(self, exit: Exit) -> Result<Ended, String> {
        let used = self.supervised.used().ok_or("its supervisor did not say what it used")?;
        let stderr = read(&self.folder.path().join(STDERR));
        Ok(Ended { exit, used, stdout: self.stdout(), stderr })
    }
}

/// Runs a command to its end on one core. Kills it after `limit`.
pub fn run(command: &Command, core: u32, limit: Duration) -> Result<Ended, String> {
    Process::start(command, core)?.wait(limit)
}

const STDOUT: &str = "stdout";
const STDERR: &str = "stderr";

fn launch(command: &Command, core: u32, folder: &Path) -> Result<Launch, String> {
    let text = |word: &std::ffi::OsStr| word.to_string_lossy().into_owned();
    let own = std::env::current_dir().map_err(|error| format!("this folder: {error}"))?;
    Ok(Launch {
        command: std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(text)
            .collect(),
        env: std::env::vars().collect(),
        folder: command.get_current_dir().map_or(own, PathBuf::from),
        log: folder.join(STDOUT),
        errors: Some(folder.join(STDERR)),
        cpus: CpuSet([core].into()),
        stop: "SIGTERM".into(),
        grace: Duration::from_secs(5),
        apart: false,
    })
}

fn read(path: &Path) -> String {
    // A child that wrote nothing has empty output.
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
