//! The store's own secret: digests of values that it does not keep are made with it.
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::Store;

impl Store {
    /// The key, made when it is first needed. It lies beside the database, readable by its owner
    /// alone. A copy of the database does not contain the key.
    ///
    /// # Errors
    /// If it can be neither read nor made.
    pub fn key(&self) -> io::Result<[u8; 32]> {
        let path = place(self.path());
        match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            outcome => return outcome,
        }
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        let made = File::options().write(true).create_new(true).mode(0o600).open(&path);
        match made {
            Ok(mut file) => file.write_all(&key).map(|()| key),
            // Another process was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(&path),
            Err(error) => Err(error),
        }
    }
}

/// `pippin.db-key` beside `pippin.db`, as SQLite names its own files.
fn place(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-key");
    name.into()
}

fn read(path: &Path) -> io::Result<[u8; 32]> {
    fs::read(path)?
        .try_into()
        .map_err(|_| io::Error::other(format!("{} is not a key of Pippin's", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_store_has_one_key_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str| Store::open(&folder.path().join(name)).unwrap();
        let key = open("a.db").key().unwrap();
        assert_eq!(open("a.db").key().unwrap(), key);
        assert_ne!(open("b.db").key().unwrap(), key);
        let mode = folder.path().join("a.db-key").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
