//! Runs `pippin` as a user does, with a store of its own, and reads what it stored.
use pippin_model::run::RunRecord;
use pippin_store::Store;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What `pippin` stored and printed.
pub struct Measured {
    pub run: RunRecord,
    pub output: Output,
}

/// Runs `pippin` with these arguments in a folder, which gets the store.
pub fn measured(pippin: &Path, folder: &Path, arguments: &[&str]) -> Result<Measured, String> {
    let store = folder.join("pippin.db");
    let output = Command::new(pippin)
        .args(arguments)
        .arg("--store")
        .arg(&store)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", pippin.display()))?;
    let run = Store::open(&store)
        .and_then(|store| store.load("latest"))
        .map_err(|error| format!("{error}\n{}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(Measured { run, output })
}
