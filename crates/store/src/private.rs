//! The database is its owner's alone: records hold URLs, requests and log lines of programs that
//! others on this machine must not read.
use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Owner only: reading, writing, and entering.
const FOLDER: u32 = 0o700;
/// Owner only: reading and writing.
const FILE: u32 = 0o600;
/// The names of folders that are Pippin's own.
const OWN_FOLDERS: [&str; 2] = [".pippin", "pippin"];
/// What SQLite, and the live view, keep beside a database.
const BESIDE: [&str; 4] = ["-wal", "-shm", "-live", "-key"];

/// Creates a folder, and those above it that are missing, for its owner alone. A folder that exists
/// keeps its rights.
///
/// # Errors
/// If it cannot be created.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)
}

/// Creates an empty database file for its owner alone, unless there is a file. SQLite gives its
/// other files the same rights.
///
/// # Errors
/// If it cannot be created.
pub(crate) fn file(path: &Path) -> io::Result<()> {
    File::options().create(true).append(true).mode(FILE).open(path).map(drop)
}

/// Takes the rights of other users away from a database that an earlier Pippin, or a copy, left
/// open to them: from its files, and from its folder if that is Pippin's own. What belongs to
/// another user, or cannot be changed, stays as it is.
pub(crate) fn mend(path: &Path) {
    restrict(path, FILE);
    for suffix in BESIDE {
        let beside = beside(path, suffix);
        restrict(&beside, if beside.is_dir() { FOLDER } else { FILE });
    }
    if let Some(folder) = path.parent().filter(|folder| is_own(folder)) {
        restrict(folder, FOLDER);
    }
}

fn is_own(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| OWN_FOLDERS.iter().any(|own| name == *own))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn restrict(path: &Path, most: u32) {
    let Ok(metadata) = std::fs::metadata(path) else { return };
    // SAFETY: geteuid(2) cannot fail.
    let is_ours = metadata.uid() == unsafe { libc::geteuid() };
    let mode = metadata.mode() & 0o777;
    if is_ours && mode & !most != 0 {
        drop(std::fs::set_permissions(path, Permissions::from_mode(mode & most)));
    }
}

#[cfg(test)]
mod tests {
    use crate::Store;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    fn open_to_all(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_new_store_is_its_owners_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(".pippin/pippin.db");
        let store = Store::open(&path).unwrap();
        store.begin(&pippin_model::example::run::hello().header).unwrap();
        drop(store.live_file("a").unwrap());
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let file = file.unwrap().path();
            assert_eq!(mode(&file) & 0o077, 0, "{}", file.display());
        }
    }

    #[test]
    fn an_open_store_is_mended_when_it_is_opened_and_nothing_else_is() {
        let place = tempfile::tempdir().unwrap();
        open_to_all(place.path(), 0o755);
        for (folder, mended) in [(".pippin", 0o700), ("shared", 0o775)] {
            let path = place.path().join(folder).join("pippin.db");
            drop(Store::open(&path).unwrap());
            open_to_all(&path, 0o664);
            open_to_all(path.parent().unwrap(), 0o775);
            let store = Store::open(&path).unwrap();
            store.list().unwrap();
            assert_eq!(mode(&path), 0o600, "{folder}");
            assert_eq!(mode(path.parent().unwrap()), mended, "{folder}");
        }
        assert_eq!(mode(place.path()), 0o755, "the folder above is the user's");
    }
}
