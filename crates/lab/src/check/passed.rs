//! Remembers which targets passed a check, so that a check of many can be resumed.
//!
//! Kept in `passed.json` below the folder of checks. An entry counts as long as the target's
//! source, the workloads and Pippin itself are those of that check.
use pippin_model::target::TargetId;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::Checked;
use crate::error::LabError;
use crate::install::digest;
use crate::target::catalog::Catalog;

/// What passed, by name.
#[derive(Debug)]
pub struct Passed {
    path: PathBuf,
    /// The digest of the workloads, of Pippin and of the choice of workloads.
    common: String,
    entries: BTreeMap<String, String>,
}

impl Passed {
    /// Reads the file. One that cannot be read counts as empty.
    ///
    /// # Errors
    /// If the workloads cannot be read.
    pub fn read(folder: &Path, catalog: &Catalog, only: &[String]) -> Result<Self, LabError> {
        let path = folder.join("passed.json");
        let workloads = catalog.root().join("workloads");
        // Workloads that ship with the program are part of the program.
        let digest = match workloads.is_dir() {
            true => digest::of_source(&workloads)
                .map_err(LabError::io(format!("read {}", workloads.display())))?,
            false => String::new(),
        };
        let common = format!("{digest} {} {}", program(), only.join(","));
        let entries = entries(&path);
        Ok(Self { path, common, entries })
    }

    /// Whether this target passed with its present source.
    ///
    /// # Errors
    /// If its source cannot be read.
    pub fn holds(&self, catalog: &Catalog, id: &TargetId) -> Result<bool, LabError> {
        Ok(self.entries.get(&id.to_string()) == Some(&self.key(catalog, id)?))
    }

    /// Notes a result, on disk at once.
    ///
    /// # Errors
    /// If the target's source cannot be read or the file cannot be written.
    pub fn note(&mut self, catalog: &Catalog, checked: &Checked) -> Result<(), LabError> {
        let name = checked.target.to_string();
        // Another check may note its own meanwhile. The lock ends with the function.
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let lock = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
        let _lock = lock.map_err(LabError::io(format!("lock {}", folder.display())))?;
        self.entries = entries(&self.path);
        if checked.passed() {
            let key = self.key(catalog, &checked.target)?;
            self.entries.insert(name, key);
        } else {
            self.entries.remove(&name);
        }
        let json = serde_json::to_vec_pretty(&self.entries).unwrap_or_default();
        // Written whole or not at all, even if Pippin is killed in between.
        let new = self.path.with_extension("new");
        std::fs::write(&new, json)
            .and_then(|()| std::fs::rename(&new, &self.path))
            .map_err(LabError::io(format!("write {}", self.path.display())))
    }

    fn key(&self, catalog: &Catalog, id: &TargetId) -> Result<String, LabError> {
        let folder = catalog.target(id)?.folder;
        let digest = digest::of_source(&folder)
            .map_err(LabError::io(format!("read {}", folder.display())))?;
        Ok(format!("{digest} {}", self.common))
    }
}

/// What the file says; nothing where it cannot be read.
fn entries(path: &Path) -> BTreeMap<String, String> {
    let bytes = std::fs::read(path).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Identifies the build of Pippin: size and age of the program.
fn program() -> String {
    let metadata = std::env::current_exe().and_then(std::fs::metadata).ok();
    let age = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    let since = age.and_then(|age| age.duration_since(std::time::UNIX_EPOCH).ok());
    format!(
        "{} {}",
        metadata.map_or(0, |metadata| metadata.len()),
        since.map_or(0, |since| since.as_nanos())
    )
}
