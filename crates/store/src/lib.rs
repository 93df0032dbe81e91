//! Runs and trials in SQLite (WAL): every finished trial is on disk before the next one begins.
//!
//! | module | what it does |
//! |---|---|
//! | [`schema`] | the tables |
//! | [`runs`] | writing and reading runs |
//! | [`listing`] | runs in lists: filters, pages, digests |
//! | [`baselines`] | names of the user's for runs |
//! | [`removal`] | what a database takes, and removing runs |
//! | [`history`] | the trials and lives of a target over all runs |
//! | `key` | the store's own secret, for digests of values that it does not keep |
//! | `maker` | which process makes a run |
//! | `readers` | connections that only read, beside the one that writes |
//! | `private` | the rights of other users on the database: none |
//! | `reading` | read-only databases |
//! | `reserve` | space for the end of a run on a full disk |
//! | [`live`] | the state of runs under way, in files beside the database |
pub mod baselines;
pub mod history;
mod key;
pub mod listing;
pub mod live;
mod maker;
mod private;
mod readers;
mod reading;
pub mod removal;
mod reserve;
pub mod runs;
pub mod schema;

use pippin_model::text::bounded;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A database up to this size is checked completely each time it is opened.
const LOOKED_THROUGH_BYTES: u64 = 32 << 20;
/// How long a statement waits while another process writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file exists but is not a database of Pippin. It was not changed.
    #[error("{} is not a database of Pippin's ({reason}); it was not changed: move it away, or name another one with --store", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The database was written by a newer Pippin.
    #[error("{} has schema {found}, but this Pippin knows at most {known}; update Pippin, or name another one with --store", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest known one.
        known: i64,
    },
    /// The database was written by an older Pippin, whose records mean something else.
    #[error("{} has schema {found}, but this Pippin reads schema {known}: move it away, or name another one with --store", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The one that can be read.
        known: i64,
    },
    /// The file is read-only.
    #[error("{} can be read but not written; name another store with --store", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// No space is left, or the file may not grow.
    #[error("the disk is full: {} cannot grow ({source}); what was finished before is kept", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// SQLite failed.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The folder cannot be made.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no such run.
    #[error("there is no run `{0}`{1}")]
    UnknownRun(String, String),
    /// A row has unexpected content.
    #[error("run {run}: {what} cannot be read: {source}")]
    Content {
        /// The run.
        run: String,
        /// The part of the run.
        what: String,
        /// Why.
        source: serde_json::Error,
    },
}

/// An open database.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    /// `None` for a database that may only be read. They are closed before `connection`: only one
    /// that may write can take the log into the database when it is the last.
    readers: Option<readers::Readers>,
    connection: std::sync::Mutex<Connection>,
    own_keys: history::OwnKeys,
    reserve: reserve::Reserve,
    /// It may only be read, because the disk is full.
    is_full: bool,
}

impl Store {
    /// Opens the database, or creates it. A read-only file is opened for reading.
    ///
    /// # Errors
    /// If the file is something else, is damaged, or has another schema. It is then not
    /// changed.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // To open a pipe waits until somebody writes it.
        let kind = path.metadata().ok().and_then(|found| bounded::not_a_file(found.file_type()));
        if let Some(kind) = kind {
            let source = io::Error::other(format!(
                "it is {kind}, and no database: name another one with --store"
            ));
            return Err(StoreError::Io { path: path.into(), source });
        }
        if let Some(folder) = path.parent() {
            private::folder(folder)
                .map_err(|source| StoreError::Io { path: folder.into(), source })?;
        }
        private::mend(path);
        if path.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let is_writable = reading::may_write(path)
                && reading::may_write(folder.unwrap_or_else(|| Path::new(".")));
            match examine(path, is_writable) {
                Ok(_) if is_writable => {}
                Ok(connection) => return Ok(Self::from_connection(path, connection)),
                // What is there can be read on a full disk too.
                Err(StoreError::Full { source, .. }) => {
                    let full = || StoreError::Full { path: path.into(), source };
                    let connection = reading::without_room(path).map_err(|_| full())?;
                    return Ok(Self { is_full: true, ..Self::from_connection(path, connection) });
                }
                Err(error) => return Err(error),
            }
        }
        private::file(path).map_err(|source| StoreError::Io { path: path.into(), source })?;
        let sqlite = |source| in_words(path, source);
        let mut connection = Connection::open(path).map_err(sqlite)?;
        connection.busy_timeout(PATIENCE).map_err(sqlite)?;
        enter_wal(&connection).map_err(sqlite)?;
        // A finished trial must survive power loss, not only a crash (sqlite.org/pragma.html,
        // synchronous).
        connection.pragma_update(None, "synchronous", "FULL").map_err(sqlite)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(sqlite)?;
        schema::create(&mut connection).map_err(sqlite)?;
        Ok(Self {
            readers: Some(readers::Readers::default()),
            ..Self::from_connection(path, connection)
        })
    }

    fn from_connection(path: &Path, connection: Connection) -> Self {
        Self {
            path: path.into(),
            readers: None,
            connection: connection.into(),
            own_keys: history::OwnKeys::default(),
            reserve: reserve::Reserve::default(),
            is_full: false,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // A panic while the lock was held cannot leave half a transaction: dropping it rolled it
        // back.
        let mut connection =
            self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut connection).map_err(|source| match in_words(&self.path, source) {
            StoreError::ReadOnly { path } if self.is_full => {
                let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
                StoreError::Full { path, source: rusqlite::Error::SqliteFailure(code, None) }
            }
            error => error,
        })
    }

    /// Reads beside whatever else reads or writes.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        match &self.readers {
            Some(readers) => {
                readers.read(&self.path, work).map_err(|source| in_words(&self.path, source))
            }
            None => self.with(|connection| work(connection)),
        }
    }
}

