//! Disk space that is reserved during a run. If the disk is full, the end of the run can still be
//! written. Otherwise the run would look as if it had been killed.
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// More than the end of a run needs: its row with its header, in the journal.
const BYTES: libc::off_t = 512 * 1024;

/// A file without a name. Its space is free again when this process ends, however it ends.
#[derive(Debug, Default)]
pub(crate) struct Reserve(Mutex<Option<File>>);

impl Reserve {
    /// Reserves the space beside a database. If that is not possible (the file system has no
    /// unnamed files, or the disk is nearly full), nothing is reserved.
    pub fn fill(&self, database: &Path) {
        let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = File::options()
            .write(true)
            .custom_flags(libc::O_TMPFILE)
            .mode(0o600)
            .open(folder.unwrap_or_else(|| Path::new(".")));
        // SAFETY: `fallocate(2)` on an open descriptor, without pointers.
        let taken =
            file.ok().filter(|file| unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, BYTES) } == 0);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = taken;
    }

    /// Frees the space.
    pub fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
