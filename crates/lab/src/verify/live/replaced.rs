//! Files that are replaced while a load runs.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

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

/// Replaces files again and again, on a thread of its own.
pub struct Replacer {
    stop: Sender<()>,
    is_paused: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Replacer {
    /// Begins: all of them at once, as a deployment does, and then one after the other.
    ///
    /// # Errors
    /// If there is no thread.
    pub fn start(files: Arc<Files>, trouble: Trouble) -> Result<Self, String> {
        let (stop, stopped) = channel();
        let is_paused = Arc::new(AtomicBool::new(false));
        let rests = Arc::clone(&is_paused);
        let thread = std::thread::Builder::new()
            .name("replaces".into())
            .spawn(move || {
                let changing: Vec<&File> = files.each().iter().filter(|it| it.changes).collect();
                let replace = |file: &File| files.replace(file).map_err(|error| error.to_string());
                let mut outcome = changing.iter().try_for_each(|file| replace(file).map(drop));
                let mut next = changing.iter().cycle();
                while outcome.is_ok()
                    && stopped.recv_timeout(REPLACE_EVERY) == Err(RecvTimeoutError::Timeout)
                {
                    if !rests.load(Ordering::Relaxed)
                        && let Some(file) = next.next()
                    {
                        outcome = replace(file).map(drop);
                    }
                }
                if let Err(why) = outcome {
                    *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                }
            })
            .map_err(|error| format!("start a thread: {error}"))?;
        Ok(Self { stop, is_paused, thread })
    }

    /// Whether to leave the files as they are for now.
    pub fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// Ends.
    pub fn stop(self) {
        drop(self.stop);
        // It does nothing that panics.
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_change_are_replaced_and_trouble_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(Files::made_in(folder.path().join("files")).unwrap());
        let trouble = Trouble::default();
        Replacer::start(Arc::clone(&files), Arc::clone(&trouble)).unwrap().stop();
        assert_eq!(went_well(&trouble), Ok(()));
        for file in files.each() {
            assert_eq!(file.versions().len() > 1, file.changes, "{}", file.name);
        }
        let files = Arc::new(Files::made_in(folder.path().join("others")).unwrap());
        std::fs::remove_dir_all(folder.path().join("others.new")).unwrap();
        Replacer::start(files, Arc::clone(&trouble)).unwrap().stop();
        assert!(went_well(&trouble).unwrap_err().starts_with("write "));
    }
}
