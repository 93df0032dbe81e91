//! The archive that the build script packs, and the folder where it is unpacked.
use flate2::read::GzDecoder;
use std::io;
use std::path::{Path, PathBuf};

/// The files, as a tar archive compressed with gzip.
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog.tar.gz"));

/// The digest of all files, in hexadecimal. Every catalog has a different one.
pub const DIGEST: &str = env!("PIPPIN_CATALOG_DIGEST");

/// The folder `catalog/<digest>` in this cache folder, with `targets/`, `workloads/` and `plans/`.
/// Creates it if needed. Targets are installed in it.
///
/// # Errors
/// If it cannot be written.
pub fn folder(cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join("catalog").join(DIGEST);
    if folder.is_dir() {
        return Ok(folder);
    }
    // Create it completely or not at all, even if two processes start at the same time.
    let new = folder.with_extension(format!("new-{}", std::process::id()));
    std::fs::create_dir_all(&new)?;
    let unpacked = unpack(&new).and_then(|()| match std::fs::rename(&new, &folder) {
        Err(_) if folder.is_dir() => Ok(()),
        outcome => outcome,
    });
    if new.exists() {
        std::fs::remove_dir_all(&new)?;
    }
    unpacked.map(|()| folder)
}

fn unpack(into: &Path) -> io::Result<()> {
    tar::Archive::new(GzDecoder::new(ARCHIVE)).unpack(into)
}

/// The names of all files, as `targets/go/chi/main.go`.
///
/// # Errors
/// If the archive cannot be read.
pub fn files() -> io::Result<Vec<PathBuf>> {
    let mut archive = tar::Archive::new(GzDecoder::new(ARCHIVE));
    archive.entries()?.map(|entry| Ok(entry?.path()?.into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn every_tracked_file_is_inside_and_no_other() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let git = Command::new("git")
            .arg("-C")
            .arg(&root)
            .args(["ls-files", "targets", "workloads", "plans"])
            .output()
            .unwrap();
        let mut tracked: Vec<PathBuf> = String::from_utf8(git.stdout)
            .unwrap()
            .lines()
            .map(PathBuf::from)
            .filter(|file| root.join(file).is_file())
            .collect();
        tracked.sort();
        assert_eq!(files().unwrap(), tracked, "touch crates/shipped/build.rs and build anew");
    }

    #[test]
    fn it_is_unpacked_once_and_as_it_was() {
        let cache = tempfile::tempdir().unwrap();
        let made = folder(cache.path()).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in files().unwrap() {
            let (kept, written) = (root.join(&file), made.join(&file));
            assert_eq!(std::fs::read(&kept).unwrap(), std::fs::read(&written).unwrap(), "{file:?}");
            let is_program = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o100;
            assert_eq!(is_program(&kept), is_program(&written), "{file:?}");
        }
        std::fs::write(made.join("mark"), "").unwrap();
        assert_eq!(folder(cache.path()).unwrap(), made);
        assert!(made.join("mark").exists(), "it is not written again");
        let beside = std::fs::read_dir(cache.path().join("catalog")).unwrap().count();
        assert_eq!(beside, 1, "nothing is left beside it");
    }
}
