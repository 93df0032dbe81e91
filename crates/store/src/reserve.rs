//! Space that is kept while a run is made. Where the disk is full, how the run ended can still be
//! written: otherwise it would look like one that was killed.
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// More than the end of a run takes: its row with its header, in the journal.
const BYTES: libc::off_t = 512 * 1024;

/// A file without a name: its space is free again when this process ends, however it ends.
#[derive(Debug, Default)]
pub(crate) struct Reserve(Mutex<Option<File>>);

impl Reserve {
    /// Takes the space beside a database. Where that is impossible (a file system without files that
    /// have no name, a disk that is nearly full), there is none.
    pub fn fill(&self, database: &Path) {
        let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = File::options()
            .write(true)
            .custom_flags(libc::O_TMPFILE)
            .mode(0o600)
            .open(folder.unwrap_or_else(|| Path::new(".")));
        // SAFETY: `fallocate(2)` of a descriptor that is open, without pointers.
        let taken =
            file.ok().filter(|file| unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, BYTES) } == 0);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = taken;
    }

    /// Gives it back.
    pub fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
