//! The user's place, and where Pippin therefore keeps runs, logs and the database
//! (docs/decisions/one-binary.md).
use pippin_model::target::project::{self, Project};
use std::path::{Path, PathBuf};

use crate::error::LabError;

/// Names another checkout of Pippin, which is then the only catalog.
pub const HOME_VARIABLE: &str = "PIPPIN_HOME";

/// The folder with the user's own targets, workloads and plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A checkout that [`HOME_VARIABLE`] names.
    Named,
    /// A folder with `targets/` and `workloads/`: a checkout of Pippin.
    Checkout,
    /// A folder with a project file.
    Project,
    /// Any other folder.
    Elsewhere,
}

impl Place {
    /// The nearest folder above `start` with a project file, or that is a checkout; else `start`
    /// itself. [`HOME_VARIABLE`] names a checkout instead.
    ///
    /// # Errors
    /// If the variable names no checkout, or `start` cannot be opened.
    pub fn find(start: &Path) -> Result<Self, LabError> {
        let is_checkout =
            |folder: &Path| folder.join("targets").is_dir() && folder.join("workloads").is_dir();
        if let Some(home) = std::env::var_os(HOME_VARIABLE) {
            let root = PathBuf::from(home);
            return if is_checkout(&root) {
                Ok(Self { root, kind: Kind::Named })
            } else {
                Err(LabError::User(format!(
                    "{HOME_VARIABLE} is {}, where targets/ and workloads/ are not; set it to a checkout of Pippin, or unset it",
                    root.display()
                )))
            };
        }
        let start = start
            .canonicalize()
            .map_err(LabError::io(format!("cannot open {}", start.display())))?;
        let kind = |folder: &Path| match folder.join(project::FILE).is_file() {
            true => Some(Kind::Project),
            false => is_checkout(folder).then_some(Kind::Checkout),
        };
        for folder in start.ancestors() {
            odd(&folder.join(project::FILE))?;
        }
        let found = start.ancestors().find_map(|folder| Some((folder, kind(folder)?)));
        Ok(match found {
            Some((root, kind)) => Self { root: root.into(), kind },
            None => Self { root: start, kind: Kind::Elsewhere },
        })
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the folder has a project file.
    #[must_use]
    pub fn has_project(&self) -> bool {
        self.kind == Kind::Project
    }

    /// The project file, if the folder has one.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn project(&self) -> Result<Option<Project>, LabError> {
        match self.kind {
            Kind::Project => Ok(Some(Project::read(&self.root)?)),
            Kind::Named | Kind::Checkout | Kind::Elsewhere => Ok(None),
        }
    }

    /// Makes the folder for Pippin's files in a project. Git ignores it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn prepare(&self) -> Result<(), LabError> {
        if self.kind != Kind::Project {
            return Ok(());
        }
        let own = self.own()?;
        let ignored = own.join(".gitignore");
        if ignored.is_file() {
            return Ok(());
        }
        std::fs::create_dir_all(&own)
            .and_then(|()| std::fs::write(&ignored, "*\n"))
            .map_err(LabError::io(format!("write {}", ignored.display())))
    }

    /// Whether its catalog is the only one.
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        self.kind == Kind::Named
    }

    /// The database of runs.
    ///
    /// # Errors
    /// If no folder for states is known.
    pub fn database(&self) -> Result<PathBuf, LabError> {
        Ok(self.own()?.join("pippin.db"))
    }

    /// The folder that has one folder for each run.
    ///
    /// # Errors
    /// If no folder for states is known.
    pub fn runs(&self) -> Result<PathBuf, LabError> {
        match self.kind {
            Kind::Named | Kind::Checkout => Ok(self.root.join("runs")),
            Kind::Project | Kind::Elsewhere => Ok(self.own()?.join("runs")),
        }
    }

    /// The folder for what builds of revisions share.
    ///
    /// # Errors
    /// If no folder for states is known.
    pub fn caches(&self) -> Result<PathBuf, LabError> {
        Ok(self.own()?.join("builds"))
    }

    /// The folder for checks of targets.
    ///
    /// # Errors
    /// If no folder for states is known.
    pub fn checks(&self) -> Result<PathBuf, LabError> {
        Ok(self.own()?.join("check"))
    }

    fn own(&self) -> Result<PathBuf, LabError> {
        match self.kind {
            Kind::Named | Kind::Checkout | Kind::Project => Ok(self.root.join(".pippin")),
            Kind::Elsewhere => Ok(user_folder("XDG_STATE_HOME", ".local/state")?.join("pippin")),
        }
    }
}

/// Refuses a project file that is none, which would be passed over in silence.
fn odd(path: &Path) -> Result<(), LabError> {
    if path.symlink_metadata().is_err() || path.is_file() {
        return Ok(());
    }
    let what = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => "a folder".into(),
        Ok(_) => "no file but a pipe, a socket or a device".into(),
        Err(error) => format!("a link that leads nowhere ({error})"),
    };
    Err(LabError::User(format!(
        "{} is {what}, and should be a project file: write one (`pippin init`), or move it away",
        path.display()
    )))
}

/// The cache folder: everything in it can be made again.
///
/// # Errors
/// If none is known.
pub fn cache() -> Result<PathBuf, LabError> {
    Ok(user_folder("XDG_CACHE_HOME", ".cache")?.join("pippin"))
}

/// A folder of the user's (XDG Base Directory Specification): the variable's value, or this folder
/// of the home folder. The specification has relative paths ignored.
fn user_folder(variable: &str, of_home: &str) -> Result<PathBuf, LabError> {
    let folder = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    folder(variable)
        .or_else(|| Some(folder("HOME")?.join(of_home)))
        .ok_or_else(|| LabError::User(format!("neither {variable} nor HOME is set, so that there is no place for Pippin's files; set one of them")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_file_that_is_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(project::FILE);
        let said = || Place::find(folder.path()).unwrap_err().to_string();
        std::fs::create_dir(&path).unwrap();
        assert!(said().contains("pippin.toml is a folder"), "{}", said());
        std::fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink(&path, &path).unwrap();
        assert!(said().contains("leads nowhere"), "{}", said());
        std::fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(said().contains("a pipe"), "{}", said());
    }

    #[test]
    fn a_checkout_keeps_its_own_and_is_found_from_below() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let below = root.join("targets/go/chi");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(Place::find(&below).unwrap().root(), below, "no checkout yet");
        std::fs::create_dir(root.join("workloads")).unwrap();
        let place = Place::find(&below).unwrap();
        assert_eq!(place.root(), root);
        assert_eq!(place.database().unwrap(), root.join(".pippin/pippin.db"));
        assert_eq!(place.runs().unwrap(), root.join("runs"));
        assert!(!place.stands_alone());
    }
}
