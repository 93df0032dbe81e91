//! A folder for the files of one check: checks at the same time have one each, so that none removes
//! the database or cuts the log of another.
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::LabError;

/// A folder that is nobody else's until this is dropped.
#[derive(Debug)]
pub struct CheckFolder {
    path: PathBuf,
    /// The kernel frees the lock when the process ends, in whatever way (flock(2)).
    _lock: File,
}

impl CheckFolder {
    /// Takes the first folder below `checks` that no other check uses: `1`, `2` and so on. What an
    /// earlier check left there is kept until it is written anew.
    ///
    /// # Errors
    /// If none can be made.
    pub fn take(checks: &Path) -> Result<Self, LabError> {
        for number in 1_u32.. {
            let path = checks.join(number.to_string());
            let failed = LabError::io(format!("make {}", path.display()));
            let lock = std::fs::create_dir_all(&path).and_then(|()| File::open(&path));
            match lock {
                Ok(lock) if lock.try_lock().is_ok() => return Ok(Self { path, _lock: lock }),
                Ok(_) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(LabError::User(format!("{}: every folder is in use", checks.display())))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::CheckFolder;

    #[test]
    fn two_checks_at_the_same_time_have_a_folder_each_and_the_next_has_the_first_again() {
        let checks = tempfile::tempdir().unwrap();
        let take = || CheckFolder::take(&checks.path().join("check")).unwrap();
        let (first, second) = (take(), take());
        assert!(first.path().ends_with("check/1") && second.path().ends_with("check/2"));
        drop(first);
        assert!(take().path().ends_with("check/1"));
    }
}