fn in_words(path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.into();
    match source.sqlite_error() {
        Some(error) if error.code == ErrorCode::ReadOnly => StoreError::ReadOnly { path },
        Some(error) if is_full(error) => StoreError::Full { path, source },
        Some(error) if error.code == ErrorCode::NotADatabase => {
            StoreError::Foreign { path, reason: source.to_string() }
        }
        Some(error) if error.code == ErrorCode::DatabaseCorrupt => {
            StoreError::Foreign { path, reason: format!("damaged: {source}") }
        }
        _ => StoreError::Sqlite { path, source },
    }
}

/// Whether no space is left. If the file reaches its size limit (setrlimit(2), RLIMIT_FSIZE), SQLite
/// reports a failed write. If there is no space for the `-shm` file, which also a reader needs, it
/// reports that this file cannot be made larger.
const fn is_full(error: &rusqlite::ffi::Error) -> bool {
    matches!(error.code, ErrorCode::DiskFull)
        || matches!(
            error.extended_code,
            rusqlite::ffi::SQLITE_IOERR_WRITE | rusqlite::ffi::SQLITE_IOERR_SHMSIZE
        )
}

/// Switches to WAL. This does not wait for other processes as statements do (sqlite.org/wal.html),
/// so it is repeated while another Pippin creates the same database.
fn enter_wal(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            outcome => return outcome,
        }
    }
}

/// Examines a file without changing it. Returns the connection.
fn examine(path: &Path, is_writable: bool) -> Result<Connection, StoreError> {
    let foreign = |reason: String| StoreError::Foreign { path: path.into(), reason };
    let in_words_here = |source| in_words(path, source);
    let connection = if is_writable {
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    } else {
        reading::connect(path)
    }
    .map_err(in_words_here)?;
    // Read everything in one snapshot: another Pippin may finish creating the database meanwhile.
    let begun = connection.busy_timeout(PATIENCE).and_then(|()| connection.execute_batch("BEGIN"));
    begun.map_err(in_words_here)?;
    let end = |connection: Connection| {
        connection.execute_batch("COMMIT").map_err(in_words_here)?;
        Ok(connection)
    };
    let pragma = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(in_words_here)
    };
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .map_err(in_words_here)?;
    if (application, version, tables) == (0, 0, 0) {
        // Another Pippin is creating it right now.
        return end(connection);
    }
    if application != schema::APPLICATION_ID {
        return Err(foreign("another program made it".into()));
    }
    if version > schema::VERSION {
        return Err(StoreError::Newer {
            path: path.into(),
            found: version,
            known: schema::VERSION,
        });
    }
    if version < schema::VERSION {
        return Err(StoreError::Older {
            path: path.into(),
            found: version,
            known: schema::VERSION,
        });
    }
    // Of a large database, only the schema is checked: reading a gigabyte before each command takes
    // seconds. Damage elsewhere is found when it is read.
    let is_small = path.metadata().is_ok_and(|file| file.len() <= LOOKED_THROUGH_BYTES);
    let check = if is_small { "quick_check" } else { "quick_check(sqlite_schema)" };
    let check: String = connection
        .query_row(&format!("PRAGMA {check}"), [], |row| row.get(0))
        .map_err(in_words_here)?;
    if check == "ok" { end(connection) } else { Err(foreign(format!("damaged: {check}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn only_damage_is_called_damage() {
        let of = |code| {
            in_words(Path::new("x"), rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
        };
        for code in [ffi::SQLITE_NOTADB, ffi::SQLITE_CORRUPT] {
            assert!(matches!(of(code), StoreError::Foreign { .. }), "{code}");
        }
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE] {
            assert!(matches!(of(code), StoreError::Full { .. }), "{code}");
        }
        for code in [ffi::SQLITE_CANTOPEN, ffi::SQLITE_IOERR_READ, ffi::SQLITE_BUSY] {
            assert!(matches!(of(code), StoreError::Sqlite { .. }), "{code}");
        }
    }
}
