//! Callgrind of Valgrind: counts the instructions of a program in user space.
//!
//! A program takes many times as long under it, and its threads take turns. Neither changes what it
//! counts by much: nginx takes as many instructions for a request beside compilers as on a quiet machine.
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

use crate::error::LabError;
use crate::lifecycle::short_command;

/// How the names of its files end.
const ENDING: &str = ".out";

/// The program `valgrind`, which works here.
#[derive(Debug, Clone)]
pub struct Callgrind {
    program: PathBuf,
}

impl Callgrind {
    /// Looks whether it is there and works.
    ///
    /// # Errors
    /// If it does not; the message says what to do.
    pub fn find() -> Result<Self, LabError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .map(|folder| folder.join("valgrind"))
            .find(|program| program.is_file())
            .ok_or_else(|| {
                LabError::User(
                    "counting instructions needs callgrind: install valgrind (Debian, Ubuntu, Fedora, Arch)".into(),
                )
            })?;
        let folder = Counts::new()?;
        let mut tried = Command::new(&program);
        tried.args(&Self { program: program.clone() }.before(&folder)[1..]).arg("true");
        let works = short_command::output(&mut tried).is_some_and(|output| output.success);
        if works && folder.sum().is_ok() {
            return Ok(Self { program });
        }
        Err(LabError::User(format!(
            "counting instructions: {} does not work on this machine (try: valgrind --tool=callgrind true)",
            program.display()
        )))
    }

    /// The words before a command that is counted. The processes that it starts are counted too.
    pub(super) fn before(&self, counts: &Counts) -> Vec<String> {
        let out = counts.folder.path().join(format!("%p{ENDING}"));
        vec![
            self.program.display().to_string(),
            "-q".into(),
            "--tool=callgrind".into(),
            "--trace-children=yes".into(),
            format!("--callgrind-out-file={}", out.display()),
        ]
    }
}

/// What was counted of the processes of a server, a file each. They are written when a process ends.
#[derive(Debug)]
pub(super) struct Counts {
    folder: TempDir,
}

impl Counts {
    /// A folder of its own, in which every user may write: workers of a server often run as another user.
    pub(super) fn new() -> Result<Self, LabError> {
        let make = || -> io::Result<TempDir> {
            let folder = tempfile::Builder::new().prefix("pippin-count-").tempdir()?;
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777))?;
            Ok(folder)
        };
        make().map(|folder| Self { folder }).map_err(LabError::io("make a folder for callgrind"))
    }

    /// The instructions of all processes that have ended.
    ///
    /// # Errors
    /// If a process left no total, in words.
    pub(super) fn sum(&self) -> Result<u64, String> {
        let listed = fs::read_dir(self.folder.path()).map_err(|error| error.to_string())?;
        let mut totals = Vec::new();
        for entry in listed {
            let path = entry.map_err(|error| error.to_string())?.path();
            totals.push(total_of_file(&path)?);
        }
        match totals.as_slice() {
            [] => {
                Err("no process left a count: a server must end by itself when it gets SIGTERM"
                    .into())
            }
            totals => Ok(totals.iter().sum()),
        }
    }
}

fn total_of_file(path: &Path) -> Result<u64, String> {
    let text = fs::read(path).map_err(|error| error.to_string())?;
    total(&String::from_utf8_lossy(&text))
        .ok_or_else(|| "a process was killed before its count was written".into())
}

/// The line `totals: N` at the end of a file of callgrind (Valgrind manual, "Callgrind format
/// specification").
fn total(text: &str) -> Option<u64> {
    text.lines().rev().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_of_a_server_are_added() {
        let counts = Counts::new().unwrap();
        assert!(counts.sum().unwrap_err().contains("SIGTERM"), "nothing is not 0");
        for (pid, total) in [(7, 1_000), (8, 234)] {
            let text = format!("events: Ir\nfn=main\n1 {total}\n\ntotals: {total}\n");
            fs::write(counts.folder.path().join(format!("{pid}{ENDING}")), text).unwrap();
        }
        assert_eq!(counts.sum(), Ok(1_234));
        fs::write(counts.folder.path().join(format!("9{ENDING}")), "events: Ir\n").unwrap();
        assert!(counts.sum().unwrap_err().contains("killed"), "a process without a total");
    }
}
