//! Read-only databases: those of another user, or on a read-only file system.
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether this process may write to a file, or create files in a folder.
pub(crate) fn may_write(path: &Path) -> bool {
    let Ok(text) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: `text` is a live, zero-terminated string; the call changes nothing.
    unsafe { libc::faccessat(libc::AT_FDCWD, text.as_ptr(), libc::W_OK, libc::AT_EACCESS) == 0 }
}

/// Opens a database for reading only.
///
/// Without a `-wal` file nobody has it open, and SQLite can read the file alone. Otherwise SQLite
/// must read both, and needs the `-shm` file beside them (sqlite.org/wal.html, "Read-Only
/// Databases").
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    let option = if Path::new(&wal).exists() { "mode=ro" } else { "mode=ro&immutable=1" };
    Connection::open_with_flags(
        format!("file:{}?{option}", encoded(path)),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )
}

/// Opens a database for reading where no room is left for the `-shm` file. Its index is then kept in
/// memory, for which SQLite must have the database alone (sqlite.org/wal.html, "Use of WAL Without
/// Shared-Memory"). Nobody else has it open, or there would be such a file already.
pub(crate) fn without_room(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Else it would move the log into the database at the end, which needs room.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "query_only", true)?;
    // Reads something, so that what is wrong is known now.
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// A path within a URI (sqlite.org/uri.html).
fn encoded(path: &Path) -> String {
    let mut out = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
