//! Files that are replaced while a load runs.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::meanwhile::{Meanwhile, Turns};
use crate::error::LabError;
use crate::services::files::{File, Files};
use crate::verify::Verdict;

/// How often one of the files is replaced: each of the four in two seconds.
const REPLACE_EVERY: Duration = Duration::from_millis(500);

/// Why a file could not be replaced, if one could not.
pub type Trouble = Arc<Mutex<Option<String>>>;

/// Whether each file could be replaced.
///
/// # Errors
/// Why one could not.
pub fn went_well(trouble: &Trouble) -> Verdict {
    trouble.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
}

/// Replaces files beside a load: all of them at once at its begin, as a deployment does, and then one
/// after the other.
///
/// # Errors
/// If there is no thread.
pub fn replace_meanwhile(files: Arc<Files>, trouble: Trouble) -> Result<Meanwhile, String> {
    Meanwhile::start("replaces", REPLACE_EVERY, move |turns| {
        if let Err(error) = replace_in(turns, &files) {
            let why = error.to_string();
            *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
    })
}

fn replace_in(turns: &Turns, files: &Files) -> Result<(), LabError> {
    let changing: Vec<&File> = files.each().iter().filter(|it| it.changes).collect();
    changing.iter().try_for_each(|file| files.replace(file).map(drop))?;
    for file in changing.iter().cycle() {
        if !turns.next() {
            break;
        }
        files.replace(file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_change_are_replaced_and_trouble_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(Files::made_in(folder.path().join("files")).unwrap());
        let trouble = Trouble::default();
        replace_meanwhile(Arc::clone(&files), Arc::clone(&trouble)).unwrap().stop();
        assert_eq!(went_well(&trouble), Ok(()));
        for file in files.each() {
            assert_eq!(file.versions().len() > 1, file.changes, "{}", file.name);
        }
        let files = Arc::new(Files::made_in(folder.path().join("others")).unwrap());
        std::fs::remove_dir_all(folder.path().join("others.new")).unwrap();
        replace_meanwhile(files, Arc::clone(&trouble)).unwrap().stop();
        assert!(went_well(&trouble).unwrap_err().starts_with("write "));
    }
}
