//! Connections that only read. In WAL mode any number of them read beside each other and beside the
//! one that writes (sqlite.org/wal.html, "Concurrency"), so a page that reads for long holds up
//! nobody.
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::PATIENCE;

/// Idle connections that are kept for the next reader; each may hold 2 MB of pages.
const KEPT: usize = 4;

/// Connections that nobody uses at the moment.
#[derive(Debug, Default)]
pub(crate) struct Readers(Mutex<Vec<Connection>>);

impl Readers {
    /// Reads with an idle connection, or with a new one. It sees all that was committed before.
    pub(crate) fn read<T>(
        &self,
        path: &Path,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = idle.map_or_else(|| connect(path), Ok)?;
        let read = work(&connection);
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(connection);
        }
        read
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use crate::Store;
    use pippin_model::example::run::hello;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn a_slow_reader_holds_up_neither_readers_nor_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("pippin.db")).unwrap();
        let (begun, wait_for_begin) = channel();
        let (release, wait_for_release) = channel();
        let store = &store;
        let was_released = std::thread::scope(|scope| {
            let slow = scope.spawn(move || {
                store.read(|connection| {
                    connection.query_row("SELECT count(*) FROM runs", [], |_| {
                        begun.send(()).unwrap();
                        // Long enough for any machine, and not for ever if it does hold them up.
                        Ok(wait_for_release.recv_timeout(Duration::from_secs(60)).is_ok())
                    })
                })
            });
            wait_for_begin.recv().unwrap();
            store.begin(&hello().header).unwrap();
            assert_eq!(store.list().unwrap().len(), 1);
            release.send(()).unwrap_or_default();
            slow.join().unwrap().unwrap()
        });
        assert!(was_released, "the others waited until the slow one gave up");
    }

    #[test]
    fn readers_cannot_write_and_leave_no_file_behind() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("pippin.db")).unwrap();
        let refused = store.read(|connection| connection.execute("DELETE FROM runs", []));
        assert!(matches!(refused, Err(crate::StoreError::ReadOnly { .. })), "{refused:?}");
        store.begin(&hello().header).unwrap();
        assert_eq!(store.list().unwrap().len(), 1);
        drop(store);
        // The last connection to be closed may write, and so takes the log into the database.
        let left: Vec<_> =
            folder.path().read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["pippin.db"]);
    }
}
